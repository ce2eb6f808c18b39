"""Limits of strings and carriages as rows: derivatives, tensions of a hanging puppet, and agreement with the measured limits."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.registry import read_character
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.mechanics.systems.character_system import character_system
from bunraku.mechanics.systems.marionette import hang
from bunraku.optimization.derivative_check import check_hessian, check_jacobian
from bunraku.performers.marionette.limits import CarriageBounds, CarriageSeparation, TensionMargin

DT = 0.01


class Puppet:
    """The marionette at rest, as dynamics with the carriages' velocities among the states."""

    def __init__(self) -> None:
        self.character = read_character("marionette")
        self.system = character_system(self.character, torques=True)
        self.resting = hang(self.character, self.system).require()
        self.dynamics = VariationalDynamics(VariationalIntegrator(self.system, DT), kinematic_velocity=True)
        q = self.resting.q
        self.rest = self.dynamics.state(q, self.dynamics.integrator.initial(q, q).p)

    def carried(self, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States and inputs in which only the prescribed coordinates move, along k (N + 1, nk): enough for rows about them."""
        x = np.tile(self.rest, (len(k), 1))
        x[:, self.system.kinematic] = k
        x[1:, self.system.nq + self.system.nd :] = np.diff(k, axis=0) / DT
        return x, k[1:].copy()

    def moved(self, steps: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """A motion from rest, its carriages and winches accelerated at random."""
        rng = np.random.default_rng(seed)
        k0 = self.resting.q[self.system.kinematic]
        u = k0 + DT**2 * np.cumsum(np.cumsum(rng.normal(size=(steps, len(k0))), axis=0), axis=0)
        return self.dynamics.simulate(self.rest, u).x, u


@pytest.fixture(scope="module")
def puppet() -> Puppet:
    return Puppet()


def rows(puppet):
    return {
        "tension": TensionMargin(puppet.dynamics, 0.1, 2.0),
        "bounds": CarriageBounds(puppet.character, puppet.dynamics, 0.9),
        "separation": CarriageSeparation(puppet.character, puppet.dynamics, 0.9),
    }


@pytest.mark.parametrize("name", ["tension", "bounds", "separation"])
def test_derivatives_have_the_right_slope(puppet, name) -> None:
    """Of the last step of a motion, along random directions of its state and input; the other steps stand still."""
    constraint = rows(puppet)[name]
    x, u = puppet.moved(6, 3)
    n = x.shape[1]
    at, x, u = np.concatenate([x[-2], u[-1]]), x[-2:].copy(), u[-1:].copy()

    def curve(w):
        a = x.copy()
        a[0] = w[:n]
        return a, w[None, n:]

    weights = np.random.default_rng(4).normal(size=constraint.values(x, u)[0].shape)
    scale, noise = (1e-2, 1e-9) if name == "tension" else (1.0, 1e-13)
    first = check_jacobian(
        lambda w: constraint.values(*curve(w))[0][0],
        lambda w: constraint.jacobians(*curve(w))[0][0],
        at,
        scale=scale,
        noise=noise,
    )
    assert first.holds, first
    second = check_hessian(
        lambda w: float((weights * constraint.values(*curve(w))[0]).sum()),
        lambda w: weights[0] @ constraint.jacobians(*curve(w))[0][0],
        lambda w: constraint.curvature(*curve(w), weights, np.zeros(0))[0][0],
        at,
        scale=scale,
        noise=noise,
    )
    assert second.holds, second


def test_every_step_has_its_own_rows(puppet) -> None:
    """Values and derivatives of a whole motion are those of its steps one by one."""
    x, u = puppet.moved(5, 1)
    for constraint in rows(puppet).values():
        g, last = constraint.values(x, u)
        G, Gf = constraint.jacobians(x, u)
        assert (last.shape, Gf.shape) == ((0,), (0, x.shape[1]))
        for k in range(len(u)):
            np.testing.assert_allclose(constraint.values(x[k : k + 2], u[k : k + 1])[0][0], g[k], atol=1e-6)
            np.testing.assert_allclose(constraint.jacobians(x[k : k + 2], u[k : k + 1])[0][0], G[k], rtol=1e-6, atol=1e-4)


def test_hanging_the_rows_are_the_tensions_at_rest(puppet) -> None:
    u = np.tile(puppet.resting.q[puppet.system.kinematic], (3, 1))
    x = puppet.dynamics.simulate(puppet.rest, u).x
    g = TensionMargin(puppet.dynamics, 0.1, 2.0).values(x, u)[0]
    expected = (0.1 - np.array(list(puppet.resting.tensions.values()))) / 2.0
    np.testing.assert_allclose(g, np.tile(expected, (3, 1)), atol=1e-5)


def test_winding_a_string_pulls_it_taut(puppet) -> None:
    """Shorter by 10 um at the end of the step, a hand's string pulls harder; the row's slope says by how much."""
    tension = TensionMargin(puppet.dynamics, 0.0)
    column = [puppet.system.names[i] for i in puppet.system.kinematic].index("l_hand_string.length")
    row = [string.name for string in puppet.character.strings].index("l_hand_string")
    u = puppet.resting.q[None, puppet.system.kinematic].copy()
    x = puppet.dynamics.simulate(puppet.rest, u).x
    G = tension.jacobians(x, u)[0][0]
    shorter = u.copy()
    shorter[0, column] -= 1e-5
    more = tension.values(x, u)[0][0, row] - tension.values(x, shorter)[0][0, row]
    assert more > 0.0
    assert more == pytest.approx(1e-5 * G[row, puppet.dynamics.nx + column], rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_hold_are_limits_that_hold(puppet, seed) -> None:
    """Scaled until the worst row is zero a random motion keeps its measured limits, and uses at least cos(pi/8) of one of them.

    Twice as large it exceeds some. Ranges are wide here, so that speed or acceleration decide.
    """
    bounds, limits = CarriageBounds(puppet.character, puppet.dynamics), CarriageLimits.of(puppet.character)
    rng = np.random.default_rng(seed)
    t = np.arange(41)[:, None] * DT
    k0 = puppet.resting.q[puppet.system.kinematic]
    shape = (t**3 * (rng.normal(size=len(k0)) + np.cos(rng.uniform(2.0, 30.0, size=len(k0)) * t))) * rng.uniform(0.2, 1.0, len(k0))

    def worst(size):
        return float(bounds.values(*puppet.carried(k0 + size * shape))[0].max())

    low, high = 0.0, 1e3
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if worst(middle) <= 0.0 else (low, middle)
    assert limits.excess(k0 + low * shape, DT).kept
    assert not limits.excess(k0 + 1.001 * low / np.cos(np.pi / 8.0) * shape, DT).kept


def test_inside_shrinks_every_limit_of_motion(puppet) -> None:
    """The share ``inside`` acts like a motion 1/inside as fast; ranges are left as they are."""
    k0 = puppet.resting.q[puppet.system.kinematic]
    k = k0 + 0.02 * np.sin(np.linspace(0.0, 1.0, 11)[:, None] * np.arange(1, len(k0) + 1))
    moved = [CarriageBounds(puppet.character, puppet.dynamics, inside).values(*puppet.carried(k))[0] for inside in (1.0, 0.5)]
    limits = CarriageLimits.of(puppet.character)
    count = 8 * int(np.isfinite(limits.speed).sum()) + 2 * int(np.isfinite(limits.winch_speed).sum())
    offset = np.concatenate([np.full(8 * int(np.isfinite(limits.speed).sum()), np.cos(np.pi / 8.0)), np.ones(12)])
    np.testing.assert_allclose(moved[1][:, :count] + offset, 2.0 * (moved[0][:, :count] + offset), atol=1e-12)
    ranges = slice(2 * count, None)
    np.testing.assert_allclose(moved[1][:, ranges], moved[0][:, ranges], atol=1e-15)


def test_separation_is_that_of_the_gaps(puppet) -> None:
    limits = CarriageLimits.of(puppet.character)
    rng = np.random.default_rng(5)
    k = puppet.resting.q[puppet.system.kinematic] + 0.2 * rng.normal(size=(9, puppet.system.nk))
    g = CarriageSeparation(puppet.character, puppet.dynamics).values(*puppet.carried(k))[0]
    gap = limits.motion(k, DT).gap[1:]
    assert (limits.separation > 0.0).all()
    np.testing.assert_allclose(g, 1.0 - (gap / limits.separation) ** 2, atol=1e-12)
    wider = CarriageSeparation(puppet.character, puppet.dynamics, 0.8).values(*puppet.carried(k))[0]
    np.testing.assert_allclose(wider, 1.0 - (0.8 * gap / limits.separation) ** 2, atol=1e-12)
