"""Whether a gait goes where it was wished to: misses by hand."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.measures.travelled import Wished, travel_checks


def test_the_miss_is_a_part_of_the_wished_distance() -> None:
    (check,) = travel_checks((2.7, 4.4, 9.0), Wished(3.0, 4.0, None))
    assert check.name == "missed distance"
    assert check.value == pytest.approx(0.5 / 5.0)
    assert check.broken
    assert check.note == f"{np.hypot(2.7, 4.4):.4f} m"


@pytest.mark.parametrize(("reached", "state"), [(1.019, "holds"), (0.981, "holds"), (1.021, "broken"), (0.979, "broken")])
def test_two_percent_of_distance_and_turn_may_be_missed(reached: float, state: str) -> None:
    distance, turn = travel_checks((reached, 0.3, -reached), Wished(1.0, None, -1.0))
    assert (distance.state, turn.state) == (state, state)
    assert turn.name == "missed turn"
    assert turn.value == pytest.approx(abs(reached - 1.0))


@pytest.mark.parametrize(("off", "state"), [(0.9e-3, "holds"), (1.1e-3, "broken")])
def test_what_is_to_stay_may_move_by_a_millimetre(off: float, state: str) -> None:
    wandered, strayed = travel_checks((0.6 * off, -0.8 * off, -off), Wished(0.0, 0.0, 0.0))
    assert (wandered.name, strayed.name) == ("wandered", "strayed")
    assert (wandered.value, strayed.value) == (pytest.approx(off), pytest.approx(off))
    assert (wandered.state, strayed.state) == (state, state)


WISHES = [Wished(1.0, None, 0.0), Wished(None, -2.0, None), Wished(0.0, 1.0, 2.0), Wished(None, None, None)]


@pytest.mark.parametrize("wished", WISHES)
def test_wishes_are_kept_as_figures_and_what_is_not_asked_is_not_judged(wished: Wished) -> None:
    assert Wished.of(wished.figures()) == wished
    asked = (wished.x is not None or wished.y is not None) + (wished.turn is not None)
    assert len(travel_checks((0.0, 0.0, 0.0), wished)) == asked
