"""The one-sample t test against published data, its closed form, its distribution, and the paper of the study."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from bunraku.errors import BadInput
from bunraku.statistics.t_test import one_sample_t

SLEEP = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
"""Student's own data (Biometrika 6, 1908): hours of sleep gained, one drug over the other."""


def test_students_sleep() -> None:
    found = one_sample_t(SLEEP)
    assert found.mean == pytest.approx(1.58)
    assert found.t == pytest.approx(4.0621, abs=1e-4)
    assert found.df == 9
    assert found.p == pytest.approx(0.002833, abs=1e-6)
    assert (found.low, found.high) == pytest.approx((0.7001142, 2.4598858), abs=1e-6)


def test_closed_form() -> None:
    # 1, 2, 3 about 0: mean 2, sd 1, t = 2 sqrt(3); with 2 degrees of freedom P(|T| > t) = 1 - t / sqrt(2 + t^2)
    found = one_sample_t([1.0, 2.0, 3.0])
    t = 2.0 * math.sqrt(3.0)
    assert (found.t, found.sd, found.effect) == pytest.approx((t, 1.0, 2.0))
    assert found.p == pytest.approx(1.0 - t / math.sqrt(2.0 + t * t), rel=1e-12)


@pytest.mark.parametrize("center", [-3.0, 0.0, 0.4])
def test_agrees_with_scipy(center: float) -> None:
    values = np.random.default_rng(5).normal(0.3, 2.0, 38)
    found, other = one_sample_t(values, center, level=0.9), stats.ttest_1samp(values, center)
    assert (found.t, found.p) == pytest.approx((other.statistic, other.pvalue))
    interval = other.confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_moves_with_the_values_and_not_with_their_unit() -> None:
    values = np.random.default_rng(6).normal(1.0, 1.0, 12)
    here, there, scaled = one_sample_t(values), one_sample_t(values + 7.0, 7.0), one_sample_t(-3.0 * values)
    assert there.t == pytest.approx(here.t)
    assert (scaled.t, scaled.p, scaled.effect) == pytest.approx((-here.t, here.p, -here.effect))


def test_the_papers_scores_follow_from_its_means() -> None:
    """M = .49, SD = .36, n = 38 are rounded: t(37) = 8.38 lies within what they allow; so does 8.29 for SD = .37."""
    for sd, told in ((0.36, 8.38), (0.37, 8.29)):
        base = np.linspace(-1.0, 1.0, 38)
        values = 0.49 + sd * base / base.std(ddof=1)
        found = one_sample_t(values)
        lowest, highest = (m / (s / math.sqrt(38)) for m, s in ((0.485, sd + 0.005), (0.495, sd - 0.005)))
        assert lowest <= told <= highest
        assert lowest <= found.t <= highest
        assert found.df == 37
        assert found.p < 0.0005


def test_rejects_as_often_as_it_should() -> None:
    """Over many samples: 5 % where nothing is there, and the power of the noncentral t where something is."""
    rng, n, runs = np.random.default_rng(11), 12, 1500
    for shift in (0.0, 0.7):
        hits = sum(one_sample_t(rng.normal(shift, 1.0, n)).p < 0.05 for _ in range(runs))
        bound, away = stats.t.ppf(0.975, n - 1), shift * math.sqrt(n)
        power = 0.05 if shift == 0.0 else stats.nct.sf(bound, n - 1, away) + stats.nct.cdf(-bound, n - 1, away)
        assert abs(hits - runs * power) < 4.0 * math.sqrt(runs * power * (1.0 - power))


def test_values_all_alike() -> None:
    assert (one_sample_t([0.1, 0.1, 0.1]).t, one_sample_t([0.1] * 3).p) == (math.inf, 0.0)
    assert (one_sample_t([-1.0, -1.0]).t, one_sample_t([0.0, 0.0]).t, one_sample_t([0.0, 0.0]).p) == (-math.inf, 0.0, 1.0)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, math.nan], [[1.0, 2.0]], [1.0, math.inf]])
def test_refuses(values: list[float]) -> None:
    with pytest.raises(BadInput, match="at least two finite numbers"):
        one_sample_t(values)
