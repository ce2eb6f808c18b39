"""Self-collision of a character over a motion: the least signed distance of every pair of bodies that should not touch.

Left out are bodies joined by a joint or rigidly, pairs in ``may_touch``, and pairs whose shapes already overlap at home (the
shapes are then coarser than the machine; the report names them). Meshes are not interpreted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import WORLD, Body, Character, Pose, Shape
from bunraku.errors import BadInput
from bunraku.mechanics.collision import distance_kernels as kernels
from bunraku.mechanics.collision import support_kernels as supports
from bunraku.mechanics.tree import Tree, rotation_of

_KIND = {
    "sphere": supports.SPHERE,
    "capsule": supports.CAPSULE,
    "box": supports.BOX,
    "cylinder": supports.CYLINDER,
    "ellipsoid": supports.ELLIPSOID,
}
_CHUNK = 4096


@dataclass(frozen=True)
class Proximity:
    """Two bodies at their nearest: signed distance [m], negative by the depth of penetration, and the frame."""

    body_a: str
    body_b: str
    distance: float
    index: int


@dataclass(frozen=True)
class CollisionReport:
    """What came near what. ``nearest``: every pair of bodies watched, the closest first; ``pairs``: those nearer than the margin.

    ``least_distance`` [m] is infinite when there is nothing to watch. ``touching_at_home`` were left out; ``notes`` say so.
    ``shapeless``: bodies that could meet another and have no shape to tell it by (a mesh, or none at all).
    """

    least_distance: float
    pairs: tuple[Proximity, ...]
    nearest: tuple[Proximity, ...]
    touching_at_home: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    shapeless: tuple[str, ...] = ()

    @property
    def free(self) -> bool:
        """Whether no two bodies came nearer than the margin."""
        return not self.pairs


def self_collisions(character: Character, tree: Tree, q: Array, *, margin: float = 0.0) -> CollisionReport:
    """Least signed distance of all pairs of bodies over the configurations ``q`` (m, nq); exact at every frame, none between.

    ``pairs`` lists the pairs nearer than ``margin`` [m].
    """
    q = np.atleast_2d(np.asarray(q, dtype=np.float64))
    names, shapes, notes = _shapes(character)
    node = np.array([tree.nodes[name] for name in names], dtype=np.int64)
    kind = np.array([_KIND[shape.kind] for shape in shapes], dtype=np.int64)
    size = np.array([_size(shape) for shape in shapes]).reshape(-1, 3)
    reach = np.array([_reach(shape) for shape in shapes])
    local_rotation = np.array([rotation_of(shape.pose) for shape in shapes]).reshape(-1, 3, 3)
    local_position = np.array([shape.pose.position for shape in shapes]).reshape(-1, 3)
    apart = _strangers(character)
    chosen = [(a, b) for a in range(len(names)) for b in range(a + 1, len(names)) if (names[a], names[b]) in apart]

    def least(pairs: list[tuple[int, int]], configurations: Array) -> tuple[Array, NDArray[np.int64]]:
        smallest, when = np.full(len(pairs), np.inf), np.zeros(len(pairs), dtype=np.int64)
        first, second = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
        for start in range(0, len(configurations), _CHUNK):
            rotation, position = tree.poses(configurations[start : start + _CHUNK])
            m, n = len(rotation), len(shapes)
            turned, placed, moved = np.empty((m, n, 3, 3)), np.empty((m, n, 3)), np.empty((m, n))
            kernels.shape_poses(rotation, position, node, local_rotation, local_position, reach, turned, placed, moved)
            kernels.least_distances(kind, size, reach, first, second, turned, placed, moved, start, smallest, when)
        return smallest, when

    if not chosen:
        return CollisionReport(float("inf"), (), (), (), tuple(notes), _shapeless(character, apart, names, watched=False))
    at_home = least(chosen, tree.home[None, :])[0]
    touching = {(names[a], names[b]) for (a, b), distance in zip(chosen, at_home, strict=True) if distance <= 0.0}
    watched = [(a, b) for a, b in chosen if (names[a], names[b]) not in touching]
    distances, frames = least(watched, q)
    best: dict[tuple[str, str], Proximity] = {}
    for (a, b), distance, frame in zip(watched, distances, frames, strict=True):
        key = (names[a], names[b])
        if key not in best or distance < best[key].distance:
            best[key] = Proximity(*key, float(distance), int(frame))
    nearest = tuple(sorted(best.values(), key=lambda contact: (contact.distance, contact.body_a, contact.body_b)))
    if touching:
        listed = ", ".join(f"{a} and {b}" for a, b in sorted(touching)[:6]) + (" and others" if len(touching) > 6 else "")
        notes.append(f"{len(touching)} pairs of shapes overlap at home already and are not watched: {listed}")
    return CollisionReport(
        nearest[0].distance if nearest else float("inf"),
        tuple(contact for contact in nearest if contact.distance < margin),
        nearest,
        tuple(sorted(touching)),
        tuple(notes),
        _shapeless(character, apart, names, watched=True),
    )


def shape_distance(shape_a: Shape, pose_a: Pose, shape_b: Shape, pose_b: Pose) -> float:
    """Signed distance [m] of two shapes whose bodies stand at the given world poses; each shape's own pose is applied."""
    for shape in (shape_a, shape_b):
        if shape.kind == "mesh":
            raise BadInput("the distance of a mesh is not computed; describe the body by boxes, capsules or other primitives")
    placed = []
    for shape, pose in ((shape_a, pose_a), (shape_b, pose_b)):
        R = rotation_of(pose)
        placed.append((R @ rotation_of(shape.pose), np.array(pose.position) + R @ np.array(shape.pose.position)))
    (R_a, p_a), (R_b, p_b) = placed
    size_a, size_b = np.array(_size(shape_a)), np.array(_size(shape_b))
    return float(kernels.pair_distance(_KIND[shape_a.kind], size_a, R_a, p_a, _KIND[shape_b.kind], size_b, R_b, p_b))


