"""What every replay promises, by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from bunraku.verification.replay_checks import completed, fallen, limbs_in_replay, saturation_checks
from bunraku.verification.servos.heat import heat_checks, some

NAMES = ("hip", "knee", "ankle")


def bank(stall: tuple[float, ...] = (1.0, 1.0, 1.0)) -> SimpleNamespace:
    return SimpleNamespace(names=NAMES, stall=np.array(stall), continuous=np.array(stall))


def test_a_replay_that_was_stopped_is_not_complete() -> None:
    assert (completed(True).state, completed(True).note) == ("holds", "")
    assert (completed(False).state, completed(False).note) == ("broken", "cancelled")
    assert completed(False, fell=True).note == "some fell and were stopped"
    assert limbs_in_replay().state == "does not apply"


def test_one_fall_is_too_many() -> None:
    assert fallen(0.0, "", otherwise="none did").holds
    assert fallen(0.0, "", otherwise="none did").note == "none did"
    check = fallen(1.0, "it leans", unit="of 3 replays", otherwise="none did")
    assert (check.state, check.note, check.unit) == ("broken", "it leans", "of 3 replays")


@pytest.mark.parametrize(("share", "state"), [(0.049, "holds"), (0.051, "broken")])
def test_a_motor_may_be_at_its_limit_for_a_twentieth_of_the_time(share: float, state: str) -> None:
    (check,) = saturation_checks(bank(), np.array([0.0, share, 0.01]), "softer")
    assert (check.state, check.value, check.note) == (state, share, "knee; softer")
    assert saturation_checks(bank(), np.array([0.0, share, 0.01]), promised=False)[0].threshold is None


def test_motors_without_a_torque_line_are_named_and_never_the_worst() -> None:
    told, open_ = saturation_checks(bank((1.0, np.inf, 1.0)), np.array([0.0, 0.9, 0.02]))
    assert (told.value, told.note, told.state) == (0.02, "ankle", "holds")
    assert open_.state == "not checked"
    assert "knee" in open_.missing
    assert "hip" not in open_.missing
    assert [check.state for check in saturation_checks(bank((np.inf,) * 3), np.zeros(3))] == ["not checked"]


@pytest.mark.parametrize(("warmth", "state"), [(1.0, "holds"), (1.001, "broken")])
def test_a_winding_may_be_as_warm_as_its_continuous_torque_makes_it(warmth: float, state: str) -> None:
    check, open_ = heat_checks(bank((1.0, 1.0, np.nan)), np.array([0.2, warmth, np.nan]), "usual")
    assert (check.state, check.value, check.note) == (state, warmth, "knee; usual")
    assert open_.state == "not checked"
    assert "ankle" in open_.missing


def test_three_names_are_listed() -> None:
    assert some("abc") == "a, b, c"
    assert some("abcde") == "a, b, c and 2 more"
