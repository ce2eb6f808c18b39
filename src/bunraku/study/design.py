"""The design of a study: which participant sees which films where and when.

Every film has a code that does not tell its condition. In the first part a participant sees each behaviour once, both conditions
side by side; in the second all films one by one. Orders are those of balanced Latin squares, taken in turn, and sides are balanced
for each participant, for each behaviour and, after two rounds of orders, for each behaviour in each place. The paper drew orders at
random.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.formats.provenance import content_hash
from bunraku.formats.study_yaml import StudyPlan
from bunraku.statistics.orders import balanced_orders, balanced_sides

CONDITIONS = ("control", "optimized")
PAIR, RATING = "pair", "rating"


@dataclass(frozen=True)
class FilmSubject:
    """What a film shows: the behaviour and the condition, by their indices in the plan and in ``CONDITIONS``."""

    behaviour: int
    condition: int


@dataclass(frozen=True)
class Sitting:
    """What one participant (from 1) sees: pairs of films (left, right), then single films, by their codes and in this order."""

    participant: int
    pairs: tuple[tuple[str, str], ...]
    films: tuple[str, ...]

    def trial(self, part: str, place: int) -> tuple[str, str] | None:
        """The films (first, second; no second in the second part) at a place (from 1), or None where there is no such trial."""
        trials = {PAIR: self.pairs, RATING: tuple((film, "") for film in self.films)}.get(part, ())
        return trials[place - 1] if 1 <= place <= len(trials) else None


@dataclass(frozen=True)
class StudyDesign:
    """The plan worked out: ``films`` by code, the sitting of every participant, and the ``key`` that answers to it carry."""

    plan: StudyPlan
    key: str
    films: dict[str, FilmSubject]
    sittings: tuple[Sitting, ...]

    @cached_property
    def codes(self) -> dict[FilmSubject, str]:
        """The code of every film."""
        return {shown: code for code, shown in self.films.items()}


def study_design(plan: StudyPlan) -> StudyDesign:
    """Work out a plan; the same plan gives the same design."""
    rng = np.random.default_rng(plan.seed)
    count = len(plan.behaviours)
    order = rng.permutation(2 * count)
    digits = len(str(2 * count))
    films = {f"film-{k + 1:0{max(2, digits)}}": FilmSubject(int(film) // 2, int(film) % 2) for k, film in enumerate(order)}
    codes = {shown: code for code, shown in films.items()}
    pair_orders, film_orders = (_orders(items, rng) for items in (count, 2 * count))
    sides = balanced_sides(plan.participants, count, max(2, len(pair_orders)), rng)
    sittings = []
    for p in range(plan.participants):
        pairs = []
        for behaviour in pair_orders[p % len(pair_orders)]:
            both = [codes[FilmSubject(behaviour, condition)] for condition in (0, 1)]
            pairs.append((both[1], both[0]) if sides[p, behaviour] else (both[0], both[1]))
        singles = tuple(codes[FilmSubject(film // 2, film % 2)] for film in film_orders[p % len(film_orders)])
        sittings.append(Sitting(p + 1, tuple(pairs) if plan.pairs else (), singles if plan.ratings else ()))
    return StudyDesign(plan, _key(plan), films, tuple(sittings))


def _orders(items: int, rng: np.random.Generator) -> list[list[int]]:
    """Balanced orders of ``items``, their names and rows shuffled."""
    orders = rng.permutation(items)[balanced_orders(items)]
    return [[int(item) for item in row] for row in rng.permutation(orders)]


def _key(plan: StudyPlan) -> str:
    """A short hash of all that answers depend on: words of the introduction and the size of films may change, these may not."""
    content = plan.model_dump(mode="json", exclude={"title", "introduction", "about", "film", "minutes"})
    return content_hash(content).removeprefix("sha256:")[:12]


def assignments_csv(design: StudyDesign) -> bytes:
    """Who sees what where, with the conditions, as a table. Participants must not see it: the survey does not hold it."""
    stream = io.StringIO()
    table = csv.writer(stream)
    table.writerow(["study", "participant", "part", "place", "behaviour", "first", "first_condition", "second", "second_condition"])
    for sitting in design.sittings:
        for part, trials in ((PAIR, sitting.pairs), (RATING, tuple((film, "") for film in sitting.films))):
            for place, (first, second) in enumerate(trials, start=1):
                behaviour = design.plan.behaviours[design.films[first].behaviour]
                conditions = [CONDITIONS[design.films[film].condition] if film else "" for film in (first, second)]
                table.writerow(
                    [design.key, sitting.participant, part, place, behaviour, first, conditions[0], second, conditions[1]]
                )
    return stream.getvalue().encode()
