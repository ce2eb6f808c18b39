"""The chain solver against closed forms, exact symmetries, edge cases and golden optima."""

import csv

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.optimization.chain.chain import solve_chain
from bunraku.optimization.chain.chain_kernels import FEASIBLE, POOL_TOO_SMALL, track, track_columns, work_arrays

H = 0.04
WEIGHT = 0.1 / H**2


def one(reference, start, *, lower=-np.inf, upper=np.inf, step=np.inf, position_weight=5.0, difference_weight=WEIGHT):
    """Solve a single column; lower, upper, step are numbers or (n,)."""

    def column(value):
        return np.asarray(value, dtype=float)[..., None]

    return solve_chain(
        column(reference),
        start=None if start is None else [start],
        lower=column(lower),
        upper=column(upper),
        step=column(step),
        position_weight=position_weight,
        difference_weight=difference_weight,
    )


def random_problem(seed, n=60, k=5):
    rng = np.random.default_rng(seed)
    reference = np.cumsum(rng.normal(size=(n, k)), axis=0) * 0.3
    lower, upper = -rng.uniform(0.5, 2, (n, k)), rng.uniform(0.5, 2, (n, k))
    step = rng.uniform(0.05, 0.4, (n, k))
    low, high = np.maximum.accumulate(lower.max(0, keepdims=True)), upper.min(0, keepdims=True)
    return reference, np.clip(reference[0], low[0], high[0]), lower, upper, step


@pytest.mark.parametrize("position_weight", [5.0, 0.3])
def test_decay_to_the_reference_is_a_hyperbolic_cosine(position_weight):
    count, start = 125, 0.3
    theta = np.arccosh(1 + position_weight * H**2 / (2 * 0.1))
    k = np.arange(count + 1)
    exact = start * np.cosh(theta * (count + 0.5 - k)) / np.cosh(theta * (count + 0.5))
    if position_weight == 5.0:
        assert theta == pytest.approx(0.2819082890541469, rel=1e-14)
    solution = one(np.zeros(count + 1), start, position_weight=position_weight)
    np.testing.assert_allclose(solution.values[:, 0], exact, rtol=0, atol=1e-12)
    # the optimum from x0 costs w e0 (e0 - e1): the value of the Riccati recursion
    assert solution.objective[0] == pytest.approx(WEIGHT * exact[0] * (exact[0] - exact[1]), rel=1e-11)


def test_unit_step_is_crossed_symmetrically_at_full_speed():
    reference = np.where(np.arange(126) >= 62, 1.0, 0.0)
    solution = one(reference, 0.0, step=2 * H)
    x = solution.values[:, 0]
    np.testing.assert_allclose(x[59:65], [0.30, 0.38, 0.46, 0.54, 0.62, 0.70], atol=5e-11)
    assert solution.objective[0] == pytest.approx(61.7236428, abs=5e-8)
    assert np.sum(np.diff(x) > 2 * H * (1 - 1e-9)) == 5


def test_fast_sine_loses_amplitude_at_the_speed_limit_without_lag():
    velocity = 8.26797
    t = np.arange(251) * H
    reference = np.sin(2 * np.pi * 2 * t)
    x = one(reference, 0.0, step=velocity * H).values[:, 0]
    middle = slice(75, 175)
    assert np.abs(x[middle]).max() == pytest.approx(0.8275, abs=5e-5)
    assert np.abs(np.diff(x[middle])).max() / H == pytest.approx(velocity, rel=1e-12)
    phase = np.angle(np.exp(-4j * np.pi * t[middle]) @ x[middle]) - np.angle(np.exp(-4j * np.pi * t[middle]) @ reference[middle])
    assert abs(phase) < 1e-6


def test_optimality_conditions_hold_inside_the_limits():
    """Where neither limit acts on a sample or its neighbours, the gradient of the objective vanishes there."""
    reference, start, lower, upper, step = random_problem(3)
    solution = solve_chain(
        reference, start=start, lower=lower, upper=upper, step=step, position_weight=5.0, difference_weight=WEIGHT
    )
    e = solution.values - reference
    moving = np.abs(np.diff(solution.values, axis=0)) < step[1:] - 1e-9
    inside = (solution.values > lower + 1e-9) & (solution.values < upper - 1e-9)
    gradient = 5 * e[1:-1] + WEIGHT * (2 * e[1:-1] - e[:-2] - e[2:])
    free = moving[:-1] & moving[1:] & inside[1:-1]
    assert free.sum() > 10
    np.testing.assert_allclose(gradient[free], 0, atol=1e-11)


