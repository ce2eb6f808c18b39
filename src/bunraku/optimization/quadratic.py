"""Quadratic programs: a value that states the problem, and one function that solves it with whatever suits.

Minimise x.P x / 2 + q.x subject to lower <= A x <= upper and x_lower <= x <= x_upper, P positive semidefinite. At the optimum
P x + q + A^T y + z = 0, where the multipliers y of the rows and z of the bounds are positive at the upper limit, negative at
the lower, zero between. A solution recomputes its residuals from the problem; nothing is copied from the solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse

from bunraku.arrays import Array
from bunraku.errors import BadInput, MissingExtra
from bunraku.optimization.solution import Status

SMALL = 300


@dataclass(frozen=True)
class QuadraticProgram:
    """The problem: ``P`` (n, n) symmetric, ``q`` (n,), ``A`` (m, n), ``lower`` and ``upper`` (m,), ``x_lower``, ``x_upper`` (n,).

    Matrices dense or sparse; limits may be infinite, numbers stand for whole vectors, what is not given does not limit.
    """

    P: Any
    q: Any
    A: Any = None
    lower: Any = -np.inf
    upper: Any = np.inf
    x_lower: Any = -np.inf
    x_upper: Any = np.inf

    def __post_init__(self) -> None:
        q = np.array(self.q, dtype=np.float64)
        n = q.size
        A = np.zeros((0, n)) if self.A is None else _matrix(self.A)
        P = _matrix(self.P)
        if q.ndim != 1 or n == 0 or P.shape != (n, n) or A.ndim != 2 or A.shape[1] != n:
            raise BadInput(f"P {P.shape}, q {q.shape} and A {A.shape} do not fit; (n, n), (n,) and (m, n) are needed")
        fields: dict[str, Any] = {"P": P, "q": q, "A": A}
        for name, size in (("lower", A.shape[0]), ("upper", A.shape[0]), ("x_lower", n), ("x_upper", n)):
            given = np.asarray(getattr(self, name), dtype=np.float64)
            try:
                fields[name] = np.array(np.broadcast_to(given, (size,)))
            except ValueError as error:
                raise BadInput(f"{name} has shape {given.shape}; {size} numbers are needed") from error
            bad = np.isnan(fields[name]) | (fields[name] == (np.inf if "lower" in name else -np.inf))
            if bad.any():
                raise BadInput(f"{name} holds {fields[name][bad][0]} at {int(np.argmax(bad))}, which no point can satisfy")
        for name in ("P", "q", "A"):
            if not np.isfinite(_numbers(fields[name])).all():
                raise BadInput(f"{name} holds numbers that are not finite")
        if abs(P - P.T).max() > 1e-9 * max(1.0, abs(P).max()):
            raise BadInput("P is not symmetric; pass (P + P.T) / 2, which is the same function")
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    def objective(self, x: Array) -> float:
        """The value x.P x / 2 + q.x."""
        return float(0.5 * x @ (self.P @ x) + self.q @ x)


@dataclass(frozen=True)
class QuadraticSolution:
    """A point, its multipliers (``row_multipliers`` y, ``bound_multipliers`` z) and how the solver says it ended."""

    problem: QuadraticProgram
    x: Array
    row_multipliers: Array
    bound_multipliers: Array
    status: Status
    solver: str

    @property
    def multipliers(self) -> Array:
        """All multipliers, of the rows and then of the bounds."""
        return np.concatenate([self.row_multipliers, self.bound_multipliers])

    @property
    def objective(self) -> float:
        """The value of the objective at ``x``."""
        return self.problem.objective(self.x)

    @cached_property
    def primal_residual(self) -> float:
        """The largest violation of any row or bound, in its own unit."""
        p = self.problem
        Ax = np.asarray(p.A @ self.x)
        over = [p.lower - Ax, Ax - p.upper, p.x_lower - self.x, self.x - p.x_upper]
        return max(float(part.max(initial=0.0)) for part in over)

    @cached_property
    def dual_residual(self) -> float:
        """Largest component of P x + q + A^T y + z, and of any multiplier that pushes against a limit that is not there."""
        p = self.problem
        gradient = p.P @ self.x + p.q + p.A.T @ self.row_multipliers + self.bound_multipliers
        upper, lower = np.concatenate([p.upper, p.x_upper]), np.concatenate([p.lower, p.x_lower])
        push = np.where(self.multipliers > 0.0, np.isinf(upper), np.isinf(lower)) * np.abs(self.multipliers)
        return max(float(np.abs(gradient).max()), float(push.max(initial=0.0)))

    @cached_property
    def gap(self) -> float:
        """|x.P x + q.x + sum over multipliers times their limits|: primal minus dual objective, zero at the optimum."""
        p = self.problem
        limit = np.where(self.multipliers > 0.0, np.concatenate([p.upper, p.x_upper]), np.concatenate([p.lower, p.x_lower]))
        limit = np.where(np.isfinite(limit), limit, 0.0)
        return float(abs(self.x @ (p.P @ self.x) + p.q @ self.x + self.multipliers @ limit))

    def is_optimal(self, tolerance: float = 1e-7) -> bool:
        """Whether the residuals, recomputed, are within ``tolerance``, relative to the size of the data at ``x``."""
        p = self.problem
        reach = 1.0 + float(np.abs(self.x).max()) + float(np.abs(p.A @ self.x).max(initial=0.0))
        force = 1.0 + float(np.abs(p.q).max()) + float(np.abs(p.P @ self.x).max())
        return (
            self.primal_residual <= tolerance * reach
            and self.dual_residual <= tolerance * force
            and self.gap <= tolerance * (1.0 + abs(self.objective) + abs(float(p.q @ self.x)))
        )


def solve_quadratic(problem: QuadraticProgram, *, solver: str = "auto") -> QuadraticSolution:
    """Solve a convex quadratic program.

    ``solver``: "daqp" (dual active set; dense, small, exact), "piqp" (interior point; sparse or large), or "auto": daqp up to
    300 variables and rows, else piqp when it is installed; if the first one's answer does not check, the other is tried.
    Status INFEASIBLE is confirmed by a linear program, and ``x`` is then the point that violates the limits least.
    """
    if solver not in ("auto", *_SOLVERS):
        raise BadInput(f"there is no QP solver {solver!r}; choose auto, {', '.join(_SOLVERS)}")
    if solver != "auto":
        order = [solver]
    else:
        order = ["daqp", "piqp"] if max(problem.A.shape) <= SMALL else ["piqp", "daqp"]
        order = order if find_spec("piqp") else ["daqp"]
    _check_convex(problem)
    solution = _confirmed(_SOLVERS[order[0]](problem))
    for name in order[1:]:
        if solution.status in (Status.CONVERGED, Status.INFEASIBLE):
            break
        second = _SOLVERS[name](problem)
        solution = second if second.status is Status.CONVERGED else solution
    return solution


def _solve_daqp(problem: QuadraticProgram) -> QuadraticSolution:
    """Rows scaled to unit length; a tolerance so tight that rounding looks like a contradiction is loosened, then polished away."""
    import daqp

    n = problem.q.size
    P, A = _dense(problem.P), _dense(problem.A)
    length = np.linalg.norm(A, axis=1)
    scale = 1.0 / np.where(length > 0.0, length, 1.0)
    A = A * scale[:, None]
    lower = np.concatenate([problem.x_lower, problem.lower * scale])
    upper = np.concatenate([problem.x_upper, problem.upper * scale])
    if (lower > upper).any():
        return _failed(problem, Status.INFEASIBLE, "daqp")
    sense = np.where(lower == upper, 5, 0).astype(np.int32)
    lo, hi = np.clip(lower, -1e30, 1e30), np.clip(upper, -1e30, 1e30)
    solution = _failed(problem, Status.STALLED, "daqp")
    for tolerance in (1e-10, 1e-8, 1e-6):
        x, _, flag, info = daqp.solve(
            P.copy(), problem.q.copy(), A.copy(), hi.copy(), lo.copy(), sense.copy(), primal_tol=tolerance, iter_limit=20_000
        )
        status = {1: Status.CONVERGED, -1: Status.INFEASIBLE, -4: Status.MAX_ITERATIONS}.get(int(flag), Status.STALLED)
        x, multipliers = np.array(x, dtype=np.float64), np.array(info["lam"], dtype=np.float64)
        finite = np.isfinite(x).all() and np.isfinite(multipliers).all()
        if status in (Status.INFEASIBLE, Status.STALLED) or not finite:
            solution = _failed(problem, status if finite else Status.STALLED, "daqp")
            continue
        answer = QuadraticSolution(problem, x, scale * multipliers[n:], multipliers[:n], status, "daqp")
        solution = _judged(_polished(answer))
        if solution.status is Status.CONVERGED:
            break
    return solution


def _solve_piqp(problem: QuadraticProgram) -> QuadraticSolution:
    try:
        import piqp
    except ImportError as error:
        raise MissingExtra("piqp", "bench", "the interior-point QP solver") from error
    n, m = problem.q.size, problem.A.shape[0]
    lower, upper = np.asarray(problem.lower), np.asarray(problem.upper)
    if (lower > upper).any() or (np.asarray(problem.x_lower) > problem.x_upper).any():
        return _failed(problem, Status.INFEASIBLE, "piqp")
    equal = lower == upper
    A = sparse.csr_array(problem.A)
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-10
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = 1e-10
    solver.setup(
        sparse.csc_matrix(problem.P),
        problem.q,
        sparse.csc_matrix(A[equal]),
        lower[equal],
        sparse.csc_matrix(A[~equal]),
        np.clip(lower[~equal], -1e30, 1e30),
        np.clip(upper[~equal], -1e30, 1e30),
        np.clip(problem.x_lower, -1e30, 1e30),
        np.clip(problem.x_upper, -1e30, 1e30),
    )
    code = solver.solve()
    if code == piqp.PIQP_PRIMAL_INFEASIBLE:
        return _failed(problem, Status.INFEASIBLE, "piqp")
    if code not in (piqp.PIQP_SOLVED, piqp.PIQP_MAX_ITER_REACHED):
        return _failed(problem, Status.STALLED, "piqp")
    result = solver.result
    y = np.zeros(m)
    y[equal], y[~equal] = result.y, np.asarray(result.z_u) - np.asarray(result.z_l)
    z = np.zeros(n) + np.asarray(result.z_bu) - np.asarray(result.z_bl)
    status = Status.CONVERGED if code == piqp.PIQP_SOLVED else Status.MAX_ITERATIONS
    return _judged(QuadraticSolution(problem, np.array(result.x), y, z, status, "piqp"))


_SOLVERS: dict[str, Callable[[QuadraticProgram], QuadraticSolution]] = {"daqp": _solve_daqp, "piqp": _solve_piqp}


def _polished(solution: QuadraticSolution) -> QuadraticSolution:
    """One correction of x and the active multipliers by the optimality system of the active set; kept if residuals fall."""
    p, n = solution.problem, solution.x.size
    lam = solution.multipliers
    active = np.flatnonzero(lam)
    G = np.vstack([_dense(p.A), np.eye(n)])[active]
    limit = np.where(lam > 0.0, np.concatenate([p.upper, p.x_upper]), np.concatenate([p.lower, p.x_lower]))[active]
    system = np.block([[_dense(p.P), G.T], [G, np.zeros((len(active), len(active)))]])
    residual = -np.concatenate([p.P @ solution.x + p.q + G.T @ lam[active], G @ solution.x - limit])
    if not np.isfinite(residual).all():
        return solution
    step = np.linalg.lstsq(system, residual, rcond=1e-13)[0]
    better = lam.copy()
    better[active] += step[n:]
    if (better[active] * lam[active] < 0.0).any():
        return solution
    m = len(solution.row_multipliers)
    corrected = replace(solution, x=solution.x + step[:n], row_multipliers=better[:m], bound_multipliers=better[m:])
    return corrected if _worst(corrected) < _worst(solution) else solution


def _worst(solution: QuadraticSolution) -> float:
    return max(solution.primal_residual, solution.dual_residual, solution.gap)


def _judged(solution: QuadraticSolution) -> QuadraticSolution:
    """The same solution, its status by its residuals rather than by the solver's word."""
    if solution.is_optimal():
        return replace(solution, status=Status.CONVERGED)
    return replace(solution, status=Status.STALLED) if solution.status.good else solution


