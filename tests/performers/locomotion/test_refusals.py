"""Gaits that cannot be meant are refused with what is accepted."""

from __future__ import annotations

import math

import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.gait.patterns import footfalls
from bunraku.motion import Gait, Target
from bunraku.performers.locomotion.solve import plan_motion
from bunraku.performers.locomotion.state import stages, state_problem


@pytest.mark.parametrize(
    "fields",
    [{"distance": (math.nan, 0.0)}, {"distance": (math.inf, None)}, {"turn": math.nan}, {"friction": 0.0}, {"friction": math.nan}],
)
def test_numbers_are_finite_and_friction_positive(fields: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="give finite numbers"):
        Gait(1.0, **fields)


def test_a_target_in_the_mirrored_half_is_refused() -> None:
    gait = Gait(1.0, "trot", symmetric=True, distance=(0.1, 0.0), targets=(Target(0.7, "com", (None, None, 0.1)),))
    with pytest.raises(BadInput, match="second half of a cycle that mirrors its first"):
        state_problem(read_character("walker"), gait, samples=24)


def test_rolling_without_wheels_is_refused_where_it_is_planned() -> None:
    with pytest.raises(BadInput, match="has no wheel that turns; give the pattern crawl or trot"):
        plan_motion(read_character("walker"), Gait(1.2, distance=(0.12, 0.0)))


def test_an_hour_would_take_too_many_samples() -> None:
    gait = Gait(3600.0, periodic=False, distance=(1.0, 0.0))
    with pytest.raises(BadInput, match="at most 20000"):
        stages(gait, footfalls(read_character("agilebot"), gait))
