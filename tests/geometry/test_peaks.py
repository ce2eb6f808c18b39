"""Peaks against an independent program, on curves with plateaus and ties."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import find_peaks

from bunraku.geometry.peaks import apart, maxima, peaks, prominences


def curves():
    rng = np.random.default_rng(3)
    yield from (rng.integers(0, levels, n).astype(float) for levels in (2, 4, 50) for n in (0, 1, 2, 3, 40, 200))
    yield np.cumsum(rng.normal(size=500))


@pytest.mark.parametrize("curve", list(curves()), ids=lambda curve: str(len(curve)))
def test_they_are_those_of_scipy(curve: np.ndarray) -> None:
    at, facts = find_peaks(curve, prominence=0.0)
    np.testing.assert_array_equal(maxima(curve), at)
    np.testing.assert_array_equal(prominences(curve, at), facts["prominences"])
    np.testing.assert_array_equal(peaks(curve, prominence=1.0)[0], find_peaks(curve, prominence=1.0)[0])


@pytest.mark.parametrize("distance", [1, 2, 7])
def test_peaks_that_are_apart_are_those_of_scipy(distance: int) -> None:
    curve = np.random.default_rng(4).normal(size=300)
    at = maxima(curve)
    np.testing.assert_array_equal(apart(curve, at, distance), find_peaks(curve, distance=distance)[0])


def test_a_hill_on_a_slope_stands_above_its_higher_valley() -> None:
    """1 above the valley on its right, 3 above the start: its prominence is 1."""
    np.testing.assert_array_equal(prominences([0.0, 3.0, 2.0, 5.0, 0.0], maxima([0.0, 3.0, 2.0, 5.0, 0.0])), [1.0, 5.0])
