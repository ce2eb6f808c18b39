"""What the oracle is given: a robot read from a character, and a planning problem as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bunraku.character import Character
from bunraku.mechanics.tree import compile_tree

COM, BASE = -1, -2
"""What a target pulls at, if it is no end effector's index."""


@dataclass(frozen=True)
class PlanTarget:
    """At ``share`` of the way from sample ``index`` to the next, ``what`` should be at ``place`` (nan: free); ``weight`` (3,)."""

    index: int
    share: float
    what: int
    place: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class PlanData:
    """A planning problem. T samples, nq coordinates (spins of wheels left out), ne end effectors, nv = nq + 3 ne, N joints.

    ``contacts`` and ``heights`` (T, ne). ``mirror``: permutation and sign (nv each) of a sample, (S v)[k] = sign[k] v[perm[k]]; the
    goal of a mirrored half cycle is that of the whole. ``before``, ``after`` (nv), ``start``, ``end``, ``reference`` (nq) are for
    open problems: the goal is where the COM of the last pose is from that of the reference. ``speeds``, ``torques``, ``no_load``
    (N), ``ranges`` (N, 2), ``wheel_*`` (ne): infinite where nothing limits. ``least``: distance for each of ``pairs``. ``spots``:
    node of the tree, place in its frame, least height over the ground. ``weights``: smoothness, posture, force, force rate of 12
    intervals; ``intervals`` of the whole motion or cycle. ``terrain``: origin x, y, spacing, heights.
    """

    T: int
    h: float
    periodic: bool
    intervals: int
    contacts: np.ndarray
    heights: np.ndarray
    friction: np.ndarray
    mirror: tuple[np.ndarray, np.ndarray] | None = None
    goal_xy: tuple[float | None, float | None] = (None, None)
    goal_yaw: float | None = None
    f_min: float = 0.5
    gravity: float = 9.81
    pairs: tuple[tuple[int, int], ...] = ()
    least: np.ndarray = field(default_factory=lambda: np.zeros(0))
    spots: tuple[tuple[int, np.ndarray, float], ...] = ()
    before: np.ndarray | None = None
    after: np.ndarray | None = None
    contacts_before: np.ndarray | None = None
    contacts_after: np.ndarray | None = None
    start: np.ndarray | None = None
    end: np.ndarray | None = None
    reference: np.ndarray | None = None
    targets: tuple[PlanTarget, ...] = ()
    weights: tuple[float, float, float, float] = (0.1, 1e-3, 1e-4, 1e-3)
    speeds: np.ndarray | None = None
    ranges: np.ndarray | None = None
    torques: np.ndarray | None = None
    no_load: np.ndarray | None = None
    wheel_speeds: np.ndarray | None = None
    wheel_torques: np.ndarray | None = None
    wheel_no_load: np.ndarray | None = None
    terrain: tuple[float, float, float, np.ndarray] | None = None


class Robot:
    """A floating character with its wheels' spins frozen: lumps (rigid together), joints, end effectors, in arrays of the tree.

    ``home`` (nq). Of each lump: node, mass, centre of mass and second moment S = ∫ u uᵀ dm about it, both in the node's frame.
    Of each joint: its node (the coordinates after the six of the base). Of each effector: node, centre, axle in the node's frame.
    """

    def __init__(self, character: Character) -> None:
        if character.couplings:
            raise ValueError("the oracle does not know couplings")
        tree = compile_tree(character)
        axles = {joint.child: joint.name for joint in character.joints}
        spinning = {axles[tip.body] for tip in character.end_effectors if tip.spins}
        kept = [i for i, name in enumerate(tree.names) if name not in spinning]
        place = {old: new for new, old in enumerate(kept)}
        self.character, self.tree = character, tree
        self.names = tuple(tree.names[i] for i in kept)
        self.home = tree.home[kept]
        self.nq, self.joints = len(kept), len(kept) - 6
        self.coordinate = [place.get(int(c), -1) if k else -1 for c, k in zip(tree.coordinate, tree.kind, strict=True)]
        self.frozen = [
            float(tree.home[c]) if k and c not in place else 0.0 for c, k in zip(tree.coordinate, tree.kind, strict=True)
        ]
        self.effectors = character.end_effectors
        self.ne = len(self.effectors)
        self.nv = self.nq + 3 * self.ne
        self.carrier = [self._carrier(i) for i in range(len(tree.parent))]
        self.joint_node = [self.coordinate.index(6 + k) for k in range(self.joints)]
        self.base = tree.nodes[next(joint.child for joint in character.joints if joint.kind == "free")]
        self._lumps()
        self.tip_node, self.center, self.axle = [], [], []
        for tip in self.effectors:
            node = tree.nodes[tip.body]
            R, p = self.to_carrier(node)
            axis = np.array(tip.axis) / np.linalg.norm(tip.axis)
            self.tip_node.append(self.carrier[node])
            self.center.append(p + R @ np.array(tip.center))
            self.axle.append(R @ axis)
        self.mass = float(sum(self.lump_mass))

    def _carrier(self, node: int) -> int:
        """The node that moves with ``node`` and has a coordinate of its own."""
        while self.coordinate[node] < 0:
            node = int(self.tree.parent[node])
        return node

    def to_carrier(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Pose of a node in the frame of its carrier."""
        R, p = np.eye(3), np.zeros(3)
        while self.coordinate[node] < 0:
            turn = rotation(self.tree.axis[node], self.frozen[node]) if self.tree.kind[node] == 1 else np.eye(3)
            local = self.tree.fixed_rotation[node] @ turn
            R, p = local @ R, self.tree.fixed_position[node] + local @ p
            node = int(self.tree.parent[node])
        return R, p

    def _lumps(self) -> None:
        """Gather mass, first and second moment of all that is rigid together."""
        tree, parts = self.tree, {}
        for node in range(len(tree.parent)):
            m = float(tree.mass[node])
            if m <= 0.0:
                continue
            R, p = self.to_carrier(node)
            c = p + R @ tree.center_of_mass[node]
            inertia = R @ tree.inertia[node] @ R.T
            S = 0.5 * np.trace(inertia) * np.eye(3) - inertia + m * np.outer(c, c)
            total, first, second = parts.get(self.carrier[node], (0.0, np.zeros(3), np.zeros((3, 3))))
            parts[self.carrier[node]] = (total + m, first + m * c, second + S)
        self.lump_node = sorted(parts)
        self.lump_mass = [parts[node][0] for node in self.lump_node]
        self.lump_center = [parts[node][1] / parts[node][0] for node in self.lump_node]
        about = [(parts[n][2] - parts[n][0] * np.outer(c, c)) for n, c in zip(self.lump_node, self.lump_center, strict=True)]
        self.lump_moment = [0.5 * (S + S.T) for S in about]

    def below(self, node: int, top: int) -> bool:
        """Whether ``node`` is ``top`` or hangs below it."""
        while node >= 0 and node != top:
            node = int(self.tree.parent[node])
        return node == top


def rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation matrix about a unit axis."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
