"""The oracle judged by itself: derivatives by differences, and motions whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.registry import read_character
from bunraku.motion import Gait
from bunraku.performers.locomotion.state import state_problem


def without_drag(character):
    tips = tuple(tip.model_copy(update={"rolling_resistance": 0.0}) for tip in character.end_effectors)
    return character.model_copy(update={"end_effectors": tips})


@pytest.fixture(scope="module")
def standing(casadi_locomotion):
    """Swizzlebot, asked to stay where it is for 0.6 s."""
    character = read_character("swizzlebot")
    problem = state_problem(character, Gait(0.6, distance=(0.0, 0.0), turn=0.0), samples=6)
    oracle = casadi_locomotion.oracle_of(character, problem)
    return oracle, oracle.solve_ipopt(oracle.rest())


def test_gradient_and_hessian_are_those_of_the_energy(standing):
    oracle, _ = standing
    rng = np.random.default_rng(1)
    z = oracle.rest() + 0.05 * rng.standard_normal(oracle.n)
    z[-3:] = 0.3, 0.1, 0.2
    shifts = {kind: 0.1 * rng.standard_normal(len(rows)) for kind, rows in oracle.rows(z).items()}
    along, step = rng.standard_normal(oracle.n), 1e-5
    there, back = z + step * along, z - step * along
    slope = (oracle.energy(there, 30.0, shifts) - oracle.energy(back, 30.0, shifts)) / (2.0 * step)
    assert oracle.gradient(z, 30.0, shifts) @ along == pytest.approx(slope, rel=1e-7)
    curve = (oracle.gradient(there, 30.0, shifts) - oracle.gradient(back, 30.0, shifts)) / (2.0 * step)
    np.testing.assert_allclose(oracle.hessian(z, 30.0, shifts) @ along, curve, atol=1e-7 * np.abs(curve).max())


def test_standing_forces_are_the_least_that_carry_the_weight(standing):
    """At rest the forces of each sample are the least-squares solution of sum f = M g, sum (e - x) x f = 0, f.t = 0."""
    oracle, found = standing
    assert found.solved
    q, f, D = oracle.unpack(found.z)
    np.testing.assert_allclose(D, 0.0, atol=1e-6)
    assert np.ptp(q, axis=0).max() < 1e-5
    samples = oracle.f_samples(found.z)
    sample = oracle.features.sample(samples[:, 1])
    tips = oracle.robot.effectors
    rows, right = [], []
    x = np.asarray(sample.x).ravel()
    for j, tip in enumerate(tips):
        C, a = np.asarray(sample.C[j]).ravel(), np.asarray(sample.a[j]).ravel()
        t = np.cross(a, (0.0, 0.0, 1.0)) / np.hypot(*a[:2])
        r = C + tip.radius * np.cross(a, t) - x
        turn = np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
        rows.append(np.vstack([np.eye(3), turn, np.eye(len(tips))[:, [j]] * t]))
        right.append(0.0)
    A = np.hstack(rows)
    b = np.concatenate([[0.0, 0.0, oracle.robot.mass * oracle.plan.gravity], np.zeros(3), right])
    least = np.linalg.lstsq(A, b, rcond=None)[0]
    np.testing.assert_allclose(f[0].ravel(), least, atol=1e-3)


def test_coasting_needs_no_force(casadi_locomotion):
    """Free wheels without drag roll on: every cycle costs what standing still costs, and momentum stays as it is."""
    character = without_drag(read_character("swizzlebot"))
    problem = state_problem(character, Gait(0.6, distance=(0.3, 0.0), turn=0.0), samples=6)
    oracle = casadi_locomotion.oracle_of(character, problem)
    found = oracle.solve_ipopt(oracle.rest())
    assert found.solved
    q, f, D = oracle.unpack(found.z)
    np.testing.assert_allclose(D, (0.3, 0.0, 0.0), atol=1e-6)
    np.testing.assert_allclose(np.diff(q[:, 0]), 0.05, atol=1e-5)
    assert np.abs(f[:, :, 0]).max() < 1e-4
    still = oracle.rest()
    still[-3:] = 0.0
    v = still[:-3].reshape(6, -1)
    v[:, oracle.robot.nq :] = f[0].ravel()
    assert found.objective == pytest.approx(oracle.objective(still), rel=0.05)
