"""Moving surfaces inside a performance file: whole steps of 2^-16 m, and of every frame but the first only what changed.

Differences of slow points are small numbers, which deflate well; multiples of a power of two come back as the same bytes when they
are written again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from bunraku.errors import BadInput
from bunraku.motion.surface import MAX_FAR, MAX_NUMBERS, SurfaceMotion

STEP = 2.0**-16
"""The step [m] of stored coordinates: 15 micrometres."""

SURFACE_ARRAYS = ("surface_faces", "surface_start", "surface_changes")
_KINDS = {"surface_faces": ("i4", 2), "surface_start": ("i4", 2), "surface_changes": ("i2", 3)}


class SurfacePart(BaseModel):
    """What the header of a performance file says of its surface.

    Arrays beside it: ``surface_faces`` (f, 3) int32; ``surface_start`` (v, 3) int32, the first frame in steps of 2^-16 m;
    ``surface_changes`` (frames - 1, v, 3) int16, what each later frame adds, in ``step`` such steps.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rate_hz: float
    step: int = 1


def surface_part(surface: SurfaceMotion | None) -> SurfacePart | None:
    """The header's part of a surface."""
    return None if surface is None else SurfacePart(rate_hz=surface.rate, step=_coarseness(_whole(surface)))


def packed_surface(surface: SurfaceMotion | None) -> dict[str, Any]:
    """The arrays of a surface; none of none."""
    if surface is None:
        return {}
    whole = _whole(surface)
    step = _coarseness(whole)
    rough = whole[0] + step * np.round((whole - whole[0]) / step).astype(np.int64)
    changes = np.diff(rough, axis=0) // step
    return {
        "surface_faces": surface.faces.astype(np.int32),
        "surface_start": whole[0].astype(np.int32),
        "surface_changes": changes.astype(np.int16),
    }


def unpacked_surface(part: SurfacePart | None, arrays: Mapping[str, Any]) -> SurfaceMotion | None:
    """The surface of arrays that :func:`packed_surface` made; BadInput when they are not such."""
    if part is None:
        return None
    for name, (kind, axes) in _KINDS.items():
        array = arrays[name]
        if array.dtype != np.dtype(kind) or array.ndim != axes or array.shape[-1] != 3:
            raise BadInput(f"the array {name!r} holds {array.dtype} of shape {array.shape[:4]}; a surface has other ones")
    start, changes = arrays["surface_start"], arrays["surface_changes"]
    if changes.shape[1:] != start.shape or changes.size + start.size > MAX_NUMBERS or not 1 <= part.step <= 1 << 20:
        raise BadInput(f"a surface of {start.shape} points has changes of shape {changes.shape[:4]} in steps of {part.step}")
    whole = np.empty((len(changes) + 1, *start.shape), dtype=np.int64)
    whole[0] = start
    np.cumsum(changes, axis=0, dtype=np.int64, out=whole[1:])
    whole[1:] = start + part.step * whole[1:]
    if np.abs(whole).max(initial=0) * STEP > MAX_FAR:
        raise BadInput(f"points of a surface are farther than {MAX_FAR:g} m from the origin")
    return SurfaceMotion(arrays["surface_faces"], part.rate_hz, (whole * STEP).astype(np.float32))


def _whole(surface: SurfaceMotion) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The points (m, v, 3) in whole steps."""
    return np.round(surface.points.astype(np.float64) / STEP).astype(np.int64)


def _coarseness(whole: np.ndarray[Any, np.dtype[np.int64]]) -> int:
    """The smallest power of two of steps in which the changes from frame to frame fit into 16 bits."""
    most = int(np.abs(np.diff(whole, axis=0)).max(initial=0))
    step = 1
    while most // step + 1 >= 1 << 15:
        step *= 2
    return step
