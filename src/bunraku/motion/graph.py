"""The motion graph: named motions, which of them may follow each other and at what price, and how they are played in one go.

A tool for building sequences: nodes are motions (joint curves), edges are transitions that take ``duration`` [s] and
cost something. A path is a list of names; played, each motion is followed by the transition into the next: the edge's own curve,
as planned, or a blend, the quintic that continues place, velocity and acceleration on both sides, so the whole is C2. Motions that
go over the ground go on from where the last one ended.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion.curves import JointCurves


@dataclass(frozen=True)
class Edge:
    """A transition from the end of one motion to the start of another: its ``cost`` (not negative) and ``duration`` [s].

    ``between``: its curve, from the source's last sample to the target's first, both included; None: a quintic.
    """

    source: str
    target: str
    cost: float
    duration: float
    between: JointCurves | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.cost) and self.cost >= 0.0 and np.isfinite(self.duration) and self.duration > 0.0):
            raise BadInput(
                f"the transition {self.source} to {self.target} costs {self.cost} and takes {self.duration} s; "
                "a cost that is not negative and a positive time are needed"
            )


def transition_costs(motions: Sequence[JointCurves], *, velocity_weight: float = 0.1) -> Array:
    """Distance (m, m) from the end of every motion to the start of every other: sqrt(sum dq^2 + (w dv)^2).

    dq is the difference of the poses [rad, m], dv that of the velocities, ``velocity_weight`` w [s]. All motions move the same
    coordinates.
    """
    ends = np.array([_ends(one) for one in motions])
    left = np.concatenate([ends[:, 1, 0], velocity_weight * ends[:, 1, 1]], axis=1)
    right = np.concatenate([ends[:, 0, 0], velocity_weight * ends[:, 0, 1]], axis=1)
    return np.linalg.norm(left[:, None, :] - right[None, :, :], axis=2)


def blend(before: Array, after: Array, duration: float, times: Array) -> Array:
    """The quintic from ``before`` to ``after``, each (3, n): place, velocity, acceleration; at ``times`` (N,) in [0, duration]."""
    T = duration
    M = np.zeros((6, 6))
    for row, (t, order) in enumerate(((0.0, 0), (0.0, 1), (0.0, 2), (1.0, 0), (1.0, 1), (1.0, 2))):
        for power in range(order, 6):
            M[row, power] = np.prod(np.arange(power, power - order, -1)) * t ** (power - order)
    scale = np.array([1.0, T, T * T])[:, None]
    coefficients = np.linalg.solve(M, np.concatenate([before * scale, after * scale]))
    return (times[:, None] / T) ** np.arange(6) @ coefficients


@dataclass(frozen=True)
class MotionGraph:
    """Motions by name, all at one rate and of the same coordinates, and the transitions between them.

    ``base``: the coordinates x, y [m] and yaw [rad] of a character that goes: each motion goes on where the last one ended. Its
    transitions have curves of their own.
    """

    motions: Mapping[str, JointCurves]
    edges: tuple[Edge, ...] = ()
    base: tuple[str, str, str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "motions", dict(self.motions))
        object.__setattr__(self, "edges", tuple(self.edges))
        if not self.motions:
            raise BadInput("a motion graph without motions arrived; give at least one")
        first, *others = self.motions.items()
        for name, motion in others:
            if motion.names != first[1].names or motion.rate != first[1].rate:
                raise BadInput(f"{name!r} has other coordinates or another rate than {first[0]!r}; bring all motions to the same")
        seen = set()
        for edge in self.edges:
            for name in (edge.source, edge.target):
                self._known(name)
            curve = edge.between
            if curve is not None and (curve.names != first[1].names or curve.rate != first[1].rate):
                raise BadInput(f"the curve from {edge.source!r} to {edge.target!r} has other coordinates or another rate")
            if curve is None and self.base is not None:
                raise BadInput(f"{edge.source!r} and {edge.target!r} go over the ground; their transition needs a curve of its own")
            if (edge.source, edge.target) in seen:
                raise BadInput(f"two transitions lead from {edge.source!r} to {edge.target!r}; keep one")
            seen.add((edge.source, edge.target))

    @classmethod
    def built(
        cls,
        motions: Mapping[str, JointCurves],
        *,
        greatest_cost: float = np.inf,
        velocity_weight: float = 0.1,
        speed: float = 2.0,
        least_duration: float = 0.2,
    ) -> MotionGraph:
        """The graph of all transitions that cost at most ``greatest_cost`` (:func:`transition_costs`).

        A motion may also lead into itself. A transition takes the time that the largest change of a coordinate needs at ``speed``
        [rad/s, m/s], at least ``least_duration`` [s].
        """
        names = list(motions)
        cls(motions)
        costs = transition_costs([motions[name] for name in names], velocity_weight=velocity_weight)
        edges = []
        for i, a in enumerate(names):
            for j, b in enumerate(names):
                if costs[i, j] <= greatest_cost:
                    gap = float(np.abs(motions[a].values[-1] - motions[b].values[0]).max())
                    edges.append(Edge(a, b, float(costs[i, j]), max(least_duration, gap / speed)))
        return cls(motions, tuple(edges))

    def edge(self, source: str, target: str) -> Edge:
        """The transition between two motions, or an error that says what may follow."""
        self._known(source)
        self._known(target)
        follows = [edge for edge in self.edges if edge.source == source]
        for edge in follows:
            if edge.target == target:
                return edge
        after = ", ".join(edge.target for edge in follows) or "nothing"
        raise BadInput(f"{target!r} cannot follow {source!r}; after {source!r} may come {after}")

    def cost(self, path: Sequence[str]) -> float:
        """The sum of the costs of a path's transitions; refuses a path that is not possible."""
        if not path:
            raise BadInput("an empty path arrived; name at least one motion")
        self._known(path[0])
        return float(sum(self.edge(a, b).cost for a, b in pairwise(path)))

    def cheapest(self, source: str, target: str) -> tuple[str, ...]:
        """The cheapest path from one motion to another (Dijkstra); among equals the first found. To itself: itself."""
        self._known(source)
        self._known(target)
        best, came = {source: 0.0}, {source: ""}
        queue, done = [(0.0, source)], set()
        while queue:
            so_far, here = heapq.heappop(queue)
            if here in done:
                continue
            done.add(here)
            if here == target:
                break
            for edge in self.edges:
                if edge.source == here and so_far + edge.cost < best.get(edge.target, np.inf):
                    best[edge.target], came[edge.target] = so_far + edge.cost, here
                    heapq.heappush(queue, (so_far + edge.cost, edge.target))
        if target not in done:
            raise BadInput(f"no path leads from {source!r} to {target!r}; add a transition")
        path = [target]
        while path[-1] != source:
            path.append(came[path[-1]])
        return tuple(reversed(path))

    def path(self, names: Iterable[str]) -> tuple[str, ...]:
        """A path that visits ``names`` in this order, with the cheapest motions between those that may not follow directly."""
        stops = list(names)
        self.cost(stops[:1])
        whole = [stops[0]]
        direct = {(edge.source, edge.target): edge.cost for edge in self.edges}
        for a, b in pairwise(stops):
            whole.extend([b] if a == b and (a, b) in direct else self._between(a, b))
        return tuple(whole)

    def wander(self, start: str, edges: int, seed: int = 0) -> tuple[str, ...]:
        """A random path of that many ``edges`` from a motion, each time one of those that may follow, all as likely."""
        self._known(start)
        rng, path = np.random.default_rng(seed), [start]
        for _ in range(edges):
            follows = [edge.target for edge in self.edges if edge.source == path[-1]]
            if not follows:
                raise BadInput(f"after {path[-1]!r} nothing may come; add a transition")
            path.append(follows[int(rng.integers(len(follows)))])
        return tuple(path)

    def play(self, path: Sequence[str]) -> JointCurves:
        """The motions of a path one after the other with the transitions between, blends rounded to whole samples."""
        self.cost(path)
        first = self.motions[path[0]]
        parts = [first.values]
        for a, b in pairwise(path):
            edge, motion = self.edge(a, b), self.motions[b]
            if edge.between is not None:
                curve = self._going_on(edge.between, parts[-1][-1])
                parts += [curve[1:-1], self._going_on(motion, curve[-1])]
                continue
            steps = max(round(edge.duration * first.rate), 1)
            inner = np.arange(1, steps) / first.rate
            parts += [blend(_ends(self.motions[a])[1], _ends(motion)[0], steps / first.rate, inner), motion.values]
        return JointCurves(first.names, first.rate, np.concatenate(parts))

    def _going_on(self, motion: JointCurves, pose: Array) -> Array:
        """The values of a motion, its base carried over the ground so that it starts where the base of ``pose`` is."""
        if self.base is None:
            return motion.values
        x, y, yaw = (motion.names.index(name) for name in self.base)
        values = motion.values.copy()
        turn = pose[yaw] - values[0, yaw]
        c, s = np.cos(turn), np.sin(turn)
        dx, dy = values[:, x] - values[0, x], values[:, y] - values[0, y]
        values[:, x], values[:, y] = pose[x] + c * dx - s * dy, pose[y] + s * dx + c * dy
        values[:, yaw] += turn
        return values

    def _between(self, a: str, b: str) -> tuple[str, ...]:
        if a == b:
            raise BadInput(f"{a!r} cannot follow itself; add a transition or name something between")
        return self.cheapest(a, b)[1:]

    def _known(self, name: str) -> None:
        if name not in self.motions:
            raise BadInput(f"there is no motion {name!r}; known: {', '.join(list(self.motions)[:30])}")


def _ends(motion: JointCurves) -> Array:
    """Place, velocity and acceleration at the start and at the end, (2, 3, n), from one-sided differences of fourth order."""
    x, h = motion.values, 1.0 / motion.rate
    n = min(len(x), 6)
    M = np.vander(np.arange(n), n, increasing=True).astype(np.float64)
    out = np.zeros((2, 3, x.shape[1]))
    for side, rows in enumerate((x[:n], x[::-1][:n])):
        c = np.linalg.solve(M, rows)
        out[side, 0] = rows[0]
        sign = 1.0 if side == 0 else -1.0
        out[side, 1] = sign * c[1] / h if n > 1 else 0.0
        out[side, 2] = 2.0 * c[2] / h**2 if n > 2 else 0.0
    return out
