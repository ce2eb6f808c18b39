"""The outer surface of a skin over time: as its frames computed it, or, without those, following the bodies it is glued to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from bunraku.arrays import Array
from bunraku.character import Character, SkinMesh
from bunraku.geometry.tet_mesh import TetMesh, cell_volumes
from bunraku.mechanics.coupled.known_skins import skin_of
from bunraku.mechanics.coupled.outer_surface import outer_surface
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import SurfaceMotion
from bunraku.stage.figure.parts import Deforming

Indices = NDArray[np.int64]

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
        found = np.empty((len(p), len(self.rest), 3), dtype=np.float32)
        for k, move in enumerate(moves):
            blend = self.weights @ move
            found[k] = np.einsum("vij,vj->vi", blend[:, :9].reshape(-1, 3, 3), self.rest) + blend[:, 9:]
        return found

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
    found = np.bincount(mesh.cells[:, :4].ravel(), weights=np.repeat(0.25 * mass, 4), minlength=len(mesh.nodes))
    return found.astype(np.float64)
