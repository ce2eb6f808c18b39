"""Steps with a reduced skin: mechanics' own laws, and the whole skin's answers."""

from dataclasses import replace

import numpy as np
import pytest

from bunraku.mechanics.coupled.drive import servo_step
from bunraku.mechanics.coupled.frame import CoupledFrames
from bunraku.mechanics.coupled.reduced.frames import ReducedFrames
from bunraku.mechanics.coupled.state import rest_state

H = 0.005


@pytest.fixture(scope="module")
def bent(model):
    """A bent pose at rest, the skin swaying."""
    rng = np.random.default_rng(5)
    rest = model.rest()
    q = rest.q + np.concatenate([np.zeros(3), rng.uniform(-0.4, 0.4, model.nq - 3)])
    P3 = 3 * model.n_patches
    s = np.concatenate([rng.uniform(-2e-4, 2e-4, P3), rng.uniform(-1e-4, 1e-4, len(rest.s) - P3)])
    return replace(rest, q=q, s=s, x=model.points(q, s))


def test_free_fall(model):
    """Nothing but gravity: all falls alike and nothing deforms, whatever the pose of the base."""
    frames, rest = ReducedFrames(model, H), model.rest()
    q = rest.q + np.array([0.0, 0.0, 0.3, 0.4, -0.3, 0.2, *np.zeros(model.nq - 6)])
    state = replace(rest, q=q, x=model.points(q, rest.s))
    none = np.zeros(len(model.driven)), np.zeros(3 * model.n_patches)
    for n in range(1, 4):
        state = frames.advance(state, frames.linearize(state), *none)
        assert state.v[2] == pytest.approx(-9.81 * n * H, rel=1e-9)
        assert np.abs(np.delete(state.v, 2)).max() < 1e-9
        assert np.abs(state.s).max() < 1e-12
        assert np.abs(state.w + np.array([0.0, 0.0, 9.81 * n * H])).max() < 1e-9


def test_the_centre_of_mass_feels_only_gravity_and_ground(model, bent):
    """A deformed skin about to spring back moves no centre of mass: M dv = sum F h + M g h, forces of the skin cancel."""
    small = 1e-4
    frames = ReducedFrames(model, small)
    s = 0.02 * bent.s  # little, as products of turns and deformations are not in a linear step
    bent = replace(bent, s=s, x=model.points(bent.q, s))
    rng = np.random.default_rng(6)
    tau, F = rng.uniform(-0.3, 0.3, len(model.driven)), rng.uniform(-1.0, 3.0, 3 * model.n_patches)
    after = frames.advance(bent, frames.linearize(bent), tau, F)
    moved = model.center_of_mass(after.q, after.x) - model.center_of_mass(bent.q, bent.x)
    expected = small**2 * (F.reshape(-1, 3).sum(axis=0) / model.total_mass - [0.0, 0.0, 9.81])
    assert np.abs(moved - expected).max() < 2e-3 * np.abs(expected).max()


def test_answers_are_symmetric_and_positive(model, bent):
    frame = ReducedFrames(model, H).linearize(bent)
    assert np.linalg.eigvalsh(frame.W).min() > 0.0
    assert np.abs(frame.R.T - frame.Qf[model.driven]).max() <= 1e-12 * np.abs(frame.R).max()


def test_a_step_is_what_its_frame_says(model, bent):
    """Patches end exactly where the linear step has them, seen in coordinates and in places."""
    frames = ReducedFrames(model, H)
    frame = frames.linearize(bent)
    rng = np.random.default_rng(7)
    tau, F = rng.uniform(-0.1, 0.1, len(model.driven)), rng.uniform(-0.5, 1.0, 3 * model.n_patches)
    after = frames.advance(bent, frame, tau, F)
    assert np.abs(after.x[: model.n_patches] - bent.x[: model.n_patches] - frame.patches(tau, F)).max() < 1e-12
    assert np.abs(model.points(after.q, after.s) - after.x).max() < 1e-12


def test_at_home_it_answers_as_the_whole_skin(whole, model):
    full, few = CoupledFrames(whole, H).linearize(rest_state(whole)), ReducedFrames(model, H).linearize(model.rest())
    for name, most in (("q0", 1e-8), ("u0", 1e-8), ("Qt", 0.01), ("Qf", 0.01), ("R", 0.01), ("W", 0.01)):
        a, b = getattr(full, name), getattr(few, name)
        assert np.abs(a - b).max() <= most * np.abs(a).max(), name


def test_it_moves_as_the_whole_skin(whole, model):
    """Servos shift the body over standing feet and bend the knees: centres of mass and patches stay within a millimetre."""
    mu, limits = np.full(model.n_patches, 0.8), (np.full(12, -1.96), np.full(12, 1.96))
    target, swing = np.zeros(12), np.array([0.2, 0.25, -0.25] * 4) * np.repeat([1.0, -1.0, 1.0, -1.0], 3)
    ends = []
    for frames, state in ((CoupledFrames(whole, H), rest_state(whole)), (ReducedFrames(model, H), model.rest())):
        F, seen = None, []
        for i in range(60):
            target = swing * (1.0 - np.cos(2.0 * np.pi * i / 60)) / 2.0
            frame = frames.linearize(state)
            step = servo_step(frame, frames.model.driven, target, state.q, (6.0, 0.1), limits, H, mu, F)
            F = step.F
            state = frames.advance(state, frame, step.tau, step.F.ravel())
            seen.append(
                np.vstack([frames.model.center_of_mass(state.q, state.x), (frames.model.patches @ state.x.ravel()).reshape(-1, 3)])
            )
        ends.append(np.array(seen))
    assert np.abs(np.diff(ends[0][:, 0], axis=0)).sum() > 0.01
    assert np.linalg.norm(ends[0] - ends[1], axis=2).max() < 1e-3
