"""Signed distances to a surface, negative inside, at points and on grids that are fine only near the surface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput, MissingExtra
from bunraku.geometry.surfaces.surface import Surface

Function = Callable[[Array], Array]

MAX_SAMPLES = 40_000_000
_BLOCK = 8
_HALVES = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


@dataclass(frozen=True)
class Grid:
    """``values`` (nx, ny, nz) of a function at ``origin`` (3,) + ``spacing`` (i, j, k) [m]."""

    values: Array
    origin: Array
    spacing: float

    def points(self, chosen: NDArray[np.bool_]) -> Array:
        """The places (k, 3) of the ``chosen`` (nx, ny, nz) samples."""
        return self.origin + self.spacing * np.argwhere(chosen)


def signed_distance(surface: Surface, points: ArrayLike) -> Array:
    """The distance (k,) [m] of ``points`` (k, 3) to a closed ``surface``, negative inside.

    The sign is that of the pseudo-normal at the closest place, which is exact for closed surfaces that do not cross themselves;
    for others take `winding_number`.
    """
    igl = libigl()
    return igl.signed_distance(_rows(points), surface.vertices, surface.faces, igl.SIGNED_DISTANCE_TYPE_PSEUDONORMAL)[0]


def closest_points(surface: Surface, points: ArrayLike) -> tuple[Array, Indices, Array]:
    """The unsigned distance (k,) of points (k, 3), the number (k,) of the closest face, and the closest place (k, 3) on it."""
    squared, face, place = libigl().point_mesh_squared_distance(_rows(points), surface.vertices, surface.faces)
    return np.sqrt(squared), np.asarray(face, dtype=np.int64), place


def winding_number(surface: Surface, points: ArrayLike) -> Array:
    """How often (k,) the surface goes around each point: 1 inside, 0 outside, in between where it has holes, 2 where it overlaps.

    Far faces are taken together (error below 0.01).
    """
    return libigl().fast_winding_number(surface.vertices, surface.faces, _rows(points))


def inside(surface: Surface, points: ArrayLike) -> NDArray[np.bool_]:
    """Which points (k, 3) the surface encloses: winding number above one half."""
    return winding_number(surface, points) > 0.5


def sampled(function: Function, low: ArrayLike, high: ArrayLike, spacing: float, *, band: float, slope: float = 1.0) -> Grid:
    """A function of points (k, 3) on a grid over the box from ``low`` to ``high``, exact wherever it is within ``band`` of zero.

    The function must not change by more than ``slope`` a metre. It is sampled first in the middle of blocks of 8³ samples; where
    it is further from zero than the band and what it can change within a block, the whole block takes that value, which has the
    right sign; other blocks are halved, and so on.
    """
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    if not spacing > 0.0 or not (high > low).all():
        raise BadInput(
            f"a grid of spacing {spacing:g} from {low.tolist()} to {high.tolist()} has no cells; give a box and a positive length"
        )
    blocks = np.ceil((high - low) / (_BLOCK * spacing)).astype(np.int64) + 1
    total = float(np.prod((blocks * _BLOCK).astype(np.float64)))
    if total > MAX_SAMPLES:
        finest = spacing * (total / MAX_SAMPLES) ** (1.0 / 3.0)
        raise BadInput(
            f"a grid of spacing {spacing:g} m holds {total:.3g} samples, more than {MAX_SAMPLES:.3g}; take {finest:.2g} m or more"
        )
    values = np.empty(tuple(blocks * _BLOCK))
    at = np.stack(np.meshgrid(*(np.arange(count) for count in blocks), indexing="ij"), axis=-1).reshape(-1, 3)
    size = _BLOCK
    while True:
        sample = function(low + spacing * (size * at + 0.5 * (size - 1)))
        view = values.reshape([n for count in values.shape for n in (count // size, size)])
        view[at[:, 0], :, at[:, 1], :, at[:, 2], :] = sample[:, None, None, None]
        near = np.abs(sample) <= band + slope * np.sqrt(3.0) * 0.5 * (size - 1) * spacing
        if size == 1:
            return Grid(values, low, spacing)
        size //= 2
        at = (2 * at[near][:, None, :] + _HALVES).reshape(-1, 3)


def _rows(points: ArrayLike) -> Array:
    return np.ascontiguousarray(np.asarray(points, dtype=np.float64).reshape(-1, 3))


def libigl() -> Any:
    """The module igl, or an error that says how to install it."""
    try:
        import igl
    except ImportError as error:
        raise MissingExtra("libigl", "fabrication", "computing distances to a surface") from error
    return igl