def test_symmetries():
    reference, start, lower, upper, step = random_problem(1)
    options = {"position_weight": 5.0, "difference_weight": WEIGHT}
    plain = solve_chain(reference, start=start, lower=lower, upper=upper, step=step, **options)
    assert plain.feasible.all()
    assert (plain.objective > 0.1).all()
    mirror = solve_chain(-reference, start=-start, lower=-upper, upper=-lower, step=step, **options)
    np.testing.assert_allclose(mirror.values, -plain.values, rtol=0, atol=1e-13)
    shift = solve_chain(reference + 0.75, start=start + 0.75, lower=lower + 0.75, upper=upper + 0.75, step=step, **options)
    np.testing.assert_allclose(shift.values, plain.values + 0.75, rtol=0, atol=1e-13)
    order = [3, 0, 4, 2, 1]
    mixed = solve_chain(
        reference[:, order], start=start[order], lower=lower[:, order], upper=upper[:, order], step=step[:, order], **options
    )
    assert (mixed.values == plain.values[:, order]).all()
    free = solve_chain(reference, start=None, lower=lower, upper=upper, step=step, **options)
    steps_back = np.vstack([step[:1], step[1:][::-1]])
    back = solve_chain(reference[::-1], start=None, lower=lower[::-1], upper=upper[::-1], step=steps_back, **options)
    np.testing.assert_allclose(back.values[::-1], free.values, rtol=0, atol=1e-13)
    np.testing.assert_allclose(back.objective, free.objective, rtol=1e-12)


def test_a_legal_reference_comes_back_bit_for_bit():
    t = np.arange(200) * H
    reference = np.column_stack([np.sin(t), 0.3 * np.cos(5 * t), np.full_like(t, 0.1)])
    for start in (reference[0], None):
        solution = solve_chain(
            reference, start=start, lower=-1, upper=1, step=np.abs(np.diff(reference, axis=0)).max(0), difference_weight=WEIGHT
        )
        assert (solution.values == reference).all()
        assert (solution.objective == 0).all()


def test_limits_hold_in_floating_point():
    for seed in range(20):
        reference, start, lower, upper, step = random_problem(seed, n=200)
        x = solve_chain(reference, start=start, lower=lower, upper=upper, step=step, difference_weight=WEIGHT)
        free = solve_chain(reference, start=None, lower=lower, upper=upper, step=step, difference_weight=WEIGHT)
        for solution in (x, free):
            v = solution.values[:, solution.feasible]
            ok = solution.feasible
            assert (v >= lower[:, ok]).all()
            assert (v <= upper[:, ok]).all()
            assert (np.abs(np.diff(v, axis=0)) - step[1:, ok]).max() <= 5e-16


def test_extreme_weights_steps_and_lengths():
    rng = np.random.default_rng(5)
    r = rng.normal(size=30)
    # no difference term and no step limit: projection of each sample on its bounds
    solution = one(r, None, lower=-0.5, upper=0.7, difference_weight=0.0)
    np.testing.assert_allclose(solution.values[:, 0], np.clip(r, -0.5, 0.7), rtol=0, atol=1e-14)
    # a rigid chain (no step at all): the mean of the reference, clipped
    solution = one(r, None, lower=-5, upper=5, step=0.0)
    np.testing.assert_allclose(solution.values[:, 0], r.mean(), rtol=0, atol=1e-13)
    # huge difference weight: the shape of the reference is kept, moved by the start's error
    solution = one(r, r[0] + 0.2, difference_weight=1e12)
    np.testing.assert_allclose(solution.values[:, 0] - r, 0.2, rtol=0, atol=1e-7)
    # tiny weights only scale the objective
    big, small = one(r, 0.0, step=0.3), one(r, 0.0, step=0.3, position_weight=5e-9, difference_weight=WEIGHT * 1e-9)
    np.testing.assert_allclose(small.values, big.values, rtol=0, atol=1e-12)
    # one sample
    assert one([3.0], None, upper=2.0).values[0, 0] == 2.0
    assert one([3.0], 1.5).values[0, 0] == 1.5
    # bounds of zero width prescribe the motion
    path = np.cumsum(rng.uniform(-0.1, 0.1, 30))
    solution = one(r, None, lower=path, upper=path, step=0.1)
    assert (solution.values[:, 0] == path).all()


def test_start_beyond_the_bounds_returns_at_full_speed():
    solution = one(np.zeros(20), 2.0, lower=-1, upper=1, step=0.25)
    assert not solution.feasible[0]
    np.testing.assert_allclose(solution.values[:5, 0], [2.0, 1.75, 1.5, 1.25, 1.0], atol=1e-15)
    assert (np.abs(solution.values[4:, 0]) <= 1).all()


