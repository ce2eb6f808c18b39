"""Verdicts in words: what the first lines say, how numbers are said, what is folded, and what was not checked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bunraku.motion import Check
from bunraku.verification.topics import OTHER, TOPICS, topic_of
from bunraku.verification.wording import broken_lines, first_line, in_words, is_proven, not_checked, quantity, verdict_lines

KEPT = [
    Check("velocity excess", 0.0, "rad/s", 1e-9),
    Check("lag", 0.003, "s", 0.010, note="late"),
    Check("fell", 0.0, "of 12 replays", 0.0),
    Check("largest tilt", 0.1, "rad"),
]
SHAPELESS = Check.not_checked("self-collision clearance", "give primitive shapes to arm")


def test_the_first_line_says_what_is_proven_and_what_was_not_checked() -> None:
    said = first_line([*KEPT, SHAPELESS], proven=True)
    assert said == (
        "Proven: it keeps every motor limit, stays in time and stands. "
        "Not checked: self-collision clearance (give primitive shapes to arm)."
    )


def test_what_does_not_apply_is_never_said_to_hold() -> None:
    checks = [Check("lag", 0.0, "s", 0.01), Check.not_applicable("fell", "it is bolted down")]
    assert "stands" not in first_line(checks, proven=True)
    assert "does not apply" in verdict_lines(checks, proven=True, everything=True)[-2]


def test_what_is_broken_comes_first_with_what_helps() -> None:
    shaking = Check("shaking above 8 Hz", 0.28, "of the motion's energy", 0.15, note="HeadYaw")
    lines = verdict_lines([*KEPT, shaking], proven=False)
    assert lines[0] == "Not proven: it shakes."
    assert lines[1] == (
        "Shakes: shaking above 8 Hz: 28 % of the motion's energy, at most 15 % (HeadYaw). What helps: "
        "take what is faster than 6 Hz out of the wish (--smooth 6)."
    )
    assert lines[-1] == "3 promises hold, 1 broken, 0 do not apply, 0 not checked."


def test_a_motor_that_cannot_hold_still_is_not_advised_to_go_slower() -> None:
    saturated = Check("torque saturation", 1.0, "of the time", 0.05, note="elbow")
    lost = Check("tracking rms", 0.8, "rad", 0.05)
    share = Check("static torque share", 8.29, "of stall", note="motor elbow; gravity and losses of the joints")
    torque, following = broken_lines([saturated, lost, share])
    assert "cannot even hold still: motor elbow needs 829 % of its stall torque; torque saturation: 100 %" in torque
    assert "a stronger motor" in torque
    assert "acceleration" not in torque
    assert "slower" not in following
    assert "--acceleration" in broken_lines([saturated, lost, replace(share, value=0.8)])[0]


def test_a_judge_that_fails_is_no_broken_promise_and_no_proof() -> None:
    failed = Check("lag", float("nan"), "s", 0.01)
    assert first_line([failed], proven=False).startswith("Not proven: nothing could judge timing.")
    assert broken_lines([failed])[0].startswith("Timing, not judged: lag: NOT CHECKED")


def test_what_nothing_judged_is_not_proven() -> None:
    """That a file is whole, a replay ended and the rest does not apply proves nothing; one promise of the motion does."""
    empty = [
        Check("status", 0.0, threshold=0.0),
        Check("replay completed", 1.0, threshold=1.0, at_least=True),
        Check.not_applicable("fell", "it is bolted down"),
        Check.not_checked("tracking rms", "add masses"),
    ]
    assert not is_proven(empty)
    said = "Not proven: nothing that matters could be judged. Not checked: tracking rms (add masses)."
    assert first_line(empty, proven=False) == said
    some = [*empty, Check("torque saturation", 0.0, threshold=0.05), Check.not_checked("torque saturation", "add stall torque")]
    assert is_proven(some)
    assert first_line(some, proven=True).startswith("Proven only in part: what could be judged of torque is kept. Not checked")
    assert not is_proven([*some, Check("lag", 1.0, "s", 0.01)])


def test_what_lacks_the_same_is_said_once() -> None:
    missing = [Check.not_checked(name, "state the velocity of m1") for name in ("velocity excess", "velocity violations")]
    assert not_checked(missing) == "Not checked: velocity excess, velocity violations (state the velocity of m1)."


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (0.28, "of the wish", "28 % of the wish"), (3.0, "of 12 replays", "3 of 12 replays"), (0.0123, "m", "1.23 cm"),
        (2e-5, "m", "0.02 mm"), (0.0034, "s", "3.4 ms"), (1.5, "s", "1.5 s"), (0.05, "rad", "2.86 deg"),
        (1e-17, "m or rad", "0 m or rad"),
        (float("inf"), "m", "nothing finite"), (2.0, "N·m", "2 N·m"),
    ],
)  # fmt: skip
def test_numbers_are_said_in_units_that_people_use(value: float, unit: str, said: str) -> None:
    assert quantity(value, unit) == said


def test_exactness_and_measurements_are_folded_unless_all_are_asked() -> None:
    some, every = verdict_lines(KEPT, proven=True), verdict_lines(KEPT, proven=True, everything=True)
    assert not any("tilt" in line for line in some)
    assert any("largest tilt: 5.73 deg" in line for line in every)
    assert any("and 3 more" in line for line in some)
    assert in_words(KEPT[1]) == "lag: 3 ms, at most 10 ms (late)"


def test_every_topic_can_be_reached_and_has_words() -> None:
    for topic in TOPICS:
        assert all(topic_of(Check(name, 0.0)) is not OTHER for name in topic.names)
        assert topic.kept
        assert topic.broken


def test_what_helps_is_of_the_promise_that_is_broken() -> None:
    coverage = Check("coverage", 0.4, "of the captured motion", 0.6, at_least=True)
    followed = Check("motion followed", 0.4, "of the wish", 0.7, at_least=True)
    (line,) = broken_lines([followed])
    assert line.endswith("What helps: a smaller or slower wish, inside the ranges of the joints.")
    (line,) = broken_lines([coverage])
    assert "--rig" in line
    assert "slower" not in line
    (line,) = broken_lines([coverage, followed])
    assert "--rig" in line
    assert "slower" in line
