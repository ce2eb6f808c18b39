"""The one-sample t test: is the mean of a sample different from a given number?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from bunraku.errors import BadInput


@dataclass(frozen=True)
class TTest:
    """What a sample of ``count`` values says about its mean against ``center``; two-sided.

    t = (mean - center) / (sd / sqrt(count)) with count - 1 degrees of freedom; ``effect`` is Cohen's d = (mean - center) / sd;
    ``low`` and ``high`` bound the mean with the confidence ``level``.
    """

    count: int
    center: float
    mean: float
    sd: float
    t: float
    df: int
    p: float
    effect: float
    low: float
    high: float
    level: float


def one_sample_t(values: ArrayLike, center: float = 0.0, *, level: float = 0.95) -> TTest:
    """Test whether the mean of ``values``, shape (count,), differs from ``center``; ``level`` is that of the interval.

    Values that are all alike have no spread to judge by: t is 0 (p = 1) when they equal ``center``, infinite (p = 0) otherwise.
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or len(sample) < 2 or not np.isfinite(sample).all():
        raise BadInput(f"values of shape {sample.shape} arrived; a t test takes at least two finite numbers in a row")
    if not 0.0 < level < 1.0:
        raise BadInput(f"a confidence level of {level} arrived; give one between 0 and 1, such as 0.95")
    n, mean = len(sample), float(sample.mean())
    sd = 0.0 if np.all(sample == sample[0]) else float(sample.std(ddof=1))
    gap = mean - center
    t = gap / (sd / math.sqrt(n)) if sd > 0.0 else math.copysign(math.inf, gap) if gap else 0.0
    half = float(stats.t.ppf(0.5 + 0.5 * level, n - 1)) * sd / math.sqrt(n)
    p = float(2.0 * stats.t.sf(abs(t), n - 1))
    effect = gap / sd if sd > 0.0 else t
    return TTest(n, center, mean, sd, t, n - 1, p, effect, mean - half, mean + half, level)
