"""What trials say, by hand: strain, the worst, ranks."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from bunraku.motion import Check
from bunraku.verification.trials.outcome import Trials, _ranks, trial_of
from bunraku.verification.trials.spread import FACTORS, DrawnWorld
from bunraku.verification.worlds import World


def draw(number: int, **sizes: float) -> DrawnWorld:
    return DrawnWorld(number, World(), dict.fromkeys(FACTORS, 0.0) | sizes)


def trial(number: int, slip: float, *, fell: bool = False, **sizes: float):
    checks = [Check("slip", slip, "m", 2.0), Check("fell", float(fell), threshold=0.0)]
    checks.append(Check("reach", 9.0, at_least=True, threshold=1.0))
    return trial_of(draw(number, **sizes), [*checks, Check("size", 7.0)], {"fell": float(fell)}, None)


def test_the_strain_is_the_largest_value_over_its_threshold() -> None:
    kept, lost, fell = trial(0, 1.5), trial(1, 3.0), trial(2, 0.1, fell=True)
    assert (kept.strain, kept.holds, kept.broken) == (0.75, True, ())
    assert (lost.strain, lost.holds, lost.broken) == (1.5, False, ("slip",))
    assert (fell.strain, fell.fell, fell.broken) == (inf, True, ("fell",))
    assert fell.as_json["strain"] is None
    assert kept.as_json["strain"] == 0.75
    assert (kept.as_json["holds"], kept.as_json["fell"], kept.as_json["trial"]) == (True, False, 0)
    unsure = trial_of(draw(0), [Check("slip", nan, threshold=1.0), Check.not_checked("torque", "stall")], {}, None)
    assert (unsure.broken, unsure.strain) == (("slip",), 0.0)


def test_the_worst_is_broken_first_then_strained_then_early() -> None:
    trials = Trials(0, (trial(0, 1.9), trial(1, 3.0), trial(2, 4.0), trial(3, 4.0)))
    assert trials.worst.draw.number == 2
    assert (trials.held, trials.share) == (1, 0.25)
    figures = trials.figures
    assert (figures["trials"], figures["trials_share"], figures["trials_fell"], figures["worst_trial"]) == (4.0, 0.25, 0.0, 2.0)
    assert 0.0 < figures["trials_share_low"] < 0.25 < figures["trials_share_high"] < 1.0
    share, fell = Trials(0, (trial(0, 1.0), trial(1, 1.0, fell=True))).checks(0.5)
    assert (share.value, share.state, fell.value, fell.threshold) == (0.5, "holds", 0.5, None)
    assert share.note.endswith("worst: trial 1 (fell)")


def test_equal_values_share_their_mean_rank() -> None:
    np.testing.assert_array_equal(_ranks(np.array([0.3, 0.1, 0.3, 0.2, 0.3])), [3.0, 0.0, 3.0, 1.0, 3.0])


@pytest.mark.parametrize(("count", "clear"), [(8, False), (9, True)])
def test_of_eight_trials_no_factor_stands_out(count: int, clear: bool) -> None:
    trials = Trials(0, tuple(trial(k, 0.5 + 0.5 * k, push=float(k)) for k in range(count)))
    assert trials.hurts["push"] == pytest.approx(1.0)
    assert trials.hurts_most == ("push hurts most (rank correlation +1.00)" if clear else "no factor stands out")
    assert Trials(0, tuple(trial(k, 5.0 + k) for k in range(count))).hurts_most == "every trial failed"