def _failed(problem: QuadraticProgram, status: Status, solver: str) -> QuadraticSolution:
    """No answer: a point inside the bounds, no multipliers."""
    x = np.clip(np.zeros(problem.q.size), problem.x_lower, np.maximum(problem.x_lower, problem.x_upper))
    return QuadraticSolution(problem, x, np.zeros(problem.A.shape[0]), np.zeros(problem.q.size), status, solver)


def _confirmed(claim: QuadraticSolution) -> QuadraticSolution:
    """An unsolved problem looked at again: INFEASIBLE with the point whose largest violation is least, if that is not zero."""
    if claim.status.good:
        return claim
    from scipy.optimize import linprog

    p, n = claim.problem, claim.x.size
    rows = sparse.vstack([sparse.csr_array(p.A), sparse.eye_array(n, format="csr")])
    lower, upper = np.concatenate([p.lower, p.x_lower]), np.concatenate([p.upper, p.x_upper])
    below, above = np.isfinite(lower), np.isfinite(upper)
    turned: Any = sparse.vstack([rows[above], -rows[below]])
    G = sparse.hstack([turned, sparse.csr_array(-np.ones((turned.shape[0], 1)))], format="csr")
    cost = np.append(np.zeros(n), 1.0)
    free = [(None, None)] * n + [(0.0, None)]
    least = linprog(cost, A_ub=G, b_ub=np.concatenate([upper[above], -lower[below]]), bounds=free, method="highs")
    if least.x is None:
        return claim
    if float(least.x[n]) <= 1e-9 * (1.0 + float(np.abs(least.x[:n]).max())):
        return replace(claim, status=Status.STALLED) if claim.status is Status.INFEASIBLE else claim
    return QuadraticSolution(p, np.array(least.x[:n]), np.zeros(p.A.shape[0]), np.zeros(n), Status.INFEASIBLE, claim.solver)


def _check_convex(problem: QuadraticProgram) -> None:
    """Refuse a P with a negative eigenvalue (up to 2000 variables, by Cholesky): its stationary points need not be minima."""
    if problem.q.size > 2000:
        return
    P = _dense(problem.P)
    try:
        np.linalg.cholesky(P + 1e-9 * max(float(np.abs(P).max()), 1e-300) * np.eye(len(P)))
    except np.linalg.LinAlgError as error:
        raise BadInput(
            "P is not positive semidefinite: the problem is not convex, or P lost its definiteness to rounding"
        ) from error


def _is_sparse(matrix: Any) -> bool:
    return bool(sparse.issparse(matrix))


def _matrix(given: Any) -> Any:
    return sparse.csc_array(given, dtype=np.float64) if _is_sparse(given) else np.array(given, dtype=np.float64)


def _dense(matrix: Any) -> Array:
    return np.ascontiguousarray(matrix.toarray() if _is_sparse(matrix) else matrix, dtype=np.float64)


def _numbers(matrix: Any) -> Array:
    return np.asarray(matrix.data if _is_sparse(matrix) else matrix, dtype=np.float64)
