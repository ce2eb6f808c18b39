"""The ground a performance goes over: its terrain, and height and normal where there may be none."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion import HeightField, Performance


def terrain_of(performance: Performance) -> HeightField | None:
    """The terrain a performance was planned for, None on flat ground: ``provenance.options["terrain"]``.

    It is a mapping of origin, spacing and heights, as `motion.HeightField` takes them; or the height field itself.
    """
    said = performance.provenance.options.get("terrain")
    if said is None or isinstance(said, HeightField):
        return said
    if not isinstance(said, Mapping) or not {"origin", "spacing", "heights"} <= set(said):
        raise BadInput(f"the terrain of {performance.clip_name!r} is no mapping of origin, spacing and heights; perform it again")
    try:
        x, y = said["origin"]
        return HeightField((float(x), float(y)), float(said["spacing"]), np.array(said["heights"], dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise BadInput(f"the terrain of {performance.clip_name!r} is damaged ({error}); perform it again") from error


def ground_height(terrain: HeightField | None, x: Array, y: Array) -> Array:
    """Height [m] of the ground at places x, y [m] of any shape; 0 without terrain."""
    return np.zeros(np.broadcast_shapes(np.shape(x), np.shape(y))) if terrain is None else terrain.height(x, y)


def ground_normal(terrain: HeightField | None, x: Array, y: Array) -> Array:
    """Unit normal (..., 3) of the ground; upright without terrain."""
    if terrain is not None:
        return terrain.normal(x, y)
    normal = np.zeros((*np.broadcast_shapes(np.shape(x), np.shape(y)), 3))
    normal[..., 2] = 1.0
    return normal
