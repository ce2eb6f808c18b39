"""A table of small constrained problems against closed forms and scipy's SLSQP; infeasible, redundant, warm and cancelled ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from bunraku.errors import BadInput
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian, Warm
from bunraku.optimization.monitor import Monitor
from bunraku.optimization.solution import Status

PRECISE = AugmentedLagrangian(tolerance=1e-9, stationarity=1e-12, max_iterations=3000)


def hanging(make, T, *, length=1.4, obstacle=True, redundant=False):
    """A chain of T points in the plane, its ends fastened 2 apart, pulled down, over a disc: an open problem."""
    link = length * 2.0 / (T - 1)

    def objective(z):
        p = z.reshape(T, 2)
        return 0.3 * np.concatenate([p[:, 1] + 3.0, 0.5 * p[:, 0]])

    def equations(z):
        p = z.reshape(T, 2)
        d = p[1:] - p[:-1]
        lengths = (d * d).sum(axis=1) / link**2 - 1.0
        rows = [p[0], p[-1] - np.array([2.0, 0.0]), lengths]
        return np.concatenate([*rows, 2.0 * p[0], lengths, 0.5 * (lengths[1:] - lengths[:-1])] if redundant else rows)

    def inequalities(z):
        d = z.reshape(T, 2) - np.array([1.0, -0.9])
        return 0.3**2 - (d * d).sum(axis=1)

    t = np.linspace(0.0, 1.0, T)
    start = np.stack([2.0 * t, -0.1 * np.sin(np.pi * t)], axis=1).ravel()
    return make((T, 2, 0), False, objective, equations, inequalities if obstacle else None, (3.0, 1.0)), start


def wave(make, T):
    """A periodic chain p_T = p_0 + D of given length between two walls, following a sine: a cyclic problem with a border."""
    link = 1.3 / T

    def split(z):
        p, D = z[:-2].reshape(T, 2), z[-2:]
        return p, np.concatenate([p[1:], p[:1] + D]), np.concatenate([p[-1:] - D, p[:-1]]), D

    def objective(z):
        p, after, before, D = split(z)
        wish = 0.5 * np.sin(2 * np.pi * np.arange(T) / T)
        return np.concatenate([0.5 * (p[:, 1] - wish), 0.3 * T * (after - 2 * p + before)[:, 0], 0.1 * D[1:]])

    def equations(z):
        p, after, _, D = split(z)
        return np.concatenate([((after - p) ** 2).sum(axis=1) / link**2 - 1.0, [D[0] - 1.0, p[0, 0]]])

    def inequalities(z):
        p = split(z)[0]
        return np.concatenate([p[:, 1] - 0.15, -0.2 - p[:, 1]])

    t = np.arange(T) / T
    start = np.concatenate([np.stack([t, 0.05 * np.sin(2 * np.pi * t + 1.0)], axis=1).ravel(), [1.0, 0.0]])
    return make((T, 2, 2), True, objective, equations, inequalities, (3.0, 10.0)), start


def valley(make, T):
    """Rosenbrock's valley as a chain, its first two unknowns on a circle, one below a wall."""
    return (
        make(
            (T, 1, 0),
            False,
            lambda z: np.concatenate([10.0 * (z[1:] - z[:-1] ** 2), 1.0 - z[:-1]]),
            lambda z: np.array([z[0] ** 2 + z[1] ** 2 - 1.0]),
            lambda z: np.array([z[3] - 0.2, 0.1 * z[5] - 1.0]),
        ),
        np.full(T, 0.5),
    )


TABLE = {
    "hanging chain": lambda make: hanging(make, 9, obstacle=False),
    "chain over a disc": lambda make: hanging(make, 12),
    "redundant equations": lambda make: hanging(make, 9, redundant=True),
    "cyclic wave": lambda make: wave(make, 8),
    "longer wave": lambda make: wave(make, 14),
    "valley": lambda make: valley(make, 10),
}


def kkt(problem, z, shifts, weight, jacobian):
    """Largest entry of the Lagrangian's gradient, relative to the objective's largest; multipliers 2 w c^2 s."""
    f, J = jacobian(problem.f, z), jacobian(problem.rows, z)
    gradient = 2.0 * f.T @ problem.f(z)
    return np.abs(gradient + J.T @ (2.0 * weight * problem.scale**2 * shifts)).max() / np.abs(gradient).max()


def stationary(problem, found, share, jacobian):
    """What a promise below ``share`` of the energy E means for `kkt`: g . H^-1 g / 2 <= share E, so |g|^2 <= 2 share E |H|."""
    F, J = jacobian(problem.f, found.z), jacobian(problem.rows, found.z)
    active = np.arange(len(J)) < problem.equal
    active[problem.equal :] = found.shifts[problem.equal :] > 0.0
    C = (problem.scale[:, None] * J)[active]
    H = 2.0 * F.T @ F + 2.0 * found.weight * C.T @ C
    return np.sqrt(2.0 * share * found.energy * np.linalg.norm(H, 2)) / np.abs(2.0 * F.T @ problem.f(found.z)).max()


