"""The paper's analysis of answers.

Each participant's answers to a question about pairs are averaged over behaviours, and the averages tested against 0, the neutral
point, with a one-sample t test. Each scale is analysed with a repeated-measures ANOVA of two factors within subjects, condition and
behaviour. The paper reports partial eta squared (though it writes η²: 36.10 / (36.10 + 37) = .49) and leaves nobody out. Here
participants are left out when answers are missing, which the ANOVA cannot do with, when they were faster than the plan allows, and
when told so.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from bunraku.errors import BadInput
from bunraku.statistics.repeated_measures import Effect, repeated_measures
from bunraku.statistics.t_test import TTest, one_sample_t
from bunraku.study.answers import Answers
from bunraku.study.design import StudyDesign

CONDITION, BEHAVIOUR = "condition", "behaviour"


@dataclass(frozen=True)
class LeftOut:
    """A participant who does not count, and why."""

    participant: int
    reason: str


@dataclass(frozen=True, eq=False)
class PairResult:
    """A question about pairs: the averages of participants, their test against 0, and one for a habit of choosing the right."""

    name: str
    scores: np.ndarray[Any, np.dtype[np.float64]]
    test: TTest
    right: TTest


@dataclass(frozen=True, eq=False)
class RatingResult:
    """A scale: mean and standard error under each condition, over the averages of participants, and the effects of the ANOVA."""

    name: str
    low: str
    high: str
    means: tuple[float, ...]
    errors: tuple[float, ...]
    effects: tuple[Effect, ...]

    @property
    def condition(self) -> Effect:
        """The main effect of the condition."""
        return self.effects[0]


@dataclass(frozen=True, eq=False)
class Analysis:
    """What the answers say."""

    design: StudyDesign
    answers: Answers
    left_out: tuple[LeftOut, ...]
    pairs: tuple[PairResult, ...]
    ratings: tuple[RatingResult, ...]


def analyse(answers: Answers, design: StudyDesign, without: Collection[int] = ()) -> Analysis:
    """Analyse the answers; participants listed in ``without`` are left out."""
    unknown = sorted(set(without) - set(answers.participants))
    if unknown:
        raise BadInput(f"participant {unknown[0]} is to be left out, but did not answer; leave out some of those who did")
    plan = design.plan
    left_out = tuple(
        LeftOut(who, reason)
        for who, missing, minutes in zip(answers.participants, answers.missing, answers.minutes, strict=True)
        if (reason := _reason(who, int(missing), float(minutes), plan.minutes, without))
    )
    absent = {one.participant for one in left_out}
    kept = answers.chosen(np.array([who not in absent for who in answers.participants], dtype=np.bool_))
    if len(kept.participants) < 2:
        why = f" ({left_out[0].reason} for participant {left_out[0].participant})" if left_out else ""
        raise BadInput(
            f"{len(answers.participants)} participants answered and {len(left_out)} are left out{why}; at least two must remain"
        )
    pairs = []
    for q, question in enumerate(plan.pairs):
        scores = kept.pairs[:, :, q].mean(axis=1)
        pairs.append(PairResult(question.name, scores, one_sample_t(scores), one_sample_t(kept.sides[:, :, q].mean(axis=1))))
    ratings = []
    for s, scale in enumerate(plan.ratings):
        values = kept.ratings[:, :, :, s]
        one = values.shape[2] == 1
        effects = repeated_measures(values[:, :, 0], [CONDITION]) if one else repeated_measures(values, [CONDITION, BEHAVIOUR])
        averages = values.mean(axis=2)
        spread = averages.std(axis=0, ddof=1) / math.sqrt(len(averages))
        means, errors = (tuple(float(x) for x in row) for row in (averages.mean(axis=0), spread))
        ratings.append(RatingResult(scale.name, scale.low, scale.high, means, errors, effects))
    return Analysis(design, kept, left_out, tuple(pairs), tuple(ratings))


def _reason(who: int, missing: int, minutes: float, least: float, without: Collection[int]) -> str:
    if who in without:
        return "as asked"
    if missing:
        return f"{missing} answer{' is' if missing == 1 else 's are'} missing"
    return f"took {minutes:.1f} minutes, the plan asks for {least:g}" if minutes < least else ""
