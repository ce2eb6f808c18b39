"""Random chains against an interior-point solver (Clarabel) and, where no motion is legal, a linear program (HiGHS)."""

import numpy as np
import scipy.sparse as sp
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from bunraku.optimization.chain.chain import solve_chain


def interior_point(r, start, lower, upper, step, q1, w):
    """Status and objective by Clarabel, in the errors e = x - r."""
    import clarabel

    n = r.size
    fixed = start is not None
    D = sp.csr_matrix(np.diff(np.eye(n), axis=0))
    position = np.full(n, q1)
    position[0] = 0.0 if fixed else q1
    P = 2 * (sp.diags(position) + w * (D.T @ D))
    identity = sp.eye(n, format="csr")
    blocks = [(identity, upper - r), (-identity, r - lower), (D, step[1:] - np.diff(r)), (-D, step[1:] + np.diff(r))]
    if fixed:
        blocks[0], blocks[1] = (identity[1:], (upper - r)[1:]), (-identity[1:], (r - lower)[1:])
    kept = [(A[np.isfinite(b)], b[np.isfinite(b)]) for A, b in blocks]
    cones = []
    if fixed:
        kept.insert(0, (identity[:1], np.array([start - r[0]])))
        cones.append(clarabel.ZeroConeT(1))
    A, b = sp.vstack([A for A, _ in kept]).tocsc(), np.concatenate([b for _, b in kept])
    if b.size > fixed:
        cones.append(clarabel.NonnegativeConeT(b.size - fixed))
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-12
    solution = clarabel.DefaultSolver(sp.triu(P).tocsc(), np.zeros(n), A, b, cones, options).solve()
    return str(solution.status), solution.obj_val


def least_worst_violation(start, lower, upper, step):
    """Smallest t for which bounds widened by t admit a motion within the steps (linear program)."""
    n = lower.size
    D = np.diff(np.eye(n), axis=0)
    ones = np.ones((n, 1))
    A = np.vstack([np.hstack([np.eye(n), -ones]), np.hstack([-np.eye(n), -ones])])
    A = np.vstack([A, np.hstack([D, np.zeros((n - 1, 1))]), np.hstack([-D, np.zeros((n - 1, 1))])])
    b = np.concatenate([upper, -lower, step[1:], step[1:]])
    finite = np.isfinite(b)
    where = [(None, None)] * n + [(0, None)]
    if start is not None:
        where[0] = (start, start)
    return linprog(np.eye(n + 1)[n], A_ub=A[finite], b_ub=b[finite], bounds=where, method="highs").fun


@st.composite
def problems(draw):
    n = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = 10.0 ** draw(st.integers(-2, 2))
    r = rng.normal(size=n)
    if draw(st.booleans()):
        r = np.cumsum(r)
    bounds = draw(st.sampled_from(["none", "constant", "varying", "touching"]))
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    if bounds == "constant":
        lower, upper = np.full(n, -rng.uniform(0, 1.5)), np.full(n, rng.uniform(0, 1.5))
    elif bounds != "none":
        lower, upper = rng.normal() - rng.exponential(size=n), rng.normal() + rng.exponential(size=n)
        if bounds == "touching":
            same = rng.random(n) < 0.3
            upper[same] = lower[same]
    step = rng.exponential(size=n) * draw(st.sampled_from([0.1, 0.5, 2.0]))
    step[rng.random(n) < draw(st.sampled_from([0.0, 0.3]))] = np.inf
    step[rng.random(n) < draw(st.sampled_from([0.0, 0.2]))] = 0.0
    if draw(st.booleans()):  # a coarse grid makes ties and degenerate corners
        r, lower, upper, step = (np.round(v * 4) / 4 for v in (r, lower, upper, step))
    q1 = 10.0 ** draw(st.integers(-3, 3))
    w = draw(st.sampled_from([0.0, 1e-3, 0.1, 1.0, 62.5, 1e3])) * q1
    start = draw(st.sampled_from([None, 0.0, 0.4])) if bounds == "none" else draw(st.sampled_from([None, "inside"]))
    if start == "inside":
        start = float(np.clip(r[0] + 0.3 * rng.normal(), lower[0], upper[0])) if lower[0] <= upper[0] else float(lower[0])
    return r * scale, None if start is None else start * scale, lower * scale, upper * scale, step * scale, q1, w, scale


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(problems())
def test_never_worse_than_an_interior_point_solver_and_always_legal(problem):
    r, start, lower, upper, step, q1, w, scale = problem
    solution = solve_chain(
        r[:, None],
        start=None if start is None else [start],
        lower=lower[:, None],
        upper=upper[:, None],
        step=step[:, None],
        position_weight=q1,
        difference_weight=w,
    )
    x = solution.values[:, 0]
    assert np.isfinite(x).all()
    if start is not None:
        assert x[0] == start
    over_step = np.max(np.abs(np.diff(x)) - step[1:], initial=-np.inf)
    over_bound = max((lower - x).max(), (x - upper).max())
    assert over_step <= 1e-12 * max(1, scale)
    event(f"feasible: {solution.feasible[0]}")
    if not solution.feasible[0]:
        least = least_worst_violation(start, lower, upper, step)
        assert least > 1e-13 * scale
        assert abs(over_bound - least) <= 1e-9 * scale
        return
    assert over_bound <= 1e-12 * max(1, scale)
    status, best = interior_point(
        r / scale, None if start is None else start / scale, lower / scale, upper / scale, step / scale, q1, w
    )
    assume(status == "Solved")
    best *= scale**2
    assert solution.objective[0] <= best + 1e-9 * max(best, 1e-3 * q1 * scale**2)
    assert solution.objective[0] >= best - 1e-7 * max(best, 1e-3 * q1 * scale**2)
