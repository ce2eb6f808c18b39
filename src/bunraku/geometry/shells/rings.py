"""The rings of a folding region: cross-sections of the limb, resampled at common angles, with the teeth cut into them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.geometry.shells.fold_region import FoldRegion, fold_frame, fold_profile
from bunraku.geometry.shells.sections import Loop, enclosing_loop, loop_centre, ray_radii, section_loops

CORE = 0.12
"""Least radius that must remain inside the inner surface at a valley, as a part of the limb's radius there."""


@dataclass(frozen=True)
class Rings:
    """Points (k, n, 3) [m] of k rings; their ``centres`` (k, 3), ``angles`` (n,) about them, ``radii`` (k, n) of the uncut limb."""

    points: Array
    centres: Array
    angles: Array
    radii: Array
    stations: Array
    cut: Array


def limb_loop(vertices: Array, faces: Indices, fold: FoldRegion, station: float, place: str) -> Loop:
    """The loop of the surface round the axis of a region at a station [m] along it; BadInput when the plane misses the limb."""
    origin = fold.middle + station * fold.direction
    u, v = fold_frame(fold)
    loop = enclosing_loop(section_loops(vertices, faces, origin, fold.direction), origin, u, v)
    if loop is None:
        raise BadInput(
            f"the plane at {station * 1e3:+.1f} mm along the axis has no closed loop of the surface round the axis; "
            "put the centre inside the limb, the whole slab on it and away from other regions",
            place=place,
        )
    return loop


def fold_rings(vertices: Array, faces: Indices, fold: FoldRegion, place: str, *, lift: float = 0.0) -> Rings:
    """The rings of a region on a closed surface.

    At every station s of the profile the limb is cut by the plane, and point j lies at c(s) + (R(s, th_j) - cut(s)) e(th_j): c the
    centre of area of the cross-section, R the radius of the surface along the direction e(th) across the axis. The angles th_j are
    common to all rings and divide the outline of the middle cross-section into equal arcs, starting at u of :func:`fold_frame`.
    The first cross-section is taken ``lift`` [m] further along, for a limb that ends in its plane.
    """
    u, v = fold_frame(fold)
    loop = limb_loop(vertices, faces, fold, 0.0, place)
    centre = loop_centre(loop.points, fold.middle, u, v)
    angles = _equal_arcs(loop.points, centre, u, v, fold.around, place)
    mean = float(ray_radii(loop.points, centre, u, v, angles, place).mean())
    s, cut = fold_profile(fold, mean)
    centres, radii = np.empty((len(s), 3)), np.empty((len(s), fold.around))
    for i, station in enumerate(s.tolist()):
        loop = limb_loop(vertices, faces, fold, station + lift * (i == 0), place)
        centres[i] = loop_centre(loop.points, fold.middle + station * fold.direction, u, v)
        radii[i] = ray_radii(loop.points, centres[i], u, v, angles, place)
    if (radii.max(axis=0) > 2.5 * radii.min(axis=0)).any():
        raise BadInput(
            f"the limb's radius runs from {radii.min() * 1e3:.1f} to {radii.max() * 1e3:.1f} mm within the region, so the slab "
            "cuts more than a limb; shorten it or move it along the limb",
            place=place,
        )
    core = radii - cut[:, None] - fold.wall
    if (core < CORE * radii).any():
        row, j = divmod(int(np.argmin(core - CORE * radii)), fold.around)
        raise BadInput(
            f"depth {cut[row] * 1e3:.1f} mm and wall {fold.wall * 1e3:.1f} mm leave too little of a limb of radius "
            f"{radii[row, j] * 1e3:.1f} mm at {s[row] * 1e3:+.1f} mm along the axis; use a shallower fold",
            place=place,
        )
    e = np.cos(angles)[:, None] * u + np.sin(angles)[:, None] * v
    points = centres[:, None, :] + (radii - cut[:, None])[:, :, None] * e
    return Rings(points, centres, angles, radii, s, cut)


def ring_faces(numbers: Indices) -> Indices:
    """Triangles between the rings of vertex ``numbers`` (k, n): quads split by diagonals that alternate like a chessboard."""
    k, n = numbers.shape
    i, j = np.meshgrid(np.arange(k - 1), np.arange(n), indexing="ij")
    a, b = numbers[i, j], numbers[i, (j + 1) % n]
    c, d = numbers[i + 1, (j + 1) % n], numbers[i + 1, j]
    even = ((i + j) % 2 == 0)[..., None]
    first = np.where(even, np.stack([a, b, c], axis=-1), np.stack([a, b, d], axis=-1))
    second = np.where(even, np.stack([a, c, d], axis=-1), np.stack([b, c, d], axis=-1))
    return np.concatenate([first.reshape(-1, 3), second.reshape(-1, 3)])


def _equal_arcs(points: Array, centre: Array, u: Array, v: Array, count: int, place: str) -> Array:
    fine = np.linspace(0.0, 2.0 * np.pi, 721)
    R = ray_radii(points, centre, u, v, fine[:-1], place)
    x = np.append(R, R[0])[:, None] * np.column_stack([np.cos(fine), np.sin(fine)])
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
    return np.asarray(np.interp(arc[-1] * np.arange(count) / count, arc, fine))
