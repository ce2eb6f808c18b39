"""Cutting a curve at turning points and phrase marks."""

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.optimization.chain.segments import cut_segments, turning_points


def test_turning_points_of_a_sine_are_its_extremes():
    t = np.arange(401) / 100  # 4 s at 100 Hz, 0.5 Hz sine: extremes at 0.5, 1.5, 2.5, 3.5 s
    curve = np.sin(np.pi * t)
    np.testing.assert_array_equal(turning_points(curve), [50, 150, 250, 350])
    np.testing.assert_array_equal(turning_points(-curve), [50, 150, 250, 350])
    np.testing.assert_array_equal(turning_points(curve + 7), [50, 150, 250, 350])


def test_noise_below_the_hysteresis_cuts_nothing():
    rng = np.random.default_rng(2)
    t = np.arange(401) / 100
    curve = np.sin(np.pi * t)
    noisy = curve + 0.02 * rng.uniform(-1, 1, t.size)
    found = turning_points(noisy, hysteresis=0.1)
    assert len(found) == 4
    assert np.abs(found - [50, 150, 250, 350]).max() <= 8
    assert len(turning_points(noisy, hysteresis=0.0)) > 50
    assert turning_points(0.04 * curve, hysteresis=0.1).size == 0
    assert turning_points(t, hysteresis=0.0).size == 0


def test_boundaries_span_the_curve_keep_marks_and_distance():
    rng = np.random.default_rng(4)
    for _ in range(50):
        curve = np.cumsum(rng.normal(size=rng.integers(2, 300))) * 0.1
        marks = rng.uniform(-1, curve.size / 25 + 1, rng.integers(0, 4))
        cuts = cut_segments(curve, 25.0, marks, shortest=0.4)
        assert cuts[0] == 0
        assert cuts[-1] == curve.size - 1
        assert (np.diff(cuts) > 0).all()
        inside = {round(m * 25) for m in marks if 0 < round(m * 25) < curve.size - 1}
        assert inside <= set(cuts.tolist())
        turning = set(turning_points(curve).tolist())
        added = [c for c in cuts[1:-1].tolist() if c not in inside]
        assert set(added) <= turning
        for c in added:
            others = cuts[cuts != c]
            assert np.abs(others - c).min() >= 10


def test_bad_input_is_named():
    with pytest.raises(BadInput, match="at least two"):
        cut_segments([1.0], 25.0)
    with pytest.raises(BadInput, match="rate"):
        cut_segments([1.0, 2.0], 0.0)
    with pytest.raises(BadInput, match="mark"):
        cut_segments([1.0, 2.0], 25.0, [np.nan])
