"""The one derivative checker: how fast the Taylor remainder falls when the step does.

For f: R^n -> R^m with claimed Jacobian J, a direction d and steps h, the remainder e(h) = |f(x + h d) - f(x) - h J(x) d|
falls like h^2 when J is right (slope 2 in a log-log plot) and like h when it is wrong. The slope is read at the smallest
steps that rounding still allows, so that even small mistakes show, down to relative ones of about 1e-6, the root of the rounding
error. A Hessian is checked on the scalar remainder, slope 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput

STEPS = 10.0 ** np.arange(-1.0, -7.25, -0.5)

Taylor = Callable[[float], tuple[float, float]]
"""Step h along a direction -> the remainder e(h), and how much of it may be rounding."""


@dataclass(frozen=True)
class SlopeReport:
    """The outcome: ``order`` is the least slope over all directions, ``expected`` what a right derivative shows.

    ``table`` (directions, steps, 2) holds step h and remainder e(h); remainders lost in rounding are NaN. ``order`` is
    infinite when every remainder is: the function is linear (or quadratic, for a Hessian) along these directions.
    """

    order: float
    expected: float
    table: Array

    @property
    def holds(self) -> bool:
        """Whether the derivative is right: the slope is at most 0.2 below the expected one."""
        return self.order >= self.expected - 0.2

    def __str__(self) -> str:
        verdict = "right" if self.holds else "WRONG"
        return f"the remainder falls with order {self.order:.2f}, a right derivative gives {self.expected:.0f}: it is {verdict}"


def check_jacobian(
    function: Callable[[Array], ArrayLike],
    jacobian: Callable[[Array], Any],
    x: ArrayLike,
    *,
    seed: int = 0,
    directions: int = 3,
    scale: float = 1.0,
    noise: float = 1e-13,
) -> SlopeReport:
    """Check ``jacobian(x)`` (m, n), dense, sparse or any linear operator with ``@``, of ``function`` (n,) to (m,).

    ``scale`` is the length of the directions: the largest step is a tenth of it. ``noise`` is the relative rounding error of
    the function; remainders below it are not read.
    """
    return check_product(function, lambda at, d: jacobian(at) @ d, x, seed=seed, directions=directions, scale=scale, noise=noise)


def check_product(
    function: Callable[[Array], ArrayLike],
    product: Callable[[Array, Array], ArrayLike],
    x: ArrayLike,
    *,
    seed: int = 0,
    directions: int = 3,
    scale: float = 1.0,
    noise: float = 1e-13,
) -> SlopeReport:
    """Check a matrix-free ``product(x, d)`` = J(x) d of ``function``; arguments as in :func:`check_jacobian`."""
    at = _point(x)
    f0 = np.array(function(at), dtype=np.float64).ravel()

    def along(d: Array) -> Taylor:
        Jd = np.array(product(at, d), dtype=np.float64).ravel()
        if Jd.shape != f0.shape:
            raise BadInput(f"the derivative along a direction has {Jd.size} numbers, the function {f0.size}; they must agree")

        def remainder(h: float) -> tuple[float, float]:
            f = np.array(function(at + h * d), dtype=np.float64).ravel()
            floor = noise * (np.linalg.norm(f0) + np.linalg.norm(f - f0) + np.linalg.norm(Jd) * np.linalg.norm(at))
            return float(np.linalg.norm(f - f0 - h * Jd)), float(floor)

        return remainder

    return _report(along, at.size, 2.0, seed, directions, scale)


check_gradient = check_jacobian
"""A gradient (n,) is the Jacobian of a scalar function."""


def check_hessian(
    function: Callable[[Array], float],
    gradient: Callable[[Array], ArrayLike],
    hessian: Callable[[Array], Any],
    x: ArrayLike,
    *,
    seed: int = 0,
    directions: int = 3,
    scale: float = 1.0,
    noise: float = 1e-13,
) -> SlopeReport:
    """Check ``gradient`` and ``hessian(x)`` (n, n; anything with ``@``) of a scalar function together.

    The remainder |f(x + h d) - f - h g.d - h^2/2 d.H d| falls with slope 3. Only the symmetric part of H is seen.
    """
    at = _point(x)
    f0, g = float(function(at)), np.asarray(gradient(at), dtype=np.float64)

    def along(d: Array) -> Taylor:
        slope, bend = float(g @ d), float(d @ (hessian(at) @ d))

        def remainder(h: float) -> tuple[float, float]:
            f = float(function(at + h * d))
            floor = noise * (abs(f0) + abs(f - f0) + abs(slope) * float(np.linalg.norm(at)))
            return abs(f - f0 - h * slope - 0.5 * h * h * bend), floor

        return remainder

    return _report(along, at.size, 3.0, seed, directions, scale)


def _point(x: ArrayLike) -> Array:
    at = np.array(x, dtype=np.float64)
    if at.ndim != 1 or at.size == 0 or not np.isfinite(at).all():
        raise BadInput(f"derivatives are checked at a finite vector; an array of shape {at.shape} arrived")
    return at


def _report(along: Callable[[Array], Taylor], size: int, expected: float, seed: int, directions: int, scale: float) -> SlopeReport:
    """The least slope over random directions, each the median of the local slopes at the four smallest readable steps."""
    table, orders = np.full((directions, len(STEPS), 2), np.nan), []
    for rows, d in zip(table, np.random.default_rng(seed).normal(size=(directions, size)), strict=True):
        remainder = along(scale * d / np.linalg.norm(d))
        for row, h in zip(rows, STEPS, strict=True):
            error, floor = remainder(h)
            row[:] = h, error if error > floor else np.nan
        seen = rows[np.isfinite(rows[:, 1])]
        if len(seen) == 0:
            orders.append(np.inf)
        elif len(seen) < 3:
            orders.append(np.inf if np.isnan(rows[-3:, 1]).all() and np.isfinite(rows[0, 1]) else 0.0)
        else:
            local = np.diff(np.log(seen[:, 1])) / np.diff(np.log(seen[:, 0]))
            orders.append(float(np.median(local[-3:])))
    return SlopeReport(float(min(orders)), expected, table)
