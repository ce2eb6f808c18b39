"""Tracking under acceleration and jerk limits against closed forms, symmetries and an independent solver."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import BadInput
from bunraku.optimization.smooth_chain.smooth_chain import solve_smooth_chain
from bunraku.optimization.smooth_chain.stop_kernels import brake, fastest, run_out
from bunraku.optimization.solution import Status

Q1, Q2 = 5.0, 0.1


def waves(n, rate, columns, seed, size=1.0):
    """Smooth random references, (n, columns)."""
    rng = np.random.default_rng(seed)
    t = np.arange(n) / rate
    return sum(
        size / i * np.sin(2 * np.pi * i * rng.uniform(0.3, 1.5, columns) * t[:, None] + rng.uniform(0, 6, columns))
        for i in (1, 2, 3)
    )


def worst_excess(x, rate, lower, upper, limits):
    """Largest excess over any limit, in its own unit, as the certificate measures it."""
    over = [float(np.maximum(lower - x[1:], x[1:] - upper).max())]
    for order, limit in enumerate(limits, 1):
        over.append(float((np.abs(np.diff(x, n=order, axis=0)) * rate**order - limit).max()))
    return max(over)


def clarabel_objective(r, rate, start, lower, upper, limits, v0=None, a0=None):
    """The optimum of one column by an independent interior point on the state-space program, in limit-scaled variables."""
    clarabel = pytest.importorskip("clarabel")
    n, h = len(r) - 1, 1.0 / rate
    scale = np.array([1.0, *(limit * h**i if np.isfinite(limit) else h**i for i, limit in enumerate(limits, 1))])
    one, shift, zero = sp.identity(n), sp.diags([np.ones(n - 1)], [-1], shape=(n, n)), sp.csc_matrix((n, n))
    dynamics = sp.bmat([[one - shift, -one, zero, zero], [zero, one - shift, -one, zero], [zero, zero, one - shift, -one]])
    right = np.zeros(3 * n)
    right[0], right[n], right[2 * n] = start, v0 or 0.0, a0 or 0.0
    columns = sp.diags(np.repeat(scale, n))
    rows = sp.diags(np.repeat(1.0 / scale[:3], n))
    eq, right = rows @ dynamics @ columns, rows @ right
    hessian = np.repeat([2 * Q1, 2 * Q2 / h**2, 0.0, 0.0], n) * np.repeat(scale, n) ** 2
    linear = np.concatenate([-2 * Q1 * r[1:], -2 * Q2 / h**2 * np.diff(r), np.zeros(2 * n)]) * np.repeat(scale, n)
    box, bound = [], []
    for q, limit in enumerate((None, *limits)):
        first = 0 if q < 2 else (q - 1 if v0 is None else (0 if q == 2 or a0 is not None else 1))
        if limit is not None and not np.isfinite(limit):
            continue
        pick = sp.identity(4 * n, format="csr")[q * n + first : (q + 1) * n]
        high, low = (np.full(n, upper), np.full(n, lower)) if q == 0 else (np.ones(n), -np.ones(n))
        box += [pick, -pick]
        bound += [high[first:], -low[first:]]
    matrix = sp.vstack([eq, *box]).tocsc()
    vector = np.concatenate([right, *bound])
    cones = [clarabel.ZeroConeT(3 * n), clarabel.NonnegativeConeT(len(vector) - 3 * n)]
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_rel = options.tol_feas = options.tol_gap_abs = 1e-10
    solution = clarabel.DefaultSolver(sp.diags(hessian).tocsc(), linear, matrix, vector, cones, options).solve()
    x = np.concatenate([[start], np.asarray(solution.x)[:n]])
    e = x - r
    return Q1 * (e[1:] ** 2).sum() + Q2 * rate**2 * (np.diff(e) ** 2).sum(), str(solution.status)


@pytest.mark.parametrize("rate", [25.0, 100.0, 500.0])
@pytest.mark.parametrize("jerk", [np.inf, 800.0])
def test_no_limit_is_exceeded_at_any_rate(rate, jerk):
    r = waves(int(3 * rate), rate, 4, seed=1)
    solution = solve_smooth_chain(r, rate=rate, start=0.5 * r[0], lower=-0.9, upper=0.9, velocity=6.0, acceleration=40.0, jerk=jerk)
    assert solution.status is Status.CONVERGED
    assert np.isfinite(solution.values).all()
    assert worst_excess(solution.values, rate, -0.9, 0.9, (6.0, 40.0, jerk)) <= 0.0
    assert solution.infeasibility.max() == 0.0


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    rate=st.sampled_from([25.0, 100.0]),
    n=st.integers(4, 60),
    velocity=st.floats(1.0, 10.0),
    acceleration=st.floats(10.0, 100.0),
    jerk=st.sampled_from([np.inf, 500.0, 3000.0]),
    start=st.sampled_from(["free", "rest", "rest-calm"]),
)
def test_equals_an_independent_solver(seed, rate, n, velocity, acceleration, jerk, start):
    r = waves(n, rate, 1, seed, size=1.3)
    v0, a0 = {"free": (None, None), "rest": (0.0, None), "rest-calm": (0.0, 0.0)}[start]
    limits = (velocity, acceleration, jerk)
    solution = solve_smooth_chain(
        r, rate=rate, start=[0.1], lower=-1.0, upper=1.0, velocity=velocity, acceleration=acceleration, jerk=jerk,
        start_velocity=v0, start_acceleration=a0,
    )  # fmt: skip
    expected, status = clarabel_objective(r[:, 0], rate, 0.1, -1.0, 1.0, limits, v0, a0)
    assert status in ("Solved", "AlmostSolved")
    assert solution.status is Status.CONVERGED
    assert solution.objective[0] == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert worst_excess(solution.values, rate, -1.0, 1.0, limits) <= 1e-9


def test_velocity_limit_alone_gives_the_saturated_step():
    """Unit step between samples 61 and 62, v = 2: five saturated steps, objective 61.7236428."""
    r = np.where(np.arange(126) <= 61, 0.0, 1.0)[:, None]
    solution = solve_smooth_chain(r, rate=25.0, start=[0.0], lower=-np.inf, upper=np.inf, velocity=2.0, acceleration=np.inf)
    assert solution.objective[0] == pytest.approx(61.7236428, rel=1e-7)
    assert solution.values[59:65, 0] == pytest.approx([0.30, 0.38, 0.46, 0.54, 0.62, 0.70], abs=1e-6)


def test_loose_limits_give_the_cosh_decay():
    n, h = 125, 0.04
    theta = np.arccosh(1 + Q1 * h**2 / (2 * Q2))
    k = np.arange(n + 1)
    expected = 0.3 * np.cosh(theta * (n + 0.5 - k)) / np.cosh(theta * (n + 0.5))
    solution = solve_smooth_chain(
        np.zeros((n + 1, 1)),
        rate=25.0,
        start=[0.3],
        lower=-5.0,
        upper=5.0,
        velocity=50.0,
        acceleration=1e3,
        jerk=1e5,
        tolerance=1e-11,
    )
    assert np.abs(solution.values[:, 0] - expected).max() < 1e-8


def test_a_hard_rest_to_rest_step_is_bang_bang_and_symmetric():
    """A step between two long rests: full acceleration up to its middle, full deceleration after it, odd about the middle."""
    rate, a, distance = 50.0, 30.0, 1.2
    r = np.concatenate([np.zeros(80), np.full(80, distance)])[:, None]
    solution = solve_smooth_chain(
        r,
        rate=rate,
        start=[0.0],
        start_velocity=[0.0],
        lower=-np.inf,
        upper=np.inf,
        velocity=np.inf,
        acceleration=a,
        rest_at_end=True,
    )
    x = solution.values[:, 0]
    assert solution.status is Status.CONVERGED
    assert abs(x[-1] - x[-2]) * rate < 1e-6
    assert np.abs(x + x[::-1] - distance).max() < 1e-4, "odd about the middle of the step"
    accelerations = np.diff(x, 2) * rate**2  # entry i belongs to samples i .. i + 2
    assert accelerations[74:78] == pytest.approx(np.full(4, a), rel=1e-5)
    assert accelerations[80:84] == pytest.approx(np.full(4, -a), rel=1e-5)
    assert np.count_nonzero(np.abs(accelerations) > a * (1 - 1e-5)) >= 14


@pytest.mark.parametrize("jerk", [np.inf, 1000.0])
def test_symmetries(jerk):
    rate, r = 60.0, waves(120, 60.0, 3, seed=5)
    options = {"rate": rate, "velocity": 5.0, "acceleration": 40.0, "jerk": jerk, "start_velocity": 0.0, "tolerance": 1e-10}
    plain = solve_smooth_chain(r, start=0.4 * r[0], lower=-0.8, upper=0.9, **options).values
    mirror = solve_smooth_chain(-r, start=-0.4 * r[0], lower=-0.9, upper=0.8, **options).values
    moved = solve_smooth_chain(r + 2.0, start=0.4 * r[0] + 2.0, lower=1.2, upper=2.9, **options).values
    permuted = solve_smooth_chain(r[:, [2, 0, 1]], start=0.4 * r[0, [2, 0, 1]], lower=-0.8, upper=0.9, **options).values
    assert np.abs(mirror + plain).max() < 1e-6
    assert np.abs(moved - 2.0 - plain).max() < 1e-6
    assert np.array_equal(permuted, plain[:, [2, 0, 1]])


def test_a_joint_does_not_depend_on_its_company():
    """Eleven joints of three kinds of limits, more than are solved side by side: each as if it were alone, to the last bit."""
    rate, r = 50.0, waves(90, 50.0, 11, seed=8)
    jerk = np.where(np.arange(11) % 3 == 0, np.inf, 900.0)
    upper = np.where(np.arange(11) % 4 == 0, np.inf, 0.8)
    options = {"rate": rate, "lower": -0.9, "velocity": 5.0, "acceleration": 40.0}
    together = solve_smooth_chain(r, start=0.5 * r[0], upper=upper, jerk=jerk, **options)
    assert together.iterations.min() > 0
    for j in range(11):
        alone = solve_smooth_chain(r[:, j : j + 1], start=0.5 * r[:1, j], upper=upper[j], jerk=jerk[j], **options)
        assert np.array_equal(alone.values[:, 0], together.values[:, j])
        assert alone.iterations[0] == together.iterations[j]


def test_a_legal_reference_comes_back():
    r = 0.3 * waves(200, 100.0, 3, seed=2)
    limits = [float(np.abs(np.diff(r, n=i, axis=0)).max()) * 100.0**i * 1.000001 for i in (1, 2, 3)]
    solution = solve_smooth_chain(
        r, rate=100.0, start=r[0], lower=-2.0, upper=2.0, velocity=limits[0], acceleration=limits[1], jerk=limits[2]
    )
    assert np.array_equal(solution.values, r)
    near = solve_smooth_chain(
        r, rate=100.0, start=r[0] + 1e-9, lower=-2.0, upper=2.0, velocity=limits[0], acceleration=limits[1], jerk=limits[2]
    )
    assert near.iterations.min() > 0
    assert np.abs(near.values - r).max() < 1e-6


def test_bounds_that_move_are_kept():
    n, rate = 150, 50.0
    t = np.arange(n)[:, None] / rate
    upper = 0.5 + 0.3 * np.sin(4 * t)
    r = waves(n, rate, 1, seed=9)
    solution = solve_smooth_chain(r, rate=rate, start=[0.0], lower=-1.0, upper=upper, velocity=6.0, acceleration=60.0, jerk=2000.0)
    assert solution.status is Status.CONVERGED
    assert (solution.values - upper).max() <= 0.0
    assert (solution.values - upper).max() > -1e-4, "the bound is touched"


def test_a_held_joint_stays():
    r = waves(80, 25.0, 1, seed=3)
    solution = solve_smooth_chain(r, rate=25.0, start=[0.2], lower=0.2, upper=0.2, velocity=5.0, acceleration=50.0, jerk=1000.0)
    assert solution.status is Status.CONVERGED
    assert np.abs(solution.values - 0.2).max() < 1e-9


def test_too_fast_to_stop_is_said_and_the_overshoot_is_the_stopping_distance():
    """From x = 0.9, v = 4 rad/s with a = 20 rad/s^2 the way to stop is v^2 / (2 a) - v h / 2; the range ends at 1."""
    rate, v, a = 100.0, 4.0, 20.0
    solution = solve_smooth_chain(
        np.zeros((200, 1)), rate=rate, start=[0.9], start_velocity=[v], lower=-1.0, upper=1.0, velocity=8.0, acceleration=a
    )
    assert solution.status is Status.INFEASIBLE
    needed = 0.9 + v**2 / (2 * a) - v / rate / 2 - 1.0
    assert solution.infeasibility[0] == pytest.approx(needed, abs=2e-3)
    assert solution.infeasibility[0] >= needed - 1e-6
    assert solution.rate_infeasibility[0] == 0.0


@pytest.mark.parametrize("rate", [25.0, 100.0, 500.0])
def test_a_start_that_breaks_the_velocity_limit_is_said(rate):
    solution = solve_smooth_chain(
        np.zeros((int(rate), 1)), rate=rate, start=[0.0], start_velocity=[4.9], start_acceleration=[30.0],
        lower=-5.0, upper=5.0, velocity=5.0, acceleration=40.0, jerk=400.0,
    )  # fmt: skip
    assert solution.status is Status.INFEASIBLE
    assert 0.0 < solution.rate_infeasibility[0] < 0.4
    assert np.isfinite(solution.values).all()
    assert np.abs(np.diff(solution.values[:, 0], 3)).max() * rate**3 <= 400.0 + 1e-6


def test_rest_at_end_lets_the_last_pose_be_held():
    r = waves(100, 50.0, 2, seed=4)
    solution = solve_smooth_chain(
        r, rate=50.0, start=r[0], lower=-1.5, upper=1.5, velocity=6.0, acceleration=50.0, jerk=1500.0, rest_at_end=True
    )
    held = np.concatenate([solution.values, np.repeat(solution.values[-1:], 5, axis=0)])
    assert solution.status is Status.CONVERGED
    assert worst_excess(held, 50.0, -1.5, 1.5, (6.0, 50.0, 1500.0)) <= 1e-9


@settings(max_examples=300, deadline=None)
@given(
    v=st.floats(-1.0, 1.0),
    a=st.floats(-1.0, 1.0),
    most=st.one_of(st.floats(0.01, 1.0), st.just(np.inf)),
    jerk=st.floats(0.003, 1.0),
)
def test_the_hardest_stop_is_legal_and_ends_exactly(v, a, most, jerk):
    a = min(max(a, -most), most)
    for _ in range(5000):
        before, a = a, brake(v, a, most, jerk)
        assert abs(a) <= most
        assert abs(a - before) <= jerk * (1 + 1e-12) + 1e-15
        v += a
        if v == 0.0 and a == 0.0:
            break
    assert v == 0.0
    assert a == 0.0


@settings(max_examples=200, deadline=None)
@given(gap=st.floats(0.0, 100.0), step=st.floats(0.01, 10.0))
def test_fastest_is_the_inverse_of_the_way_to_stop(gap, step):
    speed = fastest(gap, step)
    assert speed + run_out(speed, step) == pytest.approx(gap, rel=1e-9, abs=1e-12)


def test_bad_input_is_refused_in_one_line():
    good = {"rate": 25.0, "start": [0.0], "lower": -1.0, "upper": 1.0, "velocity": 1.0, "acceleration": 1.0}
    for change in (
        {"rate": 0.0},
        {"start": [np.nan]},
        {"lower": 2.0},
        {"velocity": -1.0},
        {"jerk": 0.0},
        {"start_acceleration": [0.0]},
        {"upper": [1.0, 2.0, 3.0]},
        {"jerk": 1e-12},
    ):
        with pytest.raises(BadInput) as caught:
            solve_smooth_chain(np.zeros((5, 1)), **(good | change))
        assert "\n" not in str(caught.value)
    with pytest.raises(BadInput):
        solve_smooth_chain(np.full((5, 1), np.nan), **good)
