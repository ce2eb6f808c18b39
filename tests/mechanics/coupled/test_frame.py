"""A frame of skeleton and skin: against the paper's multipliers, against elimination written out, against mechanics."""

import numpy as np
import pytest
from scipy.sparse import block_array, csr_array, diags_array
from scipy.sparse.linalg import splu

from bunraku.mechanics.coupled.frame import CoupledFrames
from bunraku.mechanics.coupled.skinned import skinned_model
from bunraku.mechanics.coupled.state import SkinnedState, rest_state

H = 0.005


@pytest.fixture(scope="module")
def model(stool):
    return skinned_model(stool)


@pytest.fixture(scope="module")
def state(model):
    """A bent pose in motion, the skin stretched and its glue a little off."""
    rng = np.random.default_rng(3)
    start = rest_state(model)
    q = start.q + np.concatenate([np.zeros(6), rng.uniform(-0.02, 0.02, model.nq - 6)])
    x = start.x + 1e-5 * rng.standard_normal(start.x.shape)
    return SkinnedState(q, rng.uniform(-0.2, 0.2, model.nq), x, rng.uniform(-0.05, 0.05, x.shape))


def multipliers(model, state, tau, F):
    """The system of the paper's equation (30) with its right side mended, solved whole: dq, du and lambda."""
    f, K = model.solid.force_and_stiffness((state.x - model.mesh.nodes).ravel())
    A = model.mass / H**2 + (1.0 + model.damping / H) * K
    b = model.mass @ state.w.ravel() / H + model.solid.weight([0.0, 0.0, -9.81]) - f + model.patches.T @ F
    M, bias = model.skeleton(state.q, state.v)
    b_r = M @ state.v / H - bias
    b_r[model.driven] += tau
    places, J = model.glue_at(state.q)
    g = len(model.held)
    pick = csr_array((np.ones(g), (np.arange(g), model.held)), shape=(g, model.solid.size))
    # constraint r(q) + J dq - x_g - du_g = 0
    KKT = block_array([[csr_array(M / H**2), None, csr_array(J.T)], [None, A, -pick.T], [csr_array(J), -pick, None]]).tocsc()
    right = np.concatenate([b_r, b, -(places.ravel() - state.x[model.glue].ravel())])
    scale = np.ones(len(right))
    scale[-g:] = 1e5
    D = diags_array(scale)
    solution = scale * splu((D @ KKT @ D).tocsc()).solve(scale * right)
    nq = model.nq
    return solution[:nq], solution[nq : nq + model.solid.size], solution[-g:]


@pytest.fixture(scope="module")
def loads(model):
    rng = np.random.default_rng(4)
    return rng.uniform(-0.02, 0.02, len(model.driven)), rng.uniform(-0.2, 0.6, 3 * model.n_patches)


def test_substitution_equals_multipliers(model, state, loads):
    frames = CoupledFrames(model, H)
    frame = frames.linearize(state)
    after = frames.advance(state, frame, *loads)
    dq, du, _ = multipliers(model, state, *loads)
    assert np.abs(frame.step(*loads) - dq).max() <= 1e-10 * np.abs(dq).max()
    u = (after.x - state.x).ravel()[model.free]
    assert np.abs(u - du[model.free]).max() <= 1e-10 * np.abs(du).max()


def test_condensed_equals_explicit(model, state, loads):
    """The linear map from torques and forces to patches, against solving again with the loads inside the right side."""
    frames = CoupledFrames(model, H)
    frame = frames.linearize(state)
    tau, F = loads
    loaded = np.asarray(model.patches.T @ F).reshape(-1, 3)
    driven = np.zeros(model.nq)
    driven[model.driven] = tau
    again = CoupledFrames(model, H).linearize(state, loaded, driven)
    scale = np.abs(again.q0).max()
    assert np.abs(again.q0 - frame.step(tau, F)).max() <= 1e-12 * scale
    assert np.abs(again.u0.reshape(-1, 3) - frame.patches(tau, F)).max() <= 1e-12 * np.abs(again.u0).max()


def test_the_patches_answer_is_symmetric_and_positive(model, state):
    frame = CoupledFrames(model, H).linearize(state)
    assert np.linalg.eigvalsh(frame.W).min() > 0.0
    # reciprocity (Maxwell, Betti): what a torque does to a patch, the patch's force does to the joint
    assert np.abs(frame.R.T - frame.Qf[model.driven]).max() <= 1e-12 * np.abs(frame.R).max()


def test_free_fall(model):
    """Nothing but gravity: all falls alike, g h² in the first step and h g faster after each."""
    frames = CoupledFrames(model, H)
    state = rest_state(model)
    none = np.zeros(len(model.driven)), np.zeros(3 * model.n_patches)
    for n in range(1, 6):
        state = frames.advance(state, frames.linearize(state), *none)
        assert state.v[2] == pytest.approx(-9.81 * n * H, rel=1e-9)
        assert np.abs(state.w - np.array([0.0, 0.0, -9.81 * n * H])).max() < 1e-9
    assert np.abs(state.q[3:] - model.home[3:]).max() < 1e-9


