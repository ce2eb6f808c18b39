"""dm/dp against motions solved anew, its adjoint against itself, the phase of a cycle, and derivatives of the energy."""

from dataclasses import replace

import numpy as np
import pytest

from bunraku.design.curvature import active_rows, lagrangian_gradient
from bunraku.design.sensitivity import sensitivity
from bunraku.design.study import Variant
from bunraku.design.system import settled

STEP = 1e-4


def found_anew(s, parameters):
    """The optimum of a variant, by Newton's steps from the unchanged motion: a stationary point with the same active rows."""
    near = Variant(parameters, s.study.problem(parameters), s.variant.solution)
    found = s.polished(near)
    assert np.abs(lagrangian_gradient(found.problem, found.motion, active_rows(found.problem, found.solution))).max() < 1e-6
    assert found.solution.residual < 1e-9
    return found


def unphased(s, x):
    return s.system.unphased(x)


def parts(problem, x):
    """Coordinates and forces of a packed motion."""
    T, nv, _ = problem.shape
    v = x[: T * nv].reshape(T, nv)
    return v[:, : problem.model.nq], v[:, problem.model.nq :]


@pytest.mark.parametrize("name", ["swizzle", "slalom", "crawl"])
def test_the_motion_follows_the_design_as_its_derivative_says(derived, name):
    s = derived(name)
    assert s.definite
    rng = np.random.default_rng(5)
    for _ in range(20):
        d = rng.standard_normal(len(s.neighbours))
        d /= np.linalg.norm(d)
        ahead, behind = (found_anew(s, s.variant.parameters + sign * STEP * d) for sign in (1.0, -1.0))
        measured = unphased(s, ahead.motion - behind.motion) / (2.0 * STEP)
        for one, two in zip(parts(s.variant.problem, measured), parts(s.variant.problem, s.jacobian @ d), strict=True):
            assert np.linalg.norm(one - two) <= 1e-3 * np.linalg.norm(one)
        slope = (ahead.energy - behind.energy) / (2.0 * STEP)
        assert s.energy_gradient @ d == pytest.approx(slope, abs=1e-4 * np.linalg.norm(s.energy_gradient))


@pytest.mark.parametrize("name", ["slalom", "crawl"])  # a swizzle comes back with another phase
def test_the_planner_itself_finds_the_predicted_motion(derived, name):
    s = derived(name)
    d = np.random.default_rng(6).standard_normal(len(s.neighbours))
    d *= 10.0 * STEP / np.linalg.norm(d)
    solved = s.study.solve(s.variant.parameters + d, near=s.variant)
    found = settled(solved.problem, solved.solution)
    assert found.status.good
    moved, _ = parts(s.variant.problem, unphased(s, found.z - s.variant.motion))
    told, _ = parts(s.variant.problem, s.jacobian @ d)
    assert np.linalg.norm(moved - told) <= 0.06 * np.linalg.norm(moved)


def test_the_adjoint_is_the_transposed_derivative(derived):
    s = derived("crawl")
    rng = np.random.default_rng(7)
    slope, direct = rng.standard_normal(len(s.variant.motion)), rng.standard_normal(len(s.neighbours))
    assert s.gradient(slope, direct) == pytest.approx(direct + s.jacobian.T @ slope, rel=1e-6, abs=1e-6 * np.abs(direct).max())


def test_without_the_multipliers_curvature_the_derivative_is_wrong(derived):
    """Gauss-Newton alone is no substitute: the rows are curved, and their multipliers count."""
    from bunraku.optimization.blocks.blocks import factor

    s = derived("crawl")
    problem = s.variant.problem
    system = s.system
    _, H, B, C, _, _ = problem.assemble(s.variant.motion, system.weight, np.where(s.rows.active, 1.0, -1e9))
    gauss_newton = factor(H, B, np.tril(C) + np.tril(C, -1).T, system.damping, cyclic=problem.cyclic)
    rough = replace(s, system=replace(system, factored=gauss_newton))
    off = np.linalg.norm(rough.jacobian - s.jacobian) / np.linalg.norm(s.jacobian)
    assert off > 0.2


def test_only_a_cycle_without_steps_has_a_free_phase(derived):
    assert derived("crawl").system.phase is None
    assert derived("slalom").system.phase is None  # its targets have times
    s = derived("swizzle")
    v = s.variant.plan.unknowns
    later = np.array([s.variant.plan.sample(k) for k in range(-1, len(v) + 1)])
    rate = later[2:] - later[:-2]
    T, nv, _ = s.variant.problem.shape
    null = s.system.phase[: T * nv].reshape(T, nv)
    joints = slice(6, None)
    cosine = np.sum(rate[:, joints] * null[:, joints]) / np.linalg.norm(rate[:, joints]) / np.linalg.norm(null[:, joints])
    assert abs(cosine) > 0.98


def test_curvature_of_the_energy_where_rows_are_only_wished(tilted):
    study, variant = tilted
    s = sensitivity(study, variant)
    h = 2e-4
    for k in range(2):
        e = np.zeros(2)
        e[k] = h
        ahead, behind = (sensitivity(study, study.solve(variant.parameters + sign * e, near=variant)) for sign in (1.0, -1.0))
        slope = (ahead.variant.energy - behind.variant.energy) / (2.0 * h)
        assert s.energy_gradient[k] == pytest.approx(slope, rel=1e-3)
        bend = (ahead.energy_gradient - behind.energy_gradient) / (2.0 * h)
        assert s.energy_curvature[k] == pytest.approx(bend, abs=0.02 * np.abs(s.energy_curvature).max())


def test_curvature_of_the_energy_where_rows_hold(derived):
    whole = derived("crawl")
    study = replace(whole.study, design=whole.study.design.only("F.knee z", "H.tip x"))
    s = sensitivity(study, replace(whole.variant, parameters=study.design.initial))
    h = 2e-4
    for k in range(2):
        e = np.zeros(2)
        e[k] = h
        ends = [found_anew(s, s.variant.parameters + sign * e).energy for sign in (1.0, -1.0)]
        bend = (sum(ends) - 2.0 * s.variant.energy) / h**2
        assert s.energy_curvature[k, k] == pytest.approx(bend, rel=0.01)
