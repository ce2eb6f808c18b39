"""The skin's mass among the bodies, its stiffness seen from the joints, servos, and what touches."""

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve

from bunraku.mechanics.centroidal.model import centroidal_model
from bunraku.mechanics.contact.check import check_contact
from bunraku.mechanics.coupled.drive import servo_step
from bunraku.mechanics.coupled.frame import CoupledFrames
from bunraku.mechanics.coupled.share import skin_share, with_skin_mass
from bunraku.mechanics.coupled.skinned import skinned_model
from bunraku.mechanics.coupled.state import rest_state
from bunraku.mechanics.coupled.stiffness import joint_stiffness
from bunraku.mechanics.tree import compile_tree


@pytest.fixture(scope="module")
def model(stool):
    return skinned_model(stool)


@pytest.fixture(scope="module")
def share(model):
    return skin_share(model)


def test_shares_are_the_whole_skin(model, share):
    assert share.mass.sum() == pytest.approx(model.node_mass.sum(), rel=1e-12)
    whole = np.asarray(share.moment @ model.mesh.nodes).sum(axis=0)
    assert whole == pytest.approx(model.node_mass @ model.mesh.nodes, rel=1e-9)


def test_mass_carried_rigidly_keeps_mass_centre_and_inertia(model, share):
    """The laden character at home against skeleton and skin together: mass, centre, and the second moments of points."""
    laden = with_skin_mass(model, share)
    tree = compile_tree(laden)
    at = tree.configuration(tree.home)
    assert tree.mass.sum() == pytest.approx(model.total_mass, rel=1e-12)
    assert at.center_of_mass() == pytest.approx(model.center_of_mass(model.home, model.mesh.nodes), abs=1e-12)
    old = model.tree.configuration(model.home)

    def second(tree, at):
        total = np.zeros((3, 3))
        for b in range(len(tree.mass)):
            R, c = at.rotation[b], at.position[b] + at.rotation[b] @ tree.center_of_mass[b]
            turned = R @ tree.inertia[b] @ R.T
            total += 0.5 * np.trace(turned) * np.eye(3) - turned + tree.mass[b] * np.outer(c, c)
        return total

    M, X = model.mass, model.mesh.nodes
    skin = np.array([[X[:, a] @ (M[::3, ::3] @ X[:, b]) for b in range(3)] for a in range(3)])
    assert second(tree, at) == pytest.approx(second(model.tree, old) + skin, rel=1e-9, abs=1e-12)
    assert centroidal_model(laden).mass == pytest.approx(model.total_mass)


def test_centres_stay_when_the_whole_is_carried(model, share):
    shift, state = np.array([0.3, -0.2, 0.1]), rest_state(model)
    q, x = state.q.copy(), state.x + shift
    q[:3] += shift
    still = share.centers(model, model.home, model.mesh.nodes)
    assert np.abs(share.centers(model, q, x) - still).max() < 1e-12


def test_joint_stiffness_against_statics(model):
    """A small turn of one knee, the skin in equilibrium: torque on the knee from the glue's forces."""
    K = joint_stiffness(model)
    assert np.abs(K[:6]).max() < 1e-6
    c = list(model.tree.names).index("lf_knee")
    e = 1e-5
    q = model.home.copy()
    q[c] += e
    x = model.mesh.nodes.copy()
    x[model.glue] = model.glue_at(q)[0]
    u = (x - model.mesh.nodes).ravel()
    for _ in range(3):
        f, A = model.solid.force_and_stiffness(u)
        u[model.free] -= spsolve(A[model.free][:, model.free].tocsc(), f[model.free])
    f = model.solid.force(u)
    torque = model.glue_at(q)[1][:, c] @ f[model.held]
    assert torque / e == pytest.approx(K[c, c], rel=1e-3)
    assert K[c, c] > 0.0


def test_servos_hold_the_pose_within_what_the_load_bends_them(model):
    """Told to stay home, joints give way by torque over gain: tau = kp (c - q) at rest."""
    frames = CoupledFrames(model, 0.005)
    state, mu = rest_state(model), np.full(model.n_patches, 0.8)
    told = model.home[model.driven] + 0.01
    F = None
    for _ in range(60):
        frame = frames.linearize(state)
        limits = (np.full(12, -1.96), np.full(12, 1.96))
        step = servo_step(frame, model.driven, told, state.q, (20.0, 0.5), limits, 0.005, mu, F)
        state, F = frames.advance(state, frame, step.tau, step.F.ravel()), step.F
        assert check_contact(frame.W, frame.u0 + frame.R @ step.tau, frame.heights, mu, step.F).ok
    assert step.saturated == 0
    assert step.tau == pytest.approx(20.0 * (told - state.q[model.driven]) - 0.5 * state.v[model.driven], abs=1e-9)
    assert step.F[:, 2].sum() == pytest.approx(model.total_mass * 9.81, rel=0.02)


def test_a_servo_never_passes_its_limit(model):
    frames = CoupledFrames(model, 0.005)
    state, mu = rest_state(model), np.full(model.n_patches, 0.8)
    told = model.home[model.driven] + 0.5
    limits = (np.full(12, -0.02), np.full(12, 0.02))
    step = servo_step(frames.linearize(state), model.driven, told, state.q, (20.0, 0.5), limits, 0.005, mu)
    assert np.abs(step.tau).max() <= 0.02
    assert step.saturated > 0
