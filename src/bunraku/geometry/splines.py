"""Cubic B-splines: twice continuously differentiable curves, linear in their coefficients.

A curve is x(t) = sum_i B_i(t) c_i, with B_i the cubic B-spline on the knots u_i .. u_{i+4} and c_i its coefficients, of any
trailing shape. Its values and derivatives at given times are a sparse matrix times the coefficients
(:meth:`SplineBasis.matrix`): that matrix is the Jacobian of the samples, whatever is optimized over the coefficients.
See docs/theory/splines.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.linalg import splu

from bunraku.arrays import Array
from bunraku.errors import BadInput

DEGREE = 3


@dataclass(frozen=True)
class SplineBasis:
    """The cubic B-splines on rising ``knots`` (n + 4,) [s]: n functions, a complete basis on [knots[3], knots[n]].

    Interior knots must be simple for two continuous derivatives; knots at the ends may be repeated up to four times.
    """

    knots: Array

    def __post_init__(self) -> None:
        knots = np.array(self.knots, dtype=np.float64)
        if knots.ndim != 1 or len(knots) < 2 * (DEGREE + 1):
            raise BadInput(f"cubic splines need at least 8 knots in one row; an array of shape {knots.shape} arrived")
        inner = knots[DEGREE : len(knots) - DEGREE]
        if not np.isfinite(knots).all() or (np.diff(knots) < 0.0).any() or (np.diff(inner) <= 0.0).any():
            raise BadInput("spline knots must be finite and rise, each interior one once; sort them and drop repeated ones")
        knots.setflags(write=False)
        object.__setattr__(self, "knots", knots)

    @staticmethod
    def uniform(start: float, end: float, intervals: int) -> SplineBasis:
        """Equal intervals on [start, end], knots going on evenly beyond both ends: all functions are copies of one."""
        if intervals < 1 or not end > start:
            raise BadInput(f"{intervals} intervals on [{start}, {end}] make no spline; give at least one, start before end")
        step = (end - start) / intervals
        return SplineBasis(start + step * np.arange(-DEGREE, intervals + DEGREE + 1, dtype=np.float64))

    @staticmethod
    def on(breakpoints: ArrayLike) -> SplineBasis:
        """Given rising breakpoints (at least 2), the ends repeated: the first and last coefficients are the end values."""
        points = np.asarray(breakpoints, dtype=np.float64)
        if points.ndim != 1 or len(points) < 2:
            raise BadInput(f"breakpoints have shape {points.shape}; one row of at least 2 is needed")
        return SplineBasis(np.concatenate([np.full(DEGREE, points[0]), points, np.full(DEGREE, points[-1])]))

    @property
    def size(self) -> int:
        """Number of functions, n."""
        return len(self.knots) - DEGREE - 1

    @property
    def span(self) -> tuple[float, float]:
        """The interval on which the basis is complete."""
        return float(self.knots[DEGREE]), float(self.knots[self.size])

    def matrix(self, times: ArrayLike, derivative: int = 0) -> Any:
        """M (m, n), sparse (CSR), with x^(d)(times) = M c: values (d = 0) or derivatives up to the third.

        Four entries a row for values. The third derivative jumps at knots: the value to the right is taken (at the end of
        the span, to the left).
        """
        if derivative not in (0, 1, 2, 3):
            raise BadInput(f"derivative {derivative} of a cubic spline was asked for; 0, 1, 2 and 3 exist")
        t = np.atleast_1d(np.asarray(times, dtype=np.float64))
        first, last = self.span
        slack = 1e-9 * (last - first)
        if not ((t >= first - slack) & (t <= last + slack)).all():
            raise BadInput(f"times from {t.min():g} to {t.max():g} s were asked of a spline on [{first:g}, {last:g}] s")
        degree = DEGREE - derivative
        u = self.knots
        at = np.clip(np.searchsorted(u, t, side="right") - 1, DEGREE, self.size - 1)
        B = np.ones((len(t), 1))
        for p in range(1, degree + 1):
            i = at[:, None] + np.arange(1 - p, 1)
            left, right = u[i], u[i + p]
            share = (t[:, None] - left) / (right - left)
            B = np.pad(B * (1.0 - share), ((0, 0), (0, 1))) + np.pad(B * share, ((0, 0), (1, 0)))
        columns = at[:, None] + np.arange(-degree, 1)
        rows = np.repeat(np.arange(len(t)), degree + 1)
        M = sparse.csr_array((B.ravel(), (rows, columns.ravel())), shape=(len(t), self.size))
        for p in range(degree + 1, DEGREE + 1):
            M = M @ self._differences(p)
        return M

    def _differences(self, p: int) -> Any:
        """D (n, n): coefficients of a spline of degree p to those of its derivative, p (c_i - c_{i-1}) / (u_{i+p} - u_i)."""
        n = self.size
        width = self.knots[p : p + n] - self.knots[:n]
        w = p / np.where(width > 0.0, width, np.inf)
        return sparse.diags_array([w, -w[1:]], offsets=[0, -1], shape=(n, n), format="csr")


@dataclass(frozen=True)
class Spline:
    """A curve: a basis and coefficients (n, ...)."""

    basis: SplineBasis
    coefficients: Array

    def __post_init__(self) -> None:
        c = np.array(self.coefficients, dtype=np.float64)
        if c.ndim < 1 or len(c) != self.basis.size:
            raise BadInput(f"coefficients of shape {c.shape} do not fit a basis of {self.basis.size} functions")
        c.setflags(write=False)
        object.__setattr__(self, "coefficients", c)

    def __call__(self, times: ArrayLike, derivative: int = 0) -> Array:
        """Values (times' shape + trailing shape of the coefficients), or derivatives up to the third."""
        t = np.asarray(times, dtype=np.float64)
        flat = self.coefficients.reshape(len(self.coefficients), -1)
        return (self.basis.matrix(t.ravel(), derivative) @ flat).reshape(t.shape + self.coefficients.shape[1:])


def interpolate(times: ArrayLike, values: ArrayLike) -> Spline:
    """The C2 cubic through samples at rising ``times`` (m,), ``values`` (m, ...), with a knot at each sample.

    Its third derivative is continuous at the second and the last but one sample ("not-a-knot"): error O(h^4) up to the ends. One
    sample gives a constant on one second, two give a line, three a parabola.
    """
    t, y, flat = _samples(times, values)
    if len(t) == 1:
        return Spline(SplineBasis.on([t[0], t[0] + 1.0]), np.repeat(y, 4, axis=0))
    if not (np.diff(t) > 0.0).all():
        raise BadInput("sample times must rise to interpolate; sort them and drop repeated ones")
    basis = SplineBasis.on(t)
    if len(t) == 2:
        extra = basis.matrix(t[[0, -1]], 2)
    elif len(t) == 3:
        extra = basis.matrix(t[[0, 1]], 3)
    else:
        middle = 0.5 * (t[1:] + t[:-1])
        extra = basis.matrix(middle[[0, -2]], 3) - basis.matrix(middle[[1, -1]], 3)
    scale = float(np.diff(t).min()) ** (2 if len(t) == 2 else 3)
    system, right = sparse.vstack([basis.matrix(t), scale * extra]), np.vstack([flat, np.zeros((2, flat.shape[1]))])
    return Spline(basis, _solve(system, right, "samples too close in time").reshape(-1, *y.shape[1:]))


def resample(values: ArrayLike, rate: float, new_rate: float, *, kind: Literal["spline", "linear"] = "spline") -> Array:
    """A sampled curve (m, ...) at another rate [Hz], over the same time: samples at k / new_rate up to the last of the old.

    "spline" is C2 and exact for cubics, but may pass the extreme samples by a little; "linear" never leaves the hull of
    its neighbours nor exceeds their speed. No low-pass is applied: content above new_rate / 2 is folded, not removed.
    """
    y = np.asarray(values, dtype=np.float64)
    if not (rate > 0.0 and new_rate > 0.0) or y.ndim < 1 or len(y) < 1:
        raise BadInput(
            f"{y.shape} samples at {rate} Hz cannot be resampled at {new_rate} Hz; rates are positive, samples at least one"
        )
    if rate == new_rate or len(y) == 1:
        return y.copy()
    duration = (len(y) - 1) / rate
    times = np.arange(int(np.floor(duration * new_rate * (1 + 1e-12) + 1e-9)) + 1) / new_rate
    old = np.arange(len(y)) / rate
    if kind == "linear":
        at = np.clip((times * rate).astype(np.int64), 0, len(y) - 2)
        share = (times * rate - at).reshape(-1, *(1,) * (y.ndim - 1))
        return (1.0 - share) * y[at] + share * y[at + 1]
    return interpolate(old, y)(np.minimum(times, old[-1]))


def _samples(times: ArrayLike, values: ArrayLike) -> tuple[Array, Array, Array]:
    """Times (m,), values (m, ...) and the values as (m, k), checked."""
    t, y = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if t.ndim != 1 or len(t) < 1 or y.ndim < 1 or len(y) != len(t):
        raise BadInput(f"{y.shape} samples at {t.shape} times; one time for each sample is needed")
    if not (np.isfinite(t).all() and np.isfinite(y).all()):
        raise BadInput("samples or times are not finite; fill or drop them first")
    return t, y, y.reshape(len(t), -1)


def _solve(system: Any, right: Array, problem: str) -> Array:
    """The solution of a sparse square system, refined once; a singular one is bad input."""
    matrix = sparse.csc_array(system)
    try:
        factors = splu(matrix)
    except RuntimeError as error:
        raise BadInput(problem) from error
    solution: Array = factors.solve(right)
    residual = right - matrix @ solution
    solution = solution + factors.solve(residual)
    size = abs(matrix).max() * np.abs(solution).max(initial=0.0) + np.abs(right).max(initial=0.0)
    if not np.isfinite(solution).all() or np.abs(right - matrix @ solution).max(initial=0.0) > 1e-9 * max(size, 1e-300):
        raise BadInput(problem)
    return solution
