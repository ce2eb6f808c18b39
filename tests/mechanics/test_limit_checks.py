"""Motor limits as checks: who exceeds, when, in which unit, and who was not judged."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.measures.limits import LIMIT_TOLERANCE, ask, by_unit, limit_checks, stated
from bunraku.motion import Check, MotionLimits

NAMES = ("hip", "knee", "rail")
RATE = 10.0


def limits(
    velocity: tuple[float, ...] = (1.0, 1.0, 1.0), upper: tuple[float, ...] = (1.0, 1.0, 1.0), **more: object
) -> MotionLimits:
    free = np.full(3, np.inf)
    high = np.array(upper)
    return MotionLimits(NAMES, -high, high, np.array(velocity), free, free, **more)


def checks_of(own: MotionLimits, values: np.ndarray) -> dict[str, Check]:
    return {check.name: check for check in limit_checks(own, values, RATE, {"rail"})[0]}


def test_the_worst_excess_names_joint_and_time_and_slides_are_metres() -> None:
    values = np.zeros((6, 3))
    values[4, 1], values[4, 0], values[2:, 2] = -1.3, 1.1, 0.05
    checks = checks_of(limits(), values)
    range_ = checks["range excess"]
    assert (range_.value, range_.unit, range_.note) == (pytest.approx(0.3), "rad", "knee at 0.400 s")
    speed = checks["velocity excess"]
    assert (speed.value, speed.unit, speed.note) == (pytest.approx(12.0), "rad/s", "knee at 0.300 s")
    assert checks["range excess of slides"].unit == "m"
    assert checks["range excess of slides"].holds
    assert checks["range excess of slides"].note == ""
    assert checks["velocity excess of slides"].unit == "m/s"
    assert checks["worst limit violation"].value == pytest.approx(12.0)
    assert checks["worst limit violation"].broken
    assert checks["acceleration excess"].state == "does not apply"


def test_what_stands_still_need_not_state_a_limit() -> None:
    silent = limits(velocity=(1.0, np.inf, np.inf))
    still = checks_of(silent, np.zeros((6, 3)))
    assert "velocity excess of motors without a limit" not in still
    assert still["velocity excess of slides"].note == "no motor moves"
    values = np.zeros((6, 3))
    values[3, 1:] = 0.01
    moved = checks_of(silent, values)
    assert "knee" in moved["velocity excess of motors without a limit"].missing
    assert "rail" in moved["velocity excess of slides"].missing
    assert moved["velocity excess"].holds
    nobody = checks_of(limits(velocity=(np.inf,) * 3, upper=(np.inf,) * 3), values)
    assert nobody["worst limit violation"].state == "not checked"


def test_a_range_is_stated_by_both_ends_or_by_what_it_depends_on() -> None:
    dependent = ((1, 0, np.zeros((2, 3))),)
    assert stated(limits(upper=(1.0, np.inf, np.inf), dependents=dependent), "range").tolist() == [True, True, False]
    assert stated(limits(velocity=(np.inf, 2.0, np.inf)), "velocity").tolist() == [False, True, False]


def test_units_are_apart_only_where_there_are_both() -> None:
    assert [(suffix, unit, columns.tolist()) for suffix, unit, columns in by_unit(NAMES, {"rail"})] == [
        ("", "rad", [0, 1]),
        (" of slides", "m", [2]),
    ]
    assert [(suffix, unit, columns.tolist()) for suffix, unit, columns in by_unit(NAMES, set(NAMES))] == [("", "m", [0, 1, 2])]
    assert [(suffix, unit, columns.tolist()) for suffix, unit, columns in by_unit(NAMES, set())] == [("", "rad", [0, 1, 2])]


def test_six_motors_are_listed_and_the_others_counted() -> None:
    assert ask("velocity", ["a"]) == "add the velocity of the motor a to the character"
    assert ask("range", list("abcdef")) == "add the range of the joints a, b, c, d, e, f to the character"
    assert ask("range", list("abcdefgh")).endswith("e, f and 2 more to the character")


@pytest.mark.parametrize(("over", "state"), [(0.5 * LIMIT_TOLERANCE, "holds"), (1e-8, "broken")])
def test_limits_hold_to_a_billionth(over: float, state: str) -> None:
    values = np.full((4, 3), 1.0)
    values[:, 0] += over
    check = checks_of(limits(), values)["range excess"]
    assert check.state == state
    assert bool(check.note) is (state == "broken")
