"""A closed surface contracted until it encloses nothing: all its vertices lie on lines in the middle of its limbs.

After Au et al. 2008: by steps, vertices V move to V' with (D - w L) V' = D V, where L is the cotangent Laplacian of the present
surface (it pulls along the normals and evens out along the surface), w grows from step to step, and the diagonal D holds back
vertices whose faces have shrunk: D = original area / least area so far. So thickness vanishes while limbs keep their length.

Two things make it dependable. L is that of the intrinsic Delaunay triangulation, whose weights are never negative, so that faces
on the way to nothing do no harm. And L has no unit: the first weight is w = c (r / h)² with the mean radius r = 2 volume / area
and the mean edge h, so that a finer mesh or another unit contracts alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_matrix, diags
from scipy.sparse.linalg import splu

from bunraku.arrays import Array, Indices
from bunraku.geometry.surfaces.intrinsic_laplacian import intrinsic_laplacian
from bunraku.geometry.surfaces.surface import Surface


@dataclass(frozen=True)
class Contraction:
    """``vertices`` (n, 3) after ``steps`` steps, and the ``volume`` left as a share of the first."""

    vertices: Array
    steps: int
    volume: float


def contracted(surface: Surface, *, volume: float = 1e-6, first: float = 0.01, growth: float = 1.5, steps: int = 60) -> Contraction:
    """Contract a closed surface until its volume is the share ``volume`` of what it was, or for so many ``steps``.

    ``first`` is c of the first weight, ``growth`` the factor from one weight to the next.
    """
    V, F = surface.vertices, surface.faces
    whole, area = surface.volume(), _ring_areas(V, F)
    r, h2 = 2.0 * whole / surface.area(), surface.area() / len(F)
    w = first * r * r / h2
    hold, left, step = np.ones(len(V)), 1.0, 0
    while left > volume and step < steps:
        A = csc_matrix(diags(hold) - w * intrinsic_laplacian(V, F))
        V = splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}).solve(hold[:, None] * V)
        hold = np.maximum(hold, area / np.maximum(_ring_areas(V, F), 1e-12 * area))
        left = abs(Surface(V, F).volume()) / whole
        w *= growth
        step += 1
    return Contraction(np.ascontiguousarray(V), step, left)


def _ring_areas(vertices: Array, faces: Indices) -> Array:
    """The area (n,) of the faces around each vertex."""
    areas = Surface(vertices, faces).face_areas()
    return np.bincount(faces.ravel(), weights=np.repeat(areas, 3), minlength=len(vertices)).astype(np.float64)
