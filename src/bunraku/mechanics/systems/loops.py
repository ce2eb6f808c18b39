"""Closed chains: the constraints of the joints that close a character's loops, freed of what repeats.

A joint that closes a loop stands with its frame F on the parent and its frame G on the child. With a its axis, b and c square to
it, p and R positions and rotations in the world, the rows are

    across, along   (p_F - p_G).(R_F n) = 0, n one of b, c, a        tilt, turn   (R_F n).(R_G m) = cos = n.m

hinge: across-1, across-2, along, and tilt-1, tilt-2 (n = b, c; m = a). slide: across-1, across-2 and no turn (both tilts, turn).
ball: three points. universal: three points and (R_F a1).(R_G a2) = a1.a2. planar: along and both tilts about z. fixed: three
points, no turn. Rows stand in the axes of the parent, so a row that is idle (in a flat linkage: along and both tilts) is idle in
every pose, and it is safe to leave it out. Parts that bend free rows: two stiff legs under one pelvis need all six.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.character import WORLD, Character, Joint, Pose
from bunraku.errors import BadInput
from bunraku.geometry.poses import NO_MOVE, Rigid, compose, inverse
from bunraku.geometry.rotations import logarithm
from bunraku.mechanics.dynamics.constraints import Constraint, PointOnPlane, SquareDirections
from bunraku.mechanics.dynamics.flexible.attach import Flexible
from bunraku.mechanics.dynamics.initial import make_consistent
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.poses import find_pose
from bunraku.mechanics.dynamics.system import System, build_system
from bunraku.mechanics.tree import Tree, rotation_of

_SAMPLES, _REACH, _RANK = 6, 0.1, 1e-7


@dataclass(frozen=True)
class LoopClosure:
    """What closes a character's loops: independent ``constraints``, the names of the rows left out as ``redundant``.

    ``q`` (tree.nq,) is the closed configuration nearest to home, parts unbent; ``gap`` [m] how far the worst loop's points are
    apart at home.
    """

    constraints: tuple[Constraint, ...]
    redundant: tuple[str, ...]
    q: Array
    gap: float

    @property
    def note(self) -> str:
        """One line on what was left out and how far home was from closed; empty when there is nothing to say."""
        parts = [f"redundant and left out: {', '.join(self.redundant)}"] if self.redundant else []
        parts += [f"at home the ends of a loop were {1e3 * self.gap:.3g} mm apart; closed"] if self.gap > 1e-9 else []
        return "; ".join(parts)


def close_loops(
    character: Character, tree: Tree, *, kinematic: Sequence[str] = (), segments: Sequence[Flexible] = ()
) -> LoopClosure:
    """Close the loops of a character at home and find which rows of their constraints are needed.

    ``kinematic`` names prescribed coordinates: they do not move to close a loop. ``segments``: the parts that bend. Rank is
    measured at home and at poses around it on the constraints (a mode counts by how far it moves with an energy of 1 J); of
    dependent rows the best-conditioned are kept, and the others are checked to hold where those do. Raises BadInput, with how far
    apart the ends are, when no pose near home closes the loops.
    """
    rows = [row for loop in character.loops for row in _rows(loop)]
    if not rows:
        return LoopClosure((), (), tree.home.copy(), 0.0)
    probe = _probe(tree, kinematic, rows, segments)
    scale = _scales(probe, segments)
    gaps = loop_gaps(character, tree, tree.home)
    home = _closed_home(character, tree, kinematic, rows, probe, gaps)
    samples = _around(probe, home, scale)
    kept = _independent(probe, samples, segments)
    chosen = [rows[i] for i in kept]
    idle = [i for i in range(len(rows)) if i not in kept]
    closed = _probe(tree, kinematic, chosen, segments)
    for q in samples:
        at = make_consistent(closed, q + 1e-2 * scale * np.isin(np.arange(len(q)), probe.dynamic))
        worst = np.abs(probe.constraint_values(at.q))[idle] if at.status.good else np.zeros(1)
        if worst.max(initial=0.0) > 1e-8:
            name = probe.constraint_names[idle[int(np.argmax(worst))]]
            raise BadInput(f"{name!r} depends on other closed loops at home but not near it: a singular pose; give another home")
    redundant = tuple(probe.constraint_names[i] for i in idle)
    return LoopClosure(tuple(chosen), redundant, probe.tree_configuration(home), max(gap for gap, _ in gaps.values()))


def loop_gaps(character: Character, tree: Tree, q: ArrayLike) -> dict[str, tuple[float, float]]:
    """How far [m] and by what angle [rad] the frames of each closing joint miss each other at q (tree.nq,), what it frees aside."""
    at = tree.configuration(np.asarray(q, dtype=np.float64))
    return _gaps(character, at.pose)


def system_gaps(character: Character, system: System, q: ArrayLike) -> dict[str, tuple[float, float]]:
    """The same at q (nq,) of a system of the character, flexible parts bent."""
    return _gaps(character, lambda body: find_pose(system, q, body))


def _gaps(character: Character, pose_of: Callable[[str], Rigid]) -> dict[str, tuple[float, float]]:
    def world(body: str, pose: Pose) -> Rigid:
        outer = NO_MOVE if body == WORLD else pose_of(body)
        return compose(outer, (rotation_of(pose), np.array(pose.position)))

    gaps = {}
    for loop in character.loops:
        R, p = compose(inverse(world(loop.parent, loop.pose)), world(loop.child, loop.child_pose))
        a, b, c = _frame(loop)
        points, turns = _freedom(loop)
        miss = np.array([p @ n for n, held in ((b, points[0]), (c, points[1]), (a, points[2])) if held])
        angle = 0.0
        if loop.kind == "universal":
            angle = abs(float(np.arcsin(np.clip(a @ (R - np.eye(3)) @ _unit(loop.second_axis), -1.0, 1.0))))
        elif turns == 2:
            angle = float(np.arctan2(np.linalg.norm(np.cross(a, R @ a)), a @ R @ a))
        elif turns == 3:
            angle = float(np.linalg.norm(logarithm(R)))
        gaps[loop.name] = float(np.linalg.norm(miss)), angle
    return gaps


def mobility(system: System, q: ArrayLike, *, tolerance: float = 1e-9) -> int:
    """How many ways the system can move at q (nq,): dynamic coordinates less the rank of the constraints on them."""
    if not system.nc:
        return system.nd
    return system.nd - int(np.linalg.matrix_rank(system.constraint_jacobian(q)[:, system.dynamic], tol=tolerance))


def _unit(vector: Iterable[float]) -> Array:
    values = np.array(list(vector))
    unit: Array = values / np.linalg.norm(values)
    return unit


def _frame(loop: Joint) -> tuple[Array, Array, Array]:
    """The axis of a joint and two directions square to it and to each other, coordinate axes where it is one."""
    a = np.array([0.0, 0.0, 1.0]) if loop.kind == "planar" else _unit(loop.axis)
    if loop.kind in ("ball", "fixed"):
        a = np.array([0.0, 0.0, 1.0])
    b = np.eye(3)[int(np.argmin(np.abs(a)))]
    b = _unit(b - a * (a @ b))
    return a, b, np.cross(a, b)


def _freedom(loop: Joint) -> tuple[tuple[bool, bool, bool], int]:
    """Which displacements (across b, across c, along a) a joint holds, and how many turns: 0, 1 (universal), 2 (tilts), 3."""
    every, flat, across = (True, True, True), (False, False, True), (True, True, False)
    return {
        "hinge": (every, 2),
        "slide": (across, 3),
        "ball": (every, 0),
        "universal": (every, 1),
        "planar": (flat, 2),
        "fixed": (every, 3),
    }[loop.kind]


def _rows(loop: Joint) -> list[Constraint]:
    """The constraints of one closing joint, one row each."""
    F, G = _place(loop.parent, loop.pose), _place(loop.child, loop.child_pose)
    a, b, c = _frame(loop)
    points, turns = _freedom(loop)
    rows: list[Constraint] = [
        PointOnPlane(F, _three(n), G, f"{loop.name}.{label}")
        for n, label, held in zip((b, c, a), ("across-1", "across-2", "along"), points, strict=True)
        if held
    ]
    tilts = [(b, a, "tilt-1"), (c, a, "tilt-2")]
    pairs = {0: [], 1: [(a, _unit(loop.second_axis), "square")], 2: tilts, 3: [*tilts, (b, c, "turn")]}[turns]
    return rows + [SquareDirections(F, _three(n), G, _three(m), float(n @ m), f"{loop.name}.{label}") for n, m, label in pairs]


def _place(body: str, pose: Pose) -> Place:
    x, y, z = (_three(row) for row in rotation_of(pose))
    return Place(body, pose.position, (x, y, z))


def _three(vector: Array) -> tuple[float, float, float]:
    return float(vector[0]), float(vector[1]), float(vector[2])


def _probe(tree: Tree, kinematic: Sequence[str], rows: Sequence[Constraint], segments: Sequence[Flexible]) -> System:
    """A system for its constraints only: every coordinate has a rotor, so none is without mass."""
    followers = {follower for _, follower, _, _ in tree.couplings}
    rotors = {name: 1.0 for i, name in enumerate(tree.names) if i not in followers}
    prescribed = [name for name in kinematic if name in rotors]
    return build_system(tree, kinematic=prescribed, constraints=rows, armature=rotors, segments=segments)


def _closed_home(
    character: Character,
    tree: Tree,
    kinematic: Sequence[str],
    rows: Sequence[Constraint],
    probe: System,
    gaps: dict[str, tuple[float, float]],
) -> Array:
    """The closed configuration (nq,) of the probe nearest to home: by its joints alone, all parts unbent.

    BadInput if there is none.
    """
    rigid = _probe(tree, kinematic, rows, ())
    closed = make_consistent(rigid, rigid.home)
    if not closed.status.good:
        raise BadInput(_apart(gaps, loop_gaps(character, tree, rigid.tree_configuration(closed.q))))
    home = probe.home.copy()
    home[[probe.index(name) for name in rigid.names]] = closed.q
    return home


def _scales(probe: System, segments: Sequence[Flexible]) -> Array:
    """How far (nq,) to go from home: the reach for joints.

    For a mode what moves its interfaces by a hundredth of their distance.
    """
    scale = np.full(probe.nq, _REACH)
    for flexible in segments:
        faces = flexible.segment.interfaces
        far = max(float(np.linalg.norm(face.c0)) for face in faces)
        for a, name in enumerate(flexible.coordinates):
            moved = max(float(np.linalg.norm(face.C[:, a])) + far * float(np.linalg.norm(face.A[a])) for face in faces)
            scale[probe.index(name)] = 0.1 * _REACH * far / moved if moved > 0.0 else 0.0
    return scale


def _compliances(probe: System, segments: Sequence[Flexible]) -> Array:
    """S (nq, nq): the identity at joints, a root of the inverse stiffness at the modes of each part.

    (J S)(J S)' is how far rows with the Jacobian J move under forces of their own.
    """
    S = np.eye(probe.nq)
    for flexible in segments:
        if not flexible.segment.r:
            continue
        first, L1 = probe.index(flexible.coordinates[0]), flexible.segment.L1
        values, vectors = np.linalg.eigh(L1 @ L1.T)
        if flexible.segment.k and values[-1] > 0.0:
            root = vectors / np.sqrt(np.maximum(values, 1e-14 * values[-1]))
            S[first : first + len(L1), first : first + len(L1)] = root
    return S


def _around(probe: System, home: Array, scale: Array) -> list[Array]:
    """Home and some closed configurations around it."""
    rng, samples = np.random.default_rng(0), [home]
    for _ in range(_SAMPLES):
        start = home.copy()
        start[probe.dynamic] += rng.uniform(-1.0, 1.0, probe.nd) * scale[probe.dynamic]
        back = make_consistent(probe, start)
        if back.status.good:
            samples.append(back.q)
    return samples


def _independent(probe: System, samples: Sequence[Array], segments: Sequence[Flexible]) -> list[int]:
    """The rows to keep, in order: as many as the largest rank among the samples, best-conditioned there (home if it has it)."""
    S = _compliances(probe, segments)[probe.dynamic]
    tables = [probe.constraint_jacobian(q)[:, probe.dynamic] @ S for q in samples]
    size = np.maximum(np.max([np.linalg.norm(table, axis=1) for table in tables], axis=0), 1e-12)
    size[size < 1e-9] = np.inf
    best: list[int] = []
    for table in tables:
        R, pivot = scipy.linalg.qr((table / size[:, None]).T, mode="r", pivoting=True)
        rank = int(np.count_nonzero(np.abs(np.diag(R)) > _RANK))
        if rank > len(best):
            best = sorted(int(i) for i in pivot[:rank])
    return best


def _apart(gaps: dict[str, tuple[float, float]], left: dict[str, tuple[float, float]]) -> str:
    name = max(left, key=lambda key: left[key][0] + 0.1 * left[key][1])
    (far, angle), (still, still_angle) = gaps[name], left[name]
    return (
        f"the loop {name!r} does not close: at home its ends are {1e3 * far:.3g} mm and {np.degrees(angle):.3g} deg apart, and the "
        f"nearest pose leaves {1e3 * still:.3g} mm and {np.degrees(still_angle):.3g} deg; change the lengths or the home pose"
    )
