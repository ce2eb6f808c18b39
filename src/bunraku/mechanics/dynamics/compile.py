"""From a tree and lists of springs, forces and constraints to the flat arrays of a `Model`.

Fixed nodes are merged into the slot they hang on, axes that are no coordinate axis are turned to z, and slots that move no mass
come last so that the recursions can leave them out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics import element_layout as codes
from bunraku.mechanics.dynamics import lagrangian_layout as layout
from bunraku.mechanics.dynamics.constraints import Constraint, Distance, PointOnPlane, PointToPoint
from bunraku.mechanics.dynamics.flexible.attach import Stand, compile_segments
from bunraku.mechanics.dynamics.flexible.layout import MASS_F, MODE
from bunraku.mechanics.dynamics.forces import CoordinateForce, Damping, Force, PointDamper, Wrench
from bunraku.mechanics.dynamics.model import Model, Sizes
from bunraku.mechanics.dynamics.places import Where, resolve
from bunraku.mechanics.dynamics.potentials import CoordinateSpring, PointSpring, Potential
from bunraku.mechanics.tree import Tree


class Slots:
    """The slots of a tree: node arrays, and where each tree node hangs (slot, rotation, position)."""

    def __init__(self, tree: Tree, place: dict[int, tuple[int, float, float]], segments: Sequence[Stand] = ()) -> None:
        """``place`` maps a tree coordinate to (coordinate, ratio, offset) of the system."""
        hang: list[tuple[int, Array, Array]] = []
        rows: list[tuple[int, int, int, int, float, float, Array, Array]] = []
        bodies: list[list[tuple[float, Array, Array]]] = []
        carried = {node: (g, i) for g, part in enumerate(segments) for i, node in enumerate(part.children)}
        first: dict[tuple[int, int], int] = {}
        bases: dict[int, int] = {}
        for node in range(len(tree.parent)):
            slot, R, p = hang[tree.parent[node]] if tree.parent[node] >= 0 else (-1, np.eye(3), np.zeros(3))
            p = p + R @ tree.fixed_position[node]
            R = R @ tree.fixed_rotation[node]
            if node in carried:
                slot, R, p = self._flexible(segments, *carried[node], hang, (slot, R, p), rows, bodies, first, bases)
            if tree.coordinate[node] >= 0:
                axis, sign, Q = _align(tree.axis[node])
                coordinate, ratio, offset = place[int(tree.coordinate[node])]
                rows.append((slot, int(tree.kind[node]), coordinate, axis, sign * ratio, sign * offset, R @ Q, p))
                bodies.append([])
                slot, R, p = len(rows) - 1, Q.T.copy(), np.zeros(3)
            hang.append((slot, R, p))
            if slot >= 0 and (tree.mass[node] > 0.0 or np.any(tree.inertia[node])):
                bodies[slot].append((tree.mass[node], R @ tree.center_of_mass[node] + p, R @ tree.inertia[node] @ R.T))
        heavy = [bool(part) or row[1] == MODE for part, row in zip(bodies, rows, strict=True)]
        for i in range(len(rows) - 1, -1, -1):
            if heavy[i] and rows[i][0] >= 0:
                heavy[rows[i][0]] = True
        order = [i for i in range(len(rows)) if heavy[i]] + [i for i in range(len(rows)) if not heavy[i]]
        rank = {old: new for new, old in enumerate(order)} | {-1: -1}
        self.heavy = sum(heavy)
        self.node_i = np.zeros((len(rows), layout.NODE_INTS), dtype=np.int64)
        self.node_f = np.zeros((len(rows), layout.NODE_FLOATS))
        self.hang = [(rank[slot], R, p) for slot, R, p in hang]
        for old, (parent, kind, coordinate, axis, ratio, offset, R, p) in enumerate(rows):
            i = rank[old]
            plain = int(np.array_equal(R, np.eye(3)))
            self.node_i[i] = rank[parent], kind, coordinate, axis, plain, int(bool(bodies[old]))
            self.node_f[i, layout.RATIO], self.node_f[i, layout.OFFSET] = ratio, offset
            self.node_f[i, layout.FIXED_ROTATION : layout.FIXED_ROTATION + 9] = R.ravel()
            self.node_f[i, layout.FIXED_POSITION : layout.FIXED_POSITION + 3] = p
            for m, c, inertia in bodies[old]:
                J = inertia + m * (c @ c * np.eye(3) - np.outer(c, c))
                self.node_f[i, layout.LOCAL_MASS] += m
                self.node_f[i, layout.LOCAL_MOMENT : layout.LOCAL_MOMENT + 3] += m * c
                parts = np.array([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
                self.node_f[i, layout.LOCAL_INERTIA : layout.LOCAL_INERTIA + 6] += parts
        bending = [g for g in range(len(segments)) if g in bases]
        number = 0
        for g in bending:
            for k in range(len(segments[g].children)):
                r = segments[g].flexible.segment.r
                self.node_i[rank[first[g, k]] : rank[first[g, k]] + r, layout.PLAIN] = number
                number += 1
        self.segments, self.rows = compile_segments(
            [segments[g] for g in bending],
            [rank[bases[g]] for g in bending],
            [[rank[first[g, k]] for k in range(len(segments[g].children))] for g in bending],
            len(rows),
        )

    @staticmethod
    def _flexible(
        segments: Sequence[Stand],
        g: int,
        k: int,
        hang: list[tuple[int, Array, Array]],
        rest: tuple[int, Array, Array],
        rows: list[tuple[int, int, int, int, float, float, Array, Array]],
        bodies: list[list[tuple[float, Array, Array]]],
        first: dict[tuple[int, int], int],
        bases: dict[int, int],
    ) -> tuple[int, Array, Array]:
        """Slots of child interface k of segment g, and how its child hangs on the last; ``rest``: how it would hang if rigid."""
        part = segments[g]
        segment = part.flexible.segment
        slot, R, p = hang[part.node] if part.node >= 0 else (-1, np.eye(3), np.zeros(3))
        if slot != rest[0]:
            raise BadInput(
                f"the flexible segment {part.flexible.name!r} stands on another moving part than its child "
                f"{part.flexible.children[k]!r}; base and children must be rigidly connected in the tree"
            )
        p, R = p + R @ part.position, R @ part.rotation
        if segment.r == 0:
            if k == 0 and slot >= 0 and segment.mass > 0.0:
                com = segment.N[:, 0] / segment.mass
                S = segment.E[0, 0] - segment.mass * np.outer(com, com)
                bodies[slot].append((segment.mass, p + R @ com, R @ (np.trace(S) * np.eye(3) - S) @ R.T))
            return rest
        bases[g] = slot
        first[g, k] = len(rows)
        for a in range(segment.r):
            rows.append((slot, MODE, part.coordinate + a, a, 1.0, 0.0, R, p))
            bodies.append([])
            slot = len(rows) - 1
        c0 = segment.interfaces[k].c0
        return slot, R.T @ rest[1], R.T @ (rest[2] - p) - c0

    def depth(self, slot: int) -> int:
        """Number of slots from ``slot`` to the root."""
        count = 0
        while slot >= 0:
            count, slot = count + 1, int(self.node_i[slot, layout.PARENT])
        return count


def _align(axis: Array) -> tuple[int, float, Array]:
    """The coordinate axis a joint axis lies on, its sign, and the frame change to get there."""
    for k in range(3):
        if abs(abs(axis[k]) - 1.0) < 1e-14:
            return k, float(np.sign(axis[k])), np.eye(3)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    return 2, 1.0, np.column_stack([x, np.cross(axis, x), axis])


def compile_slots(tree: Tree, place: dict[int, tuple[int, float, float]], segments: Sequence[Stand] = ()) -> Slots:
    """The slots of a tree; see :class:`Slots`."""
    return Slots(tree, place, segments)


def compile_model(
    tree: Tree,
    slots: Slots,
    names: tuple[str, ...],
    inputs: tuple[str, ...],
    dynamic: Array,
    gravity: Array,
    potentials: Sequence[Potential],
    forces: Sequence[Force],
    constraints: Sequence[Constraint],
    armature: dict[str, float],
) -> tuple[Model, tuple[str, ...]]:
    """The arrays of a system and the names of its constraint rows."""
    features: list[tuple[int, int, Array, Array]] = []

    def feature(where: Where, direction: Array | None = None) -> int:
        node, p, R = resolve(tree, where)
        slot, turn, move = slots.hang[node] if node >= 0 else (-1, np.eye(3), np.zeros(3))
        local = move + turn @ p if direction is None else turn @ R @ direction
        features.append((slot, int(direction is None), local, turn @ R))
        return len(features) - 1

    def at(kind: str, name: str, known: tuple[str, ...]) -> int:
        if name not in known:
            raise BadInput(f"there is no {kind} {name!r}; known: {', '.join(known[:20]) or 'none'}")
        return known.index(name)

    table = np.zeros((len(names), 4))
    for name, value in armature.items():
        table[at("coordinate", name, names), layout.ARMATURE] += value
    pairs: list[tuple[int, int, float, float, float]] = []
    wrenches: list[tuple[list[int], list[float]]] = []
    actuators: list[tuple[int, int, float]] = []
    curved = False
    for potential in potentials:
        match potential:
            case PointSpring():
                _finite("a spring", potential.stiffness, potential.rest_length)
                ends = feature(potential.first), feature(potential.second)
                pairs.append((*ends, potential.stiffness, potential.rest_length, 0.0))
            case CoordinateSpring():
                _finite("a spring", potential.stiffness, potential.rest)
                c = at("coordinate", potential.coordinate, names)
                k0, k1 = table[c, layout.STIFFNESS], potential.stiffness
                if k0 + k1 != 0.0:
                    table[c, layout.REST] = (k0 * table[c, layout.REST] + k1 * potential.rest) / (k0 + k1)
                table[c, layout.STIFFNESS] = k0 + k1
    for force in forces:
        match force:
            case Damping():
                for name, value in force.coefficients.items():
                    _finite(f"the damping of {name!r}", value)
                    table[at("coordinate", name, names), layout.DAMPING] += value
            case PointDamper():
                _finite("a damper", force.damping)
                pairs.append((feature(force.first), feature(force.second), 0.0, 0.0, force.damping))
                curved = True
            case CoordinateForce():
                _finite("a gain", force.gain)
                actuators.append((at("coordinate", force.coordinate, names), at("input", force.input, inputs), force.gain))
            case Wrench():
                entries = (*force.force, *force.torque)
                which = [at("input", entry, inputs) if isinstance(entry, str) else -1 for entry in entries]
                constant = [0.0 if isinstance(entry, str) else float(entry) for entry in entries]
                _finite("a wrench", *constant)
                kind = {"body": codes.BODY, "hybrid": codes.HYBRID, "world": codes.SPATIAL}[force.axes]
                wrenches.append(([kind, feature(force.place), *which], constant))
                curved = True
    rows: list[tuple[int, int, int, int, int]] = []
    constants: list[tuple[float, ...]] = []
    labels: list[str] = []
    for number, constraint in enumerate(constraints):
        label = constraint.name or f"{type(constraint).__name__.lower()}-{number}"
        match constraint:
            case Distance():
                winch = isinstance(constraint.length, str)
                length = 0.0 if isinstance(constraint.length, str) else float(constraint.length)
                if not np.isfinite(length) or length < 0.0:
                    raise BadInput(f"the length of {label!r} is {length}; a string or rod has a finite length of 0 or more")
                c = at("coordinate", str(constraint.length), names) if winch else -1
                rows.append((codes.DISTANCE, feature(constraint.first), feature(constraint.second), -1, c))
                constants.append((length**2, 0.0, 0.0, 0.0))
                labels.append(label)
            case PointToPoint():
                if not constraint.axes or set(constraint.axes) - set("xyz") or len(set(constraint.axes)) < len(constraint.axes):
                    raise BadInput(f"{label!r} has axes {constraint.axes!r}; write one to three different letters of xyz")
                ends = feature(constraint.first), feature(constraint.second)
                for letter in constraint.axes:
                    rows.append((codes.DIRECTION, *ends, -1, -1))
                    constants.append((0.0, *np.eye(3)["xyz".index(letter)]))
                    labels.append(label if len(constraint.axes) == 1 else f"{label}.{letter}")
            case PointOnPlane():
                normal = _direction(label, constraint.normal)
                ends = feature(constraint.plane), feature(constraint.point)
                rows.append((codes.BILINEAR, *ends, feature(constraint.plane, normal), -1))
                constants.append((0.0, 0.0, 0.0, 0.0))
                labels.append(label)
            case _:
                first = feature(constraint.first, _direction(label, constraint.first_direction))
                second = feature(constraint.second, _direction(label, constraint.second_direction))
                rows.append((codes.BILINEAR, first, -1, second, -1))
                constants.append((constraint.cosine, 0.0, 0.0, 0.0))
                labels.append(label)
    damped = any(slots.segments.flexible_f[int(row[MASS_F]) + 1] > 0.0 for row in slots.segments.segment_i)
    longest = max([slots.depth(slot) for slot, *_ in features], default=0) * 3 + 1
    model = Model(
        slots.node_i,
        slots.node_f,
        table,
        np.array([f[:2] for f in features], dtype=np.int64).reshape(-1, 2),
        np.array([np.concatenate([f[2], f[3].ravel()]) for f in features], dtype=np.float64).reshape(-1, 12),
        np.array(rows, dtype=np.int64).reshape(-1, 5),
        np.array(constants, dtype=np.float64).reshape(-1, 4),
        np.array([p[:2] for p in pairs], dtype=np.int64).reshape(-1, 2),
        np.array([p[2:] for p in pairs], dtype=np.float64).reshape(-1, 3),
        np.array([w[0] for w in wrenches], dtype=np.int64).reshape(-1, 8),
        np.array([w[1] for w in wrenches], dtype=np.float64).reshape(-1, 6),
        np.array([a[:2] for a in actuators], dtype=np.int64).reshape(-1, 2),
        np.array([a[2] for a in actuators], dtype=np.float64),
        np.flatnonzero(dynamic).astype(np.int64),
        np.flatnonzero(~dynamic.astype(bool)).astype(np.int64),
        gravity,
        Sizes(slots.heavy, longest, slots.rows, curved or damped, curved),
        slots.segments if len(slots.segments.segment_i) else (),
    )
    return model, tuple(labels)


def _finite(what: str, *numbers: float) -> None:
    if not all(np.isfinite(number) for number in numbers):
        raise BadInput(f"{what} has the numbers {numbers}; they must be finite")


def _direction(label: str, vector: tuple[float, float, float]) -> Array:
    direction = np.array(vector, dtype=np.float64)
    norm = np.linalg.norm(direction)
    if direction.shape != (3,) or not np.isfinite(norm) or norm < 1e-12:
        raise BadInput(f"{label!r} has the direction {vector}; it needs three finite numbers, not all zero")
    return direction
