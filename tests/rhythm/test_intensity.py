import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import BadInput
from bunraku.motion import JointCurves
from bunraku.rhythm.intensity import with_intensity
from bunraku.rhythm.strokes import gesture_peaks

FACTORS = [0.3, 0.5, 0.8, 1.0, 1.1, 1.25, 1.5]
LOWER, UPPER = np.array([-1.0, -0.3]), np.array([1.2, 1.33])
NEUTRAL = np.array([0.1, 0.2])


def behaviour():
    t = np.arange(0.0, 6.0, 0.01)
    a = (
        0.1
        + np.exp(-(((t - 1.0) / 0.2) ** 2)) * 1.05
        - 0.9 * np.exp(-(((t - 2.5) / 0.15) ** 2))
        + 0.3 * np.exp(-(((t - 4.0) / 0.2) ** 2))
    )
    b = 0.2 + 0.45 * np.sin(2 * np.pi * 0.7 * t) * np.sin(np.pi * t / 6.0)
    return JointCurves(("a", "b"), 100.0, np.column_stack([a, b]))


def test_intensity_one_is_the_behaviour_itself():
    curves = behaviour()
    assert with_intensity(curves, 1.0, NEUTRAL, LOWER, UPPER).values.tobytes() == curves.values.tobytes()
    nearly = with_intensity(curves, 1.0 + 1e-9, NEUTRAL, LOWER, UPPER)
    np.testing.assert_allclose(nearly.values, curves.values, atol=1e-8)


def test_without_range_deviation_is_scaled_exactly():
    curves = behaviour()
    for factor in FACTORS:
        found = with_intensity(curves, factor, NEUTRAL)
        np.testing.assert_allclose(found.values - NEUTRAL, factor * (curves.values - NEUTRAL), atol=1e-14)


def test_amplitude_is_monotone_limits_hold_and_peaks_keep_their_times():
    curves = behaviour()
    peaks = gesture_peaks(curves)
    assert len(peaks["a"]) == 3
    last = None
    for factor in FACTORS:
        found = with_intensity(curves, factor, NEUTRAL, LOWER, UPPER)
        assert (found.values <= UPPER + 1e-12).all()
        assert (found.values >= LOWER - 1e-12).all()
        for name, times in gesture_peaks(found).items():
            np.testing.assert_allclose(times, peaks[name], atol=1.0 / curves.rate)
        amplitude = np.abs(found.values - NEUTRAL)
        if last is not None:
            assert (amplitude >= last - 1e-14).all()
            assert (amplitude.max(axis=0) > last.max(axis=0)).all()
        last = amplitude


def test_order_of_samples_is_kept_strictly_so_no_peak_is_flat():
    x = np.linspace(-1.0, 1.2, 2001)[:, None]
    curves = JointCurves(("a",), 100.0, x)
    for factor in FACTORS:
        y = with_intensity(curves, factor, NEUTRAL[:1], LOWER[:1], UPPER[:1]).values[:, 0]
        steps = np.diff(y) / np.diff(x[:, 0])
        assert (steps > 0.1).all()
        # grows by the factor near the neutral pose
        middle = np.abs(x[:-1, 0] - NEUTRAL[0]) < 0.05
        np.testing.assert_allclose(steps[middle], factor, rtol=1e-3)


def test_a_wish_outside_the_range_does_not_fold_back():
    curves = JointCurves(("a",), 100.0, np.linspace(0.0, 2.0, 101)[:, None])
    y = with_intensity(curves, 1.5, np.zeros(1), -np.ones(1), np.ones(1)).values[:, 0]
    assert (np.diff(y) > 0.0).all()
    assert y[-1] == pytest.approx(2.0)


@settings(max_examples=60, deadline=None)
@given(st.floats(1.0, 1.5), st.floats(0.0, 1.0), st.floats(0.01, 3.0), st.floats(-2.0, 2.0))
def test_the_formula_of_the_docstring(factor, share, room, neutral):
    x = neutral + share * room
    y = with_intensity(
        JointCurves(("a",), 1.0, [[x]]), factor, np.array([neutral]), np.array([neutral - 1.0]), np.array([neutral + room])
    )
    wanted = neutral + room * factor * share / (1.0 + (factor**4 - 1.0) * share**4) ** 0.25
    assert y.values[0, 0] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("factor", [0.2, 1.6, float("nan")])
def test_other_intensities_are_refused(factor):
    with pytest.raises(BadInput, match="intensity"):
        with_intensity(behaviour(), factor, NEUTRAL)


def test_a_neutral_pose_of_other_joints_is_refused():
    with pytest.raises(BadInput, match="one a joint"):
        with_intensity(behaviour(), 1.2, np.zeros(3))
