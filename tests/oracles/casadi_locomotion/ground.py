"""The ground in CasADi: flat, or the biquadratic B-spline of a grid of heights."""

from __future__ import annotations

import casadi as ca  # noqa: TID253
import numpy as np

BEYOND = 2
"""The edge of a terrain goes on for this many grid points."""


class Ground:
    """Height H(x, y) and unit normal n; ``terrain``: origin x, y, spacing and heights (nx, ny), or None for z = 0."""

    def __init__(self, terrain: tuple[float, float, float, np.ndarray] | None) -> None:
        self.terrain = terrain
        if terrain is not None:
            x0, y0, spacing, heights = terrain
            padded = np.pad(heights, BEYOND, mode="edge")
            x, y = ca.SX.sym("x"), ca.SX.sym("y")
            u = _basis((x - x0) / spacing, padded.shape[0])
            v = _basis((y - y0) / spacing, padded.shape[1])
            self.function = ca.Function("ground", [x, y], [u.T @ ca.DM(padded) @ v])
            H = self.function(x, y)
            slope = ca.Function("slope", [x, y], [ca.gradient(H, ca.vertcat(x)), ca.gradient(H, ca.vertcat(y))])
            self.slope = slope

    def height(self, at: ca.SX) -> ca.SX:
        """H under the point ``at`` (3)."""
        return ca.SX(0) if self.terrain is None else self.function(at[0], at[1])

    def normal(self, at: ca.SX) -> ca.SX:
        """The unit normal under the point ``at`` (3)."""
        if self.terrain is None:
            return ca.SX(ca.DM([0.0, 0.0, 1.0]))
        n = ca.vertcat(*(-part for part in self.slope(at[0], at[1])), 1.0)
        return n / ca.norm_2(n)


def _basis(u: ca.SX, count: int) -> ca.SX:
    """Quadratic B-splines at u, one for each grid point: (1/2) sum (-1)^k C(3, k) max(0, u - i + 3/2 - k)²."""
    return ca.vertcat(
        *(
            0.5 * sum(sign * ca.fmax(0.0, u - (i - BEYOND) + 1.5 - k) ** 2 for k, sign in enumerate((1.0, -3.0, 3.0, -1.0)))
            for i in range(count)
        )
    )
