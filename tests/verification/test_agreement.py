"""A certificate against recomputation, by hand: what differs, what is missing, what is another promise."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from bunraku.motion import Certificate, Check, JointCurves
from bunraku.optimization.solution import Status
from bunraku.verification.agreement import agreement, motion_difference, own_word

KEPT = Check("speed", 2.0, "rad/s", 3.0)


def against(
    *carried: Check, expected: tuple[Check, ...] = (KEPT,), figures: dict[str, float] | None = None, **more: object
) -> Check:
    certificate = Certificate(Status.CONVERGED, carried, figures={"lag_s": 0.1})
    return agreement(certificate, expected, figures or {}, **more)[0]


@pytest.mark.parametrize(
    ("value", "state"), [(2.0 + 1.9e-9, "holds"), (2.0 - 1.9e-9, "holds"), (2.0 + 2.1e-9, "broken"), (inf, "broken")]
)
def test_numbers_agree_to_a_billionth_of_themselves(value: float, state: str) -> None:
    assert against(Check("speed", value, "rad/s", 3.0)).state == state


@pytest.mark.parametrize(("value", "state"), [(0.9e-9, "holds"), (1.1e-9, "broken")])
def test_small_numbers_agree_to_a_billionth(value: float, state: str) -> None:
    assert against(Check("speed", value), expected=(Check("speed", 0.0),)).state == state


@pytest.mark.parametrize(
    "carried",
    [
        (),
        (KEPT, KEPT),
        (Check("speed", 2.0, "deg/s", 3.0),),
        (Check("speed", 2.0, "rad/s", 3.0, at_least=True),),
        (Check("speed", 2.0, "rad/s"),),
        (Check("speed", 2.0, "rad/s", 3.1),),
        (Check.not_applicable("speed", "no motor"),),
        (Check.not_checked("speed", "a limit"),),
        (Check("speed", nan, "rad/s", 3.0),),
    ],
)
def test_another_promise_does_not_agree(carried: tuple[Check, ...]) -> None:
    check = against(*carried)
    assert check.broken
    assert check.value == (pytest.approx(0.1 / 3.0) if carried and carried[0].threshold == 3.1 else inf)
    assert check.note.startswith("speed: the certificate says")


def test_what_neither_could_judge_agrees() -> None:
    for check in (Check.not_applicable("fall", "bolted"), Check.not_checked("torque", "masses"), KEPT):
        agreed = against(check, expected=(check,))
        assert (agreed.value, agreed.note) == (0.0, "every number agrees with the one recomputed")


def test_figures_and_other_differences_count_and_the_first_three_are_said() -> None:
    assert against(KEPT, figures={"lag_s": 0.1}).holds
    assert against(KEPT, figures={"lag_s": 0.2}).value == pytest.approx(0.1)
    assert against(KEPT, figures={"reach_m": 0.2}).value == inf
    assert against(KEPT, others=((0.5, "motion: moved"),)).value == 0.5
    assert against(KEPT, others=((nan, "motion: lost"),)).value == inf
    check = against(expected=(KEPT, Check("size", 1.0)), figures={"a": 0.0, "lag_s": 0.2}, others=((0.5, "motion: moved"),))
    assert check.note.startswith("motion: moved; ")
    assert check.note.endswith("; and 2 more")
    assert check.note.count(";") == 3


def test_promises_that_were_not_recomputed_are_the_performers_own_word() -> None:
    kept, lost = Check("residual", 0.1, "m", 1.0), Check("tension", 0.1, "N", 1.0, at_least=True, note="of the hand")
    certificate = Certificate(
        Status.CONVERGED, (KEPT, kept, lost, Check("information", 1.0), Check.not_applicable("fall", "bolted"))
    )
    _, first, second = agreement(certificate, (KEPT,), {})
    assert (first.name, first.state) == ("residual", "not checked")
    assert not first.stands_against
    assert (second.name, second.state) == ("tension", "broken")
    assert second.note == "of the hand; the performer's own word: 0.1 N"
    assert own_word(Check("bare", 2.0, threshold=1.0)).note == "the performer's own word: 2"


def test_the_motion_is_compared_number_by_number() -> None:
    plan = JointCurves(("a", "b"), 100.0, np.tile([0.5, 20.0], (4, 1)))
    assert motion_difference(plan, plan)[0] == 0.0
    values = plan.values.copy()
    values[2, 1] -= 0.1
    values[3, 0] += 0.004
    difference, words = motion_difference(JointCurves(("a", "b"), 100.0, values), plan)
    assert difference == pytest.approx(0.1 / 20.0)
    assert words == "motion: b at 0.020 s is 19.9, the channels make it 20"
    for other in (
        JointCurves(("a", "c"), 100.0, plan.values),
        JointCurves(("a", "b"), 101.0, plan.values),
        JointCurves(("a", "b"), 100.0, plan.values[:3]),
    ):
        assert motion_difference(other, plan)[0] == inf
