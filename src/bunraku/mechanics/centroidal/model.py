"""A character on wheels and feet as arrays for planning: masses as points, end effectors, limits; wheels do not spin here.

A wheel is a body of revolution: its spin about its own axle changes neither mass nor inertia, so the hinges of axles are frozen
and the coordinates that remain are those of the base (three slides, then yaw, pitch, roll) and of the joints. A sole stands with
its centre, a ball of no radius; how it may press with its edges is for who plans with soles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character, EndEffector, Motor, free_base
from bunraku.errors import BadInput
from bunraku.mechanics.centroidal import kinematics_kernels as kernels
from bunraku.mechanics.centroidal.arrays import (
    CentroidalArrays,
    Indices,
    JointLimits,
    PointMasses,
    TipArrays,
    WheelLimits,
)
from bunraku.mechanics.tree import compile_tree, tree_kernels
from bunraku.mechanics.tree.tree_kernels import TreeArrays

_KINDS = {
    "ball": kernels.BALL,
    "sole": kernels.BALL,
    "welded": kernels.WELDED,
    "passive": kernels.PASSIVE,
    "active": kernels.ACTIVE,
}
_SIGNS = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
NO_LIMIT = 1e9


@dataclass(frozen=True)
class CentroidalModel:
    """The arrays. Coordinates (nq): the character's without those of axles, the first six the base's tx, ty, tz, rz, ry, rx.

    ``nodes`` (nq,) the node of each coordinate, ``lumps`` (n_e,) the rigid lump each end effector belongs to. ``drag`` and
    ``friction`` (n_e,). ``middle``, ``half``, ``speed``, ``stall``, ``no_load`` (nq,): range, speed limit and torque-speed line
    of joints, NO_LIMIT where there is none (the base); ``spin_*`` (n_e,) those of driven wheels. ``axles``: the hinge of each
    tip, empty where it has none.
    """

    names: tuple[str, ...]
    home: Array
    tree: TreeArrays
    nodes: Indices
    points: PointMasses
    tips: TipArrays
    tip_names: tuple[str, ...]
    axles: tuple[str, ...]
    lumps: Indices
    friction: Array
    drag: Array
    middle: Array
    half: Array
    speed: Array
    stall: Array
    no_load: Array
    spin_speed: Array
    spin_stall: Array
    spin_no_load: Array

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.names)

    @property
    def n_tips(self) -> int:
        """Number of end effectors."""
        return len(self.tip_names)

    @property
    def nv(self) -> int:
        """Unknowns of one sample: the coordinates, then three components of force per end effector."""
        return self.nq + 3 * self.n_tips

    @property
    def mass(self) -> float:
        """Total mass [kg]."""
        return float(self.points.mass.sum())

    @cached_property
    def arrays(self) -> CentroidalArrays:
        """Tree, masses and end effectors, with which coordinate moves which node."""
        parent, coordinate = self.tree.parent, self.tree.coordinate
        moves = np.zeros((self.nq, len(parent)), dtype=np.int64)
        for b in range(len(parent)):
            if parent[b] >= 0:
                moves[:, b] = moves[:, parent[b]]
            if coordinate[b] >= 0:
                moves[coordinate[b], b] = 1
        return CentroidalArrays(self.tree, self.nodes, moves, self.points, self.tips)

    @property
    def limits(self) -> JointLimits:
        """Those of the coordinates."""
        return JointLimits(self.middle, self.half, self.speed, self.stall, self.no_load)

    @property
    def wheel_limits(self) -> WheelLimits:
        """Those of the driven wheels."""
        return WheelLimits(self.spin_speed, self.spin_stall, self.spin_no_load)


def point_masses(mass: float, center: Array, inertia: Array) -> tuple[Array, float]:
    """Four places (4, 3) of a quarter of ``mass`` each that have the body's centre and its ``inertia`` (3, 3) about it.

    With S = tr(I)/2 1 - I = sum m r r^T = U diag(s) U^T the places are c + U (±a, ±b, ±c), a = sqrt(s_1/m) and so on.
    """
    second = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    s, U = np.linalg.eigh(second)
    if s.min() < -1e-6 * max(s.max(), 1e-12):
        raise BadInput(f"an inertia with moments {np.linalg.eigvalsh(inertia)} belongs to no body; check its largest moment")
    return center + (_SIGNS * np.sqrt(np.maximum(s, 0.0) / mass)) @ U.T, mass / 4.0


SPEED_MARGIN, RANGE_MARGIN = 0.05, 0.02
"""Shares of speed limits and ranges that a plan leaves: between its samples the motion goes a little beyond them."""


def centroidal_model(character: Character, *, locked: tuple[str, ...] = ()) -> CentroidalModel:
    """Compile a floating character with end effectors; ``locked`` coordinates have the range zero about home.

    Ranges and speeds are those of the character less a margin (`RANGE_MARGIN`, `SPEED_MARGIN`).
    """
    base = free_base(character)
    if base is None or not character.end_effectors:
        what = "is fixed to the world" if base is None else "has no end effectors"
        raise BadInput(f"{character.name!r} {what}; locomotion needs a free base and wheels or feet (end_effectors)")
    if base.sequence != "zyx":
        raise BadInput(f"the base of {character.name!r} turns in the order {base.sequence}; planning needs zyx (yaw first)")
    _refuse(character, character.expand(locked))
    tree = compile_tree(character)
    above = {joint.child: joint for joint in character.joints}
    axles = tuple(above[tip.body].name if tip.spins else "" for tip in character.end_effectors)
    kept = [name for name in tree.names if name not in axles]
    first = [axis.name for axis in base.axes]
    names = tuple(first + [name for name in kept if name not in first])
    place = {name: i for i, name in enumerate(names)}
    kind, coordinate = tree.kind.copy(), np.full(len(tree.kind), -1, dtype=np.int64)
    nodes = np.zeros(len(names), dtype=np.int64)
    for b, c in enumerate(tree.coordinate):
        if c >= 0 and tree.names[c] in place:
            coordinate[b] = place[tree.names[c]]
            nodes[coordinate[b]] = b
        else:
            kind[b] = tree_kernels.FIXED
    arrays = TreeArrays(tree.parent, kind, coordinate, tree.fixed_rotation, tree.fixed_position, tree.axis)
    root, X = _lumps(arrays)
    home = np.array([tree.home[tree.names.index(name)] for name in names])
    return CentroidalModel(
        names,
        home,
        arrays,
        nodes,
        _points(character, tree.mass, tree.center_of_mass, tree.inertia, root, X),
        _tips(character.end_effectors, tree.nodes, arrays),
        tuple(tip.name for tip in character.end_effectors),
        axles,
        np.array([root[tree.nodes[tip.body]] for tip in character.end_effectors], dtype=np.int64),
        np.array([tip.friction for tip in character.end_effectors]),
        np.array([tip.rolling_resistance for tip in character.end_effectors]),
        *_limits(character, names, home, character.expand(locked)),
        *_spins(character, axles),
    )


def _lumps(arrays: TreeArrays) -> tuple[Indices, list[tuple[Array, Array]]]:
    """For every node the node of the rigid lump it belongs to, and its constant pose in that node's frame."""
    parent, kind, turn, place = arrays.parent, arrays.kind, arrays.fixed_rotation, arrays.fixed_position
    root = np.arange(len(parent))
    X = [(np.eye(3), np.zeros(3)) for _ in parent]
    for b in range(len(parent)):
        if kind[b] == tree_kernels.FIXED and parent[b] >= 0:
            R, p = X[parent[b]]
            root[b] = root[parent[b]]
            X[b] = (R @ turn[b], p + R @ place[b])
    return root, X


