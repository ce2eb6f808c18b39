"""Torques of frames: a quadruped stands, is pushed, lifts a foot; each frame obeys contact, limits and rows, and is a minimum."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.mechanics.contact.coulomb import OPEN, SLIDE, STICK, solve_contact
from bunraku.optimization.quadratic import QuadraticProgram, solve_quadratic
from bunraku.performers.skin.frame.problem import FrameProblem, FrameStep
from bunraku.performers.skin.frame.torque_step import step_torques

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "oracles"))
from relabelling import step_by_relabelling

GRAVITY = 9.80665


def live(body, frames: int, push=(0.0, 0.0, 0.0), lift: float = 0.0, **more) -> Iterator[tuple[FrameProblem, FrameStep, FrameStep]]:
    """Frames of a run: the problem, the step taken and the step of the frame before."""
    last = FrameStep(np.zeros(12), np.zeros((20, 3)), np.zeros(20, int), 0.0, 0.0, None, 0, 0, ())
    for k in range(frames):
        target = np.zeros(18)
        target[7:9] = lift * np.clip((k - 10) / 20.0, 0.0, 1.0) * np.array([1.0, -1.0])
        force = min(1.0, k / 30.0) * np.array(push)
        problem = body.problem(target, force, **more)
        step = step_torques(problem, last.tau, last.F)
        yield problem, step, last
        body.advance(force, problem, step)
        last = step


def assert_lawful(problem: FrameProblem, step: FrameStep) -> None:
    check = problem.check(step.tau, step.F)
    assert check.ok, check
    assert (step.tau >= problem.lo).all()
    assert (step.tau <= problem.hi).all()
    assert step.cost == problem.cost(step.tau, step.F)


def test_standing_carries_the_weight(quadruped) -> None:
    body = quadruped(0.8)
    for problem, step, _ in live(body, 60):
        assert_lawful(problem, step)
        assert step.status.good
    assert (step.labels == STICK).all()
    np.testing.assert_allclose(step.F[:, 2].sum(), body.mass * GRAVITY, rtol=1e-4)


def test_standing_equals_the_program_with_all_patches_held(quadruped) -> None:
    """While all patches stick, relabelling solves the same problem by one program over torques and forces together."""
    for problem, step, last in live(quadruped(0.8), 20):
        other = step_by_relabelling(problem, last.F)
        if (step.labels != STICK).any() or not problem.check(other.tau, other.F).ok:
            continue
        assert step.cost - other.cost <= 1e-5 * abs(other.cost - problem.const)
    assert (step.labels == STICK).all()


def test_a_push_makes_it_slide(quadruped) -> None:
    body, push = quadruped(0.4), np.array([22.0, 0.0, 0.0])
    kinds = []
    for problem, step, _ in live(body, 55, push):
        assert_lawful(problem, step)
        kinds.append(step.labels)
    loaded = step.labels != OPEN
    assert (kinds[5] == STICK).all()
    assert (step.labels[loaded] == SLIDE).all()
    assert body.q[0] > 0.005
    np.testing.assert_allclose(-step.F[:, 0].sum(), 0.4 * step.F[:, 2].sum(), rtol=1e-3)


def test_lifting_a_foot_and_what_relabelling_makes_of_it(quadruped) -> None:
    """Relabelling breaks the law of contact in some of the frames of a push and of a lift; the implicit step in none."""
    for mu, push, lift in ((0.4, (22.0, 0.0, 0.0), 0.0), (0.8, (0.0, 0.0, 0.0), 0.15)):
        broken, opened = 0, False
        for k, (problem, step, last) in enumerate(live(quadruped(mu), 40, push, lift)):
            assert_lawful(problem, step)
            opened |= (step.labels == OPEN).any()
            if k % 3 == 0:
                other = step_by_relabelling(problem, last.F)
                broken += not problem.check(other.tau, other.F).ok
        assert opened
        assert broken >= 4


@pytest.mark.parametrize("limit", [0.02, 0.05])
def test_torque_limits_bind_exactly(quadruped, limit: float) -> None:
    bound = 0
    for problem, step, _ in live(quadruped(0.8), 15, lo=-limit, hi=limit):
        assert_lawful(problem, step)
        bound += (np.abs(step.tau) == limit).sum()
    assert bound > 10


def test_in_the_air_it_is_a_box_program(quadruped) -> None:
    body = quadruped(0.8)
    body.x[:, 2] += 1.0
    problem = body.problem(np.full(18, 0.01), np.zeros(3), lo=-0.1, hi=0.1)
    step = step_torques(problem)
    oracle = solve_quadratic(QuadraticProgram(problem.H[:12, :12], problem.g[:12], x_lower=problem.lo, x_upper=problem.hi))
    assert (step.labels == OPEN).all()
    assert (np.abs(step.tau) == 0.1).any()
    np.testing.assert_allclose(step.tau, oracle.x, atol=1e-8)


@pytest.mark.parametrize(("mu", "push", "lift"), [(0.8, 0.0, 0.0), (0.4, 22.0, 0.0), (0.3, 0.0, 0.3)])
def test_no_small_change_of_torques_is_better(quadruped, mu: float, push: float, lift: float) -> None:
    """The true cost, with the contact solved anew, around the answer of each tenth frame."""
    rng, looked_at = np.random.default_rng(0), 0
    for k, (problem, step, _) in enumerate(live(quadruped(mu), 45, (push, 0.0, 0.0), lift)):
        assert all(after <= before for before, after in zip(step.costs, step.costs[1:], strict=False))
        if k % 10 or not step.status.good:
            continue
        looked_at += 1
        size = abs(step.cost - problem.const)
        for length in (1e-3, 1e-2, 1e-1):
            for way in rng.normal(size=(12, 12)):
                tau = np.clip(step.tau + length * way, problem.lo, problem.hi)
                found = solve_contact(problem.W, problem.free(tau), problem.gap, problem.mu, step.F)
                assert problem.cost(tau, found.F) >= step.cost - 1e-4 * size
    assert looked_at >= 3


def test_a_second_cold_start_is_never_worse(quadruped) -> None:
    for problem, step, last in live(quadruped(0.8), 45, (22.0, 0.0, 0.0)):
        both = step_torques(problem, last.tau, last.F, cold=True)
        assert both.cost <= step.cost + 1e-12
        assert both.contact_solves > step.contact_solves
        assert_lawful(problem, both)


def test_the_centre_of_pressure_is_held(quadruped) -> None:
    """Three feet shall carry the body: the rows keep the pressure inside their triangle, without them it is outside."""
    body, standing, outside = quadruped(0.8), np.arange(5, 20), 0
    for k, (problem, step, _) in enumerate(live(body, 40)):
        C = body.pressure_rows(standing, 0.04)
        bound = replace(problem, C=C, d=np.zeros(len(C)))
        held = step_torques(bound, step.tau, step.F)
        assert_lawful(bound, held)
        assert held.rows_ok, k
        assert (C @ np.append(held.tau, held.F.reshape(-1))).max() <= 1e-6 * np.linalg.norm(C, axis=1).max()
        assert held.cost >= step.cost - 1e-9
        outside += bound.row_violation(step.tau, step.F) > 1e-3
    assert outside > 20


def test_rows_that_cannot_hold_are_reported(quadruped) -> None:
    body = quadruped(0.8)
    problem, step, _ = list(live(body, 20))[-1]
    C = np.zeros((1, 72))
    C[0, 14::3] = -1.0
    asked = replace(problem, C=C, d=np.array([-300.0]), lo=-0.2, hi=0.2)
    held = step_torques(asked, step.tau, step.F)
    assert_lawful(asked, held)
    assert not held.rows_ok
    assert held.F[:, 2].sum() > step.F[:, 2].sum() + 1.0, "the row should at least be approached"
    np.testing.assert_allclose(held.violation, (300.0 - held.F[:, 2].sum()) / np.sqrt(20.0), rtol=1e-9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"g": np.zeros(3)}, r"g of a frame has shape \(3,\)"),
        ({"lo": 1.0, "hi": -1.0}, "above the upper"),
        ({"hi": np.inf}, "finite"),
        ({"mu": np.zeros(7)}, "mu of a frame"),
        ({"C": np.zeros((2, 72))}, "d of a frame"),
    ],
)
def test_refusals(quadruped, change, words: str) -> None:
    problem = quadruped(0.8).problem(np.zeros(18), np.zeros(3))
    with pytest.raises(BadInput, match=words):
        replace(problem, **change)
