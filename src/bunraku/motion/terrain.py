"""The ground as a height field: slopes, steps, whatever a grid of heights can say."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion.curves import frozen_array

MAX_POINTS = 1_000_000


@dataclass(frozen=True)
class HeightField:
    """Heights (nx, ny) [m] over a grid of ``spacing`` [m], the first at ``origin`` (x, y) [m]; outside, the edge goes on.

    Between the points the ground is the biquadratic B-spline of the heights: once differentiable, the mean of its neighbours
    (1/8, 6/8, 1/8 in each direction) at the points themselves, so that the edge of a step is as sharp as the grid is fine. With u
    the place in units of the spacing, i the nearest point and f = u - i in [-1/2, 1/2], the weights of the points i - 1, i, i + 1
    are (1/2 - f)²/2, 3/4 - f², (1/2 + f)²/2; both directions multiply. Linear heights are kept exactly.
    """

    origin: tuple[float, float]
    spacing: float
    heights: NDArray[np.float64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "heights", frozen_array(self.heights, (None, None), "the heights of the terrain"))
        if not (math.isfinite(self.spacing) and self.spacing > 0.0) or min(self.heights.shape) < 3:
            raise BadInput(
                f"a terrain of {self.heights.shape} points {self.spacing} m apart arrived; 3 by 3 with a positive spacing"
            )
        object.__setattr__(self, "origin", tuple(float(part) for part in self.origin))
        if len(self.origin) != 2 or not all(math.isfinite(part) for part in self.origin) or self.heights.size > MAX_POINTS:
            raise BadInput(
                f"a terrain of {self.heights.size} points from {self.origin} arrived; it starts at two finite numbers and has "
                f"{MAX_POINTS} points or fewer"
            )

    def __eq__(self, other: object) -> bool:
        """Whether two grounds have the same grid and the same heights."""
        if not isinstance(other, HeightField):
            return NotImplemented
        return (self.origin, self.spacing) == (other.origin, other.spacing) and np.array_equal(self.heights, other.heights)

    def __hash__(self) -> int:
        """Equal grounds have equal hashes."""
        return hash((self.origin, self.spacing, self.heights.tobytes()))

    @staticmethod
    def slope(angle: float, *, start: float = 0.0, length: float = 1.0, spacing: float = 0.02) -> HeightField:
        """Level until x = ``start`` [m], then rising at ``angle`` [rad] for ``length`` [m] along x, then level again.

        Both corners are rounded over one ``spacing`` [m] to each side; the slope between them is exact.
        """
        if not (abs(angle) < 0.5 * math.pi and length > 0.0 and spacing > 0.0 and math.isfinite(length / spacing)):
            raise BadInput(
                f"a slope of {angle} rad over {length} m in steps of {spacing} m arrived; give less than upright, over more than 0"
            )
        x = _points(start, length, spacing)
        rise = math.tan(angle) * np.clip(x - start, 0.0, length)
        return HeightField((float(x[0]), -spacing), spacing, np.repeat(rise[:, None], 3, axis=1))

    @staticmethod
    def step(height: float, *, at: float, length: float | None = None, spacing: float = 0.01) -> HeightField:
        """A step of ``height`` [m], up at x = ``at`` [m], and down again after ``length`` [m] if given.

        The edge lies halfway between two points of the grid: the ground is half the height there and level again one ``spacing``
        [m] away from it.
        """
        if not (math.isfinite(height) and math.isfinite(at) and spacing > 0.0 and (length is None or length > 0.0)):
            raise BadInput(
                f"a step of {height} m at {at} m, {length} m long, in steps of {spacing} m arrived; give finite lengths above 0"
            )
        x = _points(at - 0.5 * spacing, 0.0 if length is None else length, spacing)
        up = (x > at) if length is None else (x > at) & (x < at + length)
        return HeightField((float(x[0]), -spacing), spacing, np.repeat(np.where(up, float(height), 0.0)[:, None], 3, axis=1))

    def height(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Height [m] of the ground at places x, y [m] (any shape)."""
        return self._sum(x, y, (0, 0))

    def gradient(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Slope (..., 2) of the ground along x and along y at places x, y [m]."""
        return np.stack([self._sum(x, y, (1, 0)), self._sum(x, y, (0, 1))], axis=-1)

    def normal(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Unit normal (..., 3) of the ground, (-dH/dx, -dH/dy, 1) over its length."""
        slope = self.gradient(x, y)
        upright = np.concatenate([-slope, np.ones((*slope.shape[:-1], 1))], axis=-1)
        return np.asarray(upright / np.linalg.norm(upright, axis=-1, keepdims=True), dtype=np.float64)

    def _sum(self, x: ArrayLike, y: ArrayLike, derivative: tuple[int, int]) -> Array:
        """The tensor product of weights and heights, or one of its derivatives."""
        i, wx = _weights((np.asarray(x, dtype=np.float64) - self.origin[0]) / self.spacing, derivative[0])
        j, wy = _weights((np.asarray(y, dtype=np.float64) - self.origin[1]) / self.spacing, derivative[1])
        nx, ny = self.heights.shape
        terms = [
            wx[a] * wy[b] * self.heights[np.clip(i + a - 1, 0, nx - 1), np.clip(j + b - 1, 0, ny - 1)]
            for a in range(3)
            for b in range(3)
        ]
        return np.asarray(np.sum(terms, axis=0) / self.spacing ** sum(derivative), dtype=np.float64)


def _weights(u: Array, derivative: int) -> tuple[NDArray[np.int64], tuple[Array, Array, Array]]:
    """The nearest point to u and the weights of it and its two neighbours, or their derivatives in u."""
    u = np.clip(u, -1e9, 1e9)
    i = np.floor(u + 0.5).astype(np.int64)
    f = u - i
    if derivative == 0:
        return i, (0.5 * (0.5 - f) ** 2, 0.75 - f**2, 0.5 * (0.5 + f) ** 2)
    return i, (f - 0.5, -2.0 * f, f + 0.5)


def _points(first: float, length: float, spacing: float) -> Array:
    """Grid points of a spacing through ``first``, from two of them before it to two beyond ``length`` after it."""
    count = math.ceil(length / spacing - 1e-9) + 5
    if not math.isfinite(first) or count * 3 > MAX_POINTS:
        raise BadInput(f"a terrain from {first} m over {length} m in steps of {spacing} m arrived; use a coarser one")
    return first + spacing * np.arange(-2, count - 2, dtype=np.float64)
