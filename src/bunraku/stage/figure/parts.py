"""Flexible parts as they are drawn: a surface of triangles whose points follow the nodes of the part's solid.

Round parts (rods, tubes) are drawn as a tube of `AROUND` corners and `ALONG` rings: of every layer of nodes the affine motion of
its section is taken, by least squares, and between layers a cubic spline. Other parts are drawn with the triangles of their solid.

How they bend over time is computed again from what the motors do, with the reduced model. This takes a second or two for a long
clip, so whoever must not wait calls it in a process of its own.
The outer surface of a skin is as its frames computed it, or, without those, follows the bodies it is glued to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.spatial import cKDTree

from bunraku.arrays import Array
from bunraku.character import WORLD, Character, PartShape, SkinMesh
from bunraku.errors import BadInput
from bunraku.geometry.tet_mesh import TetMesh, boundary_faces, cell_volumes
from bunraku.mechanics.coupled.known_skins import skin_of
from bunraku.mechanics.coupled.outer_surface import outer_surface
from bunraku.mechanics.elastic.part import part_solids
from bunraku.mechanics.flexible.prediction import motor_nodes
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem
from bunraku.mechanics.integrators.driven.outputs import track
from bunraku.mechanics.integrators.driven.rest import rest_motion
from bunraku.mechanics.integrators.driven.simulate import simulate
from bunraku.mechanics.tree import compile_tree, rotation_of
from bunraku.motion import JointCurves, SurfaceMotion


@dataclass(frozen=True, eq=False)
class Deforming:
    """A surface that deforms: ``points`` (m, v, 3) [m] float32, ``faces`` (f, 3) int32, one ``color`` (4), red to opacity."""

    name: str
    points: NDArray[np.float32]
    faces: NDArray[np.int32]
    color: tuple[float, float, float, float]


Indices = NDArray[np.int64]

PART_COLOR = (0.83, 0.69, 0.42, 1.0)
"""Of parts that bend."""

AROUND, ALONG = 12, 24


@dataclass(frozen=True, eq=False)
class PartSurface:
    """A flexible part to be drawn: ``vertices`` (v, 3) at rest and ``faces`` (f, 3), in the part's frame, which stands on ``base``.

    ``rotation`` (3, 3) and ``position`` (3,) are its pose there. ``weights`` (v, n) take displacements of the solid's n nodes to
    its vertices; None: the vertices are the nodes ``nodes`` (v,). ``mass`` [kg] and ``center`` (3,) are those of the part unbent.
    """

    name: str
    base: str
    rotation: Array
    position: Array
    vertices: Array
    faces: Indices
    weights: Array | None
    nodes: Indices
    mass: float
    center: Array

    def moved(self, shapes: Array) -> Array:
        """What shapes (r, 3 n) of the solid's nodes are at the vertices: (r, v, 3)."""
        at = shapes.reshape(len(shapes), -1, 3)
        return at[:, self.nodes] if self.weights is None else self.weights @ at


def part_surfaces(character: Character) -> tuple[PartSurface, ...]:
    """The surface of every flexible part; the meshes of parts that are files are those read with the character."""
    surfaces = []
    for name, built in part_solids(character).items():
        mesh, part = built.solid.mesh, built.part
        volume = cell_volumes(mesh)
        center = volume @ mesh.nodes[mesh.cells[:, :4]].mean(axis=1) / volume.sum()
        if part.shape.kind in ("rod", "tube"):
            vertices, faces, weights = _round(part.shape, mesh)
            nodes = np.zeros(0, dtype=np.int64)
        else:
            (nodes, faces), weights = _triangles(mesh), None
            vertices = mesh.nodes[nodes]
        surfaces.append(
            PartSurface(
                name,
                part.base,
                rotation_of(part.pose),
                np.array(part.pose.position),
                vertices,
                faces,
                weights,
                nodes,
                built.solid.total_mass,
                center,
            )
        )
    return tuple(surfaces)


