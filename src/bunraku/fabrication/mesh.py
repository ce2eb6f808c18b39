"""What triangles say about a part: is it closed, how much does it hold, is a point inside, how far is the wall; and its file.

All of it is computed from the triangles alone, as a slicer would see them, with no memory of how they were made.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.formats import surface_stl
from bunraku.formats.atomic import write_atomically
from bunraku.formats.files import read_bytes


@dataclass(frozen=True)
class TriangleMesh:
    """Triangles with three corners each, ``corners`` (m, 3, 3) [mm], counter-clockwise seen from outside."""

    corners: Array

    def welded(self) -> NDArray[np.int64]:
        """The triangles as numbers of distinct corners (m, 3); corners are the same when their 32-bit coordinates are."""
        flat = np.ascontiguousarray(self.corners.reshape(-1, 3).astype(np.float32) + np.float32(0.0))
        _, numbers = np.unique(flat, axis=0, return_inverse=True)
        return np.asarray(numbers, dtype=np.int64).reshape(-1, 3)

    def open_edges(self) -> int:
        """How many edges are not used exactly twice, once in each direction; 0 says watertight and consistently oriented."""
        t = self.welded()
        t = t[(t[:, 0] != t[:, 1]) & (t[:, 1] != t[:, 2]) & (t[:, 2] != t[:, 0])]
        edges = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])
        key = edges[:, 0] * (t.max() + 1) + edges[:, 1]
        back = edges[:, 1] * (t.max() + 1) + edges[:, 0]
        used, count = np.unique(key, return_counts=True)
        missing = int((~np.isin(back, used)).sum())
        return missing + int((count - 1).sum())

    def volume(self) -> float:
        """The volume [mm³] inside: V = Σ a · (b × c) / 6 over the triangles (a, b, c); negative when they face inwards."""
        a, b, c = (self.corners[:, i] for i in range(3))
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)

    def size(self) -> Array:
        """Lengths (3,) [mm] of the box around it."""
        flat = self.corners.reshape(-1, 3)
        return flat.max(axis=0) - flat.min(axis=0)

    def inside(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Which points (k, 3) are in the material: where the triangles' solid angles add up to more than 2π.

        From the point to its corners a, b, c, a triangle has the solid angle
        2 atan2(a · (b × c), |a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|).
        """
        p = np.asarray(points, dtype=float).reshape(-1, 1, 3)
        a, b, c = (self.corners[None, :, i] - p for i in range(3))
        la, lb, lc = (np.sqrt(np.einsum("kmi,kmi->km", v, v)) for v in (a, b, c))
        above = np.einsum("kmi,kmi->km", a, np.cross(b, c))
        below = la * lb * lc + np.einsum("kmi,kmi->km", a, b) * lc
        below += np.einsum("kmi,kmi->km", b, c) * la + np.einsum("kmi,kmi->km", c, a) * lb
        return np.arctan2(above, below).sum(axis=1) > np.pi

    def distances(self, start: ArrayLike, directions: ArrayLike) -> Array:
        """How far [mm] from ``start`` (3,) the first wall is along each of ``directions`` (k, 3), of length 1; inf for none.

        Möller and Trumbore: with e₁ = b - a, e₂ = c - a, h = d × e₂, the ray meets the plane at t = e₂ · ((s - a) × e₁) / (e₁ · h).
        """
        d = np.asarray(directions, dtype=float).reshape(-1, 1, 3)
        a = self.corners[:, 0]
        e1, e2 = self.corners[:, 1] - a, self.corners[:, 2] - a
        s = np.asarray(start, dtype=float) - a
        h = np.cross(d, e2[None])
        det = np.einsum("kmi,mi->km", h, e1)
        safe = np.where(np.abs(det) > 1e-12, det, np.inf)
        q = np.cross(s, e1)
        u = np.einsum("mi,kmi->km", s, h) / safe
        v = np.einsum("kmi,mi->km", np.broadcast_to(d, h.shape), q) / safe
        t = np.einsum("mi,mi->m", e2, q)[None] / safe
        edge = 1e-9
        hits = (u >= -edge) & (v >= -edge) & (u + v <= 1.0 + edge) & (t > 1e-9) & np.isfinite(safe)
        return np.where(hits, t, np.inf).min(axis=1)


def stl_bytes(mesh: TriangleMesh, title: str = "") -> bytes:
    """The file's content: 80 bytes of title, the number of triangles, and for each its normal and three corners."""
    return surface_stl.stl_bytes(mesh.corners, f"bunraku part, millimetres: {title}")


def write_stl(path: str | Path, mesh: TriangleMesh, title: str = "") -> None:
    """Write a mesh, all at once."""
    write_atomically(path, stl_bytes(mesh, title))


def read_stl(path: str | Path) -> TriangleMesh:
    """The triangles of an STL file; raises BadInput when its length does not fit its number of triangles."""
    return TriangleMesh(surface_stl.read_stl_corners(read_bytes(path), file=str(path)))
