"""The pressure between surfaces that come close: nothing beyond an onset distance, linear in depth below zero, smooth between.

With gap g, onset h and stiffness k [N/m^3],

    p(g) = 0 (g >= h),   k (h - g)^2 / (2 h) (0 <= g < h),   k (h/2 - g) (g < 0)

and the energy an area e with e' = -p, e(h) = 0. Pressure and its slope are continuous, which Newton's method needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput


@dataclass(frozen=True, kw_only=True)
class Penalty:
    """``stiffness`` k [N/m^3], ``onset`` h [m], and ``deepest`` [m]: the depth beyond which a pair is no contact any more.

    Keep ``deepest`` below the thickness of the skin: the far side of a thin wall is no surface to be pushed out of.
    """

    stiffness: float = 1.5e8
    onset: float = 4e-4
    deepest: float = 1.5e-3

    def __post_init__(self) -> None:
        for name in ("stiffness", "onset", "deepest"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise BadInput(f"the {name} of a penalty is {getattr(self, name)}; a positive number is needed")

    def energy(self, gap: Array, onset: Array | float) -> Array:
        """Energy an area e(g) [J/m^2]."""
        k, h = self.stiffness, np.asarray(onset)
        near = k * np.maximum(h - gap, 0.0) ** 3 / (6.0 * h)
        return np.where(gap < 0.0, k * (h * h / 6.0 - 0.5 * h * gap + 0.5 * gap * gap), near)

    def pressure(self, gap: Array, onset: Array | float) -> Array:
        """p(g) [Pa]."""
        k, h = self.stiffness, np.asarray(onset)
        near = 0.5 * k * np.maximum(h - gap, 0.0) ** 2 / h
        return np.where(gap < 0.0, k * (0.5 * h - gap), near)

    def slope(self, gap: Array, onset: Array | float) -> Array:
        """-p'(g) [N/m^3], never negative."""
        k, h = self.stiffness, np.asarray(onset)
        return np.where(gap < 0.0, k, k * np.maximum(h - gap, 0.0) / h)
