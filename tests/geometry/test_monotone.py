"""Monotone interpolation is scipy's, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from bunraku.geometry.monotone import monotone


@pytest.mark.parametrize("keys", range(2, 9))
def test_it_is_scipys_to_the_bit(keys: int) -> None:
    rng = np.random.default_rng(keys)
    for digits in (0, 1, 3, 8) * 20:
        times = np.cumsum(rng.uniform(0.01, 1.0, keys))
        values = rng.normal(size=keys).round(digits)
        at = np.concatenate([times, rng.uniform(times[0], times[-1], 40)])
        np.testing.assert_array_equal(monotone(times, values, at), PchipInterpolator(times, values)(at))