def _points(
    character: Character, mass: Array, center: Array, inertia: Array, root: Indices, X: list[tuple[Array, Array]]
) -> PointMasses:
    """Four points for every lump: its bodies' masses, centres and inertias brought together by the parallel axis theorem."""
    where: list[int] = []
    places: list[Array] = []
    masses: list[float] = []
    for lump in np.unique(root):
        parts = [b for b in np.flatnonzero(root == lump) if mass[b] > 0.0]
        total = float(sum(mass[b] for b in parts))
        if total <= 0.0:
            continue
        centers = np.array([X[b][1] + X[b][0] @ center[b] for b in parts])
        c = (mass[parts] @ centers) / total
        moment = np.zeros((3, 3))
        for b, at in zip(parts, centers, strict=True):
            r = at - c
            moment += X[b][0] @ inertia[b] @ X[b][0].T + mass[b] * ((r @ r) * np.eye(3) - np.outer(r, r))
        spread, quarter = point_masses(total, c, moment)
        where += [int(lump)] * 4
        places += list(spread)
        masses += [quarter] * 4
    if not masses:
        raise BadInput(f"no body of {character.name!r} has a mass; give masses and inertias")
    return PointMasses(np.array(where, dtype=np.int64), np.array(places), np.array(masses))


def _tips(
    effectors: tuple[EndEffector, ...],
    where: dict[str, int],
    arrays: TreeArrays,
) -> TipArrays:
    parent, coordinate = arrays.parent, arrays.coordinate
    n = len(effectors)
    chains = []
    for tip in effectors:
        b, chain_of = where[tip.body], []
        while b >= 0:
            if coordinate[b] >= 0:
                chain_of.append(int(coordinate[b]))
            b = int(parent[b])
        chains.append(sorted(chain_of))
    chain = np.full((n, max(len(c) for c in chains) + 1), -1, dtype=np.int64)
    axis, across = np.zeros((n, 3)), np.zeros((n, 3))
    for j, tip in enumerate(effectors):
        chain[j, : len(chains[j])] = chains[j]
        if tip.kind != "ball":
            axis[j] = np.array(tip.axis) / np.linalg.norm(tip.axis)
            side = np.cross(axis[j], np.eye(3)[int(np.abs(axis[j]).argmin())])
            across[j] = side / np.linalg.norm(side)
    return TipArrays(
        np.array([where[tip.body] for tip in effectors], dtype=np.int64),
        np.array([tip.center for tip in effectors], dtype=np.float64),
        axis,
        across,
        np.array([0.0 if tip.kind == "sole" else tip.radius for tip in effectors]),
        np.array([_KINDS[tip.kind] for tip in effectors], dtype=np.int64),
        chain,
    )