def test_contradicting_bounds_share_the_violation():
    """Bounds jump by 1 at sample 10, a step allows 0.2: the conflict of 0.8 is split, 0.4 on either side, none 5 samples away."""
    late = np.arange(20) >= 10
    lower, upper = np.where(late, 1.0, -1.0), np.where(late, 2.0, 0.0)
    solution = one(np.zeros(20), None, lower=lower, upper=upper, step=0.2)
    x = solution.values[:, 0]
    violation = np.maximum(lower - x, x - upper)
    assert not solution.feasible[0]
    assert violation.max() == pytest.approx(0.4, abs=1e-15)
    assert violation[[9, 10]] == pytest.approx([0.4, 0.4], abs=1e-15)
    assert (np.delete(violation, np.arange(6, 14)) <= 1e-15).all()
    assert (np.abs(np.diff(x)) <= 0.2 + 1e-16).all()


def test_pool_of_knots_that_is_too_small_is_reported_and_the_solver_recovers():
    rng = np.random.default_rng(0)
    r = np.cumsum(rng.normal(size=40))
    inf, out = np.full(40, np.inf), np.empty(40)
    step = np.full(40, 0.5)
    assert track(r, 0.0, -inf, inf, step, 5.0, WEIGHT, out, work_arrays(40, 10)) == POOL_TOO_SMALL
    assert track(r, 0.0, -inf, inf, step, 5.0, WEIGHT, out, work_arrays(40)) == FEASIBLE
    np.testing.assert_array_equal(out, one(r, 0.0, step=0.5).values[:, 0])


def test_the_kernel_allocates_nothing():
    from numba.core.runtime import _nrt_python, rtsys

    k, n = 6, 80
    reference = np.cumsum(np.random.default_rng(0).normal(size=(k, n)) * 0.05, axis=1)
    reference[0] = 0.0  # one legal column
    bound, step = np.ones((k, n)), np.full((k, n), 0.05)
    start = reference[:, 0].copy()
    start[1], start[2] = np.nan, 3.0  # one free, one infeasible
    out, codes, work = np.empty((k, n)), np.empty(k, dtype=np.int64), work_arrays(n)
    arguments = (reference, start, -bound, bound, step, np.full(k, 5.0), np.full(k, 1000.0), out, codes, work)
    _nrt_python.memsys_enable_stats()
    try:
        track_columns(*arguments)
        before = rtsys.get_allocation_stats().alloc
        for _ in range(10):
            track_columns(*arguments)
        assert rtsys.get_allocation_stats().alloc == before + 10 * (
            len(arguments) - 1 + len(work)
        )  # one handle for each array handed in
    finally:
        _nrt_python.memsys_disable_stats()
    assert codes.tolist() == [0, 0, 1, 0, 0, 0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"reference": np.zeros(5)}, "shape"),
        ({"reference": [[0.0], [np.nan]]}, "sample 1, column 0"),
        ({"step": [-1.0]}, "step"),
        ({"step": [1.0, 2.0, 3.0]}, "step has shape"),
        ({"lower": np.nan}, "bounds"),
        ({"position_weight": 0.0}, "position > 0"),
        ({"start": [np.inf]}, "start"),
        ({"upper": "high"}, "upper is no array"),
    ],
)
def test_bad_input_is_named(change, words):
    arguments = {"reference": np.zeros((2, 1)), "start": None, "lower": -1, "upper": 1, "step": 1.0, "difference_weight": 1.0}
    arguments.update(change)
    reference = arguments.pop("reference")
    with pytest.raises(BadInput, match=words):
        solve_chain(reference, **arguments)


@pytest.mark.parametrize(
    ("clip", "total"), [("18_11", 13.833586), ("18_15", 4.133597), ("79_06", 3.100071), ("02_05", 0.019988), ("18_08", 0.0)]
)
def test_golden_optima_of_retargeted_recordings(golden, data, clip, total):
    with open(data / "nao_joints.csv") as file:
        rows = {row[0]: row for row in csv.reader(file) if not row[0].startswith("#")}
    path = golden / "speech" / f"cmu_{clip}_nao_25hz_ref.csv"
    with open(path) as file:
        names = file.readline().strip().split(",")[1:]
    reference = np.loadtxt(path, delimiter=",", skiprows=1)[:, 1:]
    expected = np.loadtxt(golden / "speech" / f"cmu_{clip}_nao_25hz_eq7.csv", delimiter=",", skiprows=1)[:, 1:]
    lower, upper, velocity = np.array([[float(v) for v in rows[name][1:4]] for name in names]).T
    solution = solve_chain(reference, start=reference[0], lower=lower, upper=upper, step=velocity * H, difference_weight=WEIGHT)
    assert solution.feasible.all()
    assert solution.objective.sum() == pytest.approx(total, rel=1e-6, abs=1e-9 if total == 0 else 5e-7)
    np.testing.assert_allclose(solution.values, expected, rtol=0, atol=1e-7)
    assert (np.abs(np.diff(solution.values, axis=0)) <= velocity * H).all()
