"""The marionette dances: limits that hold on the motion itself, better than from rest to rest, the same bytes again."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bunraku.formats.checkpoint import Checkpoint
from bunraku.formats.registry import read_character, read_clip, read_performance, write_performance
from bunraku.mechanics.measures.driven_motion import replayed
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.mechanics.systems.character_system import character_system
from bunraku.motion import JointCurves
from bunraku.optimization.control.interior import InteriorTrajectory
from bunraku.optimization.monitor import SilentMonitor
from bunraku.optimization.solution import Status
from bunraku.performers.marionette.baselines import best_quasi_static
from bunraku.performers.marionette.performer import MarionettePerformer
from bunraku.performers.marionette.problem import cut_wish, state_puppet_problem
from bunraku.retargeting.retarget import retarget

RATE, MARGIN, WINDOW = 100.0, 0.1, {"start": 2.0, "duration": 1.5, "blend": 0.6}
PERFORMER = MarionettePerformer(tension_margin=MARGIN, **WINDOW)


@pytest.fixture(scope="module")
def puppet():
    return read_character("marionette")


@pytest.fixture(scope="module")
def clip(puppet):
    return retarget(read_clip("chicken-dance"), puppet, rate=RATE).clip


@pytest.fixture(scope="module")
def problem(puppet, clip):
    wish = cut_wish(clip.joints, rate=RATE, start=WINDOW["start"], duration=WINDOW["duration"])
    return state_puppet_problem(puppet, wish, rate=RATE, blend=WINDOW["blend"], tension_margin=MARGIN)


@pytest.fixture(scope="module")
def performed(puppet, clip):
    return PERFORMER.perform(puppet, clip)


def configurations(performance, system):
    return np.column_stack([performance.motion.column(name) for name in system.names])


def rms(problem, q):
    return float(np.sqrt(np.mean(np.sum((problem.points.positions(q) - problem.targets) ** 2, axis=2))))


def test_every_string_pulls_and_every_carriage_keeps_its_limits(performed, puppet) -> None:
    """Measured on the motion by solving each step again, and on the channels that will be sent."""
    assert performed.certificate.status is Status.CONVERGED
    system = character_system(puppet, torques=True)
    q = configurations(performed, system)
    again = replayed(system, q, RATE, np.zeros((len(q) - 1, system.nu)))
    assert again.residual.max() < 1e-8
    assert again.tensions.min() >= MARGIN
    limits = CarriageLimits.of(puppet)
    channels = {channel.name: channel.values for channel in performed.channels}
    sent = np.column_stack([channels[name] for name in limits.names])
    assert limits.excess(sent, 1.0 / RATE).kept
    np.testing.assert_array_equal(sent, q[:, system.kinematic])


def solved(problem, constraints, iterations=40):
    """The optimum under some of the constraints."""
    return InteriorTrajectory(max_iterations=iterations, relative_tolerance=1e-3).solve(
        problem.dynamics, problem.cost, constraints, *problem.still
    )


def test_the_limits_of_the_carriages_are_in_use(performed, problem) -> None:
    """Without them the puppet comes closer, with carriages too fast and too near to each other."""
    tension, bounds, apart = problem.constraints
    found = solved(problem, [tension])
    assert found.cost < 0.99 * performed.certificate.figures["final cost"]
    assert bounds.values(found.x, found.u)[0].max() > 0.1
    assert apart.values(found.x, found.u)[0].max() > 0.1


def test_without_the_margin_a_string_would_have_to_push(puppet, clip) -> None:
    """In the second after, where a hand falls; with it every string pulls."""
    wish = cut_wish(clip.joints, rate=RATE, start=3.4, duration=0.8)
    problem = state_puppet_problem(puppet, wish, rate=RATE, blend=0.4, tension_margin=MARGIN)
    tension, *others = problem.constraints
    free, held = solved(problem, others), solved(problem, problem.constraints)
    assert tension.values(free.x, free.u)[0].max() > 1.0 + MARGIN
    assert held.violation == 0.0
    assert max(float(constraint.values(held.x, held.u)[0].max()) for constraint in problem.constraints) < 0.0


def test_it_dances_better_than_from_rest_to_rest(performed, problem) -> None:
    system = problem.system
    slow = best_quasi_static(
        problem.character,
        system,
        problem.q,
        problem.points,
        np.full(5, 100.0),
        rate=RATE,
        cutoffs=(0.5, 1.0, 2.0),
        q_start=problem.rest[: system.nq],
    )
    ours = rms(problem, configurations(performed, system))
    assert slow.finished
    assert ours <= 0.55 * slow.rms
    assert ours <= 0.03
    assert performed.certificate.check("imitation error").value == pytest.approx(ours, rel=1e-9)


def test_the_cost_in_the_certificate_is_that_of_the_motion(performed, problem) -> None:
    q = configurations(performed, problem.system)
    x, _ = problem.still
    feedback = performed.feedback
    x[:, : problem.system.nq + problem.system.nd] = feedback.states
    x[1:, problem.system.nq + problem.system.nd :] = np.diff(q[:, problem.system.kinematic], axis=0) * RATE
    figures = performed.certificate.figures
    assert problem.cost.value(x, feedback.commands) == pytest.approx(figures["final cost"], rel=1e-9)
    assert figures["initial cost"] == pytest.approx(problem.cost.value(*problem.still), rel=1e-12)
    assert figures["final cost"] < 0.1 * figures["initial cost"]


def test_it_starts_at_rest_as_it_hangs(performed, problem) -> None:
    q = configurations(performed, problem.system)
    np.testing.assert_allclose(q[0], problem.rest[: problem.system.nq], atol=1e-12)
    assert np.abs(np.diff(q[:2, problem.system.kinematic], axis=0)).max() * RATE**2 <= 10.0


def test_the_same_wish_gives_the_same_bytes(puppet, clip, tmp_path) -> None:
    short = dataclasses.replace(PERFORMER, duration=0.5, max_iterations=6)
    files = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.npz"
        write_performance(path, short.perform(puppet, clip))
        files.append(path.read_bytes())
    assert files[0] == files[1]
    assert read_performance(tmp_path / "one.npz").feedback.steps == 50
    other = dataclasses.replace(short, tension_margin=0.2)
    write_performance(tmp_path / "other.npz", other.perform(puppet, clip))
    assert (tmp_path / "other.npz").read_bytes() != files[0]


class Stop(SilentMonitor):
    """Cancels once the optimization has made a number of steps."""

    def __init__(self, after: int) -> None:
        self.left = after

    def report(self, event) -> None:
        self.left -= event.stage == "trajectory"

    @property
    def cancelled(self) -> bool:
        return self.left <= 0


def test_cancelled_and_taken_up_again_it_ends_at_the_same_optimum(performed, puppet, clip, tmp_path) -> None:
    checkpoint = Checkpoint(tmp_path / "dance.checkpoint", "key")
    broken_off = PERFORMER.perform(puppet, clip, monitor=Stop(11), checkpoint=checkpoint)
    assert broken_off.certificate.status is Status.CANCELLED
    saved = checkpoint.load()
    assert set(saved) == {"x", "u", "barrier"}
    again = PERFORMER.perform(puppet, clip, checkpoint=checkpoint)
    figures, whole = again.certificate.figures, performed.certificate.figures
    assert again.certificate.status is Status.CONVERGED
    assert figures["iterations"] < whole["iterations"]
    assert figures["final cost"] == pytest.approx(whole["final cost"], rel=0.02)
    assert again.certificate.check("least tension").holds


def test_at_half_tempo_it_comes_closer(performed, problem, puppet, clip) -> None:
    slowly = dataclasses.replace(PERFORMER, tempo=0.5, blend=2.0 * WINDOW["blend"], max_iterations=25).perform(puppet, clip)
    assert len(slowly.motion.values) == 2 * len(performed.motion.values) - 1
    assert slowly.certificate.check("imitation error").value < 0.8 * performed.certificate.check("imitation error").value
    assert slowly.certificate.check("least tension").holds


def test_the_wish_is_cut_where_it_is_asked_to(clip) -> None:
    line = JointCurves(("a",), 50.0, np.arange(101.0)[:, None])
    cut = cut_wish(line, rate=100.0, start=0.5, duration=1.0, tempo=0.5)
    assert len(cut.values) == 201
    np.testing.assert_allclose(cut.values[:, 0], 25.0 + 0.25 * np.arange(201), atol=1e-9)


def test_the_blend_is_smooth_and_ends_in_the_wish(problem, clip) -> None:
    wish = cut_wish(clip.joints, rate=RATE, start=WINDOW["start"], duration=WINDOW["duration"])
    columns = [problem.system.index(name) for name in wish.names]
    blended, end = problem.q[:, columns], round(WINDOW["blend"] * RATE)
    np.testing.assert_array_equal(blended[end:], wish.values[end:])
    share = (blended[end // 2] - blended[0]) / (wish.values[end // 2] - blended[0])
    np.testing.assert_allclose(share, 0.5, rtol=1e-9)
    assert np.abs(np.diff(blended[:3], 2, axis=0)).max() < 1e-2 * np.abs(wish.values[0] - blended[0]).max()
