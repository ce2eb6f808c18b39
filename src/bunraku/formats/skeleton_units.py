"""What readers of skeletons share: names made different, and how long the unit of a file is.

Motion capture files do not say that; the height of the skeleton does, roughly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

COMMON_UNITS: dict[str, float] = {
    "metre": 1.0,
    "foot": 0.3048,
    "CMU unit (1/0.45 inch)": 0.0254 / 0.45,
    "inch": 0.0254,
    "centimetre": 0.01,
    "millimetre": 0.001,
}
_HUMAN_HEIGHT = 1.7


def rest_height(parents: list[int], offsets: NDArray[np.float64], tips: dict[int, NDArray[np.float64]], up: int) -> float:
    """Extent of the skeleton along axis ``up`` with all bones at rest; the largest extent of all if that one is flat."""
    places = np.array(offsets, dtype=np.float64)
    for bone, parent in enumerate(parents):
        if parent >= 0:
            places[bone] += places[parent]
    ends = [places[bone] + tip for bone, tip in tips.items()]
    everything = np.vstack([places, *ends]) if ends else places
    extent = everything.max(axis=0) - everything.min(axis=0)
    return float(extent[up] if extent[up] > 0.3 * extent.max() else extent.max())


def guessed_metres_per_unit(height: float) -> float:
    """The common unit [m] in which ``height`` (in units of the file) comes nearest, as a ratio, to 1.7 m; 1 for no height."""
    if not 0.0 < height < math.inf:
        return 1.0
    return min(COMMON_UNITS.values(), key=lambda unit: abs(math.log(height * unit / _HUMAN_HEIGHT)))


def different_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names of bones with a number behind those that repeat."""
    seen: dict[str, int] = {}
    for base in names:
        name = base
        while name in seen:
            seen[base] += 1
            name = f"{base} {seen[base]}"
        seen[name] = 1
    return tuple(seen)
