"""The light puppet stands and resists as the whole one."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.coupled.reduced.model import reduced_model
from bunraku.mechanics.coupled.skinned import skinned_model
from bunraku.mechanics.coupled.stiffness import joint_stiffness
from bunraku.performers.skin.alternate import Puppet, settle
from bunraku.performers.skin.effect import seen
from bunraku.performers.skin.rehearsal import LightPuppet, settle_light


@pytest.fixture(scope="module")
def light(stool):
    return LightPuppet(reduced_model(skinned_model(stool)))


def test_its_joints_are_as_stiff_as_the_whole_skin(light):
    expected = joint_stiffness(light.reduced.whole)[6:, 6:]
    assert np.abs(light.stiffness[6:, 6:] - expected).max() < 0.02 * np.abs(expected).max()
    assert np.abs(light.stiffness[:6]).max() == 0.0


def test_its_plan_carries_the_whole_weight(light):
    assert sum(body.mass for body in light.laden.bodies) == pytest.approx(light.reduced.whole.total_mass, rel=1e-12)


def test_it_stands_as_the_whole_one(light):
    state, record = settle_light(light, frames=20)
    heavy = Puppet(light.reduced.whole)
    whole, other = settle(heavy, frames=20)
    weight = light.model.total_mass * 9.81
    assert record.F[:, 2].sum() == pytest.approx(weight, rel=1e-3)
    assert np.abs(record.tau - other.tau).max() < 0.01 * max(np.abs(other.tau).max(), 0.1)
    assert np.abs(state.q - whole.q).max() < 2e-5
    few, many = seen(light.model, light.share, state), seen(heavy.model, heavy.share, whole)
    assert np.abs(few.soles - many.soles).max() < 2e-5
    assert np.abs(few.centers - many.centers).max() < 2e-5
