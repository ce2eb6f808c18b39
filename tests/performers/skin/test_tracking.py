"""Frames that follow a plan: standing still, limits that bind, motors told their limits, wishes linear in torques."""

from dataclasses import replace

import numpy as np
import pytest

from bunraku.mechanics.coupled.state import rest_state
from bunraku.performers.skin.alternate import settle
from bunraku.performers.skin.measures import measure, pressure
from bunraku.performers.skin.tracking import motor_limits, track
from bunraku.performers.skin.wishes import FrameWeights, frame_cost, sole_motion, sole_paths, speed_rows, standing_rows, wished_step


def stand(puppet, frames, wished=None, **options):
    model = puppet.model
    home = np.tile(model.home, (frames, 1)) if wished is None else wished
    return track(puppet.frames, rest_state(model), home, np.ones((frames, 4), dtype=bool), **options)


def test_it_stands_at_rest_for_200_frames_and_the_ground_carries_its_weight(puppet):
    tracked = stand(puppet, 200)
    weight = puppet.model.total_mass * 9.81
    support = tracked.forces[:, :, 2].sum(axis=1)
    assert np.abs(support[40:] / weight - 1.0).max() < 1e-3
    assert np.abs(tracked.q - puppet.model.home)[:, 3:].max() < 1e-3
    assert np.abs(tracked.state.v).max() < 1e-3
    assert all(record.check.ok and record.rows_ok for record in tracked.records)
    assert np.abs(tracked.forces[-1, :, :2].sum(axis=0)).max() < 1e-3 * weight
    seen = measure(puppet.model, tracked, puppet.h)
    assert seen.cop_violation < 1e-9
    assert seen.glue_drift <= 1e-12


def test_settling_ends_where_frames_stay(puppet):
    state, record = settle(puppet)
    after = track(puppet.frames, state, np.tile(puppet.model.home, (10, 1)), np.ones((10, 4), dtype=bool), start=record)
    assert np.abs(after.q[-1] - state.q).max() < 1e-4
    assert record.F[:, 2].sum() == pytest.approx(puppet.model.total_mass * 9.81, rel=1e-3)


def test_a_crouch_is_followed(puppet):
    """The body goes down 4 mm and up again on knees and ankles, from straight legs, which turn 15 degrees and move the soles."""
    model, N, h = puppet.model, 160, puppet.h
    names = list(model.tree.names)
    t = np.arange(-1, N + 1) * h
    bend = 0.5 * (1.0 - np.cos(2.0 * np.pi * np.clip(t, 0.0, None) / (N * h)))
    wished = np.tile(model.home, (N + 2, 1))
    angle = np.arccos(1.0 - bend * 0.004 / 0.11)
    for leg, side in (("lf", 1.0), ("rf", -1.0), ("lh", 1.0), ("rh", -1.0)):
        wished[:, names.index(f"{leg}_knee")], wished[:, names.index(f"{leg}_ankle")] = side * angle, -side * angle
    wished[:, 2] -= 0.004 * bend
    state, record = settle(puppet)
    wished[:, 2] += state.q[2] - model.home[2]
    weights = FrameWeights(support=0.1)
    stands = np.ones((N, 4), dtype=bool)
    tracked = track(puppet.frames, state, wished[2:], stands, plan_start=wished[:2], start=record, weights=weights)
    apart = np.degrees(np.abs(tracked.q[1:, 6:] - wished[2:, 6:]))
    assert np.sqrt((apart**2).mean()) < 0.5
    assert state.q[2] - tracked.q[:, 2].min() == pytest.approx(0.004, rel=0.1)
    assert all(record.check.ok for record in tracked.records)


@pytest.mark.parametrize(
    ("speed", "low", "high"), [(0.0, -1.96, 1.96), (3.0, -1.96, 0.98), (-3.0, -0.98, 1.96), (6.0, -1.96, 0.0), (9.0, -1.96, 0.0)]
)
def test_motors_give_their_torque_speed_line(puppet, speed, low, high):
    """1.96 N·m at rest to nothing at 6 rad/s; against the motion never more than at rest."""
    found = motor_limits(puppet.model, np.full(puppet.model.nq, speed))
    assert found[0] == pytest.approx(np.full(12, low))
    assert found[1] == pytest.approx(np.full(12, high), abs=1e-12)


def test_torques_never_pass_the_motors_line(puppet):
    """A jump of the wished pose asks for far more than the motors have: they give what they have, no more."""
    model = puppet.model
    wished = np.tile(model.home, (12, 1))
    wished[:, 6:] += 0.6
    tracked = stand(puppet, 12, wished, weights=FrameWeights(joint=1e3, effort=0.0, torque=0.0, rate=100.0))
    largest = 0.0
    for i, record in enumerate(tracked.records):
        speed = (tracked.q[i] - tracked.q[i - 1]) / puppet.h if i else np.zeros(model.nq)
        low, high = motor_limits(model, speed)
        assert (record.tau <= high + 1e-9).all()
        assert (record.tau >= low - 1e-9).all()
        largest = max(largest, float(np.abs(record.tau).max()))
    assert largest > 0.5 * 1.96


