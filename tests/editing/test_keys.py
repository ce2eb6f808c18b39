"""Keys of a curve: few, exact, local and smooth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.editing.keys import MOST_KEYS, Keys, added, added_key, keys_of, moved, moved_keys, removed, removed_key, through
from bunraku.errors import BadInput
from bunraku.motion import JointCurves

RATE = 100.0


def wave(seed: int = 0, n: int = 301) -> JointCurves:
    """Two smooth curves with some fine detail."""
    rng = np.random.default_rng(seed)
    t = np.arange(n) / RATE
    parts = [rng.normal() * np.sin(rng.uniform(1.0, 9.0) * t + rng.uniform(0.0, 6.0)) for _ in range(4)]
    curve = sum(parts) + 0.02 * np.sin(60.0 * t)
    return JointCurves(("knee", "hip"), RATE, np.column_stack([curve, np.cos(t)]))


def test_keys_are_few_and_their_spline_is_near():
    curves = wave()
    curve = curves.column("knee")
    keys = keys_of(curves, "knee", 0.1)
    assert 3 <= len(keys.samples) < 30
    assert np.abs(through(curves, "knee", keys) - curve).max() <= 0.1
    assert len(keys_of(curves, "knee", 0.001).samples) > len(keys.samples)
    assert {int(curve.argmax()), int(curve.argmin())} <= set(keys_of(curves, "knee", 0.05).samples)


def test_there_are_never_more_than_asked_and_a_still_curve_has_its_ends():
    rng = np.random.default_rng(3)
    noise = JointCurves(("a", "b"), RATE, np.column_stack([rng.normal(size=500), np.ones(500)]))
    assert len(keys_of(noise, "a", 0.0).samples) == MOST_KEYS
    assert keys_of(noise, "b").samples == (0, 499)


PLACE = st.tuples(st.integers(0, 20), st.integers(0, 400), st.floats(-2.0, 2.0), st.integers(0, 50))


@settings(max_examples=80, deadline=None)
@given(PLACE)
def test_a_moved_key_is_met_exactly_and_changes_nothing_beyond_its_neighbours(place):
    seed, sample, value, pick = place
    curves = wave(seed)
    keys = keys_of(curves, "knee", 0.1)
    index = pick % len(keys.samples)
    new = moved(curves, "knee", keys, index, sample / RATE, value)
    there = moved_keys(keys, index, sample / RATE).samples[index]
    assert new.column("knee")[there] == value
    low, high = keys.samples[max(index - 1, 0)], keys.samples[min(index + 1, len(keys.samples) - 1)]
    outside = np.ones(len(new.values), dtype=bool)
    outside[low + 1 : high] = False
    outside[keys.samples[index]] = False
    np.testing.assert_array_equal(new.column("knee")[outside], curves.column("knee")[outside])
    np.testing.assert_array_equal(new.column("hip"), curves.column("hip"))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 20), st.integers(0, 50))
def test_a_key_left_where_it_is_changes_nothing(seed, pick):
    curves = wave(seed)
    keys = keys_of(curves, "knee", 0.1)
    index = pick % len(keys.samples)
    k = keys.samples[index]
    new = moved(curves, "knee", keys, index, k / RATE, float(curves.column("knee")[k]))
    np.testing.assert_array_equal(new.values, curves.values)


@pytest.mark.parametrize(("time", "value"), [(1.0, 2.5), (0.7, 1.0), (1.45, 1.0), (0.6, -2.0)])
def test_the_new_curve_joins_with_the_slope_of_the_old_as_it_is_sampled_more_finely(time, value):
    kinks = []
    for rate in (100.0, 200.0, 400.0):
        t = np.arange(int(2.0 * rate) + 1) / rate
        curves = JointCurves(("a",), rate, np.sin(np.pi * t)[:, None])
        keys = Keys((0, round(0.2 * rate), round(1.0 * rate), round(1.8 * rate), round(2.0 * rate)), rate)
        new = moved(curves, "a", keys, 2, time, value).column("a")
        slope = np.diff(new) * rate
        kinks.append(np.abs(np.diff(slope)).max())
    assert kinks[1] < 0.6 * kinks[0]
    assert kinks[2] < 0.6 * kinks[1]


def test_an_extreme_that_is_moved_in_time_stays_the_extreme():
    t = np.arange(201) / RATE
    curves = JointCurves(("a",), RATE, np.sin(np.pi * t)[:, None])
    keys = Keys((0, 50, 100, 200), RATE)
    for sample in (3, 20, 80, 97):
        new = moved(curves, "a", keys, 1, sample / RATE, 1.0).column("a")
        assert int(new[:101].argmax()) == sample
        assert (np.diff(new[: sample + 1]) > 0.0).all()
        assert (np.diff(new[sample:101]) < 0.0).all()


def test_detail_goes_along_with_its_key():
    curves = wave()
    keys = keys_of(curves, "knee", 0.3)
    index = len(keys.samples) // 2
    k = keys.samples[index]
    old = curves.column("knee")
    new = moved(curves, "knee", keys, index, k / RATE, float(old[k]) + 0.7).column("knee")
    np.testing.assert_allclose((new - old)[k - 1 : k + 2], 0.7, atol=0.02)


def test_a_key_is_added_and_removed():
    curves = wave()
    keys = keys_of(curves, "knee", 0.2)
    a, b = keys.samples[1:3]
    middle = (a + b) // 2
    more = added_key(keys, middle / RATE)
    assert set(more.samples) == {*keys.samples, middle}
    assert added_key(more, middle / RATE) == more
    new = added(curves, "knee", keys, middle / RATE, 1.5)
    assert new.column("knee")[middle] == 1.5
    np.testing.assert_array_equal(new.column("knee")[: a + 1], curves.column("knee")[: a + 1])
    gone = removed(new, "knee", more, more.samples.index(middle))
    assert gone.column("knee")[middle] == pytest.approx(through(new, "knee", keys)[middle], abs=1e-12)
    assert removed_key(more, more.samples.index(middle)) == keys


def test_what_cannot_be_done_is_said():
    curves = wave()
    keys = keys_of(curves, "knee", 0.2)
    with pytest.raises(BadInput, match="the first and the last key"):
        removed(curves, "knee", keys, 0)
    with pytest.raises(BadInput, match="no key 99"):
        moved(curves, "knee", keys, 99, 0.0, 0.0)
    with pytest.raises(BadInput, match="finite"):
        moved(curves, "knee", keys, 1, float("nan"), 0.0)
    with pytest.raises(BadInput, match="no curve for 'elbow'"):
        keys_of(curves, "elbow")
    with pytest.raises(BadInput, match="do not belong"):
        moved(curves, "knee", Keys((0, 10), RATE), 0, 0.0, 0.0)
    with pytest.raises(BadInput, match="rising"):
        Keys((0, 5, 5), RATE)
    with pytest.raises(BadInput, match="at least two"):
        keys_of(JointCurves(("a",), 10.0, np.zeros((1, 1))), "a")
