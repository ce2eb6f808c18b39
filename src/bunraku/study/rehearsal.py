"""Dress rehearsal: answers that nobody gave, of a known effect, through the whole design, to try an analysis before the study."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

import numpy as np

from bunraku.study.answers import ABOUT, COLUMNS, MADE_UP
from bunraku.study.design import PAIR, RATING, StudyDesign


@dataclass(frozen=True, kw_only=True)
class Audience:
    """Made-up people, who by default find about what the paper's did.

    ``liking``: how much better the optimized film of a pair seems, in units of the noise of one judgement; who sees less than
    ``doubt`` says equal. ``gain``: by how many points it is rated higher on all scales but the last. ``people``, ``taste``,
    ``noise`` [points]: how much people differ in how high they rate, in how much they gain, and from film to film.
    """

    liking: float = 0.9
    doubt: float = 0.4
    gain: float = 1.2
    people: float = 1.2
    taste: float = 0.8
    noise: float = 1.6


def rehearse(design: StudyDesign, audience: Audience | None = None, *, seed: int = 0) -> bytes:
    """A table of made-up answers of all participants; the same ``seed`` gives the same bytes."""
    audience, plan, rng = audience or Audience(), design.plan, np.random.default_rng(seed)
    stream = io.StringIO()
    table = csv.writer(stream)
    table.writerow(COLUMNS)
    for sitting in design.sittings:
        who = [design.key + MADE_UP, sitting.participant]
        fondness, offset, gained = rng.normal(size=3) * (0.5, audience.people, audience.taste) + (
            audience.liking,
            0.0,
            audience.gain,
        )
        table.writerows([*who, ABOUT, 0, "", "", one.name, "made up", 0] for one in plan.about)
        for place, (left, right) in enumerate(sitting.pairs, start=1):
            for question in plan.pairs:
                felt = fondness * (-1.0 if design.films[left].condition == 1 else 1.0) + rng.normal()
                answer = "equal" if abs(felt) < audience.doubt else "right" if felt > 0.0 else "left"
                table.writerow([*who, PAIR, place, left, right, question.name, answer, 30])
        for place, film in enumerate(sitting.films, start=1):
            for s, scale in enumerate(plan.ratings):
                better = gained * design.films[film].condition * (s < len(plan.ratings) - 1 or len(plan.ratings) == 1)
                felt = 0.55 * plan.points + offset + better + audience.noise * rng.normal()
                table.writerow([*who, RATING, place, film, "", scale.name, int(np.clip(round(felt), 1, plan.points)), 20])
    return stream.getvalue().encode()
