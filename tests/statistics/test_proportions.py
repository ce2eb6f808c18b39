"""The exact interval of a share against published values, and against its definition."""

from __future__ import annotations

import pytest
from scipy import stats

from bunraku.errors import BadInput
from bunraku.statistics.proportions import clopper_pearson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(0, 10, 0.0, 0.3085), (1, 10, 0.0025, 0.4450), (5, 10, 0.1871, 0.8129), (10, 10, 0.6915, 1.0), (81, 263, 0.2527, 0.3676)],
)
def test_bounds_are_those_of_the_tables(successes: int, trials: int, low: float, high: float) -> None:
    """95 %: ten trials as in tables of the binomial; 81 of 263 is Newcombe's example (Statistics in Medicine 17, 1998)."""
    assert clopper_pearson(successes, trials) == pytest.approx((low, high), abs=6e-5)


def test_each_bound_makes_what_was_seen_as_rare_as_it_says() -> None:
    """P(X >= s | low) = P(X <= s | high) = (1 - level) / 2."""
    low, high = clopper_pearson(29, 64, level=0.9)
    assert stats.binom.sf(28, 64, low) == pytest.approx(0.05, rel=1e-9)
    assert stats.binom.cdf(29, 64, high) == pytest.approx(0.05, rel=1e-9)


def test_what_is_no_share_is_refused() -> None:
    for successes, trials, level in ((3, 2, 0.95), (0, 0, 0.95), (1, 2, 1.0)):
        with pytest.raises(BadInput, match="no share"):
            clopper_pearson(successes, trials, level=level)
