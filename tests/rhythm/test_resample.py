import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import JointCurves
from bunraku.rhythm.resample import local_stretch, resampled, stretched


def sines(rate, seconds=4.0):
    t = np.arange(int(seconds * rate) + 1) / rate
    return JointCurves(("a", "b"), rate, np.column_stack([np.sin(3.0 * t), 0.5 * np.cos(5.0 * t)]))


def test_equal_rates_change_nothing():
    curves = sines(25.0)
    assert resampled(curves, 25.0).values.tobytes() == curves.values.tobytes()


def test_samples_that_both_rates_have_stay_exactly():
    curves = sines(25.0)
    up = resampled(curves, 100.0)
    assert up.duration == pytest.approx(curves.duration)
    np.testing.assert_allclose(up.values[::4], curves.values, atol=1e-14)
    np.testing.assert_allclose(resampled(up, 25.0).values, curves.values, atol=1e-14)


def test_a_cubic_comes_back_exactly_as_not_a_knot_splines_reproduce_it():
    t = np.arange(20) / 10.0
    curves = JointCurves(("a",), 10.0, (t**3 - 2 * t**2 + 0.5)[:, None])
    up = resampled(curves, 37.0)
    np.testing.assert_allclose(up.values[:, 0], up.times**3 - 2 * up.times**2 + 0.5, atol=1e-12)


def test_the_error_falls_with_the_fourth_power_of_the_frame_time():
    errors = []
    for rate in (20.0, 40.0, 80.0):
        up = resampled(sines(rate), 333.0)
        inside = (up.times > 0.5) & (up.times < 3.5)
        errors.append(np.abs(up.values[inside, 0] - np.sin(3.0 * up.times[inside])).max())
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert (orders > 3.7).all()


def test_the_curves_end_at_the_last_full_sample():
    curves = JointCurves(("a",), 10.0, np.arange(8.0)[:, None])  # 0.7 s
    assert resampled(curves, 4.0).duration == pytest.approx(0.5)
    assert resampled(curves, 30.0).duration == pytest.approx(0.7)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_samples_are_enough(count):
    values = np.array([[1.0], [2.0], [3.0]])[:count]
    up = resampled(JointCurves(("a",), 10.0, values), 20.0)
    np.testing.assert_allclose(up.values[:, 0], 1.0 + 10.0 * up.times, atol=1e-12)
    assert len(up.values) == 2 * (count - 1) + 1


def test_a_rate_of_nothing_is_refused():
    with pytest.raises(BadInput, match="sampling rate"):
        resampled(sines(25.0), 0.0)


def test_a_legal_motion_is_not_stretched():
    curves = sines(100.0)
    control, times = local_stretch(curves, np.array([3.1, 2.6]))
    assert control is curves
    np.testing.assert_array_equal(times, curves.times)


def test_a_ramp_twice_too_fast_takes_twice_as_long():
    x = np.concatenate([np.zeros(10), np.linspace(0.0, 1.0, 11), np.ones(10)])[:, None]  # 1 rad in 0.1 s at 100 Hz
    curves = JointCurves(("a", "b"), 100.0, np.hstack([x, 0.1 * x]))
    control, times = local_stretch(curves, np.array([5.0, np.inf]))
    assert times[-1] == pytest.approx(curves.duration + 0.1, abs=1e-12)
    ramp = control.values[:, 0]
    moving = (ramp > 1e-12) & (ramp < 1.0 - 1e-12)
    np.testing.assert_allclose(np.diff(ramp[moving]), 0.05, atol=1e-12)
    # the whole body is slowed together
    np.testing.assert_allclose(control.values[:, 1], 0.1 * ramp, atol=1e-12)


def test_random_motion_becomes_legal_longer_and_keeps_its_poses_in_order():
    rng = np.random.default_rng(8)
    curves = JointCurves(("a", "b", "c"), 100.0, np.cumsum(rng.normal(size=(400, 3)) * 0.05, axis=0))
    limit = np.array([4.0, 6.0, 9.0])
    control, times = local_stretch(curves, limit)
    assert (np.abs(np.diff(control.values, axis=0)) * 100.0 <= limit * (1 + 1e-12)).all()
    step = np.diff(times)
    assert (step >= 0.01 - 1e-12).all()
    ratio = (np.abs(np.diff(curves.values, axis=0)) * 100.0 / limit).max(axis=1)
    # just enough: no step takes longer than it must
    np.testing.assert_allclose(step, 0.01 * np.maximum(1.0, ratio), atol=1e-12)
    np.testing.assert_allclose(control.values[-1], curves.values[-1], atol=1e-12)
    assert 0.0 <= control.duration - times[-1] < 0.01


def test_a_time_map_that_runs_backward_is_refused():
    with pytest.raises(BadInput, match="time map"):
        stretched(sines(25.0), np.zeros(101))
    with pytest.raises(BadInput, match="velocity limits"):
        local_stretch(sines(25.0), np.array([1.0, 0.0]))