def _round(shape: PartShape, mesh: TetMesh) -> tuple[Array, Indices, Array]:
    """Vertices, faces and weights of a round part: rings from end to end, then the middles of both ends."""
    length, radius = float(shape.length or 0.0), 0.5 * float(shape.diameter or 0.0)
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    z = np.linspace(0.0, length, ALONG)
    side = np.column_stack([np.tile(ring, (ALONG, 1)), np.repeat(z, AROUND)])
    vertices = np.vstack([side, [[0.0, 0.0, 0.0], [0.0, 0.0, length]]])
    rows = np.arange(ALONG * AROUND).reshape(ALONG, AROUND)
    faces = []
    for low, high in pairwise(rows):
        over, under = np.roll(high, -1), np.roll(low, -1)
        faces += [np.column_stack([low, under, over]), np.column_stack([low, over, high])]
    first, last = ALONG * AROUND, ALONG * AROUND + 1
    faces.append(np.column_stack([np.roll(rows[0], -1), rows[0], np.full(AROUND, first)]))
    faces.append(np.column_stack([rows[-1], np.roll(rows[-1], -1), np.full(AROUND, last)]))
    return vertices, np.vstack(faces).astype(np.int64), _section_weights(mesh.nodes, vertices)


def _section_weights(nodes: Array, vertices: Array) -> Array:
    """Weights (v, n) that give ``vertices`` the affine motion of the sections of ``nodes``, layer by layer along z."""
    levels, layer = np.unique(np.round(nodes[:, 2], 9), return_inverse=True)
    between = CubicSpline(levels, np.eye(len(levels)))(vertices[:, 2])
    here = np.column_stack([np.ones(len(vertices)), vertices[:, :2]])
    weights = np.zeros((len(vertices), len(nodes)))
    for k in range(len(levels)):
        mine = np.flatnonzero(layer == k)
        fit = np.linalg.pinv(np.column_stack([np.ones(len(mine)), nodes[mine, :2]]))
        weights[:, mine] = between[:, k : k + 1] * (here @ fit)
    return weights


