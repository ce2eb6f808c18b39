"""What folds do as functions of one angle each: smooth curves (cubic splines) through sampled equilibria, straight beyond them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class JointLaw:
    """Cubics between ``knots`` (m,) [rad], rising, the same for all joints.

    ``cubics`` (nj, m - 1, 4, c): of joint j between knots i and i + 1, the factors of 1, s, s², s³ with s the angle past knot i.
    """

    knots: Array
    cubics: Array

    def at(self, theta: Array) -> tuple[Array, Array]:
        """Values and slopes (nj, c) of all quantities at angles ``theta`` (nj,) from home."""
        t = np.clip(theta, self.knots[0], self.knots[-1])
        i = np.clip(np.searchsorted(self.knots, t, side="right") - 1, 0, len(self.knots) - 2)
        s = t - self.knots[i]
        one, none = np.ones_like(s), np.zeros_like(s)
        C = self.cubics[np.arange(len(t)), i]
        slopes = np.matmul(np.stack([none, one, 2.0 * s, 3.0 * s * s], axis=1)[:, None, :], C)[:, 0]
        values = np.matmul(np.stack([one, s, s * s, s**3], axis=1)[:, None, :], C)[:, 0]
        return values + (theta - t)[:, None] * slopes, slopes


def fit_law(knots: Array, values: Array) -> JointLaw:
    """The law through ``values`` (m, nj, c) at the ``knots`` (m,)."""
    cubics = CubicSpline(knots, values).c[::-1]
    return JointLaw(knots, np.ascontiguousarray(cubics.transpose(2, 1, 0, 3)))
