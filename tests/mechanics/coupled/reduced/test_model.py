"""Between whole and reduced skins, and back."""

from dataclasses import replace

import numpy as np
import pytest

from bunraku.mechanics.coupled.reduced.folding import fold


@pytest.fixture(scope="module")
def state(model):
    rng = np.random.default_rng(11)
    rest = model.rest()
    q = rest.q + rng.uniform(-0.3, 0.3, model.nq)
    P3 = 3 * model.n_patches
    s = np.concatenate([rng.uniform(-2e-4, 2e-4, P3), rng.uniform(-1e-5, 1e-5, len(rest.s) - P3)])
    r = 10.0 * rng.permutation(s[:P3])
    return replace(
        rest, q=q, v=rng.uniform(-1.0, 1.0, model.nq), s=s, r=np.concatenate([r, np.zeros(len(s) - P3)]), x=model.points(q, s)
    )


def test_points_are_those_of_the_nodes(whole, model, state):
    nodes = model.expanded(state)
    patches = (whole.patches @ nodes.x.ravel()).reshape(-1, 3)
    assert np.abs(patches - state.x[: model.n_patches]).max() < 2e-7
    assert np.abs(whole.center_of_mass(nodes.q, nodes.x) - model.center_of_mass(state.q, state.x)).max() < 1e-6
    assert np.abs(model.full_share.centers(whole, nodes.q, nodes.x) - model.share.centers(model, state.q, state.x)).max() < 1e-4
    assert np.abs(nodes.x[whole.glue] - whole.glue_at(state.q)[0]).max() == 0.0


def test_there_and_back(model, state):
    again = model.reduced(model.expanded(state))
    P3 = 3 * model.n_patches
    assert np.abs(again.s[:P3] - state.s[:P3]).max() < 2e-7
    assert np.abs(again.s[P3:] - state.s[P3:]).max() < 1e-6
    assert np.abs(again.r[:P3] - state.r[:P3]).max() < 1e-2 * np.abs(state.r).max()


def test_a_folded_skin_is_met(whole, model):
    """At an angle between those sampled: the equilibrium of the whole skin, its torque, places and centre of mass."""
    now = fold(whole, [1, 4, 7, 10], np.array([0.44]))[0]
    rest = model.rest()
    few = replace(rest, q=now.q, x=model.points(now.q, rest.s))
    law = model.reduction.law.at(now.q[6:])[0][:, 0]
    assert law == pytest.approx(now.torque[6:], rel=1e-3, abs=1e-6)
    assert np.abs(model.expanded(few).x - now.x).max() < 2e-4
    assert np.abs(model.center_of_mass(few.q, few.x) - whole.center_of_mass(now.q, now.x)).max() < 1e-6
