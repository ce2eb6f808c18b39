"""Repeated-measures ANOVA against published data, an explicit least squares fit, t, and its own distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import linalg, stats

from bunraku.errors import BadInput
from bunraku.statistics.repeated_measures import contrasts, repeated_measures
from bunraku.statistics.t_test import one_sample_t

Array = NDArray[np.float64]

REACTIONS = np.array([[30, 28, 16, 34], [14, 18, 10, 22], [24, 20, 18, 30], [38, 34, 20, 44], [26, 28, 14, 30]], dtype=float)
"""Winer's data: reaction of five people to four drugs; sums of squares 698.20 and 112.80, F(3, 12) = 24.76."""
THREE = np.array([[100, 90, 130], [90, 100, 100], [110, 110, 109], [100, 90, 109], [100, 100, 130]], dtype=float)
"""An example published with the output of SPSS's GLM: F(2, 8) = 4.725, Greenhouse-Geisser df 1.269 and p .077."""


def sequential(data: Array, factors: tuple[int, ...]) -> tuple[float, float, int, int]:
    """SS and df of an effect and of its error by comparing nested least squares fits with dummy variables: no contrasts."""
    n, levels = len(data), data.shape[1:]
    index = np.indices(data.shape).reshape(data.ndim, -1)

    def dummies(columns: tuple[int, ...]) -> Array:
        cells = np.ravel_multi_index([index[c] for c in columns], [data.shape[c] for c in columns]) if columns else index[0] * 0
        return (cells[:, None] == np.unique(cells)[None, :]).astype(float)

    def residual(*terms: tuple[int, ...]) -> tuple[float, int]:
        X = np.hstack([dummies(term) for term in terms])
        Q = linalg.orth(X)
        rest = data.ravel() - Q @ (Q.T @ data.ravel())
        return float(rest @ rest), Q.shape[1]

    chosen = tuple(f + 1 for f in factors)
    below = [tuple(c for c in chosen if c != left) for left in chosen]
    with_subject = [(0, *term) for term in below]
    (without, rank0), (full, rank1) = residual((), *below), residual(chosen)
    (nested0, e0), (nested1, e1) = residual(chosen, *with_subject), residual((0, *chosen))
    assert n * math.prod(levels) >= e1
    return without - full, nested0 - nested1, rank1 - rank0, e1 - e0


def test_winers_reactions() -> None:
    (found,) = repeated_measures(REACTIONS, ["drug"])
    assert (found.sum_of_squares, found.error) == pytest.approx((698.20, 112.80))
    assert (found.df, found.df_error) == (3, 12)
    assert found.f == pytest.approx(24.759, abs=1e-3)
    assert found.partial_eta_squared == pytest.approx(698.2 / 811.0)


def test_spss_with_greenhouse_and_geisser() -> None:
    (found,) = repeated_measures(THREE, ["condition"])
    assert (found.sum_of_squares, found.error) == pytest.approx((928.533, 786.133), abs=1e-3)
    assert (found.f, found.p) == pytest.approx((4.725, 0.044), abs=5e-4)
    assert (found.epsilon * found.df, found.epsilon * found.df_error) == pytest.approx((1.269, 5.075), abs=5e-4)
    assert found.corrected_p == pytest.approx(0.077, abs=5e-4)


def test_the_papers_effect_sizes_are_partial() -> None:
    """F(1, 37) = 36.10 and eta² = .49, 63.10 and .63: data with that F give that partial eta squared."""
    rng = np.random.default_rng(3)
    for told, size in ((36.10, 0.49), (63.10, 0.63)):
        noise = rng.normal(size=38)
        noise = (noise - noise.mean()) / noise.std(ddof=1)
        gap = noise + math.sqrt(told / 38)  # t² = n (mean / sd)²
        values = np.stack([np.zeros(38), gap], axis=1) + rng.normal(size=(38, 1))
        (found,) = repeated_measures(values, ["condition"])
        assert (found.df, found.df_error) == (1, 37)
        assert found.f == pytest.approx(told)
        assert round(found.partial_eta_squared, 2) == size
        assert found.p < 0.0005


@pytest.mark.parametrize("shape", [(7, 3), (5, 2, 6), (9, 3, 4), (4, 2, 3, 2)])
def test_equals_nested_least_squares(shape: tuple[int, ...]) -> None:
    data = np.random.default_rng(sum(shape)).normal(size=shape) + np.linspace(0.0, 2.0, math.prod(shape[1:])).reshape(shape[1:])
    names = ["a", "b", "c"][: len(shape) - 1]
    for effect in repeated_measures(data, names):
        squares, error, df, df_error = sequential(data, tuple(names.index(name) for name in effect.factors))
        assert (effect.df, effect.df_error) == (df, df_error)
        assert (effect.sum_of_squares, effect.error) == pytest.approx((squares, error))
        assert effect.f == pytest.approx((squares / df) / (error / df_error))
        assert effect.p == pytest.approx(stats.f.sf(effect.f, df, df_error))


