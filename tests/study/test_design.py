"""Counterbalancing of whole studies: what every plan promises, whatever its size and seed."""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.formats.study_yaml import StudyPlan
from bunraku.study.design import FilmSubject, StudyDesign, assignments_csv, study_design


def made(clips: int, participants: int, seed: int) -> StudyDesign:
    return study_design(StudyPlan(title="t", clips=tuple(f"clip{k}" for k in range(clips)), participants=participants, seed=seed))


@given(st.integers(1, 9), st.integers(2, 60), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_everybody_sees_everything_once_and_sides_are_balanced(clips: int, people: int, seed: int) -> None:
    design = made(clips, people, seed)
    assert sorted(map(str, design.films.values())) == sorted(str(FilmSubject(b, c)) for b in range(clips) for c in (0, 1))
    on_left: Counter[int] = Counter()
    for sitting in design.sittings:
        assert sorted(sitting.films) == sorted(design.films)
        shown = [(design.films[left], design.films[right]) for left, right in sitting.pairs]
        assert sorted(left.behaviour for left, _ in shown) == list(range(clips))
        assert all(left.behaviour == right.behaviour and left.condition != right.condition for left, right in shown)
        optimized_left = [left.behaviour for left, _ in shown if left.condition == 1]
        assert abs(2 * len(optimized_left) - clips) <= clips % 2
        on_left.update(optimized_left)
    for behaviour in range(clips):
        assert abs(2 * on_left[behaviour] - people) <= 1


@given(st.integers(2, 7), st.integers(1, 2), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_whole_rounds_balance_places_sequences_and_sides(clips: int, rounds: int, seed: int) -> None:
    """After two rounds of orders: every behaviour in every place on every side, and every film in every place, equally often."""
    rows = clips if clips % 2 == 0 else 2 * clips
    people = 2 * rows * rounds
    design = made(clips, people, seed)
    places: Counter[tuple[int, int, int]] = Counter()
    after: Counter[tuple[int, int]] = Counter()
    for sitting in design.sittings:
        for place, (left, _) in enumerate(sitting.pairs):
            places[place, design.films[left].behaviour, design.films[left].condition] += 1
        after.update(pairwise(design.films[left].behaviour for left, _ in sitting.pairs))
    assert set(places.values()) == {people // (2 * clips)}
    assert len(places) == 2 * clips * clips
    assert len(set(after.values())) == 1
    assert len(after) == clips * (clips - 1)
    films = made(clips, 4 * clips, seed)
    stands = Counter((place, film) for sitting in films.sittings for place, film in enumerate(sitting.films))
    assert set(stands.values()) == {2}


def test_the_papers_size_is_as_balanced_as_it_can_be() -> None:
    """38 participants and 6 behaviours: every behaviour in every place six or seven times."""
    design = made(6, 38, 7)
    stands = Counter((place, design.films[left].behaviour) for one in design.sittings for place, (left, _) in enumerate(one.pairs))
    assert len(stands) == 36
    assert set(stands.values()) == {6, 7}


def test_same_plan_same_design_and_seeds_differ() -> None:
    one, again, other = made(6, 12, 4), made(6, 12, 4), made(6, 12, 5)
    assert one == again
    assert one.sittings != other.sittings
    assert len({one.key, other.key}) == 2


def test_the_key_is_that_of_what_answers_depend_on() -> None:
    plan = StudyPlan(title="t", clips=("a", "b"))
    same = plan.model_copy(update={"title": "u", "introduction": "Welcome.", "minutes": 3.0})
    other = plan.model_copy(update={"points": 7})
    assert study_design(plan).key == study_design(same).key != study_design(other).key


def test_codes_do_not_follow_conditions() -> None:
    """Over seeds, the first code is a control about half of the time."""
    firsts = [next(iter(made(3, 2, seed).films.values())).condition for seed in range(400)]
    assert abs(np.mean(firsts) - 0.5) < 0.1


def test_assignments_table() -> None:
    design = made(2, 3, 1)
    rows = list(csv.DictReader(io.StringIO(assignments_csv(design).decode())))
    assert len(rows) == 3 * (2 + 4)
    for row in rows:
        films = [row["first"], row["second"]] if row["second"] else [row["first"]]
        trial = design.sittings[int(row["participant"]) - 1].trial(row["part"], int(row["place"]))
        assert trial == (row["first"], row["second"])
        told = [row["first_condition"], row["second_condition"]][: len(films)]
        assert [("control", "optimized")[design.films[film].condition] for film in films] == told
        assert row["behaviour"] == f"clip{design.films[films[0]].behaviour}"