def _triangles(mesh: TetMesh) -> tuple[Indices, Indices]:
    """The nodes (v,) of a solid's surface and its triangles (f, 3) of them, four a quadratic face."""
    faces = boundary_faces(mesh)
    if mesh.order == 2:
        a, b, c, ab, bc, ca = faces.T
        faces = np.vstack([np.column_stack(one) for one in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    nodes, numbers = np.unique(faces, return_inverse=True)
    return nodes, np.asarray(numbers, dtype=np.int64).reshape(-1, 3)


How = Literal["swinging", "resting"]

STEP = 2e-3
"""Step [s] of the simulation that is drawn; points of the drummer and the dancer are within 0.06 mm of those of 0.5 ms."""

REST_STEP = 0.04
"""Every so long [s] the rest is computed; between, it goes along a spline."""


@dataclass(frozen=True, eq=False)
class Bent:
    """Bodies ``R`` (m, bodies, 3, 3), ``p`` (m, bodies, 3), points (m, v, 3) of each part, mass times centre (m, 3) of them."""

    R: Array
    p: Array
    surfaces: tuple[NDArray[np.float32], ...]
    moment: Array


def bend(
    model: FlexibleCharacterSystem,
    bodies: Sequence[str],
    surfaces: Sequence[PartSurface],
    curves: JointCurves,
    times: Array,
    how: How,
) -> Bent:
    """The character under motor curves at some ``times`` (m,) [s]: swinging as it does, or at rest in every pose of the curves.

    Swinging, the curves are commands, which motors follow after the delay they state; BadInput when that cannot be simulated.
    """
    if how == "swinging":
        motion = simulate(model.system, motor_nodes(model, curves, STEP, late=True), STEP)
        motion.require()
        return standing(model, bodies, surfaces, _between(motion.q, times / STEP))
    nodes = motor_nodes(model, curves, 1.0 / curves.rate)  # all of them, however few are drawn: each rest is found from the last
    rest = rest_motion(model.system, nodes, start=model.home, stride=max(1, round(REST_STEP * curves.rate)))
    if not rest.status.good:
        raise BadInput(f"the poses cannot be held at rest: {rest.message}")
    return standing(model, bodies, surfaces, _between(rest.q, times * curves.rate))


def _between(rows: Array, place: Array) -> Array:
    """Rows at fractional places (m,), straight between two, held after the last."""
    at = np.clip(place, 0.0, len(rows) - 1)
    low = np.minimum(np.floor(at + 1e-9).astype(np.int64), len(rows) - 1)
    high = np.minimum(low + 1, len(rows) - 1)
    share = np.clip(at - low, 0.0, 1.0)[:, None]
    return np.asarray((1.0 - share) * rows[low] + share * rows[high])


def standing(model: FlexibleCharacterSystem, bodies: Sequence[str], surfaces: Sequence[PartSurface], q: Array) -> Bent:
    """The character at configurations ``q`` (m, nq) of its system, modal coordinates and all."""
    seen = track(model.system, positions=tuple(bodies)).observe(np.ascontiguousarray(q))
    R, p = seen.rotations, seen.positions
    points, moment = [], np.zeros((len(q), 3))
    for surface in surfaces:
        reduction = model.parts[surface.name].reduction
        u = q[:, model.coordinates(surface.name)]
        shapes = surface.moved(reduction.shapes)
        local = surface.vertices + (u @ shapes.reshape(len(shapes), -1)).reshape(len(u), -1, 3)
        R_F, p_F = _stand(surface, bodies, R, p)
        points.append(_points(local, R_F, p_F))
        N = reduction.segment.N
        moment += reduction.segment.mass * p_F + np.einsum("mij,mj->mi", R_F, N[:, 0] + u @ N[:, 1:].T)
    return Bent(R, p, tuple(points), moment)


def unbent(bodies: Sequence[str], surfaces: Sequence[PartSurface], R: Array, p: Array) -> Bent:
    """The character with bodies at ``R``, ``p`` and its parts as if rigid."""
    points, moment = [], np.zeros((len(p), 3))
    for surface in surfaces:
        R_F, p_F = _stand(surface, bodies, R, p)
        points.append(_points(np.broadcast_to(surface.vertices, (len(p), *surface.vertices.shape)), R_F, p_F))
        moment += surface.mass * (p_F + R_F @ surface.center)
    return Bent(R, p, tuple(points), moment)


def _stand(surface: PartSurface, bodies: Sequence[str], R: Array, p: Array) -> tuple[Array, Array]:
    """The pose (m, 3, 3), (m, 3) of a part's frame in the world."""
    if surface.base == WORLD:
        return np.tile(surface.rotation, (len(p), 1, 1)), np.tile(surface.position, (len(p), 1))
    at = list(bodies).index(surface.base)
    return R[:, at] @ surface.rotation, p[:, at] + R[:, at] @ surface.position


def _points(local: Array, R: Array, p: Array) -> NDArray[np.float32]:
    """Points (m, v, 3) of a frame, in the world."""
    return np.ascontiguousarray(local @ np.swapaxes(R, -1, -2) + p[:, None], dtype=np.float32)


SKIN_COLOR = (0.80, 0.62, 0.38, 1.0)
NEAREST, POWER = 4, 4.0
"""How many bodies a point of the skin follows, and the power of the distance to their glue that their shares fall with."""


@dataclass(frozen=True, eq=False)
class FollowingSkin:
    """A skin that follows its bodies: each point moves by a mean of the motions since home of the bodies glued nearest to it.

    ``rest`` (v, 3) [m] and ``faces`` (f, 3) of the outer surface at home; ``weights`` (v, k) of the k ``bodies`` (indices into
    those of a figure), each row of sum 1; ``turn`` (k, 3, 3) and ``place`` (k, 3) their poses at home; ``mass`` (k,) [kg] of the
    skin's material that each carries and ``first`` (k, 3) [kg·m] its mass times place at home.
    """

    rest: Array
    faces: NDArray[np.int32]
    weights: Array
    bodies: Indices
    turn: Array
    place: Array
    mass: Array
    first: Array

    def points(self, R: Array, p: Array) -> NDArray[np.float32]:
        """The points (m, v, 3) of the surface when a figure's bodies are at ``R`` (m, bodies, 3, 3), ``p`` (m, bodies, 3)."""
        turns, shifts = self._motions(R, p)
        moves = np.concatenate([turns.reshape(*turns.shape[:2], 9), shifts], axis=2)
        points = np.empty((len(p), len(self.rest), 3), dtype=np.float32)
        for k, move in enumerate(moves):
            blend = self.weights @ move
            points[k] = np.einsum("vij,vj->vi", blend[:, :9].reshape(-1, 3, 3), self.rest) + blend[:, 9:]
        return points

    def moment(self, R: Array, p: Array) -> Array:
        """Mass times centre of mass (m, 3) [kg·m] of the whole skin, following as its surface does."""
        turns, shifts = self._motions(R, p)
        return np.asarray(np.einsum("mkij,kj->mi", turns, self.first) + np.einsum("k,mki->mi", self.mass, shifts))

    def _motions(self, R: Array, p: Array) -> tuple[Array, Array]:
        """The motion of each body since home: x = turns X + shifts."""
        turns = R[:, self.bodies] @ np.swapaxes(self.turn, -1, -2)
        return turns, p[:, self.bodies] - np.einsum("mkij,kj->mki", turns, self.place)


def following_skin(character: Character, bodies: Sequence[str]) -> FollowingSkin:
    """The skin that was read with a character, ready to follow its ``bodies``; BadInput if it was not read."""
    mesh = skin_of(character)
    nodes, faces = outer_surface(mesh)
    glued = sorted(set(mesh.glue_body.tolist()))
    order = np.array([list(bodies).index(mesh.bodies[b]) for b in glued], dtype=np.int64)
    tree = compile_tree(character)
    home = tree.configuration(tree.home)
    at = [tree.nodes[mesh.bodies[b]] for b in glued]
    weights = _shares(mesh, glued)
    weight = _node_masses(character, mesh)
    carried = weights * weight[:, None]
    return FollowingSkin(
        mesh.nodes[nodes], faces.astype(np.int32), weights[nodes], order, home.rotation[at], home.position[at],
        carried.sum(axis=0), carried.T @ mesh.nodes,
    )  # fmt: skip


def sampled_surface(surface: SurfaceMotion, times: Array) -> Deforming:
    """A computed surface at some times (m,) [s], straight between its own frames and held after the last."""
    place = np.clip(times * surface.rate, 0.0, len(surface.points) - 1)
    low = np.floor(place + 1e-9).astype(np.int64)
    high = np.minimum(low + 1, len(surface.points) - 1)
    share = np.clip(place - low, 0.0, 1.0).astype(np.float32)[:, None, None]
    points = (1.0 - share) * surface.points[low] + share * surface.points[high]
    return Deforming("skin", np.ascontiguousarray(points, dtype=np.float32), surface.faces, SKIN_COLOR)


def _shares(mesh: SkinMesh, glued: Sequence[int]) -> Array:
    """How much (n, k) each node follows each of the glued bodies: 1 / distance^POWER of the nearest few, rows of sum 1."""
    far = np.empty((len(mesh.nodes), len(glued)))
    for k, body in enumerate(glued):
        far[:, k], _ = cKDTree(mesh.nodes[mesh.glue_node[mesh.glue_body == body]]).query(mesh.nodes)
    kept = np.argsort(far, axis=1)[:, :NEAREST]
    near = np.take_along_axis(far, kept, axis=1)
    pull = (np.maximum(near[:, :1], 1e-9) / np.maximum(near, 1e-9)) ** POWER
    shares = np.zeros_like(far)
    np.put_along_axis(shares, kept, pull / pull.sum(axis=1, keepdims=True), axis=1)
    return shares


def _node_masses(character: Character, mesh: SkinMesh) -> Array:
    """The mass (n,) [kg] of the skin at the corners of its cells, a quarter of each cell at each."""
    density = {material.name: material.density for material in character.materials}
    names = character.skin.materials if character.skin is not None else ()
    mass = cell_volumes(TetMesh(mesh.nodes, mesh.cells)) * np.array([density[name] for name in names])[mesh.region]
    masses = np.bincount(mesh.cells[:, :4].ravel(), weights=np.repeat(0.25 * mass, 4), minlength=len(mesh.nodes))
    return masses.astype(np.float64)
