"""A surface of triangles: vertices, faces, and what they enclose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput


@dataclass(frozen=True)
class Surface:
    """``vertices`` (n, 3) [m] and ``faces`` (m, 3) of vertex numbers, counter-clockwise seen from outside.

    Only shapes and numbers are checked here; `checks.check_surface` tells whether it is closed, and `repair.repaired` mends it.
    Arrays are not writable.
    """

    vertices: Array
    faces: Indices

    def __post_init__(self) -> None:
        vertices = np.array(self.vertices, dtype=np.float64, order="C")
        faces = np.array(self.faces, dtype=np.int64, order="C")
        if vertices.ndim != 2 or vertices.shape[1] != 3:
            raise BadInput(f"the vertices of a surface have shape {vertices.shape}; (n, 3) is needed")
        if faces.ndim != 2 or faces.shape[1] != 3 or not len(faces):
            raise BadInput(f"the faces of a surface have shape {faces.shape}; (m, 3) with at least one triangle is needed")
        wrong = ~np.isfinite(vertices).all(axis=1)
        if wrong.any():
            raise BadInput(f"vertex {int(np.argmax(wrong))} of a surface is not finite; every coordinate must be a number")
        outside = ((faces < 0) | (faces >= len(vertices))).any(axis=1)
        if outside.any():
            row = int(np.argmax(outside))
            raise BadInput(f"face {row} names the vertices {faces[row].tolist()}; the surface has 0 to {len(vertices) - 1}")
        vertices.flags.writeable = False
        faces.flags.writeable = False
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)

    @property
    def corners(self) -> Array:
        """The corners (m, 3, 3) of every triangle."""
        return self.vertices[self.faces]

    @property
    def bounds(self) -> Array:
        """The lowest and the highest coordinates (2, 3) [m] of the vertices that faces use."""
        used = self.corners.reshape(-1, 3)
        return np.stack([used.min(axis=0), used.max(axis=0)])

    @property
    def size(self) -> float:
        """The diagonal [m] of the box around it."""
        return float(np.linalg.norm(self.bounds[1] - self.bounds[0]))

    def face_vectors(self) -> Array:
        """For each face (a, b, c) the vector (b - a) × (c - a) / 2 (m, 3): its area along its outward normal."""
        a, b, c = (self.vertices[self.faces[:, i]] for i in range(3))
        return 0.5 * np.cross(b - a, c - a)

    def face_areas(self) -> Array:
        """The area (m,) [m²] of every face."""
        return np.linalg.norm(self.face_vectors(), axis=1)

    def face_normals(self) -> Array:
        """The outward unit normal (m, 3) of every face; zero where a face has no area."""
        return _unit(self.face_vectors())

    def vertex_normals(self) -> Array:
        """The outward unit normal (n, 3) at every vertex: face normals weighted by the angle they have there."""
        corners, normals = self.corners, self.face_normals()
        sums = np.zeros_like(self.vertices)
        for i in range(3):
            u, v = corners[:, (i + 1) % 3] - corners[:, i], corners[:, (i + 2) % 3] - corners[:, i]
            angle = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.einsum("ij,ij->i", u, v))
            np.add.at(sums, self.faces[:, i], normals * angle[:, None])
        return _unit(sums)

    def area(self) -> float:
        """The area [m²] of all faces."""
        return float(self.face_areas().sum())

    def volume(self) -> float:
        """The volume [m³] enclosed: V = Σ a · (b × c) / 6 over the faces (a, b, c); negative when they face inwards.

        Coordinates are taken from the middle of the box, so that a surface far away loses no digits.
        """
        a, b, c = (self.corners[:, i] - self.bounds.mean(axis=0) for i in range(3))
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)

    def center(self) -> Array:
        """The center of the volume enclosed (3,): Σ V_f (a + b + c) / 4 / Σ V_f with V_f = a · (b × c) / 6."""
        middle = self.bounds.mean(axis=0)
        a, b, c = (self.corners[:, i] - middle for i in range(3))
        V = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
        return middle + ((a + b + c) * V[:, None]).sum(axis=0) / (4.0 * V.sum())

    def flipped(self) -> Surface:
        """The same surface seen from the other side."""
        return Surface(self.vertices, self.faces[:, ::-1])

    def moved(self, function: Callable[[Array], ArrayLike]) -> Surface:
        """The surface with all vertices (n, 3) replaced by ``function`` of them: turned, scaled, bent."""
        return Surface(np.asarray(function(self.vertices.copy()), dtype=np.float64), self.faces)

    def part(self, chosen: NDArray[np.bool_]) -> Surface:
        """The surface of the ``chosen`` (m,) faces alone, without the vertices they do not use."""
        used, numbers = np.unique(self.faces[chosen], return_inverse=True)
        return Surface(self.vertices[used], np.asarray(numbers).reshape(-1, 3))


def joined(surfaces: list[Surface]) -> Surface:
    """All surfaces as one, one after the other; nothing is merged."""
    starts = np.cumsum([0, *(len(surface.vertices) for surface in surfaces)])
    return Surface(
        np.concatenate([surface.vertices for surface in surfaces]),
        np.concatenate([surface.faces + start for surface, start in zip(surfaces, starts[:-1], strict=True)]),
    )


def _unit(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0.0)
