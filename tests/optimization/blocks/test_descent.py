"""Single damped steps: what the model promises, what is accepted, and how walls that the model does not see are met."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.optimization.blocks.descent import Descent


def test_on_a_quadratic_the_undamped_promise_is_the_whole_way(shifted_least_squares):
    """E = |A z - b|^2: g.H^-1 g / 2 is E minus its least value, whatever the damping of the step was."""
    rng = np.random.default_rng(0)
    A, b = np.eye(6) * 2.0 + np.diag(rng.normal(size=4), 2), rng.normal(size=6)
    problem = shifted_least_squares((3, 2, 0), False, lambda z: np.concatenate([A @ z - b, 0.1 * z]))
    descent = Descent(problem, np.zeros(6), 1.0, np.zeros(0), damping=5.0)
    before = problem.energy(descent.z, 1.0, np.zeros(0))
    stacked, right = np.vstack([A, 0.1 * np.eye(6)]), np.concatenate([b, np.zeros(6)])
    least = np.linalg.lstsq(stacked, right, rcond=None)[1][0]
    assert descent.step()
    assert descent.energy < before
    assert descent.promise < (before - least) / before
    descent.energy = before  # the share is of the energy before the step
    assert descent.undamped_promise() == pytest.approx((before - least) / before, rel=1e-8)


def test_the_energy_never_rises(shifted_least_squares):
    problem = shifted_least_squares((8, 1, 0), False, lambda z: np.concatenate([10.0 * (z[1:] - z[:-1] ** 2), 1.0 - z]))
    descent = Descent(problem, np.full(8, -1.2), 1.0, np.zeros(0))
    energies = [problem.energy(descent.z, 1.0, np.zeros(0))]
    while descent.step() and descent.promise > 1e-20 and descent.iterations < 200:
        energies.append(descent.energy)
    assert np.all(np.diff(energies) <= 0.0)
    np.testing.assert_allclose(descent.z[:7], 1.0, atol=1e-8)


def test_a_stiff_wall_ahead_is_met_and_followed(shifted_least_squares):
    """A wall x + y <= 0.3, 1e8 times stiffer than the pull towards (2, 1), not touched at the start: few steps to (0.65, -0.35)."""
    target = np.array([2.0, 1.0, 0.0, 0.0])
    problem = shifted_least_squares((2, 2, 0), False, lambda z: z - target, None, lambda z: z[:1] + z[1:2] - 0.3, (1.0, 1e4))
    descent = Descent(problem, np.array([-1.0, 1.0, 0.0, 0.0]), 1.0, np.zeros(1))
    while descent.step() and descent.promise > 1e-14 and descent.iterations < 100:
        pass
    assert descent.iterations <= 20
    np.testing.assert_allclose(descent.z[:2], [0.65, -0.35], atol=1e-6)


def test_steps_into_nothing_are_shortened(shifted_least_squares):
    """Where the energy is not a number no step ends."""

    def objective(z):
        with np.errstate(invalid="ignore"):
            return np.concatenate([np.sqrt(z[:1]) - 0.1, z[1:]])

    problem = shifted_least_squares((3, 1, 0), False, objective)
    descent = Descent(problem, np.array([4.0, 1.0, 1.0]), 1.0, np.zeros(0), damping=1e-9)
    for _ in range(30):
        descent.step()
    np.testing.assert_allclose(descent.z, [0.01, 0.0, 0.0], atol=1e-6)


def test_a_cyclic_problem_with_a_border_reaches_its_minimum(shifted_least_squares):
    problem = shifted_least_squares((5, 1, 1), True, lambda z: np.concatenate([np.exp(z[:5]) - z[5], z - 0.3]))
    descent = Descent(problem, np.linspace(-1.0, 1.0, 6), 1.0, np.zeros(0))
    for _ in range(60):
        descent.step()
    assert np.abs(problem.gradient(descent.z, 1.0, np.zeros(0))).max() < 1e-6


class Walls:
    """Many walls z_k <= 0 before a pull towards b, one weight each: E = |z - b|^2 + w |max(0, z)|^2 - dent (1 + cos z_0).

    Without the dent it is least at b where b <= 0, else at b/(1 + w), number by number.
    """

    cyclic = False

    def __init__(self, b, dent=0.0):
        self.b, self.dent = b, dent
        self.shape = (len(b), 1, 0)
        self.metric = np.ones(len(b))

    def energy(self, z, weight, shifts):
        return ((z - self.b) ** 2).sum() + weight * (np.maximum(z, 0.0) ** 2).sum() - self.dent * (1.0 + np.cos(z[0]))

    def pushing(self, z, shifts):
        return np.where(z > 0.0, 1, -1)

    def assemble(self, z, weight, shifts):
        return self.assemble_held(z, weight, shifts, self.pushing(z, shifts), True)

    def assemble_held(self, z, weight, shifts, held, curved):
        T = len(z)
        H, g = np.zeros((T, 3, 1, 1)), 2.0 * (z - self.b) + 2.0 * weight * z * (held > 0)
        H[:, 0, 0, 0] = 2.0 + 2.0 * weight * (held > 0)
        g[0] += self.dent * np.sin(z[0])
        H[0, 0, 0, 0] += self.dent * np.cos(z[0]) * curved
        return self.energy(z, weight, shifts), H, np.zeros((T, 0, 1)), np.zeros((0, 0)), g[:, None], np.zeros(0)


def test_all_walls_that_a_step_meets_are_seen_at_once():
    """From far behind fifty walls, each met at another place: one step, made twice."""
    b = np.linspace(-1.0, 2.0, 50)
    descent = Descent(Walls(b), -np.linspace(3.0, 1.0, 50), 1e6, np.zeros(0), damping=1e-12)
    assert descent.step()
    np.testing.assert_allclose(descent.z, np.where(b > 0.0, b / (1.0 + 1e6), b), atol=1e-10)
    assert descent.factorizations == 2


def test_second_derivatives_are_used_near_and_left_out_where_they_are_indefinite():
    """At the top of 60 (1 + cos z) the whole Hessian is indefinite and steps are damped; near its foot they are Newton's."""
    problem = Walls(np.full(5, -2.0), dent=-60.0)
    descent = Descent(problem, np.full(5, -0.05), 1.0, np.zeros(0), damping=1e-12)
    energies = [problem.energy(descent.z, 1.0, None)]
    while descent.step() and descent.promise > 1e-15 and descent.iterations < 60:
        energies.append(descent.energy)
    z = descent.z[0]
    assert np.all(np.diff(energies) <= 0.0)
    assert 2.0 * (z + 2.0) - 60.0 * np.sin(z) == pytest.approx(0.0, abs=1e-7)
    assert 2.0 - 60.0 * np.cos(z) > 0.0
    assert descent.iterations <= 20
    np.testing.assert_allclose(descent.z[1:], -2.0, atol=1e-10)
