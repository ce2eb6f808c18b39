"""Analysis of variance with repeated measures: everybody is measured under every combination of some factors.

For each effect (a factor, or several together) the measures of a subject are projected on orthonormal contrasts C of that effect:
y_s = C' x_s, with as many numbers as the effect has degrees of freedom, d. With n subjects and the mean y over them,

    SS_effect = n |y|²,   SS_error = sum_s |y_s - y|²,   F = (SS_effect / d) / (SS_error / (d (n - 1))).

F compares the effect with how much subjects differ in it. Its distribution needs sphericity: that the covariance S of y_s is a
multiple of the identity. How far it is from that says the epsilon of Greenhouse and Geisser (Psychometrika 24, 1959),
tr(S)² / (d tr(S²)), between 1 / d and 1, by which both degrees of freedom are multiplied for the corrected p.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from bunraku.arrays import Array
from bunraku.errors import BadInput

_ROUNDING = 1e-14


@dataclass(frozen=True)
class Effect:
    """One effect of the analysis: sums of squares, F with its degrees of freedom, p, p corrected, and how large it is.

    ``partial_eta_squared`` is SS_effect / (SS_effect + SS_error); ``generalized_eta_squared`` has in its denominator all that
    subjects differ in, so that it can be compared between designs (Olejnik and Algina, Psychological Methods 8, 2003).
    """

    factors: tuple[str, ...]
    sum_of_squares: float
    error: float
    df: int
    df_error: int
    f: float
    p: float
    epsilon: float
    corrected_p: float
    partial_eta_squared: float
    generalized_eta_squared: float

    @property
    def name(self) -> str:
        """The factors in words: ``condition x clip``."""
        return " x ".join(self.factors)


def repeated_measures(values: ArrayLike, factors: Sequence[str]) -> tuple[Effect, ...]:
    """All effects of ``values``, shape (subjects, levels of the first factor, levels of the second, ...).

    Single factors first, then their interactions. Missing measures (NaN) are refused: leave such subjects out.
    """
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != len(factors) + 1 or not factors or len(set(factors)) != len(factors):
        raise BadInput(
            f"values of shape {data.shape} arrived for the factors {', '.join(factors)}; one axis for subjects and one a factor"
        )
    if len(data) < 2 or min(data.shape[1:]) < 2 or not np.isfinite(data).all():
        raise BadInput(
            f"values of shape {data.shape} arrived; at least two subjects and two levels a factor are needed, all finite"
        )
    table = data.reshape(len(data), -1)
    nothing = (_ROUNDING * float(np.abs(table).max())) ** 2 * table.size
    subsets = [chosen for size in range(1, len(factors) + 1) for chosen in combinations(range(len(factors)), size)]
    projected = {chosen: table @ _basis(data.shape[1:], chosen) for chosen in subsets}
    subjects = _spread(table @ _basis(data.shape[1:], ())) + math.fsum(_spread(scores) for scores in projected.values())
    return tuple(_effect(tuple(factors[i] for i in chosen), projected[chosen], subjects, nothing) for chosen in subsets)


def contrasts(levels: int) -> Array:
    """Orthonormal contrasts of a factor (Helmert's), shape (levels, levels - 1): columns of length 1 that sum to 0."""
    columns = np.zeros((levels, levels - 1))
    for j in range(levels - 1):
        columns[: j + 1, j], columns[j + 1, j] = 1.0, -(j + 1.0)
    return columns / np.linalg.norm(columns, axis=0)


def _basis(levels: Sequence[int], chosen: tuple[int, ...]) -> Array:
    """Contrasts over the chosen factors, the mean over the others; shape (all levels, degrees of freedom)."""
    basis = np.ones((1, 1))
    for i, count in enumerate(levels):
        basis = np.kron(basis, contrasts(count) if i in chosen else np.full((count, 1), 1.0 / math.sqrt(count)))
    return basis


def _spread(scores: Array) -> float:
    return float(np.sum((scores - scores.mean(axis=0)) ** 2))


def _effect(factors: tuple[str, ...], scores: Array, subjects: float, nothing: float) -> Effect:
    """The effect whose contrasts gave ``scores`` (subjects, df); sums of squares up to ``nothing`` are rounding."""
    n, df = scores.shape
    df_error = df * (n - 1)
    squares, error = float(n * np.sum(scores.mean(axis=0) ** 2)), _spread(scores)
    squares, error = (0.0 if value <= nothing else value for value in (squares, error))
    f = (squares / df) / (error / df_error) if error > 0.0 else (math.inf if squares > 0.0 else 0.0)
    epsilon = _epsilon(scores) if error > 0.0 else 1.0
    return Effect(
        factors,
        squares,
        error,
        df,
        df_error,
        f,
        float(stats.f.sf(f, df, df_error)),
        epsilon,
        float(stats.f.sf(f, epsilon * df, epsilon * df_error)),
        squares / (squares + error) if squares + error > 0.0 else 0.0,
        squares / (squares + subjects) if squares + subjects > 0.0 else 0.0,
    )


def _epsilon(scores: Array) -> float:
    """Greenhouse and Geisser's epsilon of the contrast scores (subjects, d)."""
    df = scores.shape[1]
    centered = scores - scores.mean(axis=0)
    S = centered.T @ centered
    square = float(np.sum(S * S))
    return min(1.0, max(1.0 / df, float(np.trace(S)) ** 2 / (df * square)))
