"""How sure an estimate is: intervals from the covariance of a least-squares fit, and words for what the record cannot tell.

With residuals r (n,), their derivatives J (n, p) over the parameters and m parameters in all, the noise is s^2 = r.r / (n - m), the
covariance s^2 (J'J)^-1, and the interval of a parameter its value +- t s_i, t the quantile of Student's distribution with n - m
degrees of freedom. When successive residuals are correlated (rho > 0), the record holds less than it seems and the
covariance grows by (1 + rho) / (1 - rho).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from bunraku.arrays import Array


@dataclass(frozen=True)
class Estimate:
    """A value between ``low`` and ``high``, its interval."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return 0.5 * (self.high - self.low)

    def covers(self, truth: float) -> bool:
        """Whether ``truth`` lies in the interval."""
        return self.low <= truth <= self.high


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """``noise`` (standard deviation of a coordinate), ``covariance`` (p, p), ``quantile`` t, ``correlation`` rho of neighbours."""

    noise: float
    covariance: Array
    quantile: float
    correlation: float

    def half_width(self, i: int) -> float:
        """Half the interval of parameter i."""
        return float(self.quantile * np.sqrt(self.covariance[i, i]))


def find_uncertainty(residuals: Array, J: Array, parameters: int, confidence: float) -> Uncertainty:
    """From residuals (M, d), derivatives J (M d, p) and the number of all parameters; infinite variances where J is zero."""
    n = residuals.size
    freedom = max(n - parameters, 1)
    variance = float(np.einsum("ij,ij->", residuals, residuals)) / freedom
    size = float(np.einsum("ij,ij->", residuals, residuals))
    rho = float(np.einsum("ij,ij->", residuals[1:], residuals[:-1])) / size if size > 0.0 else 0.0
    correlated = rho > 3.0 / np.sqrt(n)
    growth = (1.0 + min(rho, 0.99)) / (1.0 - min(rho, 0.99)) if correlated else 1.0
    norms = np.linalg.norm(J, axis=0)
    seen = norms > 1e-12 * max(float(norms.max(initial=0.0)), 1e-300)
    covariance = np.full((len(norms), len(norms)), 0.0)
    covariance[~seen, ~seen] = np.inf
    if seen.any():
        scaled = J[:, seen] / norms[seen]
        inverse = np.linalg.pinv(scaled.T @ scaled, rcond=1e-14, hermitian=True)
        covariance[np.ix_(seen, seen)] = variance * growth * inverse / np.outer(norms[seen], norms[seen])
    return Uncertainty(float(np.sqrt(variance)), covariance, float(stats.t.ppf(0.5 + 0.5 * confidence, freedom)), rho)