def _shapes(character: Character) -> tuple[list[str], list[Shape], list[str]]:
    """The colliding primitives with the names of their bodies, bodies in order; notes on what cannot be used."""
    names, shapes, meshes = [], [], []
    for body in character.bodies:
        for shape in body.shapes:
            if shape.collides and shape.kind == "mesh":
                meshes.append(body.name)
            elif shape.collides:
                names.append(body.name)
                shapes.append(shape)
    notes = [f"meshes are not watched for collisions: {', '.join(sorted(set(meshes))[:6])}"] if meshes else []
    return names, shapes, notes


def _shapeless(character: Character, apart: set[tuple[str, str]], names: list[str], *, watched: bool) -> tuple[str, ...]:
    """Bodies of pairs ``apart`` that are not among ``names``, which have shapes: those with a mesh that collides, or without any.

    Bodies whose shapes are said not to collide are meant so, as long as others are ``watched``; so are frames that weigh nothing.
    """
    meeting = {name for pair in apart for name in pair}

    def unknown(body: Body) -> bool:
        if not watched:
            return True
        return any(shape.collides for shape in body.shapes) or (not body.shapes and body.mass > 0.0)

    return tuple(body.name for body in character.bodies if body.name in meeting and body.name not in names and unknown(body))


def _size(shape: Shape) -> tuple[float, float, float]:
    numbers = (*shape.size, 0.0, 0.0)
    return numbers[0], numbers[1], numbers[2]


def _reach(shape: Shape) -> float:
    """Greatest distance of a shape's point from its centre."""
    match shape.kind:
        case "box":
            return float(np.linalg.norm(shape.size))
        case "cylinder":
            return float(np.hypot(shape.size[0], shape.size[1]))
        case "capsule":
            return shape.size[0] + shape.size[1]
        case _:
            return max(shape.size)


def _strangers(character: Character) -> set[tuple[str, str]]:
    """Pairs of bodies, in the order of the character, that are neither rigidly joined, nor neighbours, nor allowed to touch."""
    group = {body.name: body.name for body in character.bodies} | {WORLD: WORLD}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    for joint in character.joints:
        if joint.kind == "fixed":
            group[root(joint.child)] = root(joint.parent)
    closed = (*character.joints, *character.loops)
    neighbours = {frozenset((root(joint.parent), root(joint.child))) for joint in closed}
    allowed = {frozenset(pair) for pair in character.may_touch}
    names = [body.name for body in character.bodies]
    return {
        (a, b)
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        if root(a) != root(b) and frozenset((root(a), root(b))) not in neighbours and frozenset((a, b)) not in allowed
    }
