"""From the y-up, z-forward axes of animation files to ours (z up, x forward, y left), and back.

With C the cyclic matrix that maps (x, y, z) to (z, x, y), a vector p becomes C p and a rotation R becomes C R Cᵀ. C is a proper
rotation, applied to the world and to every bone frame alike, so chains of poses keep their meaning.
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array

_ORDER = np.array([2, 0, 1])
_BACK = np.array([1, 2, 0])


def vectors_z_up(vectors: Array) -> Array:
    """Vectors (..., 3) of y-up, z-forward axes in z-up, x-forward ones."""
    return np.ascontiguousarray(vectors[..., _ORDER])


def rotations_z_up(rotations: Array) -> Array:
    """Rotation matrices (..., 3, 3) of y-up, z-forward axes in z-up, x-forward ones."""
    return np.ascontiguousarray(rotations[..., _ORDER[:, None], _ORDER[None, :]])


def vectors_y_up(vectors: Array) -> Array:
    """Vectors (..., 3) of our axes in y-up, z-forward ones."""
    return np.ascontiguousarray(vectors[..., _BACK])


def rotations_y_up(rotations: Array) -> Array:
    """Rotation matrices (..., 3, 3) of our axes in y-up, z-forward ones."""
    return np.ascontiguousarray(rotations[..., _BACK[:, None], _BACK[None, :]])
