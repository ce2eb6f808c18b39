"""Planning without dynamics: the centre of mass over its feet, and servos that hold a character where it stands."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.registry import read_character
from bunraku.mechanics.coupled.skinned import skinned_model
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.motion import Gait
from bunraku.performers.skin.alternate import SkinnedPuppet, settle
from bunraku.performers.skin.kinematic import drive, kinematic_plan, largest_roll
from bunraku.performers.skin.learned import pressure_margin
from bunraku.performers.skin.spacetime.stance import crouched


@pytest.fixture(scope="module")
def puppet() -> SkinnedPuppet:
    return SkinnedPuppet(skinned_model(read_character("beetle-quick")), 0.01)


def test_a_kinematic_plan_keeps_the_centre_of_mass_over_its_soles(puppet: SkinnedPuppet) -> None:
    gait = Gait(2.0, "crawl", False, cycles=1, distance=(0.03, 0.0), turn=0.0, samples=41)
    plan = kinematic_plan(puppet, gait, stance=crouched(puppet.laden, 0.015))
    com, soles = plan.moved
    around = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [0.0, 0.0]])
    places = np.zeros((len(com), 20, 3))
    for j in range(4):
        places[:, 5 * j : 5 * j + 5, :2] = soles[:, j, None, :2] + 1.5 * plan.problem.radius[j] * around  # a square about the disc
    inside = pressure_margin(com[:, :2], plan.problem.contacts.astype(bool), places)
    assert np.nanmin(inside) > 0.0


def test_servos_told_to_stand_hold_the_weight(puppet: SkinnedPuppet) -> None:
    state, record = settle(puppet)
    assert record.F[:, 2].sum() == pytest.approx(puppet.model.total_mass * GRAVITY, rel=1e-3)
    driven = drive(puppet, state, np.tile(puppet.model.home, (10, 1)))
    assert driven.reason == ""
    assert driven.q.shape == (11, puppet.model.nq)
    assert np.abs(driven.com - driven.com[0]).max() < 2e-3
    assert largest_roll(driven.q) < np.radians(0.5)


def test_the_largest_roll_is_counted_from_the_first_frame() -> None:
    q = np.zeros((3, 8))
    q[:, 5] = [0.1, -0.2, 0.15]
    assert largest_roll(q) == pytest.approx(0.3)