def test_momentum_is_what_the_ground_gives(model, loads):
    """Linear momentum of skeleton and skin changes by gravity and the patches' forces; inner torques and glue cancel.

    Loads are small: glued nodes go along arcs, a second-order difference from the linear step.
    """
    frames = CoupledFrames(model, H)
    start = rest_state(model)
    frame = frames.linearize(start)
    tau, F = 0.05 * loads[0], 0.05 * loads[1]
    after = frames.advance(start, frame, tau, F)
    dq = frame.step(tau, F)
    P_skin = model.node_mass @ (after.x - start.x) / H
    J = np.zeros((3, model.nq))
    eps = 1e-7
    for k in range(model.nq):
        d = np.zeros(model.nq)
        d[k] = eps
        ahead, behind = (model.tree.configuration(start.q + sign * d).center_of_mass() for sign in (1.0, -1.0))
        J[:, k] = (ahead - behind) / (2 * eps)
    total = P_skin + model.tree.mass.sum() * (J @ dq) / H
    given = F.reshape(-1, 3).sum(axis=0) * H - np.array([0.0, 0.0, 9.81 * model.total_mass * H])
    assert np.abs(total - given).max() < 2e-6 * np.abs(given).max() + 1e-7


def test_glue_never_drifts(model, loads):
    frames = CoupledFrames(model, H)
    state = rest_state(model)
    rng = np.random.default_rng(8)
    for _ in range(25):
        frame = frames.linearize(state)
        state = frames.advance(state, frame, 0.01 * rng.standard_normal(len(model.driven)), np.zeros(3 * model.n_patches))
        assert np.abs(state.x[model.glue] - model.glue_at(state.q)[0]).max() <= 1e-12


@pytest.mark.parametrize("shift", [0.0, 0.1, 1.0])
def test_a_stiffened_skin_still_goes_along(model, monkeypatch, shift):
    """Moving evenly, skeleton and skin go on at the same speed whatever is added to the diagonal: that acts on changes alone."""
    monkeypatch.setattr("bunraku.mechanics.coupled.frame.SHIFTS", (shift,))
    start = rest_state(model)
    v, w = np.zeros(model.nq), np.zeros_like(start.x)
    v[0], w[:, 0] = 0.7, 0.7
    frames = CoupledFrames(model, H)
    moving = SkinnedState(start.q, v, start.x, w)
    frame = frames.linearize(moving)
    after = frames.advance(moving, frame, np.zeros(len(model.driven)), np.zeros(3 * model.n_patches))
    assert frame.shift == shift
    assert after.q[0] - start.q[0] == pytest.approx(0.7 * H, rel=1e-4)
    assert np.abs(after.x[:, 0] - start.x[:, 0] - 0.7 * H).max() < 1e-2 * 0.7 * H  # its weight begins to bend it


def momentum_from_nowhere(model, state, loads, stiffness=None):
    """Momentum (3,) that skin and skeleton gain in a step beside what weight and ground give, as a force over the weight."""
    frames, (tau, F) = CoupledFrames(model, H), loads
    after = frames.advance(state, frames.linearize(state, stiffness=stiffness), tau, F)
    skin = model.node_mass @ (after.w - state.w) / H
    M, bias = model.skeleton(state.q, state.v)
    skeleton = (M @ (after.v - state.v) / H + bias)[:3]  # the coordinates of the base's place come first; bias holds its weight
    given = F.reshape(-1, 3).sum(axis=0) - np.array([0.0, 0.0, 9.81 * model.node_mass.sum()])
    return (skin + skeleton - given) / (9.81 * model.total_mass)


GLUE = 5e-3
"""What the glue adds to that, whose step is linearized and then put in its place."""


def test_a_stiffness_of_nodes_pushes_nothing_off_from_nowhere(model, state, loads):
    rng = np.random.default_rng(5)
    root = rng.standard_normal((model.solid.nodes, 3, 3)) * (rng.random(model.solid.nodes) < 0.3)[:, None, None]
    assert np.abs(momentum_from_nowhere(model, state, loads, 1e5 * root @ root.transpose(0, 2, 1))).max() < GLUE


@pytest.mark.parametrize("shift", [1e-3, 1e-2, 1.0])
def test_a_shift_of_the_diagonal_pushes_nothing_off_from_nowhere(model, state, loads, shift, monkeypatch):
    """As for a skin that snaps through, whose matrix is not definite as it is."""
    monkeypatch.setattr("bunraku.mechanics.coupled.frame.SHIFTS", (shift,))
    assert np.abs(momentum_from_nowhere(model, state, loads)).max() < GLUE