def _limits(
    character: Character, names: tuple[str, ...], home: Array, locked: tuple[str, ...]
) -> tuple[Array, Array, Array, Array, Array]:
    """Middle and half of the range, speed, stall torque and no-load speed of each coordinate, NO_LIMIT where none is stated."""
    n = len(names)
    middle, half, speed = np.zeros(n), np.full(n, NO_LIMIT), np.full(n, NO_LIMIT)
    stall, no_load = np.full(n, NO_LIMIT), np.full(n, NO_LIMIT)
    axes = {axis.name: axis for axis in character.axes}
    motors = {motor.coordinate: motor for motor in character.motors}
    resistance = _resistance(character)
    for i, name in enumerate(names[6:], start=6):
        motor = motors.get(name)
        ranges = [span for span in (axes[name].range, motor.range if motor else None) if span is not None]
        if name in locked or motor is None:
            middle[i], half[i] = home[i], 0.0
        elif ranges:
            low, high = max(span[0] for span in ranges), min(span[1] for span in ranges)
            middle[i], half[i] = 0.5 * (low + high), 0.5 * (high - low) * (1.0 - RANGE_MARGIN)
        if motor is not None:
            speed[i] = _speed(motor)
            stall[i], no_load[i] = _line(motor, resistance[name])
    return middle, half, speed, stall, no_load


def _spins(character: Character, axles: tuple[str, ...]) -> tuple[Array, Array, Array]:
    """Speed limit, stall torque and no-load speed of the motor of each driven wheel, NO_LIMIT for the others."""
    motors, resistance = {motor.coordinate: motor for motor in character.motors}, _resistance(character)
    speed, stall, no_load = (np.full(len(axles), NO_LIMIT) for _ in range(3))
    for j, axle in enumerate(axles):
        motor = motors.get(axle)
        if motor is None:
            continue
        speed[j] = _speed(motor)
        stall[j], no_load[j] = _line(motor, resistance[axle])
    return speed, stall, no_load


def _resistance(character: Character) -> dict[str, tuple[float, float]]:
    """Dry friction [N·m] and damping [N·m·s/rad] of every coordinate's joint."""
    return {axis.name: (joint.friction, joint.damping) for joint in character.joints for axis in joint.axes}


def _line(motor: Motor, resistance: tuple[float, float]) -> tuple[float, float]:
    """Stall torque and no-load speed of what a motor leaves for the motion when its joint takes friction f and damping d.

    tau + f + d v <= tau_0 (1 - v / v_0) is tau <= tau_0' (1 - v / v_0') with tau_0' = tau_0 - f, tau_0' / v_0' = tau_0 / v_0 + d;
    braking, where friction helps, keeps the smaller tau_0'. A motor that hardly overcomes its own joint keeps a thousandth.
    The armature's torque depends on accelerations and is not reserved: the certificate's peak torque counts it, the plan does not.
    """
    if motor.stall_torque is None:
        return NO_LIMIT, NO_LIMIT
    full, (f, d) = motor.torque_fraction * motor.stall_torque, resistance
    slope = d + (full / motor.no_load_speed if motor.no_load_speed else 0.0)
    rest = max(full - f, 1e-3 * full)
    return rest, rest / slope if slope else NO_LIMIT


def _speed(motor: Motor) -> float:
    stated = [limit for limit in (motor.velocity, motor.no_load_speed) if limit is not None]
    return (1.0 - SPEED_MARGIN) * min(stated) if stated else NO_LIMIT


def _refuse(character: Character, locked: tuple[str, ...]) -> None:
    """What planning would leave out without a word: couplings, loops, parts that bend, joints that nothing drives, no mass."""
    who = character.name
    for what, parts in (
        ("couplings", character.couplings),
        ("closed loops", character.loops),
        ("flexible parts", character.flexibles),
    ):
        if parts:
            raise BadInput(f"{who!r} has {what}, which planning over the ground does not know yet; describe it without")
    axles = {tip.body for tip in character.end_effectors if tip.spins}
    driven = set(character.driven)
    for joint in character.joints:
        idle = [axis.name for axis in joint.axes if axis.name not in driven and axis.name not in locked]
        if joint.kind != "free" and joint.child not in axles and idle:
            raise BadInput(f"no motor drives {idle[0]!r} of {who!r}; give it one, or name it in the gait's locked joints")
    for body in character.bodies:
        if not body.mass > 0.0:
            raise BadInput(f"the body {body.name!r} of {who!r} has no mass; give mass and inertia of every body that moves")
