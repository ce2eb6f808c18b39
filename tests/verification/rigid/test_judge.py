"""How far servos may be from what they are sent, by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from bunraku.motion import Check
from bunraku.verification.rigid.judge import _standing, _tracking_checks


def tracked(hip: float, rail: float, rms: float = 0.0) -> dict[str, Check]:
    figures = {"tracking_rms_rad": rms, "tracking_max_rad": 0.3, "tracking_rms_m": 0.2 * rms, "tracking_max_m": 0.1}
    rms_of = np.array([hip, 0.001, rail])
    replay = SimpleNamespace(
        slides=np.array([False, False, True]), tracking_rms=rms_of, motors=("hip", "knee", "rail"), figures=figures
    )
    return {check.name: check for check in _tracking_checks(replay)}


@pytest.mark.parametrize(("part", "state"), [(0.99, "holds"), (1.01, "broken")])
def test_followed_is_within_three_degrees_and_the_worst_motor_within_twice_that(part: float, state: str) -> None:
    checks = tracked(0.1 * part, 0.02 * part, 0.05 * part)
    names = (
        "tracking rms",
        "tracking rms of slides",
        "tracking rms of the worst motor",
        "tracking rms of the worst motor of slides",
    )
    assert {name: checks[name].state for name in names} == dict.fromkeys(names, state)
    assert checks["tracking rms of the worst motor"].note == "hip"
    assert checks["tracking rms of the worst motor of slides"].note == "rail"
    assert checks["tracking rms of slides"].unit == "m"
    assert checks["largest tracking error"].threshold is None


@pytest.mark.parametrize(("slip", "state"), [(0.0099, "holds"), (0.0101, "broken")])
def test_a_sole_may_slip_by_a_centimetre(slip: float, state: str) -> None:
    worst = SimpleNamespace(foot_slip=slip, described="softer")
    replay = SimpleNamespace(worst=lambda name: worst, figures={"fell": 0.0, "tilt_max_rad": 0.2}, reason="", replays=(1, 2, 3))
    fell, slid, tilt = _standing(replay)
    assert (slid.state, slid.note) == (state, "softer")
    assert (fell.state, fell.unit, fell.note) == ("holds", "of 3 replays", "none did")
    assert tilt.value == 0.2
