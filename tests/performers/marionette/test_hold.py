"""Holding by tendons: the hold is an equilibrium, nudges keep the loops, the regulator has all its poles inside the unit circle."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.performers.marionette.hold import find_hold


@pytest.fixture(scope="module")
def hold():
    return find_hold(read_character("hand"))


def test_the_hold_rests(hold) -> None:
    integrator = VariationalIntegrator(hold.system, 1.0 / hold.rate)
    step = integrator.step(hold.q, hold.x[hold.system.nq :], hold.u, np.zeros(0))
    assert np.abs(step.q2 - hold.q).max() < 1e-9
    assert hold.u.min() >= 3.0 - 1e-9
    assert (hold.mobility, hold.reached) == (11, 22)


def test_feedback_turns_growth_into_decay(hold) -> None:
    """On the tangent of the loops: multipliers of magnitude above 1 without feedback, all below with it."""
    system, integrator = hold.system, VariationalIntegrator(hold.system, 1.0 / hold.rate)
    p = hold.x[system.nq :]
    step = integrator.linearize(integrator.rollout(hold.q, p, hold.u[None], np.zeros((1, 0))))
    A, B = step.A[0], step.B[0]
    assert np.abs(np.linalg.eigvals(A)).max() > 1.01
    assert np.abs(np.linalg.eigvals(A - B @ hold.K)).max() < 0.999


def test_a_nudge_keeps_the_loops(hold) -> None:
    for seed in range(5):
        q = hold.nudged(0.05, seed)
        assert np.abs(hold.system.constraint_values(q)).max() < 1e-9
        assert hold.away(q[None])[0] == pytest.approx(0.05, rel=0.1)
    assert not np.allclose(hold.nudged(0.05, 0), hold.nudged(0.05, 1))


def test_who_returns(hold) -> None:
    options = {"angle": 0.05, "starts": 5, "seconds": 0.5}
    assert hold.returned(feedback=True, **options) == 1.0
    assert hold.returned(feedback=False, **options) == 0.0
    assert hold.returned(feedback=True, near=0.0, **options) == 0.0


def test_without_tendons_there_is_no_hold() -> None:
    with pytest.raises(BadInput, match="no tendons"):
        find_hold(read_character("cart-pendulum"))
