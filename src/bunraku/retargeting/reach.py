"""Reaching: a frame, an end effector or the centre of mass of a character is brought to a place at a time of its joint curves.

At the sample k nearest to the time the coordinates x become x0 + d, with d the minimum of

    |place - p(x0 + d)|^2 + e |d|^2,    lower <= x0 + d <= upper

(Gauss-Newton steps with Levenberg's damping, bounds inside the step; e is one millionth of the squared lever arm, so it chooses
among joints rather than against the place). In time the change is spread as d s(1 - |t - t_k| / width), s the quintic step
u^3 (10 - 15 u + 6 u^2): it is d at the sample, C2 everywhere, and nothing from ``width`` on. Where the spread change would leave a
range, the curve goes along the end of the range; ranges that depend on another coordinate are taken at its new value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character, free_base
from bunraku.errors import BadInput
from bunraku.motion import JointCurves
from bunraku.retargeting.followed_point import FollowedPoint, Lever, follow_point
from bunraku.retargeting.reach_ranges import ReachRanges

Place = Sequence[float | None]

CLOSE = 1e-4
"""Nearer than this [m] a place is reached."""

_LEAST_CHANGE, _ROUNDS, _GAIN, _STILL = 1e-6, 40, 1e-5, 1e-9


@dataclass(frozen=True)
class Reached:
    """``curves`` with the change; ``miss`` [m]: how far from the place the frame still is at that time."""

    curves: JointCurves
    miss: float


def path_of(character: Character, curves: JointCurves, frame: str) -> Array:
    """Where a frame, end effector, body or the centre of mass ("com") is (m, 3) [m] at every sample of the curves.

    What has no curve is at home; a character on feet stands on its first one; curves of nothing it has are left out.
    """
    point, known = _followed(character, curves, frame)
    return point.places(_configurations(point, curves, known, slice(None)))


def reached(
    character: Character,
    curves: JointCurves,
    frame: str,
    time: float,
    place: Place,
    *,
    joints: Sequence[str] = (),
    width: float = 0.3,
) -> Reached:
    """The curves changed so that ``frame`` is at ``place`` (x, y, z) [m] at ``time`` [s], within joint ranges; None: left free.

    Changed are the ``joints`` given, or those with a curve between the frame and the base (for a frame of the base, and for the
    centre of mass, all that move it), as little as possible, and only nearer to the time than ``width`` [s]. A place that cannot be
    reached is approached, and the ``miss`` says by how much it is missed. Curves that need no change come back as they are.
    """
    rows = [k for k, part in enumerate(place) if part is not None]
    target = np.array([0.0 if part is None else part for part in place], dtype=np.float64)
    if target.shape != (3,) or not np.isfinite(target).all():
        raise BadInput(f"the place {place!r} arrived for {frame!r}; give x, y and z in metres, or None for what is free")
    if not np.isfinite(time) or not (np.isfinite(width) and width > 0.0):
        raise BadInput(f"reaching at {time} s over {width} s cannot be; give a finite time and a positive width")
    point, known = _followed(character, curves, frame)
    chosen = _chosen(character, curves, point, joints)
    sample = int(min(max(round(time * curves.rate), 0), len(curves.values) - 1))
    ranges = ReachRanges.of(character, curves)
    q = _configurations(point, curves, known, slice(sample, sample + 1))[0]
    start = curves.values[sample]
    if not rows or np.linalg.norm((target - point.places(q[None])[0])[rows]) <= _STILL:
        return Reached(curves, 0.0)
    at = [point.tree.index(name) for name in chosen]
    problem = _Problem(point, q, target, rows, at, point.lever(at))
    columns = [curves.names.index(name) for name in chosen]
    ends = problem.solved(ranges, start, columns)
    values = _spread(curves, ranges, sample, columns, ends, width)
    if values is None:
        return Reached(curves, problem.miss(q))
    changed = replace(curves, values=values)
    return Reached(changed, problem.miss(_configurations(point, changed, known, slice(sample, sample + 1))[0]))


@dataclass(frozen=True, eq=False)
class _Problem:
    """Bring a point from the configuration ``q`` (nq,) to ``target`` (3,), of which ``rows`` count, by coordinates ``at``."""

    point: FollowedPoint
    q: Array
    target: Array
    rows: list[int]
    at: list[int]
    lever: Lever

    def solved(self, ranges: ReachRanges, start: Array, columns: list[int]) -> Array:
        """The values of the coordinates at the end; ``start``: all curves at the sample, ``columns``: those of ``at``."""
        x0 = start[columns]
        missed = self.miss(self.q)
        x, miss = self._descended(ranges, start, columns, x0)
        if miss > CLOSE and miss > 0.9 * missed:  # stretched out, perhaps, where no joint moves the point along the limb: bend it
            bent = x0 + 0.1 * np.where(np.arange(len(x0)) % 2, 1.0, -1.0)
            other, there = self._descended(ranges, start, columns, bent)
            if there < 0.9 * miss:
                return other
        return x

    def _descended(self, ranges: ReachRanges, start: Array, columns: list[int], x: Array) -> tuple[Array, float]:
        """The minimum nearest to ``x``, and how far [m] from its place the point is there."""
        x0 = start[columns]
        bounds = ranges.around(start, columns)
        low, high = bounds(x)
        x = np.clip(x, low, high)
        r, J = self._linearized(x)
        scale = float((J**2).sum(axis=0).max(initial=0.0))
        if scale <= 0.0:
            return x0, float(np.linalg.norm(r))
        least, damping, one = _LEAST_CHANGE * scale, 1e-3 * scale, np.eye(len(x))
        cost = float(r @ r + least * ((x - x0) ** 2).sum())
        for _ in range(_ROUNDS):
            low, high = bounds(x)
            H = J.T @ J + (least + damping) * one
            g = J.T @ r - least * (x - x0)
            step = _bounded_step(H, g, np.minimum(low - x, 0.0), np.maximum(high - x, 0.0))
            tried = x + step
            r_there, J_there = self._linearized(tried)
            there = float(r_there @ r_there + least * ((tried - x0) ** 2).sum())
            promised = float(step @ (2.0 * g - H @ step)) + damping * float(step @ step)
            gain = (cost - there) / max(promised, 1e-300)
            damping *= 0.1 if gain > 0.75 else (1.0 if gain > 0.25 else 8.0)
            if there <= cost:
                near = float(r_there @ r_there) < (0.1 * CLOSE) ** 2
                ended = cost - there <= (100.0 if near else 1.0) * _GAIN * cost
                x, r, J, cost = tried, r_there, J_there, there
                if ended:
                    break
            elif damping > 1e6 * scale:
                break
            damping = max(damping, 1e-7 * scale)
        return x, float(np.linalg.norm(r))

    def miss(self, q: Array) -> float:
        """How far [m] the point is from its target at ``q`` (nq,)."""
        return float(np.linalg.norm((self.target - self.point.places(q[None])[0])[self.rows]))

    def _linearized(self, x: Array) -> tuple[Array, Array]:
        """What is missing (rows,) [m], and how the point moves (rows, k) with the coordinates."""
        q = self.q.copy()
        q[self.at] = x
        for driver, follower, ratio, offset in self.point.tree.couplings:
            q[follower] = ratio * q[driver] + offset
        place, J = self.point.linearized(q, self.lever)
        return (self.target - place)[self.rows], J[self.rows]


def _bounded_step(H: Array, g: Array, low: Array, high: Array) -> Array:
    """Near the minimum of d.H d / 2 - g.d within ``low`` <= d <= ``high``, which hold zero: what would leave them stays on them."""
    step = np.zeros(len(g))
    free = ~(((low >= 0.0) & (g < 0.0)) | ((high <= 0.0) & (g > 0.0)))
    for _ in range(len(g)):
        inside = np.flatnonzero(free)
        if not len(inside):
            break
        step[inside] = np.linalg.solve(H[inside][:, inside], g[inside] - H[inside] @ np.where(free, 0.0, step))
        out = free & ((step < low) | (step > high))
        if not out.any():
            break
        step[out] = np.where(step[out] < low[out], low[out], high[out])
        free &= ~out
    return np.minimum(np.maximum(step, low), high)


def _spread(curves: JointCurves, ranges: ReachRanges, sample: int, columns: list[int], ends: Array, width: float) -> Array | None:
    """All values with the change spread in time; None when there is no change."""
    change = ends - curves.values[sample, columns]
    if not change.any():
        return None
    half = width * curves.rate
    first, last = max(0, int(np.ceil(sample - half))), min(len(curves.values) - 1, int(np.floor(sample + half)))
    u = np.clip(1.0 - np.abs(np.arange(first, last + 1) - sample) / half, 0.0, 1.0)
    bump = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
    old = curves.values[first : last + 1]
    new = old.copy()
    new[:, columns] += bump[:, None] * change
    new[sample - first, columns] = ends
    new = np.where(bump[:, None] > 0.0, ranges.kept(new, old), old)
    values = curves.values.copy()
    values[first : last + 1] = new
    return values


def _followed(character: Character, curves: JointCurves, frame: str) -> tuple[FollowedPoint, tuple[int, ...]]:
    """The point, and the columns of the curves that pose the character."""
    point = follow_point(character, frame, curves.names)
    return point, tuple(j for j, name in enumerate(curves.names) if name in point.tree.names)


def _configurations(point: FollowedPoint, curves: JointCurves, known: tuple[int, ...], rows: slice) -> Array:
    return point.tree.expand(tuple(curves.names[j] for j in known), curves.values[rows][:, list(known)])


def _chosen(character: Character, curves: JointCurves, point: FollowedPoint, joints: Sequence[str]) -> list[str]:
    """The coordinates to change, in the order of the tree."""
    for name in joints:
        if name not in curves.names:
            raise BadInput(f"{name!r} has no curve that could be changed; there are {', '.join(curves.names[:12])}")
    chosen = [name for name in point.moving if name in (joints or curves.names) and name in curves.names]
    base = free_base(character)
    above = {axis.name for axis in base.axes} if base is not None else set()
    limb = [name for name in chosen if name not in above]
    if not joints and point.weights.max() == 1.0:
        own = _limb(point)
        limb = [name for name in limb if name in own] or limb
        chosen = limb or chosen
    if not chosen:
        raise BadInput(
            f"no curve moves {point.name!r} of {character.name!r}; choose another frame, or give the clip curves that do"
        )
    return chosen


def _limb(point: FollowedPoint) -> set[str]:
    """The coordinates between the point's node and the root."""
    tree = point.tree
    node = int(np.argmax(point.weights))
    own = {int(tree.coordinate[i]) for i in np.flatnonzero(point.carries[:, node])}
    own |= {driver for driver, follower, _, _ in tree.couplings if follower in own}
    return {tree.names[i] for i in own if i >= 0}
