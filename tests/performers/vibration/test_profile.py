"""Motor profiles: knots on steps, rest at the start, the fit, and limits that hold between nodes."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.errors import BadInput
from bunraku.mechanics.flexible.torque_lines import torque_lines
from bunraku.motion import JointCurves
from bunraku.optimization.few_active import minimise_few_active
from bunraku.performers.vibration.limits import check_speed, profile_limits
from bunraku.performers.vibration.profile import fit_profile, make_profile


def _arm(**of_motor):
    return Character(
        name="arm",
        bodies=(Body(name="link", mass=1.0, inertia=(1e-2, 1e-2, 1e-2, 0, 0, 0)),),
        joints=(Joint(name="elbow", kind="hinge", parent="world", child="link", axis=(0, 1, 0)),),
        motors=(Motor(name="elbow", coordinate="elbow", **of_motor),),
    )


@pytest.mark.parametrize("dt", [1e-3, 2e-3, 4e-3])
def test_knots_stand_on_their_grid_whatever_the_step_and_there_are_enough_of_them(dt):
    profile = make_profile(("a", "b"), 4.0, dt, 150)
    assert profile.spacing == pytest.approx(0.026)
    assert profile.points >= 150
    assert profile.parameters == 2 * profile.points
    knots = profile.basis.knots / 2e-3
    assert np.abs(knots - np.round(knots)).max() < 1e-9
    first, last = profile.basis.span
    assert first == 0.0
    assert 4.0 - 1e-12 <= last < 4.0 + profile.spacing
    with pytest.raises(BadInput, match="more than"):
        make_profile(("a",), 0.1, 2e-3, 150)


def test_the_fit_starts_at_rest_and_follows_a_smooth_wish():
    t = np.arange(201) / 50.0
    wish = JointCurves(("a", "b"), 50.0, np.column_stack([1 - np.cos(t), t**4 / 100.0]))
    profile = make_profile(("a", "b"), 4.0, 2e-3, 60)
    p = fit_profile(profile, wish)
    assert np.abs(profile.angles(p, np.array([0.0]), 1)).max() < 1e-12
    assert np.abs(profile.angles(p, np.array([0.0]), 2)).max() < 1e-9
    exact = np.column_stack([1 - np.cos(profile.times), profile.times**4 / 100.0])
    late = profile.times > 0.5
    assert np.abs(profile.angles(p) - exact)[late].max() < 1e-4


def test_rows_on_control_points_keep_the_limits_at_every_time():
    character = _arm(range=(-0.5, 0.6), velocity=2.0, acceleration=30.0)
    profile = make_profile(("elbow",), 2.0, 2e-3, 40)
    rows = profile_limits(character, profile)
    rng = np.random.default_rng(7)
    wild = rng.normal(size=profile.parameters)
    found = minimise_few_active(np.eye(profile.parameters), -wild, rows.A, rows.lower, rows.upper)
    assert found.status.good
    assert rows.violation(wild) > 1.0
    assert rows.violation(found.x) < 1e-7
    t = np.linspace(0.0, profile.basis.span[1], 7001)
    angle, speed, acceleration = (profile.angles(found.x, t, d)[:, 0] for d in (0, 1, 2))
    assert angle.min() >= -0.5 - 1e-7
    assert angle.max() <= 0.6 + 1e-7
    assert np.abs(speed).max() <= 2.0 + 1e-6
    assert np.abs(acceleration).max() <= 30.0 + 1e-5
    assert np.abs(acceleration).max() > 29.9


def test_a_clip_faster_than_its_motor_is_refused_by_name():
    character = _arm(no_load_speed=3.0, stall_torque=2.0, torque_fraction=0.5)
    wish = JointCurves(("elbow",), 50.0, np.linspace(0.0, 2.0, 21)[:, None])
    with pytest.raises(BadInput, match="'elbow' at 5 rad/s"):
        check_speed(character, wish)
    check_speed(character, JointCurves(("elbow",), 25.0, wish.values))
    lines = torque_lines(character, ("elbow",))
    assert lines.use(np.array([0.5]), np.array([-1.5])) == pytest.approx(1.0)
