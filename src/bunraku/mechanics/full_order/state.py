"""States and motions of a full-order model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.geometry.rotations import matrix_of_quaternion


@dataclass(frozen=True)
class FullState:
    """Where everything is and how it moves, in the world.

    Of the B rigid bodies: centres of mass ``c`` (B, 3), quaternions ``q`` (B, 4), velocities ``v`` and angular velocities ``w``
    (B, 3). Of each elastic piece: nodes ``x`` (n, 3) and their velocities ``xv``. ``multipliers`` (rows,): forces [N] and moments
    [N m] of the constraints, the links' rows first, then six for each interface. ``motors``: the values of the motors.
    """

    c: Array
    q: Array
    x: tuple[Array, ...]
    v: Array
    w: Array
    xv: tuple[Array, ...]
    multipliers: Array
    motors: Array

    @property
    def rotations(self) -> Array:
        """R (B, 3, 3)."""
        return matrix_of_quaternion(self.q) if len(self.q) else np.zeros((0, 3, 3))
