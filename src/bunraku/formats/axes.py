"""From the y-up, z-forward axes of animation files to ours: z up, x forward, y left.

With C the cyclic matrix that maps (x, y, z) to (z, x, y), a vector p becomes C p and a rotation R becomes C R Cᵀ. C is a proper
rotation, applied to the world and to every bone frame alike, so chains of poses keep their meaning.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["rotations_z_up", "vectors_z_up"]

Array = NDArray[np.float64]

_ORDER = np.array([2, 0, 1])


def vectors_z_up(vectors: Array) -> Array:
    """Vectors (..., 3) of y-up, z-forward axes in z-up, x-forward ones."""
    return np.ascontiguousarray(vectors[..., _ORDER])


def rotations_z_up(rotations: Array) -> Array:
    """Rotation matrices (..., 3, 3) of y-up, z-forward axes in z-up, x-forward ones."""
    return np.ascontiguousarray(rotations[..., _ORDER[:, None], _ORDER[None, :]])
