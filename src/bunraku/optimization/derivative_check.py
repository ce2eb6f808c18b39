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
    tables = []
    for d in _directions(at.size, directions, scale, seed):
        Jd = np.array(product(at, d), dtype=np.float64).ravel()
        if Jd.shape != f0.shape:
            raise BadInput(f"the derivative along a direction has {Jd.size} numbers, the function {f0.size}; they must agree")
        rows = []
        for h in STEPS:
            f = np.array(function(at + h * d), dtype=np.float64).ravel()
            floor = noise * (np.linalg.norm(f0) + np.linalg.norm(f - f0) + np.linalg.norm(Jd) * np.linalg.norm(at))
            rows.append((h, _above(float(np.linalg.norm(f - f0 - h * Jd)), float(floor))))
        tables.append(rows)
    return _report(np.array(tables), 2.0)


def check_gradient(
    function: Callable[[Array], float],
    gradient: Callable[[Array], ArrayLike],
    x: ArrayLike,
    *,
    seed: int = 0,
    directions: int = 3,
    scale: float = 1.0,
    noise: float = 1e-13,
) -> SlopeReport:
    """Check ``gradient(x)`` (n,) of a scalar ``function``; arguments as in :func:`check_jacobian`."""
    return check_product(
        lambda at: np.array([function(at)]),
        lambda at, d: np.array([np.asarray(gradient(at), dtype=np.float64) @ d]),
        x,
        seed=seed,
        directions=directions,
        scale=scale,
        noise=noise,
    )


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
    tables = []
    for d in _directions(at.size, directions, scale, seed):
        slope, bend = float(g @ d), float(d @ (hessian(at) @ d))
        rows = []
        for h in STEPS:
            f = float(function(at + h * d))
            floor = noise * (abs(f0) + abs(f - f0) + abs(slope) * float(np.linalg.norm(at)))
            rows.append((h, _above(abs(f - f0 - h * slope - 0.5 * h * h * bend), floor)))
        tables.append(rows)
    return _report(np.array(tables), 3.0)


def check_adjoint(
    product: Callable[[Array], ArrayLike], adjoint: Callable[[Array], ArrayLike], columns: int, rows: int, *, seed: int = 0
) -> float:
    """How far J^T y is from being the adjoint of J d: |y.(J d) - (J^T y).d| / (|y| |J d| + |J^T y| |d|), worst of five."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for _ in range(5):
        d, y = rng.normal(size=columns), rng.normal(size=rows)
        Jd, JTy = np.asarray(product(d), dtype=np.float64), np.asarray(adjoint(y), dtype=np.float64)
        size = float(np.linalg.norm(y) * np.linalg.norm(Jd) + np.linalg.norm(JTy) * np.linalg.norm(d))
        worst = max(worst, abs(float(y @ Jd - JTy @ d)) / max(size, 1e-300))
    return worst


def _point(x: ArrayLike) -> Array:
    at = np.array(x, dtype=np.float64)
    if at.ndim != 1 or at.size == 0 or not np.isfinite(at).all():
        raise BadInput(f"derivatives are checked at a finite vector; an array of shape {at.shape} arrived")
    return at


def _directions(size: int, count: int, scale: float, seed: int) -> Array:
    d = np.random.default_rng(seed).normal(size=(count, size))
    unit: Array = scale * d / np.linalg.norm(d, axis=1, keepdims=True)
    return unit


def _above(remainder: float, floor: float) -> float:
    return remainder if remainder > floor else float("nan")


def _report(table: Array, expected: float) -> SlopeReport:
    """The least slope over directions, each the median of the local slopes at the four smallest readable steps."""
    orders = []
    for rows in table:
        seen = rows[np.isfinite(rows[:, 1])]
        if len(seen) == 0:
            orders.append(np.inf)
        elif len(seen) < 3:
            orders.append(np.inf if np.isnan(rows[-3:, 1]).all() and np.isfinite(rows[0, 1]) else 0.0)
        else:
            local = np.diff(np.log(seen[:, 1])) / np.diff(np.log(seen[:, 0]))
            orders.append(float(np.median(local[-3:])))
    return SlopeReport(float(min(orders)), expected, table)
