"""The motion problem against an independent one: rows, energy, gradient and optimum as CasADi and IPOPT find them."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.registry import read_character
from bunraku.motion import Gait, HeightField
from bunraku.motion.gait import Swing, Target
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
from bunraku.performers.locomotion.problem import Ends
from bunraku.performers.locomotion.state import state_problem

LIMITS = ("torque", "wheel torque", "speed", "wheel speed", "range", "apart", "clear")


def targets(character):
    tip = character.end_effectors[1].name
    return Target(0.37, "com", (0.1, None, 0.2)), Target(1.15, tip, (0.1, 0.2, 0.3)), Target(0.4, "base", (None, 0.2, 0.3), 20.0)


def swings(character, periodic):
    """Two end effectors fly, one of them over the end of the cycle if there is one."""
    names = [tip.name for tip in character.end_effectors]
    return Swing(names[0], 0.15, 0.6), Swing(names[-1], 0.6, 1.1 if periodic else 0.95)


def welded(character):
    """The same with ball feet made into discs that are part of their bodies."""
    tips = tuple(tip.model_copy(update={"kind": "welded", "axis": (0.1, 1.0, 0.2)}) for tip in character.end_effectors)
    return character.model_copy(update={"end_effectors": tips})


def ends_of(character, rng):
    """Data before, at and after the ends of a motion, all different, a foot in the air on either side."""
    problem = state_problem(character, Gait(1.2, periodic=False), samples=7)
    nq, nv = problem.model.nq, problem.model.nv
    v = np.tile(np.concatenate([problem.model.home, np.zeros(nv - nq)]), (4, 1)) + 0.1 * rng.standard_normal((4, nv))
    flags = np.ones((2, problem.model.n_tips), dtype=np.int64)
    flags[0, 1] = flags[1, 2] = 0
    return Ends(start=v[0, :nq], before=v[1], end=v[2, :nq], after=v[3], contacts_before=flags[0], contacts_after=flags[1])


def stated(case):
    """Character and problem of a case."""
    name, kind = case.split()
    character = read_character("walker" if name == "welded" else name)
    if name == "welded":
        character = welded(character)
    periodic = kind in ("cycle", "mirror")
    flying = kind != "mirror" and not kind.startswith("slope")
    terrain = None
    if kind == "slope":
        terrain = HeightField(
            (-2.0, -2.0), 0.5, np.outer(0.1 * np.arange(9), np.ones(9)) + np.outer(np.ones(9), 0.05 * np.arange(9))
        )
    gait = Gait(
        1.2,
        pattern="custom" if flying else "roll",
        periodic=periodic,
        distance=(0.3, 0.1 if kind != "mirror" else 0.0),
        turn=0.2 if kind != "mirror" else None,
        swings=swings(character, periodic) if flying else (),
        start="free" if kind == "free" else "rest",
        end="free" if kind == "free" else "rest",
        symmetric=kind == "mirror",
        targets=targets(character) if kind != "mirror" else (),
        terrain=terrain,
    )
    ends = ends_of(character, np.random.default_rng(5)) if kind == "ends" else None
    return character, state_problem(character, gait, samples=12 if kind == "mirror" else 7, ends=ends)


CASES = (
    "swizzlebot cycle", "swizzlebot mirror", "swizzlebot ends", "agilebot cycle", "agilebot free", "agilebot slope", "walker cycle",
    "walker ends", "walker slope", "skatebot cycle", "welded cycle", "welded slope",
)  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_rows_energy_and_gradient_are_the_same(case, casadi_locomotion):
    character, problem = stated(case)
    oracle = casadi_locomotion.oracle_of(character, problem)
    places = casadi_locomotion.kernel_places(oracle, problem)
    rng = np.random.default_rng(7)
    z = problem.still() + 0.05 * rng.standard_normal(problem.size)
    z[:-3].reshape(problem.samples, -1)[:, problem.model.nq :] += 3.0 * rng.standard_normal(
        (problem.samples, 3 * problem.model.n_tips)
    )
    z[-3:] = 0.3, -0.2, 0.4

    samples, ends = problem.values(z)
    values = np.concatenate([samples.ravel(), ends])
    expected = oracle.rows(z)
    for kind, rows in expected.items():
        np.testing.assert_allclose(values[places[kind]], rows, atol=1e-9 * max(1.0, np.abs(rows).max()), err_msg=kind)
    others = np.ones(len(values), dtype=bool)
    others[np.concatenate(list(places.values()))] = False
    unequal = np.concatenate([np.tile(problem.rows[1], problem.samples), np.zeros(len(ends))]).astype(bool)
    assert np.all(values[others & ~unequal] == 0.0)
    assert np.all(values[others & unequal] < 0.0)
    assert problem.objective(z) == pytest.approx(oracle.objective(z), rel=1e-12)

    # shifts that wake half of the limits, so that their slopes are seen too
    by_kind = {kind: 0.1 * rng.standard_normal(len(rows)) - (rows if kind in LIMITS else 0.0) for kind, rows in expected.items()}
    shifts = problem.zero_shifts()
    for kind, shift in by_kind.items():
        shifts[places[kind]] = shift
    assert problem.energy(z, 37.0, shifts) == pytest.approx(oracle.energy(z, 37.0, by_kind), rel=1e-9)
    blocks = problem.assemble(z, 37.0, shifts)
    assert blocks[0] == pytest.approx(oracle.energy(z, 37.0, by_kind), rel=1e-9)
    found, right = np.concatenate([blocks[4].ravel(), blocks[5]]), oracle.gradient(z, 37.0, by_kind)
    np.testing.assert_allclose(found, right, atol=1e-9 * np.abs(right).max())


def test_ipopt_stays_where_the_swizzle_was_found(casadi_locomotion):
    """0.3 m in 0.8 s from the rest pose: what was found is an optimum of IPOPT's too, and its wheels toe in and out to push."""
    character = read_character("swizzlebot")
    problem = state_problem(character, Gait(0.8, distance=(0.3, 0.0), turn=0.0), samples=8)
    oracle = casadi_locomotion.oracle_of(character, problem)
    ours = AugmentedLagrangian().solve(problem, problem.still())
    assert ours.status.good
    assert oracle.violation(ours.z) < 1e-4
    theirs = oracle.polish_ipopt(ours.z)
    assert theirs.solved
    assert theirs.iterations < 20
    assert oracle.objective(ours.z) == pytest.approx(theirs.objective, rel=1e-3)
    assert 5.0 < np.degrees(np.abs(oracle.toes(ours.z)).max()) < 45.0