@pytest.mark.parametrize("name", TABLE)
def test_the_table_is_solved_as_by_an_independent_program(name, shifted_least_squares, exact_jacobian):
    """Rows hold, the Lagrangian is stationary, and SLSQP started there finds nothing better (it has other steps altogether)."""
    problem, start = TABLE[name](shifted_least_squares)
    found = PRECISE.solve(problem, start)
    assert found.status is Status.CONVERGED
    assert found.residual <= 1e-9
    assert np.abs(problem.r(found.z)).max(initial=0.0) <= 1e-9
    assert problem.g(found.z).max(initial=0.0) <= 1e-9
    bound = stationary(problem, found, PRECISE.stationarity, exact_jacobian)  # rows are 1e6 times stiffer than the objective
    assert kkt(problem, found.z, found.shifts, found.weight, exact_jacobian) < bound < 0.05
    assert (found.shifts[problem.equal :] >= 0.0).all()
    f = problem.f(found.z)
    assert found.objective == pytest.approx(f @ f, rel=1e-12)
    rows = [{"type": "eq", "fun": problem.r, "jac": lambda z: exact_jacobian(problem.r, z)}]
    if problem.unequal:
        rows += [{"type": "ineq", "fun": lambda z: -problem.g(z), "jac": lambda z: -exact_jacobian(problem.g, z)}]
    if name == "redundant equations":  # SLSQP needs independent rows
        rows[0] = {"type": "eq", "fun": lambda z: problem.r(z)[:12], "jac": lambda z: exact_jacobian(problem.r, z)[:12]}
    rng = np.random.default_rng(0)
    peer = minimize(
        lambda z: float(problem.f(z) @ problem.f(z)),
        found.z + 1e-3 * rng.normal(size=len(found.z)),
        jac=lambda z: 2.0 * exact_jacobian(problem.f, z).T @ problem.f(z),
        constraints=rows,
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-14},
    )
    assert np.abs(peer.x - found.z).max() < 1e-2
    assert found.objective == pytest.approx(peer.fun, rel=1e-6)


@pytest.mark.parametrize("name", TABLE)
def test_the_default_tolerances_give_the_same_optimum(name, shifted_least_squares):
    problem, start = TABLE[name](shifted_least_squares)
    rough, precise = AugmentedLagrangian().solve(problem, start), PRECISE.solve(problem, start)
    assert rough.status is Status.CONVERGED
    assert rough.residual <= 1e-6
    assert rough.stationarity <= 1e-6
    assert rough.objective == pytest.approx(precise.objective, rel=1e-4)
    assert rough.iterations <= precise.iterations


@pytest.mark.parametrize("cyclic", [True, False])
def test_linear_rows_have_a_closed_form(cyclic, shifted_least_squares):
    """The least |z - a|^2 with A z = b: z = a - A^T (A A^T)^-1 (A a - b), multipliers 2 (A A^T)^-1 (A a - b)."""
    rng = np.random.default_rng(3)
    T, nv, nd = 6, 2, 1
    a, A = rng.normal(size=T * nv + nd), np.zeros((4, T * nv + nd))
    for row, i in enumerate((0, 1, 3, 5 if cyclic else 4)):
        A[row, [(i * nv + k) % (T * nv) for k in range(2 * nv)]] = rng.normal(size=2 * nv)
        A[row, -1] = rng.normal()
    b = rng.normal(size=4)
    problem = shifted_least_squares((T, nv, nd), cyclic, lambda z: z - a, lambda z: A @ z - b)
    found = AugmentedLagrangian(tolerance=1e-11, stationarity=1e-16).solve(problem, np.zeros(len(a)))
    lift = np.linalg.solve(A @ A.T, A @ a - b)
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.z, a - A.T @ lift, atol=1e-9)
    np.testing.assert_allclose(2.0 * found.weight * found.shifts, 2.0 * lift, rtol=1e-6)


def test_walls_push_only_inwards(shifted_least_squares):
    """The least |z - a|^2 with z <= 1: z = min(a, 1), the multiplier of a wall that is touched is 2 (a - 1)."""
    a = np.array([3.0, 0.5, 1.0, -2.0, 1.7, 0.9])
    problem = shifted_least_squares((6, 1, 0), False, lambda z: z - a, None, lambda z: z - 1.0)
    found = AugmentedLagrangian(tolerance=1e-10).solve(problem, np.full(6, 5.0))
    np.testing.assert_allclose(found.z, np.minimum(a, 1.0), atol=1e-8)
    np.testing.assert_allclose(2.0 * found.weight * found.shifts, np.maximum(0.0, 2.0 * (a - 1.0)), atol=1e-5)


