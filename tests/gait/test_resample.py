"""Plans at the rate of the motors: the shift's screw, periodic and open splines, forces, drift between samples."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, EndEffector, Joint
from bunraku.errors import BadInput
from bunraku.gait.drift import contact_points, stance_drift
from bunraku.gait.resample import cycle_curves, once_curves
from bunraku.gait.screw import base_columns, part_of_shift, rotated_forces, shifted, unroll
from bunraku.motion.terrain import HeightField

SHIFTS = [(0.3, 0.0, 0.0), (0.2, -0.1, 0.35), (0.0, 0.0, -0.8), (0.5, 0.1, 1e-10), (-0.1, 0.4, 3.0)]
BASE = ("base.tx", "base.ty", "base.tz", "base.rz", "base.ry", "base.rx")


def true_motion(t, shift, period):
    """A motion with that shift per period: on the screw, and swaying by sines in its frame."""
    w = 2.0 * np.pi / period
    seen = np.stack(
        [
            0.02 * np.sin(w * t),
            0.03 * np.cos(2 * w * t),
            0.2 + 0.01 * np.sin(w * t + 1),
            0.1 * np.cos(w * t),
            0.05 * np.sin(w * t),
            0.04 * np.cos(w * t),
            0.5 * np.sin(w * t + 0.3),
        ],
        axis=-1,
    )
    return shifted(seen, shift, t / period)


def plan(shift, samples=24, period=1.2):
    return cycle_curves(
        true_motion(np.arange(samples) * period / samples, shift, period),
        period,
        shift,
        np.zeros((samples, 2, 3)),
        np.ones((samples, 2), dtype=np.int64),
    )


@pytest.mark.parametrize("shift", SHIFTS)
def test_shares_of_a_shift_add_up_to_it(shift):
    move, turn = part_of_shift(shift, 1.0)
    np.testing.assert_allclose([*move, turn], shift, atol=1e-15)
    q = np.random.default_rng(3).normal(size=(5, 9))
    for a, b in ((0.25, 0.75), (1.7, -0.4), (2.0, 1.0)):
        np.testing.assert_allclose(shifted(shifted(q, shift, a), shift, b), shifted(q, shift, a + b), atol=1e-13)
    np.testing.assert_allclose(shifted(shifted(q, shift), shift, -1.0), q, atol=1e-13)


def test_a_whole_shift_is_that_of_the_planning_problem():
    """(x, y) -> Rz(Dyaw)(x, y) + (Dx, Dy), yaw -> yaw + Dyaw, the rest as it is."""
    q = np.random.default_rng(4).normal(size=9)
    D = np.array([0.2, -0.1, 0.35])
    c, s = np.cos(D[2]), np.sin(D[2])
    wanted = q.copy()
    wanted[:2] = np.array([[c, -s], [s, c]]) @ q[:2] + D[:2]
    wanted[3] += D[2]
    np.testing.assert_allclose(shifted(q, D), wanted, atol=1e-15)


def test_unrolling_is_shifting_again_and_again():
    q, D = np.random.default_rng(5).normal(size=(6, 8)), np.array([0.2, -0.1, 0.35])
    whole = unroll(q, D, 3)
    assert whole.shape == (19, 8)
    np.testing.assert_allclose(whole[:6], q, atol=1e-15)
    np.testing.assert_allclose(whole[6:12], shifted(q, D), atol=1e-15)
    np.testing.assert_allclose(whole[18], shifted(shifted(shifted(q[0], D), D), D), atol=1e-14)


def test_base_columns_are_found_by_name():
    assert base_columns(("neck", *BASE)) == (1, 2, 4)
    with pytest.raises(BadInput, match="free base"):
        base_columns(("neck",))


@pytest.mark.parametrize("shift", SHIFTS)
def test_a_cycle_goes_through_its_samples_and_on_into_its_own_shift(shift):
    curves = plan(shift)
    t = np.arange(24) * 0.05
    np.testing.assert_allclose(curves.coordinates(t), true_motion(t, shift, 1.2), atol=1e-13)
    fine = np.linspace(0.0, 1.19, 57)
    np.testing.assert_allclose(curves.coordinates(fine + 1.2), shifted(curves.coordinates(fine), shift), atol=1e-12)
    np.testing.assert_allclose(
        curves.coordinates(np.array([3.6])), shifted(curves.coordinates(np.array([0.0])), shift, 3.0), atol=1e-12
    )


@pytest.mark.parametrize("shift", SHIFTS)
def test_derivatives_are_derivatives_and_continuous_over_the_seam(shift):
    curves = plan(shift)
    t = np.random.default_rng(6).uniform(0.01, 3.5, 40)
    d = 1e-5
    ahead, here, behind = (curves.coordinates(t + k * d) for k in (1, 0, -1))
    v, a = curves.derivatives(t)
    np.testing.assert_allclose(v, (ahead - behind) / (2 * d), atol=2e-8)
    np.testing.assert_allclose(a, (ahead - 2 * here + behind) / d**2, atol=3e-2)
    before, after = curves.derivatives(np.array([1.2 - 1e-9])), curves.derivatives(np.array([1.2 + 1e-9]))
    np.testing.assert_allclose(before[0], after[0], atol=1e-6)
    np.testing.assert_allclose(before[1], after[1], atol=1e-4)


@pytest.mark.parametrize("shift", SHIFTS)
def test_accelerations_are_those_of_the_velocities(shift):
    curves = plan(shift)
    t = np.random.default_rng(7).uniform(0.01, 3.5, 40)
    d = 1e-6
    slope = (curves.derivatives(t + d)[0] - curves.derivatives(t - d)[0]) / (2 * d)
    np.testing.assert_allclose(curves.derivatives(t)[1], slope, atol=5e-4)


def test_the_error_falls_with_the_fourth_power_of_the_step():
    shift = (0.2, -0.1, 0.35)
    t = np.linspace(0.0, 2.4, 301)
    errors = [np.abs(plan(shift, n).coordinates(t) - true_motion(t, shift, 1.2)).max() for n in (24, 48, 96)]
    assert 14.0 < errors[0] / errors[1] < 18.0
    assert 14.0 < errors[1] / errors[2] < 18.0


def test_sampling_covers_all_cycles_at_the_rate():
    made = plan((0.3, 0.0, 0.0)).sampled(200.0, 3)
    assert len(made.q) == 721
    np.testing.assert_allclose(made.q[-1] - made.q[0], [0.9, *np.zeros(6)], atol=1e-12)
    np.testing.assert_allclose(made.times[-1], 3.6)
    odd = plan((0.3, 0.0, 0.0)).sampled(7.0, 1)
    assert len(odd.q) == 9
    with pytest.raises(BadInput, match="only cycles repeat"):
        once_curves(np.zeros((5, 7)), 1.0, np.zeros((5, 1, 3)), np.ones((5, 1))).sampled(100.0, 2)
    with pytest.raises(BadInput, match="a rate of 0 Hz"):
        plan((0.3, 0.0, 0.0)).sampled(0, 1)


def test_a_motion_that_happens_once_keeps_its_ends():
    q = np.random.default_rng(9).normal(size=(13, 7))
    f, c = np.zeros((13, 1, 3)), np.ones((13, 1))
    rest = once_curves(q, 1.2, f, c, start_velocity=0.0, end_velocity=0.0)
    v, _ = rest.derivatives(np.array([0.0, 1.2]))
    np.testing.assert_allclose(v, 0.0, atol=1e-12)
    np.testing.assert_allclose(rest.coordinates(np.linspace(0.0, 1.2, 13)), q, atol=1e-13)
    moving = once_curves(q, 1.2, f, c, start_velocity=0.0, end_velocity=np.arange(7.0))
    np.testing.assert_allclose(moving.derivatives(np.array([1.2]))[0][0], np.arange(7.0), atol=1e-11)
    t = np.linspace(0.0, 1.2, 13)
    cubic = np.outer(t**3 - t, np.ones(7))
    free = once_curves(cubic, 1.2, f, c)
    fine = np.linspace(0.0, 1.2, 50)
    np.testing.assert_allclose(free.coordinates(fine)[:, 0], fine**3 - fine, atol=1e-13)


def test_a_transition_joins_a_cycle_with_no_jump():
    cycle = plan((0.2, -0.1, 0.35))
    goal = cycle.coordinates(np.array([0.0]))[0]
    speed = cycle.derivatives(np.array([0.0]))[0][0]
    way = np.linspace(0.0, 1.0, 9)[:, None] ** 2 * goal
    join = once_curves(way, 1.0, np.zeros((9, 1, 3)), np.ones((9, 1)), start_velocity=0.0, end_velocity=speed)
    np.testing.assert_allclose(join.coordinates(np.array([1.0]))[0], goal, atol=1e-14)
    np.testing.assert_allclose(join.derivatives(np.array([1.0]))[0][0], speed, atol=1e-12)


def forced(shift=(0.3, 0.0, 0.5)):
    """Two feet; the second in the air at samples 5 to 9 of 24. The vertical forces add up to 10 N at every sample."""
    contact = np.ones((24, 2), dtype=np.int64)
    contact[5:10, 1] = 0
    forces = np.zeros((24, 2, 3))
    forces[:, 1, 2] = np.where(contact[:, 1], 4.0, 0.0)
    forces[:, 0, 2] = 10.0 - forces[:, 1, 2]
    forces[:, 0, 0] = 1.0
    return cycle_curves(true_motion(np.arange(24) * 0.05, shift, 1.2), 1.2, shift, forces, contact)


def test_forces_are_linear_vanish_in_the_air_and_keep_the_balance():
    made = forced().sampled(200.0, 2)
    np.testing.assert_allclose(made.forces[:, :, 2].sum(axis=1), 10.0)
    air = (made.times % 1.2 >= 0.25 - 1e-9) & (made.times % 1.2 <= 0.45 + 1e-9)
    np.testing.assert_allclose(made.forces[air, 1], 0.0, atol=1e-12)
    half = np.flatnonzero(np.isclose(made.times, 0.225))[0]
    assert made.forces[half, 1, 2] == pytest.approx(2.0)


def test_forces_turn_with_the_cycles():
    made = forced().sampled(200.0, 2)
    np.testing.assert_allclose(made.forces[240:480], rotated_forces(made.forces[:240], np.full(240, 0.5)), atol=1e-12)
    np.testing.assert_allclose(made.forces[250, 0, :2], [np.cos(0.5), np.sin(0.5)], atol=1e-12)
    seam = np.array([0.1 + 0.9 * np.cos(0.5), 0.9 * np.sin(0.5)])
    np.testing.assert_allclose(made.forces[239, 0, :2], seam, atol=1e-12)


def test_contact_needs_both_samples():
    made = forced().sampled(200.0, 1)
    t = made.times
    np.testing.assert_array_equal(made.contact[:, 1] == 0, (t > 0.2 + 1e-9) & (t < 0.5 - 1e-9))
    assert made.contact[:, 0].all()
    np.testing.assert_array_equal(made.contact[::10, 1], np.append(forced().contact[:, 1], 1))


def test_forces_given_in_the_air_do_not_count():
    contact = np.zeros((8, 1), dtype=np.int64)
    made = once_curves(np.zeros((8, 7)), 1.0, np.ones((8, 1, 3)), contact).sampled(50.0)
    np.testing.assert_array_equal(made.forces, 0.0)


def test_plans_that_do_not_fit_together_are_refused():
    with pytest.raises(BadInput, match="does not fit together"):
        once_curves(np.zeros((8, 7)), 1.0, np.zeros((7, 1, 3)), np.ones((8, 1)))
    with pytest.raises(BadInput, match="not finite"):
        once_curves(np.full((8, 7), np.nan), 1.0, np.zeros((8, 1, 3)), np.ones((8, 1)))
    with pytest.raises(BadInput, match="split cycles"):
        plan((0.1, 0.0, 6.5))


@pytest.fixture(scope="module")
def ball():
    """A ball of radius 5 cm that is the base itself."""
    return Character(
        name="ball",
        bodies=[Body(name="body", mass=1.0, inertia=(1e-3, 1e-3, 1e-3, 0.0, 0.0, 0.0))],
        joints=[Joint(name="base", kind="free", parent="world", child="body", sequence="zyx")],
        end_effectors=[EndEffector(name="foot", kind="ball", body="body", radius=0.05)],
        home={"base.tz": 0.05},
    )


def straight(q1, samples=5):
    """From home to q1 in a straight line within a second, on the ground all the time."""
    home = np.array([0.0, 0.0, 0.05, 0.0, 0.0, 0.0])
    q = home + np.linspace(0.0, 1.0, samples)[:, None] * (np.asarray(q1) - home)
    return once_curves(q, 1.0, np.zeros((samples, 1, 3)), np.ones((samples, 1)))


def test_a_rolling_ball_does_not_slip_and_a_dragged_one_does(ball):
    rolls = stance_drift(ball, BASE, straight([0.05 * 0.4, 0.0, 0.05, 0.0, 0.4, 0.0], 41))
    assert rolls.slip == pytest.approx(0.05 * (0.01 - np.sin(0.01)), rel=1e-3)
    dragged = stance_drift(ball, BASE, straight([0.08, 0.0, 0.05, 0.0, 0.0, 0.0]))
    assert dragged.slip == pytest.approx(0.02)
    assert dragged.slips == "foot"
    spun = stance_drift(ball, BASE, straight([0.0, 0.0, 0.05, 0.0, 0.4, 0.0]))
    assert spun.slip == pytest.approx(0.05 * np.sin(0.1))
    assert (rolls.lateral, dragged.height) == (0.0, 0.0)


def test_height_and_terrain_are_measured(ball):
    up = stance_drift(ball, BASE, straight([0.0, 0.0, 0.058, 0.0, 0.0, 0.0]))
    assert up.height == pytest.approx(0.008)
    assert up.lifts == "foot"
    ground = HeightField.slope(0.1, start=-10.0, length=20.0, spacing=0.5)
    c = np.cos(0.1)
    z = 10.0 * np.tan(0.1) + 0.05 / c
    point = contact_points(ball, BASE, np.array([[0.0, 0.0, z, 0.0, 0.0, 0.0]]), ground).point[0, 0]
    np.testing.assert_allclose(point, [0.05 * np.sin(0.1), 0.0, z - 0.05 * c], atol=1e-12)
    assert ground.height(point[0], point[1]) == pytest.approx(point[2])


def test_wheels_drift_across_only(robot):
    car = robot({}, belly=True)
    names = BASE
    home = np.array([0.0, 0.0, 0.175, 0.0, 0.0, 0.0])

    def going(**to):
        q = np.tile(home, (9, 1))
        for name, value in to.items():
            q[:, names.index(f"base.{name}")] = np.linspace(0.0, value, 9)
        return stance_drift(car, names, once_curves(q, 1.0, np.zeros((9, 1, 3)), np.ones((9, 1))))

    assert going(tx=0.4).lateral == pytest.approx(0.0, abs=1e-15)
    assert going(ty=0.4).lateral == pytest.approx(0.05)
    assert going(tx=0.4).slip == 0.0


def test_only_intervals_on_the_ground_at_both_ends_count(ball):
    home = np.array([0.0, 0.0, 0.05, 0.0, 0.0, 0.0])
    q = np.tile(home, (6, 1))
    q[3, 2] += 0.02
    q[3:, 0] = 0.1
    contact = np.ones((6, 1))
    contact[3] = 0
    lifted = once_curves(q, 1.0, np.zeros((6, 1, 3)), contact)
    grounded = once_curves(q, 1.0, np.zeros((6, 1, 3)), np.ones((6, 1)))
    assert stance_drift(ball, BASE, lifted).slip < 0.03
    assert stance_drift(ball, BASE, grounded).slip > 0.09