def test_sums_of_squares_add_up_to_the_total() -> None:
    data = np.random.default_rng(2).normal(size=(6, 2, 5))
    effects = repeated_measures(data, ["condition", "clip"])
    people = 10.0 * np.sum((data.mean(axis=(1, 2)) - data.mean()) ** 2)
    parts = sum(effect.sum_of_squares + effect.error for effect in effects)
    assert parts + people == pytest.approx(np.sum((data - data.mean()) ** 2))
    whole = people + sum(effect.error for effect in effects)
    for effect in effects:
        assert effect.generalized_eta_squared == pytest.approx(effect.sum_of_squares / (effect.sum_of_squares + whole))
        assert effect.generalized_eta_squared < effect.partial_eta_squared


@given(st.integers(2, 12), st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_two_levels_are_a_t_test(people: int, clips: int, seed: int) -> None:
    data = np.random.default_rng(seed).normal(size=(people, 2, clips)) + np.array([[0.0], [0.5]])
    test = one_sample_t(data[:, 1].mean(axis=1) - data[:, 0].mean(axis=1))
    effects = repeated_measures(data, ["condition", "clip"]) if clips > 1 else repeated_measures(data[..., 0], ["condition"])
    assert effects[0].f == pytest.approx(test.t**2, rel=1e-8)
    assert effects[0].p == pytest.approx(test.p, rel=1e-8)
    assert effects[0].epsilon == 1.0
    assert effects[0].corrected_p == effects[0].p


@given(st.integers(2, 9), st.integers(2, 4), st.integers(2, 5), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_invariances_and_bounds(people: int, a: int, b: int, seed: int) -> None:
    """Somebody who rates everything higher changes nothing, nor does a unit, nor the order of people or levels."""
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(people, a, b))
    moved = 3.0 * (data + 10.0 * rng.normal(size=(people, 1, 1)))[rng.permutation(people)][:, rng.permutation(a)]
    for one, other in zip(repeated_measures(data, ["a", "b"]), repeated_measures(moved, ["a", "b"]), strict=True):
        assert other.f == pytest.approx(one.f, rel=1e-6)
        assert other.epsilon == pytest.approx(one.epsilon, rel=1e-6)
        assert other.partial_eta_squared == pytest.approx(one.partial_eta_squared, rel=1e-6)
        assert 1.0 / one.df - 1e-12 <= one.epsilon <= 1.0
        assert 0.0 <= one.generalized_eta_squared <= one.partial_eta_squared <= 1.0


def test_epsilon_at_its_bounds() -> None:
    """1 for spherical measures; 1 / df when people differ along one contrast only."""
    C = contrasts(4)
    rng = np.random.default_rng(4)
    white = np.linalg.qr(rng.normal(size=(8, 4)) - rng.normal(size=(8, 4)).mean(axis=0))[0][:, :3]
    white -= white.mean(axis=0)
    white = white @ linalg.inv(linalg.sqrtm(white.T @ white))
    assert repeated_measures(white @ C.T, ["a"])[0].epsilon == pytest.approx(1.0)
    single = np.outer(rng.normal(size=8), C[:, 1])
    assert repeated_measures(single, ["a"])[0].epsilon == pytest.approx(1.0 / 3.0)


def test_rejects_as_often_as_it_should() -> None:
    """Over many samples: 5 % where nothing is there, the power of the noncentral F where something is."""
    rng, n, runs = np.random.default_rng(21), 10, 800
    for means in (np.zeros(3), np.array([-0.5, 0.0, 0.5])):
        hits = sum(repeated_measures(rng.normal(size=(n, 3)) + means, ["a"])[0].p < 0.05 for _ in range(runs))
        bound, away = stats.f.ppf(0.95, 2, 18), n * float(means @ means)
        power = float(stats.ncf.sf(bound, 2, 18, away)) if away else 0.05
        assert abs(hits - runs * power) < 4.0 * math.sqrt(runs * power * (1.0 - power))


def test_correction_keeps_the_level_without_sphericity() -> None:
    rng, runs = np.random.default_rng(22), 800
    shape = np.array([1.0, 1.0, 1.0, 8.0])  # one of the measures scatters eight times as much
    found = [repeated_measures(rng.normal(size=(9, 4)) * shape, ["a"])[0] for _ in range(runs)]
    plain, corrected = (sum(p < 0.05 for p in ps) / runs for ps in zip(*((e.p, e.corrected_p) for e in found), strict=True))
    assert plain > 0.075
    assert corrected < 0.065


def test_all_people_alike() -> None:
    same = np.tile([[0.1, 0.7]], (5, 1))
    (found,) = repeated_measures(same, ["a"])
    assert (found.f, found.p, found.partial_eta_squared, found.epsilon) == (math.inf, 0.0, 1.0, 1.0)
    (none,) = repeated_measures(np.full((5, 3), 0.1), ["a"])
    assert (none.f, none.p, none.partial_eta_squared) == (0.0, 1.0, 0.0)


@pytest.mark.parametrize("shape", [(1, 2), (5, 1), (5,), (5, 2, 2)])
def test_refuses_shapes(shape: tuple[int, ...]) -> None:
    with pytest.raises(BadInput, match="arrived"):
        repeated_measures(np.zeros(shape), ["a"])


def test_refuses_missing_measures() -> None:
    with pytest.raises(BadInput, match="finite"):
        repeated_measures([[1.0, math.nan], [1.0, 2.0]], ["a"])
