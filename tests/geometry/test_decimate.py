"""Curves with fewer points keep their extremes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bunraku.errors import BadInput
from bunraku.geometry.decimate import decimated, decimated_together, outline

CURVES = st.integers(1, 400).flatmap(lambda n: arrays(np.float64, n, elements=st.floats(-1e3, 1e3)))


@settings(max_examples=80, deadline=None)
@given(CURVES, st.integers(4, 60))
def test_ends_and_extremes_stay_in_order(curve, most):
    at = decimated(curve, most)
    assert len(at) <= max(most, 1)
    assert (np.diff(at) > 0).all()
    assert (at[0], at[-1]) == (0, len(curve) - 1)
    assert (curve[at].min(), curve[at].max()) == (curve.min(), curve.max())


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 300), st.integers(4, 60), st.integers(0, 2**31))
def test_curves_that_share_their_times_keep_all_their_extremes(n, most, seed):
    rng = np.random.default_rng(seed)
    times, curves = np.sort(rng.uniform(0.0, 9.0, n)), rng.normal(size=(n, 3))
    t, y = decimated_together(times, curves, most)
    assert len(t) == len(y) <= max(most, 1)
    assert (np.diff(t) >= 0.0).all()
    assert (t[0], t[-1]) == (times[0], times[-1])
    np.testing.assert_array_equal(y.min(axis=0), curves.min(axis=0))
    np.testing.assert_array_equal(y.max(axis=0), curves.max(axis=0))


def test_a_peak_of_one_sample_among_many_is_still_there_at_its_time():
    curve = np.zeros(60_001)
    curve[31_234] = 5.0
    at = decimated(curve, 400)
    assert 31_234 in at
    t, y = decimated_together(np.arange(60_001) / 1000.0, curve[:, None], 1500)
    assert abs(t[int(y[:, 0].argmax())] - 31.234) <= 60.0 / 700.0


def test_gaps_stay_gaps():
    curve = np.full((1000, 2), np.nan)
    curve[:, 0] = 1.0
    curve[400:500, 1] = np.arange(100.0)
    _, y = decimated_together(np.arange(1000.0), curve, 100)
    assert np.nanmax(y[:, 1]) == 99.0
    assert np.isnan(y[:20, 1]).all()
    assert set(range(400, 500)) >= set(decimated(curve[:, 1], 10)) - {0, 999} - set(range(400)) - set(range(500, 1000))


@settings(max_examples=40, deadline=None)
@given(CURVES, st.integers(1, 50))
def test_an_outline_covers_every_sample(curve, columns):
    found = outline(curve, columns)
    assert found.shape == (columns, 2)
    assert (found[:, 0] <= found[:, 1]).all()
    if columns <= len(curve):
        assert (found[:, 0].min(), found[:, 1].max()) == (curve.min(), curve.max())


def test_too_few_points_are_refused():
    with pytest.raises(BadInput, match="at least 4"):
        decimated([1.0, 2.0], 3)
    with pytest.raises(BadInput, match="at least one"):
        outline([1.0], 0)
    assert outline([], 3).tolist() == [[0.0, 0.0]] * 3
