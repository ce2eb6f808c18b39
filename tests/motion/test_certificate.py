"""The four states of a promise, and when a whole certificate holds."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from bunraku.motion import Certificate, Check
from bunraku.optimization.solution import Status


@pytest.mark.parametrize(
    ("value", "at_least", "state"),
    [
        (1.0, False, "holds"),
        (np.nextafter(1.0, 2.0), False, "broken"),
        (-inf, False, "holds"),
        (inf, False, "broken"),
        (1.0, True, "holds"),
        (np.nextafter(1.0, 0.0), True, "broken"),
        (nan, False, "not checked"),
        (nan, True, "not checked"),
    ],
)
def test_a_promise_is_kept_up_to_its_threshold(value: float, at_least: bool, state: str) -> None:
    check = Check("one", value, threshold=1.0, at_least=at_least)
    assert check.state == state
    assert check.holds is (state == "holds")
    assert check.broken is (state == "broken")


@pytest.mark.parametrize(
    ("check", "state", "against"),
    [
        (Check("kept", 0.5, threshold=1.0), "holds", False),
        (Check("lost", 2.0, threshold=1.0), "broken", True),
        (Check.not_applicable("none", "it is bolted down"), "does not apply", False),
        (Check.not_checked("open", "add masses"), "not checked", False),
        (Check("failed", nan, threshold=1.0), "not checked", True),
        (Check("information", 3.0), "", False),
        (Check("information", nan), "", False),
        (Check("said to be open", 0.5, threshold=1.0, missing="a mass"), "not checked", False),
    ],
)
def test_only_what_is_broken_or_could_not_be_judged_stands_against_the_whole(check: Check, state: str, against: bool) -> None:
    assert check.state == state
    assert check.stands_against is against
    assert check.holds is (state in ("holds", ""))
    kept = Check("other", 0.0, threshold=1.0)
    assert Certificate(Status.CONVERGED, (kept, check)).holds is not against


@pytest.mark.parametrize("status", list(Status))
def test_a_computation_that_did_not_settle_proves_nothing(status: Status) -> None:
    assert Certificate(status, ()).holds is (status in (Status.CONVERGED, Status.STALLED))


def test_the_words_of_a_check_are_its_state() -> None:
    open_ = Check.not_checked("torque", "add masses", "of three")
    assert open_.sentence == "torque: NOT CHECKED; of three; to check it: add masses"
    assert Check.not_applicable("fall", "bolted").sentence == "fall: does not apply; bolted"
    assert Check("speed", 2.0, "rad/s", 1.0).sentence == "speed = 2 rad/s (at most 1): DOES NOT HOLD"
    assert Check("margin", 2.0, "m", 1.0, at_least=True).sentence == "margin = 2 m (at least 1): holds"
    assert Check("size", 2.0).sentence == "size = 2"
    assert Check("margin", 2.0, "m", 1.0, at_least=True).cells == ("holds", "margin", "2 m", "≥ 1", "")
    assert open_.cells == ("not checked", "torque", "", "", "of three; to check it: add masses")
    assert Check("size", 2.0, "m").cells == ("", "size", "2 m", "", "")


def test_what_is_broken_or_open_is_said_in_full() -> None:
    checks = (
        Check("kept", 0.5, threshold=1.0),
        Check("lost", 2.0, threshold=1.0),
        Check.not_checked("open", "add masses"),
        Check.not_applicable("none", "bolted"),
        Check("information", 3.0),
    )
    certificate = Certificate(Status.CONVERGED, checks)
    head, *lines = repr(certificate).splitlines()[1:]
    assert head == "1 promises hold, 1 are broken, 1 were not checked"
    assert [line.split()[0].rstrip(":") for line in lines] == ["lost", "open"]
    assert certificate.check("open") is checks[2]
