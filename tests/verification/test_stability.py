"""Perturbed starts: puppets and poles come back with feedback, not without, and not from too far."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.mechanics.measures.driven_motion import replayed
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.verification.promises import return_promises
from bunraku.verification.stability import NEAR, returns
from bunraku.verification.strings.clamp import CarriageClamp
from bunraku.verification.strings.plan import plan_of


def test_the_puppet_returns_within_its_limits(wave) -> None:
    found = returns(wave, starts=12, seed=1)
    assert found.fraction == 1.0
    assert found.worst <= NEAR
    assert (found.least_tension > 0.0).all()
    assert np.median(found.pushed) > 0.05
    again = returns(wave, starts=12, seed=1)
    np.testing.assert_array_equal(found.errors, again.errors)


def test_who_comes_back_on_a_string_that_pushes_is_told_apart(wave) -> None:
    """Pushed twice as hard some need strings that push, as the model's can: near the plan at the end, but not taut."""
    found = returns(wave, starts=8, seed=1, angle=0.2, rate=0.4)
    pulled = found.least_tension >= 0.0
    assert 0 < pulled.sum() < 8
    assert np.mean((found.errors <= NEAR) & pulled) < found.fraction
    (check,) = return_promises(found)
    assert f"in {8 - pulled.sum()} a two-sided string of our model pushed" in check.note


def test_least_tension_is_that_of_the_multipliers(wave) -> None:
    """Not pushed at all the closed loop is the plan, and its least tension the plan's."""
    plan = plan_of(wave)
    found = returns(wave, starts=1, angle=0.0, rate=0.0)
    pull = replayed(plan.system, plan.q, wave.rate, plan.u).tensions
    assert found.least_tension[0] == pytest.approx(pull.min(), rel=1e-5)


def test_without_gains_it_swings_on(wave) -> None:
    assert wave.feedback is not None
    idle = dataclasses.replace(wave.feedback, gains=0.0 * wave.feedback.gains)
    found = returns(wave.changed(feedback=idle), starts=6, seed=1)
    assert found.fraction < 0.5
    with pytest.raises(BadInput, match="has no feedback"):
        returns(wave.changed(feedback=None))


def test_it_returns_in_mujoco_too(wave) -> None:
    pytest.importorskip("mujoco")
    found = returns(wave, starts=3, seed=1, foreign=True)
    ours = returns(wave, starts=3, seed=1)
    np.testing.assert_array_equal(found.pushed, ours.pushed)
    assert found.worst <= NEAR
    np.testing.assert_allclose(found.errors, ours.errors, atol=0.005)


def test_a_pole_is_caught_only_by_a_belt_that_is_strong_enough(balance) -> None:
    strong, weak = returns(balance(40.0), starts=20), returns(balance(0.5), starts=20)
    assert strong.fraction == 1.0
    assert weak.fraction < 0.7
    assert returns(balance(0.5), starts=20, clamped=False).fraction == 1.0


def test_commands_are_cut_to_every_limit_of_the_carriages(wave) -> None:
    """A rude command, followed as far as the limits let it: speed, acceleration and range are all kept, and it is on its way."""
    who, dt = wave.character, 0.01
    limits, clamp = CarriageLimits.of(who), CarriageClamp(who, dt)
    k = [np.array([limits.lower + 0.5 * (limits.upper - limits.lower)])[0]]
    wanted, speed = k[0] + 0.3, np.zeros(len(k[0]))
    for _ in range(60):
        k.append(clamp(wanted, k[-1], speed))
        speed = (k[-1] - k[-2]) / dt
    motion = limits.motion(np.array(k), dt)
    for values, most in (
        (motion.speed, limits.speed),
        (motion.acceleration, limits.acceleration),
        (motion.winch_speed, limits.winch_speed),
        (motion.winch_acceleration, limits.winch_acceleration),
    ):
        assert (values <= most * (1.0 + 1e-9)).all()
        assert (values.max(axis=0) > 0.9 * most).all()
    assert clamp.count > 10
