import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from bunraku.errors import BadInput
from bunraku.motion import JointCurves
from bunraku.rhythm.lag import lag
from bunraku.rhythm.resample import local_stretch

RATE = 100.0


def smooth_motion(seed, joints=5):
    """A random smooth motion: a spline through a random pose every 0.3 s, from before 0 to after 12 s."""
    knots = np.arange(-3.0, 15.0, 0.3)
    return CubicSpline(knots, np.random.default_rng(seed).normal(size=(len(knots), joints)))


@pytest.mark.parametrize("late", [-0.237, -0.004, 0.0013, 0.0077, 0.05, 0.1234, 0.9])
def test_known_shifts_come_back_within_a_tenth_of_a_millisecond(late):
    motion, t = smooth_motion(1), np.arange(0.0, 10.0, 1.0 / RATE)
    found = lag(motion(t), motion(t - late), RATE)
    assert found.seconds == pytest.approx(late, abs=1e-4)
    assert found.worst_window_seconds == pytest.approx(late, abs=1e-3)


def test_identical_motion_has_no_lag():
    x = smooth_motion(2)(np.arange(0.0, 10.0, 1.0 / RATE))
    found = lag(x, x, RATE)
    assert abs(found.seconds) < 1e-9
    assert abs(found.worst_window_seconds) < 1e-9


def test_lag_changes_sign_when_wish_and_performance_are_exchanged():
    motion, t = smooth_motion(3), np.arange(0.0, 8.0, 1.0 / RATE)
    a, b = motion(t), motion(t - 0.0333) * 0.8 + 0.1
    assert lag(a, b, RATE).seconds == pytest.approx(-lag(b, a, RATE).seconds, abs=1e-9)


def test_one_late_stretch_shows_in_the_worst_window_only():
    motion, t = smooth_motion(4), np.arange(0.0, 12.0, 1.0 / RATE)
    late = np.where((t >= 4.0) & (t < 7.5), 0.08, 0.0)
    found = lag(motion(t), motion(t - late), RATE)
    assert abs(found.seconds) < 0.03
    assert found.worst_window_seconds == pytest.approx(0.08, abs=0.005)


def test_only_moving_joints_count():
    motion, t = smooth_motion(5), np.arange(0.0, 8.0, 1.0 / RATE)
    wish, performed = motion(t), motion(t - 0.04)
    tremble = 0.3 * np.random.default_rng(6).normal(size=(len(t), 1))
    still = np.full((len(t), 1), 0.4)
    found = lag(np.hstack([wish, still]), np.hstack([performed, tremble]), RATE)
    assert found.seconds == pytest.approx(0.04, abs=1e-4)


def test_a_motion_that_stands_still_has_no_lag():
    still = np.full((300, 3), 0.2)
    moving = smooth_motion(7, 3)(np.arange(300) / RATE)
    assert lag(still, still, RATE).seconds == 0.0
    assert lag(still, moving, RATE).worst_window_seconds == 0.0
    assert lag(still[:2], still[:2], RATE).seconds == 0.0


def test_of_equally_good_shifts_of_a_periodic_motion_the_smallest_is_taken():
    t = np.arange(0.0, 10.0, 1.0 / RATE)
    wave = np.sin(2 * np.pi * 2.0 * t)[:, None]
    assert abs(lag(wave, wave, RATE).seconds) < 1e-6


@pytest.mark.parametrize("frequency", [0.5, 0.8, 2.0])
def test_a_clipped_wave_is_not_taken_for_a_late_one(frequency):
    t = np.arange(0.0, 4.0, 1.0 / RATE)
    wave = np.sin(2 * np.pi * frequency * t)
    slow = np.clip(wave, -0.6, 0.6) * np.clip(t / 0.5, 0.0, 1.0)
    found = lag(wave[:, None], slow[:, None], RATE)
    assert abs(found.seconds) < 0.05


def test_rounding_on_a_flat_top_is_not_taken_for_a_delay():
    # a jump performed as a ramp about it: every shift within the ramp correlates alike, up to rounding
    jump, ramp = np.zeros((126, 1)), np.clip((np.arange(126) - 56.5) / 10, 0.0, 1.0)[:, None]
    jump[62:] = 1.0
    for seed in range(20):
        noise = 1e-15 * np.random.default_rng(seed).standard_normal(ramp.shape)
        assert lag(jump, ramp + noise, RATE).seconds == 0.0


def test_motions_of_other_joints_are_refused():
    with pytest.raises(BadInput, match="cannot be compared"):
        lag(np.zeros((10, 2)), np.zeros((10, 3)), RATE)


def golden_curves(golden, data, clip, kind):
    table = np.loadtxt(golden / "speech" / f"cmu_{clip}_nao_25hz_{kind}.csv", delimiter=",", skiprows=1)
    names = (golden / "speech" / f"cmu_{clip}_nao_25hz_{kind}.csv").read_text().splitlines()[0].split(",")[1:]
    rows = [line.split(",") for line in (data / "nao_joints.csv").read_text().splitlines() if line[0] != "#"][1:]
    limits = {row[0]: float(row[3]) for row in rows}
    return JointCurves(tuple(names), 25.0, table[:, 1:]), np.array([limits[name] for name in names])


@pytest.mark.shared
def test_the_optimum_of_a_quarrel_is_in_time_and_its_control_is_late(golden, data):
    """The notes' table for 18_11: optimum 0 and 1 ms; control 88 ms, worst window 156 ms, duration 16.04 s against 15.88."""
    reference, velocity = golden_curves(golden, data, "18_11", "ref")
    optimum, _ = golden_curves(golden, data, "18_11", "eq7")
    found = lag(reference.values, optimum.values, 25.0)
    assert abs(found.seconds) < 0.5e-3
    assert abs(found.worst_window_seconds) < 1e-3
    control, times = local_stretch(reference, velocity)
    assert reference.duration == pytest.approx(15.88)
    assert times[-1] == pytest.approx(16.04, abs=0.04)
    found = lag(reference.values, control.values, 25.0)
    assert found.seconds == pytest.approx(0.088, abs=0.008)
    assert found.worst_window_seconds == pytest.approx(0.156, abs=0.012)


@pytest.mark.shared
@pytest.mark.parametrize("clip", ["18_11", "18_15", "79_06", "02_05"])
def test_the_control_is_later_than_the_optimum_on_every_violating_clip(golden, data, clip):
    reference, velocity = golden_curves(golden, data, clip, "ref")
    optimum, _ = golden_curves(golden, data, clip, "eq7")
    control, _ = local_stretch(reference, velocity)
    mine, others = (lag(reference.values, x.values, 25.0) for x in (optimum, control))
    assert abs(mine.worst_window_seconds) < 1e-3
    assert others.seconds > abs(mine.seconds) + 0.5e-3
    assert others.worst_window_seconds > 1e-3