def test_the_cost_is_the_sum_of_its_squares(puppet):
    """z'Hz/2 + g'z + const against every term written out, at a random point."""
    model, h = puppet.model, puppet.h
    rng = np.random.default_rng(5)
    state = rest_state(model)
    frame = puppet.frames.linearize(state)
    weights = FrameWeights(orientation=0.3, support=20.0, swing=7.0, ground=1e-4, effort=1e-3, torque=2e-3)
    v, step = rng.normal(0, 0.1, model.nq), rng.normal(0, 1e-3, model.nq)
    torques = rng.normal(size=(2, 12))
    forces, stands = rng.normal(size=(4, 3)), np.array([True, False, True, True])
    goals = sole_motion(model, state.q).center + rng.normal(0, 1e-3, (3, 4, 3))
    H, g, const = frame_cost(model, frame, state.q, v, step, (torques[0], torques[1]), forces, stands, goals, h, weights)
    tau, F = rng.normal(size=12), rng.normal(size=60)
    z = np.concatenate([tau, F])
    dq = frame.step(tau, F)
    soles = sole_motion(model, state.q)
    total = weights.place * ((dq - step)[:3] ** 2).sum() + weights.turn * ((dq - step)[3:6] ** 2).sum()
    total += weights.joint * ((dq - step)[6:] ** 2).sum()
    total += weights.torque * ((tau - torques[0]) ** 2).sum() + weights.effort * ((tau - torques[1]) ** 2).sum()
    total += weights.ground * ((F.reshape(4, 5, 3).sum(axis=1) - forces) ** 2).sum()
    before, now, after = goals
    for j, weight in enumerate((20.0, 7.0, 20.0, 20.0)):
        J, off = soles.center_by_q[j], soles.center[j] - now[j]
        pull = (after - 2 * now + before)[j] / h**2 + 2 * weights.rate * ((after - now)[j] / h - J @ v) - weights.rate**2 * off
        total += weight * ((J @ dq - h * J @ v - h**2 * pull) ** 2).sum()
    for j in (0, 2, 3):
        J, off = soles.normal_by_q[j][:2], soles.normal[j][:2]
        wanted = h * J @ v - h**2 * (2 * weights.rate * J @ v + weights.rate**2 * off)
        total += weights.orientation * ((J @ dq - wanted) ** 2).sum()
    assert 0.5 * z @ H @ z + g @ z + const == pytest.approx(total, rel=1e-10)


def test_paths_of_soles_are_those_of_single_poses(puppet):
    model = puppet.model
    poses = model.home + np.random.default_rng(4).normal(0, 0.2, (3, model.nq))
    singly = [sole_motion(model, q).center for q in poses]
    assert np.abs(sole_paths(model, poses) - singly).max() < 1e-12


def test_soles_turn_and_move_as_their_jacobians_say(puppet):
    model = puppet.model
    rng = np.random.default_rng(2)
    q, d = model.home + rng.normal(0, 0.2, model.nq), rng.normal(size=model.nq)
    ahead, behind, here = (sole_motion(model, q + s * d) for s in (1e-6, -1e-6, 0.0))
    assert np.abs((ahead.center - behind.center) / 2e-6 - here.center_by_q @ d).max() < 1e-8
    assert np.abs((ahead.normal - behind.normal) / 2e-6 - here.normal_by_q @ d).max() < 1e-8


def test_the_wished_step_returns_critically_damped():
    """From an offset at rest, against the closed form e(t) = e0 (1 + w t) exp(-w t)."""
    h, w = 1e-4, 15.0
    q, v, still = np.array([1.0]), np.zeros(1), np.zeros((3, 1))
    for n in range(1, 2001):
        dq = wished_step(q, v, still, h, w)
        q, v = q + dq, dq / h
        if n % 500 == 0:
            t = n * h
            assert q[0] == pytest.approx((1.0 + w * t) * np.exp(-w * t), abs=2e-3)


def test_rows_keep_the_pressure_inside_the_polygon(puppet):
    """A force on a patch inside the hull satisfies every row, one outside violates one by force times distance."""
    model = puppet.model
    places = np.asarray(model.patches @ model.mesh.nodes.ravel()).reshape(-1, 3)[:, :2]
    stands = np.array([True, True, True, False])
    C, d = standing_rows(model, stands, places)
    z = np.zeros(12 + 60)
    z[12 + 3 * 1 + 2] = 7.0
    assert (C @ z - d).max() < 1e-9
    z[:] = 0.0
    z[12 + 3 * 15 + 2] = 7.0
    assert (C @ z - d).max() > 7.0 * 0.05


def test_pressure_is_the_mean_of_the_patches_by_their_load(puppet):
    tracked = stand(puppet, 3)
    F, places = tracked.forces[1, :, 2], tracked.patches[1, :, :2]
    assert pressure(tracked)[1] == pytest.approx(F @ places / F.sum())


def test_a_fast_motor_stays_below_its_highest_speed(puppet):
    """The row of a motor that turns fast is its speed after the frame against the highest; slow ones have none."""
    most, h = 5.0, puppet.h
    motors = tuple(motor.changed(velocity=most) for motor in puppet.model.character.motors)
    model = replace(puppet.model, character=puppet.model.character.changed(motors=motors))
    knee = list(model.tree.names).index("lf_knee")
    frame = puppet.frames.linearize(rest_state(model))
    v = np.zeros(model.nq)
    assert len(speed_rows(model, frame, v, h)[0]) == 0
    wished = v.copy()
    wished[knee] = 2.0 * most * h
    C, d = speed_rows(model, frame, v, h, wished)
    assert C.shape[0] == 1, "a joint at rest that is wished beyond its speed within the frame"
    assert d[0] == pytest.approx(0.999 * h * most - frame.q0[knee], rel=1e-9)
    v[knee] = -0.9 * most
    C, d = speed_rows(model, frame, v, h)
    z = np.random.default_rng(3).normal(size=C.shape[1])
    dq = frame.step(z[: len(model.driven)], z[len(model.driven) :])
    assert C.shape[0] == 1
    assert (C @ z - d)[0] == pytest.approx(-dq[knee] - 0.999 * h * most, rel=1e-9)
