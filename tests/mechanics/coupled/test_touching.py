"""What touches inside a skinned character: nothing at home; action and reaction; a bound that bounds."""

import numpy as np
import pytest
from block_matrix import block_matrix

from bunraku.formats.registry import read_character
from bunraku.mechanics.coupled.share import skin_share
from bunraku.mechanics.coupled.skinned import skinned_model
from bunraku.mechanics.coupled.state import SkinnedState, rest_state
from bunraku.mechanics.coupled.touching import SkinCollisions


@pytest.fixture(scope="module")
def model():
    return skinned_model(read_character("beetle-quick"))


@pytest.fixture(scope="module")
def bent(model):
    """Knees turned by 75 degrees, every node carried rigidly by its body: the skin is pushed into itself and the legs."""
    share = skin_share(model)
    at = model.tree.configuration(model.home)
    owner = share.nodes[share.owner]
    local = np.einsum("nji,nj->ni", at.rotation[owner], model.mesh.nodes - at.position[owner])
    q = model.home.copy()
    for c, name in enumerate(model.tree.names):
        if name.endswith("knee"):
            q[c] = np.radians(75.0)
    x = model.carried(q, owner, local)
    return SkinnedState(q, np.zeros(model.nq), x, np.zeros_like(x))


def test_nothing_touches_at_home(model):
    touch = SkinCollisions(model)(rest_state(model))
    assert np.abs(touch.force).max() < 1e-4
    assert np.abs(touch.skeleton).max() < 1e-2


def test_action_is_reaction(model, bent):
    """Forces on the skin and on the bodies cancel: nothing from inside moves the whole, or turns it."""
    touch = SkinCollisions(model)(bent)
    assert np.abs(touch.force).max() > 1e-3
    assert np.abs(touch.force.sum(axis=0) + touch.skeleton[:3]).max() < 1e-9 * np.abs(touch.force).sum()
    about = bent.q[:3]
    moment = np.cross(bent.x - about, touch.force).sum(axis=0)
    # yaw is the outermost turn of the base: its generalized force is the moment about the vertical through the base
    assert abs(moment[2] + touch.skeleton[3]) < 1e-9 * np.abs(touch.force).sum() + 1e-12


def test_the_bound_is_above_the_stiffness(model, bent):
    collisions = SkinCollisions(model)
    touch = collisions(bent)
    x = np.ascontiguousarray(bent.x)
    K = block_matrix(len(x), collisions._skin.stiffness(x, collisions._skin.find(x)))
    rng = np.random.default_rng(1)
    where = np.flatnonzero(np.abs(touch.stiffness).sum(axis=(1, 2)) > 0.0)
    assert len(where) > 0
    for _ in range(20):
        d = np.zeros_like(x)
        d[where] = rng.normal(size=(len(where), 3))
        below = d.ravel() @ (K @ d.ravel())
        assert np.einsum("ni,nij,nj->", d, touch.stiffness, d) >= below - 1e-9 * abs(below)
