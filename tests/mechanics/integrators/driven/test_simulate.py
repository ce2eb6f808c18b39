"""Driven simulation: the same motion as the integrator's, its order, the observer, loops, and how a failure is told."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.mechanics.integrators.driven.rest import rest_motion
from bunraku.mechanics.integrators.driven.simulate import Observer, simulate
from bunraku.mechanics.integrators.variational import VariationalIntegrator


@pytest.mark.parametrize("loop", [False, True])
def test_it_is_the_motion_of_the_variational_integrator(make_system, make_curve, loop) -> None:
    """Two programs for one step: full Newton and chord Newton agree to the tolerance, loops stay closed."""
    system = make_system(loop)
    curves, points = make_curve(system, 60, 0.05)
    K = curves.nodes(points)
    motion = simulate(system, K, 2e-3)
    assert motion.status.good
    assert motion.message == ""
    assert motion.parts.max() == 1
    integrator = VariationalIntegrator(system, 2e-3)
    start = integrator.initial(motion.q[0], motion.q[0])
    other = integrator.rollout(start.q, start.p, np.zeros((60, 0)), K[1:])
    assert other.status.good
    assert np.abs(motion.q - other.q).max() < 1e-8
    assert np.abs(motion.p - other.p).max() < 1e-7
    assert np.abs(motion.q[-1] - motion.q[0]).max() > 0.05
    if loop:
        assert max(np.abs(system.constraint_values(q)).max() for q in motion.q) < 1e-10
        assert np.abs(motion.lam - other.lam).max() < 1e-7


def test_halving_the_step_gives_second_order(make_system, make_curve) -> None:
    system = make_system(True)
    ends = []
    for steps in (120, 240, 480, 1920):
        curves, points = make_curve(system, steps, 0.02)
        K = curves.nodes(points)
        motion = simulate(system, K, 0.12 / steps)
        assert motion.status.good
        ends.append(motion.q[-1])
    errors = [np.linalg.norm(end - ends[-1]) for end in ends[:-1]]
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.8)
    assert errors[1] / errors[2] == pytest.approx(4.0, abs=0.8)


def test_an_observer_pulls_to_its_reference_and_none_changes_nothing(make_system, make_curve) -> None:
    system = make_system()
    curves, points = make_curve(system, 60, 0.05)
    K = curves.nodes(points)
    free, rest = simulate(system, K, 2e-3), rest_motion(system, K)
    assert rest.status.good
    assert np.array_equal(simulate(system, K, 2e-3, observer=Observer(rest.q, 0.0)).q, free.q)
    away = [np.abs(simulate(system, K, 2e-3, observer=Observer(rest.q, w)).q - rest.q).max() for w in (0.0, 15.0, 60.0)]
    assert away[1] < 0.8 * away[0]
    assert away[2] < 0.7 * away[1]


def test_a_failure_says_when_where_and_why(make_system) -> None:
    """A motor that jumps by a turn in one step: steps before it are kept, those after are NaN."""
    system = make_system(True)
    K = np.tile(system.home[system.kinematic], (12, 1))
    K[8:, 0] += 40.0
    motion = simulate(system, K, 2e-3)
    assert not motion.status.good
    assert motion.steps == 7
    assert "t = 0.0140 s" in motion.message
    assert "flexible part" in motion.message or "coordinate" in motion.message or "constraint" in motion.message
    assert np.isfinite(motion.q[:8]).all()
    assert np.isnan(motion.q[8:]).all()
    with pytest.raises(BadInput, match="incomplete"):
        motion.require()


def test_bad_motors_are_refused(make_system) -> None:
    system = make_system()
    K = np.tile(system.home[system.kinematic], (4, 1))
    with pytest.raises(BadInput, match="nodes, 2"):
        simulate(system, K[:, :1], 1e-3)
    K[2, 1] = np.nan
    with pytest.raises(BadInput, match="'m2' holds nan at node 2"):
        simulate(system, K, 1e-3)