@pytest.mark.parametrize("length", [0.6, 0.9])
def test_too_short_a_chain_is_called_infeasible(length, shifted_least_squares):
    problem, start = hanging(shifted_least_squares, 7, length=length, obstacle=False)
    found = AugmentedLagrangian().solve(problem, start)
    assert found.status is Status.INFEASIBLE
    assert found.residual > 0.01
    assert found.stationarity < 1e-3


def test_contradicting_walls_are_infeasible_and_split_the_difference(shifted_least_squares):
    """With z >= 1 and z <= 0: the least violating point lies half way."""
    problem = shifted_least_squares((5, 1, 0), True, lambda z: 0.1 * z, None, lambda z: np.concatenate([z, 1.0 - z]))
    found = AugmentedLagrangian().solve(problem, np.zeros(5))
    assert found.status is Status.INFEASIBLE
    np.testing.assert_allclose(found.z, 0.5, atol=1e-3)


def test_too_few_iterations_are_told(shifted_least_squares):
    problem, start = wave(shifted_least_squares, 8)
    found = AugmentedLagrangian(max_iterations=3).solve(problem, start)
    assert found.status is Status.MAX_ITERATIONS
    assert found.iterations == 3
    assert found.residual == pytest.approx(problem.update(found.z, np.zeros_like(found.shifts))[1], rel=1.0)


def test_a_warm_start_resumes(shifted_least_squares):
    """Shifts, weight and damping of a solution make the same problem cheap and a changed one cheaper than from nothing."""
    problem, start = wave(shifted_least_squares, 8)
    solver = AugmentedLagrangian()
    cold = solver.solve(problem, start)
    again = solver.solve(problem, cold.z, warm=cold.warm)
    assert again.status is Status.CONVERGED
    assert again.iterations <= 4 < cold.iterations
    np.testing.assert_allclose(again.z, cold.z, atol=1e-3)


def test_a_drag_is_followed_in_a_few_steps(shifted_least_squares):
    """The quick answer after a small edit meets its looser tolerance, within its bounds, and lies near the full answer."""
    a = np.array([0.4, -0.3])

    def problem_at(x):
        target = np.array([x, 0.2])

        def objective(z):
            p = z.reshape(6, 2)
            return np.concatenate([0.1 * (p[1:] - p[:-1]).ravel(), p[-1] - target, 0.01 * z])

        def equations(z):
            p = z.reshape(6, 2)
            return np.concatenate([p[0] - a, ((p[1:] - p[:-1]) ** 2).sum(axis=1) - 0.04])

        return shifted_least_squares((6, 2, 0), False, objective, equations)

    solver = AugmentedLagrangian()
    start = np.stack([0.4 + 0.1 * np.arange(6), -0.3 + 0.1 * np.arange(6) ** 1.1], axis=1).ravel()
    found = solver.solve(problem_at(1.0), start)
    for x in (1.02, 1.04, 1.06):
        found = solver.resolve(problem_at(x), found.z, found.warm)
        assert found.status is Status.CONVERGED
        assert found.residual <= 1e-4
        assert found.iterations <= 9
        assert found.factorizations <= 12
    full = AugmentedLagrangian().solve(problem_at(1.06), start)
    np.testing.assert_allclose(found.z, full.z, atol=0.02)


class Impatient(Monitor):
    """Cancels at the third report."""

    def __init__(self):
        self.events = []

    def report(self, event):
        self.events.append(event)

    @property
    def cancelled(self):
        return len(self.events) >= 3


def test_cancelling_keeps_the_best(shifted_least_squares):
    problem, start = wave(shifted_least_squares, 8)
    monitor = Impatient()
    found = AugmentedLagrangian().solve(problem, start, monitor=monitor)
    assert found.status is Status.CANCELLED
    assert len(found.history) == 3
    assert found.residual == min(one.residual for one in found.history)
    assert monitor.events[-1].figures["residual"] == found.history[-1].residual


def test_wrong_starts_are_refused(shifted_least_squares):
    problem, start = wave(shifted_least_squares, 8)
    with pytest.raises(BadInput, match="finite numbers"):
        AugmentedLagrangian().solve(problem, start[:-1])
    with pytest.raises(BadInput, match="finite numbers"):
        AugmentedLagrangian().solve(problem, start * np.nan)
    with pytest.raises(BadInput, match="not finite"):
        AugmentedLagrangian().solve(problem, start, warm=Warm(problem.zero_shifts() + np.inf, 10.0, 1e-3))
    with pytest.raises(BadInput, match="growth"):
        AugmentedLagrangian(growth=1.0)
