"""The space-time problem: its gradient is right, its torques do the work that forces do, its skin is what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.centroidal.model import centroidal_model
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Gait
from bunraku.optimization.derivative_check import check_gradient
from bunraku.performers.skin.spacetime.effect import SkinEffect, lump_nodes
from bunraku.performers.skin.spacetime.problem import SpacetimeProblem
from bunraku.performers.skin.spacetime.state import state_spacetime
from bunraku.performers.skin.spacetime.tracks import Tracks
from bunraku.performers.skin.spacetime.weights import SpacetimeWeights

T = 6


def dense(H: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
    """The symmetric matrix of the blocks (`optimization.blocks.blocks`) of a motion that happens once."""
    nv, border = H.shape[-1], len(H) * H.shape[-1]
    A = np.zeros((border + len(C), border + len(C)))
    for i in range(len(H)):
        for d in range(min(3, len(H) - i)):
            A[(i + d) * nv : (i + d + 1) * nv, i * nv : (i + 1) * nv] = H[i, d]
        A[border:, i * nv : (i + 1) * nv] = B[i]
    A[border:, border:] = C
    return np.tril(A) + np.tril(A, -1).T


def anything(robot: Character, rng: np.random.Generator, **fields: object) -> SpacetimeProblem:
    """A problem of random contacts, heights, tracks and skin with every kind of row and term."""
    model = centroidal_model(robot)
    contacts = (rng.random((T, model.n_tips)) < 0.75).astype(np.int64)
    tracks = Tracks(
        0.1 * rng.standard_normal((T, 3)), 0.2 * rng.standard_normal((T, model.n_tips, 3)), rng.standard_normal((T, model.nq))
    )
    effect = SkinEffect(
        0.01 * rng.standard_normal((T, len(model.points[0]) // 4, 3)),
        0.01 * rng.standard_normal((T, model.n_tips, 3)),
        0.3 * rng.standard_normal((T, model.nq)),
        rng.standard_normal((model.nq, model.nq)),
    )
    stated = {"periodic": True, "travel": (0.5, 0.1, 0.3), "tracks": tracks, "effect": effect} | fields
    radius, friction = np.full(model.n_tips, 0.02), np.full(model.n_tips, 0.5)
    return SpacetimeProblem(model, contacts, 0.02 * rng.random(contacts.shape), 0.1, radius=radius, friction=friction, **stated)


def somewhere(problem: SpacetimeProblem, rng: np.random.Generator) -> np.ndarray:
    return problem.still() + 0.1 * rng.standard_normal(problem.size)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"dynamic": False},
        {"tracks": Tracks()},
        {"periodic": False, "travel": (0.5, np.nan, 0.3)},
        {"periodic": False, "rest": (False, False), "tracks": Tracks()},
    ],
    ids=["cycle", "kinematic", "untracked", "once", "free ends"],
)
def test_gradient(robot: Character, fields: dict[str, object]) -> None:
    rng = np.random.default_rng(2)
    problem = anything(robot, rng, **fields)
    z, shifts = somewhere(problem, rng), 0.3 * rng.random(problem.zero_shifts().size)

    def gradient(at: np.ndarray) -> np.ndarray:
        _, _, _, _, g, gD = problem.assemble(at, 3.0, shifts)
        return np.concatenate([g.ravel(), gD])

    report = check_gradient(lambda at: problem.energy(at, 3.0, shifts), gradient, z, seed=1, scale=1e-2)
    assert report.holds, report


def test_curvature_is_that_of_the_gradient(robot: Character) -> None:
    """With slow steps, no torques, flat soles or goals, second derivatives are all that Gauss-Newton leaves out."""
    rng = np.random.default_rng(7)
    problem = anything(
        robot,
        rng,
        periodic=False,
        travel=(np.nan, np.nan, np.nan),
        rest=(False, False),
        effect=SkinEffect(),
        weights=SpacetimeWeights(torque=0.0, level=0.0),
    )
    strong = replace(problem.model, stall=np.full(18, 1e9))
    problem = problem.changed(model=strong, step=30.0)
    z, shifts = somewhere(problem, rng), 0.3 * rng.random(problem.zero_shifts().size)
    d = np.append(rng.standard_normal(problem.size - 3), np.zeros(3))

    def gradient(at: np.ndarray) -> np.ndarray:
        _, _, _, _, g, gD = problem.assemble(at, 3.0, shifts)
        return np.append(g.ravel(), gD)

    found = (gradient(z + 1e-6 * d) - gradient(z - 1e-6 * d)) / 2e-6
    blocks = [
        dense(*problem.assemble_held(z, 3.0, shifts, problem.pushing(z, shifts), curved)[1:4]) @ d for curved in (True, False)
    ]
    assert blocks[0] == pytest.approx(found, abs=1e-5 * np.abs(found).max())
    assert np.abs(blocks[1] - found).max() > 1e-3 * np.abs(found).max()


def test_held_inequalities_push_and_others_do_not(robot: Character) -> None:
    """What holding adds to the gradient is w c^2 times twice value and derivative of the rows that change, none of which push."""
    rng = np.random.default_rng(8)
    problem = anything(robot, rng)
    z, shifts = somewhere(problem, rng), 0.3 * rng.random(problem.zero_shifts().size)
    scale, unequal = problem.rows
    natural = problem.pushing(z, shifts)
    value = problem.values(z)[0] + problem.split(shifts)[0]
    assert (natural == np.where(value > 0.0, 1, -1) * unequal).all()
    other = natural.copy()
    chosen = np.argwhere((natural == -1) & (value > -1.0))[::7]
    assert len(chosen) > 5
    other[tuple(chosen.T)] = 1

    def gradient(held: np.ndarray) -> np.ndarray:
        return problem.assemble_held(z, 3.0, shifts, held, False)[4].copy()

    added = (gradient(other) - gradient(natural)).ravel()
    d = rng.standard_normal(problem.size)
    d[-3:] = 0.0
    slopes = (problem.values(z + 1e-6 * d)[0] - problem.values(z - 1e-6 * d)[0]) / 2e-6
    expected = sum(6.0 * scale[k] ** 2 * value[i, k] * slopes[i, k] for i, k in chosen)
    assert added @ d[:-3] == pytest.approx(expected, rel=1e-6)


def test_the_pinned_ends_hold_whatever_the_skin_does(robot: Character) -> None:
    """Home at both ends meets its rows although the skin moved the masses and the soles there."""
    rng = np.random.default_rng(9)
    gait = Gait(1.0, pattern="crawl", periodic=False, distance=(0.0, 0.0), turn=0.0, samples=20, cycles=1)
    bare = state_spacetime(robot, gait)
    model = bare.model
    effect = SkinEffect(
        1e-3 * rng.standard_normal((20, len(model.points[0]) // 4, 3)), 1e-3 * rng.standard_normal((20, model.n_tips, 3))
    )
    problem = bare.changed(effect=effect)
    samples, ends = problem.values(problem.still())
    assert ends == pytest.approx(0.0, abs=1e-12)
    assert samples[[0, -1], 6::13][:, : model.n_tips] == pytest.approx(0.0, abs=1e-12)
    assert np.abs(samples[1:-1, 6::13][:, : model.n_tips]).max() > 5e-4


def test_energy_does_not_depend_on_whether_derivatives_are_asked_for(robot: Character) -> None:
    rng = np.random.default_rng(6)
    problem = anything(robot, rng)
    z, shifts = somewhere(problem, rng), rng.random(problem.zero_shifts().size)
    assert problem.assemble(z, 2.0, shifts)[0] == pytest.approx(problem.energy(z, 2.0, shifts), rel=1e-14)


def test_torques_of_standing_do_the_work_of_weight_and_ground(robot: Character) -> None:
    """Held still: tau.dq = dV - sum (f.de + t.dphi), with V, e and the turn phi of each sole by differences of the whole tree."""
    rng = np.random.default_rng(3)
    problem = anything(robot, rng, effect=SkinEffect(), periodic=False, rest=(False, False), tracks=Tracks())
    model, tree, nq = problem.model, compile_tree(robot), problem.model.nq
    q = model.home + 0.2 * rng.standard_normal(nq)
    ground = rng.standard_normal((2, model.n_tips, 3))
    z = np.concatenate([np.tile(np.concatenate([q, ground.ravel()]), T), np.zeros(3)])
    tau = problem.torques(z)[2]
    d = rng.standard_normal(nq)

    def seen(s: float) -> tuple[float, np.ndarray, list[np.ndarray]]:
        at = tree.configuration(tree.expand(model.names, (q + s * d)[None])[0])
        poses = [at.pose(tip.body) for tip in robot.end_effectors]
        places = np.array([p + R @ np.array(tip.center) for tip, (R, p) in zip(robot.end_effectors, poses, strict=True)])
        return model.mass * GRAVITY * at.center_of_mass()[2], places, [R for R, _ in poses]

    h = 1e-5
    V1, e1, R1 = seen(h)
    V0, e0, R0 = seen(-h)
    work = (V1 - V0) / (2 * h) - (ground[0] * (e1 - e0)).sum() / (2 * h)
    for j, (a, b) in enumerate(zip(R1, R0, strict=True)):
        W = (a @ b.T - b @ a.T) / (4 * h)
        work -= ground[1, j] @ np.array([W[2, 1], W[0, 2], W[1, 0]])
    assert tau @ d == pytest.approx(work, rel=1e-7)


def test_the_skin_adds_its_torque_and_stiffness(robot: Character) -> None:
    rng = np.random.default_rng(4)
    problem = anything(robot, rng)
    bare = problem.changed(effect=SkinEffect(problem.effect.shift, problem.effect.sole))
    z = somewhere(problem, rng)
    q = z[:-3].reshape(T, -1)[:, : problem.model.nq]
    torque, stiffness = problem.effect.torque, problem.effect.stiffness
    assert torque is not None
    assert stiffness is not None
    expected = torque[:, 6:] + (q - problem.model.home)[:, 6:] @ stiffness[6:, 6:].T
    assert (problem.torques(z) - bare.torques(z))[:, 6:] == pytest.approx(expected, abs=1e-11)


def test_a_constant_shift_is_a_body_with_another_centre_of_mass(robot: Character) -> None:
    """Energy and all rows equal those of a character built with the centre of mass of its thighs and the soles elsewhere."""
    rng = np.random.default_rng(5)
    tracks = Tracks(com=0.1 * rng.standard_normal((T, 3)))
    problem = anything(robot, rng, effect=SkinEffect(), tracks=tracks, weights=SpacetimeWeights(torque=0.0))
    model, tree = problem.model, compile_tree(robot)
    move, low = np.array([0.01, -0.004, 0.006]), np.array([0.002, 0.001, 0.003])
    bodies = tuple(
        body.model_copy(update={"center_of_mass": tuple(np.array(body.center_of_mass) + move)}) if "thigh" in body.name else body
        for body in robot.bodies
    )
    tips = tuple(tip.model_copy(update={"center": tuple(np.array(tip.center) + low)}) for tip in robot.end_effectors)
    other = problem.changed(model=centroidal_model(robot.model_copy(update={"bodies": bodies, "end_effectors": tips})))
    thighs = {tree.nodes[body.name] for body in robot.bodies if "thigh" in body.name}
    shift = np.array([[move if node in thighs else np.zeros(3) for node in lump_nodes(model)]] * T)
    same = problem.changed(effect=SkinEffect(shift, np.tile(low, (T, model.n_tips, 1))))
    z = somewhere(problem, rng)
    assert same.values(z)[0] == pytest.approx(other.values(z)[0], abs=1e-10)
    assert same.torques(z) == pytest.approx(other.torques(z), abs=1e-10)
    assert same.objective(z) == pytest.approx(other.objective(z), rel=1e-12)
    assert same.objective(z) != pytest.approx(problem.objective(z), rel=1e-6)


def test_soles_are_flat_on_the_ground_and_near_it(robot: Character) -> None:
    """The share of the term falls linearly with the time to the nearest stance; across the ends of a cycle too."""
    gait = Gait(1.0, pattern="crawl", samples=40)
    problem = state_spacetime(robot, gait, near=0.06)
    for j in range(4):
        stands = np.flatnonzero(problem.contacts[:, j])
        apart = np.abs(np.arange(40)[:, None] - np.concatenate([stands - 40, stands, stands + 40])).min(axis=1)
        assert problem.level[:, j] == pytest.approx(np.maximum(0.0, 1.0 - 0.025 * apart / 0.06))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"effect": SkinEffect(shift=np.zeros((T, 3, 3)))}, "shift has shape"),
        ({"tracks": Tracks(com=np.zeros((T, 2)))}, "track of com has shape"),
        ({"radius": np.zeros(4)}, "leave more than zero"),
    ],
)
def test_what_does_not_fit_is_refused(robot: Character, fields: dict[str, object], message: str) -> None:
    problem = anything(robot, np.random.default_rng(0))
    with pytest.raises(BadInput, match=message):
        problem.changed(**fields).objective(problem.still())
