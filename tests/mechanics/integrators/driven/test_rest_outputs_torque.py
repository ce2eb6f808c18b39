"""Quasi-static motion, tracked outputs and the motors' forces against what defines them."""

from __future__ import annotations

import numpy as np
import pytest
from inverse_dynamics import prescribed_forces

from bunraku.mechanics.dynamics.poses import find_pose
from bunraku.mechanics.integrators.driven.linearization import linearize_motion
from bunraku.mechanics.integrators.driven.outputs import OutputTargets, track
from bunraku.mechanics.integrators.driven.rest import rest_motion
from bunraku.mechanics.integrators.driven.simulate import simulate
from bunraku.mechanics.integrators.driven.torque import motor_forces


def test_rest_is_balanced_at_every_node(make_system, make_curve) -> None:
    """By the public statics of the system; interpolation between every fourth node is close."""
    system = make_system(True)
    curves, points = make_curve(system, 80, 0.1)
    K = curves.nodes(points)
    rest = rest_motion(system, K)
    assert rest.status.good
    assert rest.residual < 1e-8
    assert rest.violation < 1e-9
    zero, d = np.zeros(system.nq), system.dynamic
    for q, lam in zip(rest.q[::7], rest.multipliers[::7], strict=True):
        force = system.lagrangian_derivatives(q, zero).q + system.force(q, zero) + lam @ system.constraint_jacobian(q)
        assert np.abs(force[d]).max() < 1e-8
        assert np.abs(system.constraint_values(q)).max() < 1e-9
    assert np.array_equal(rest.q[:, system.kinematic], K)
    rough = rest_motion(system, K, stride=4)
    assert 1e-12 < np.abs(rough.q - rest.q).max() < 1e-3


def test_outputs_are_poses_and_their_jacobians_slopes(make_system) -> None:
    system = make_system()
    rng = np.random.default_rng(2)
    q = np.where(["." in name for name in system.names], 0.05, 1.0) * rng.normal(size=system.nq)
    outputs = track(system, ["b5", "b2"], ["b4", "b5"])
    seen = outputs.observe(q[None])
    R, p = find_pose(system, q, "b5")
    assert np.allclose(seen.positions[0, 0], p, atol=1e-14)
    assert np.allclose(seen.rotations[0, 3], R, atol=1e-14)
    assert np.abs(outputs.errors(q[None], seen)).max() < 1e-14
    other = outputs.observe((q + 0.3 * rng.normal(size=system.nq))[None])
    e, D = outputs.jacobian(q, other)
    x, z = R[:, 0], R[:, 2]
    assert e[9] == pytest.approx(x @ other.rotations[0, 3, :, 2])
    assert e[11] == pytest.approx(z @ other.rotations[0, 3, :, 0])
    for j in range(system.nq):
        step = 1e-6 * np.eye(system.nq)[j]
        slope = (outputs.errors((q + step)[None], other) - outputs.errors((q - step)[None], other))[0] / 2e-6
        assert np.abs(slope - D[:, j]).max() < 1e-8


def test_weights_may_be_of_places_rows_or_frames(make_system) -> None:
    outputs = track(make_system(), ["b5"], ["b4"])
    assert np.array_equal(outputs.weights([2.0, 3.0], 2), [[2, 2, 2, 3, 3, 3]] * 2)
    assert outputs.weights(None, 4).shape == (4, 6)
    assert isinstance(outputs.observe(np.zeros((1, 12))), OutputTargets)


@pytest.mark.parametrize("loop", [False, True])
def test_motors_work_is_energy_and_dissipation(make_system, make_curve, loop) -> None:
    """Energy balance of the whole motion; its error falls with the square of the step."""
    system = make_system(loop, beta=5e-3)
    off = []
    for steps in (60, 120):
        curves, points = make_curve(system, steps)
        K, dt = curves.nodes(points), 0.12 / steps
        motion = simulate(system, K, dt, tolerance=1e-11)
        tau = motor_forces(motion)
        speed = np.vstack([np.zeros(system.nk), np.diff(K, axis=0) / dt])
        work = np.sum(tau * 0.5 * (speed[:-1] + speed[1:])) * dt
        lost = 0.0
        for a, b in zip(motion.q[:-1], motion.q[1:], strict=True):
            lost += dt * system.force(0.5 * (a + b), (b - a) / dt) @ ((b - a) / dt)
        v = (motion.q[-1] - motion.q[-2]) / dt
        gained = system.energy(0.5 * (motion.q[-1] + motion.q[-2]), v) - system.energy(motion.q[0], np.zeros(system.nq))
        assert lost < -1e-3 * abs(work)
        off.append(abs(work + lost - gained) / np.abs(tau * speed[1:]).sum() / dt)
    assert off[1] < 0.02
    assert off[0] / off[1] > 1.8


def test_motors_forces_of_a_slow_motion_are_inverse_dynamics(make_system, make_curve) -> None:
    """A hundredth of the speed: the forces are those that hold the rest, found by another program."""
    system = make_system(beta=5e-3)
    curves, points = make_curve(system, 60, 0.02)
    K = np.linspace(0.0, 1.0, 61)[:, None] ** 3 * 1e-4 + curves.nodes(np.tile(points[:1], (9, 1)))
    motion = simulate(system, K, 1e-3)
    tau = motor_forces(motion)
    still = prescribed_forces(system, motion.q[30], np.zeros(system.nq)).forces
    assert np.abs(tau[30] - still).max() < 1e-2 * np.abs(still).max()
    assert np.abs(still).max() > 0.1


@pytest.mark.parametrize("loop", [False, True])
def test_slopes_of_the_motors_forces(make_system, make_curve, loop) -> None:
    system = make_system(loop)
    curves, points = make_curve(system, 40, 0.03)
    motion = simulate(system, curves.nodes(points), 2e-3, tolerance=1e-11)
    lin = linearize_motion(motion)
    tau = motor_forces(motion)
    assert np.abs(lin.forces - tau).max() < 1e-9 * np.abs(tau).max()
    steps = np.array([0, 1, 17, 39])
    slopes = lin.force_slopes(curves, steps)
    rng = np.random.default_rng(4)
    for _ in range(3):
        d = rng.normal(size=points.shape)

        def run(h, d=d):
            return motor_forces(simulate(system, curves.nodes(points + h * d), 2e-3, tolerance=1e-11))[steps]

        found = (8.0 * (run(1e-5) - run(-1e-5)) - (run(2e-5) - run(-2e-5))) / 12e-5
        assert np.abs(found - slopes @ d.ravel()).max() < 1e-6 * np.abs(found).max()
