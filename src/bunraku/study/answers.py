"""Answers: what surveys wrote, checked against the design, and coded as the paper codes them.

A table of answers has one line a question. In the first part an answer is ``left``, ``equal`` or ``right``, and counts +1 when it
favours the optimized film, -1 when it favours the control, 0 when neither. In the second part it is a number from 1 to the points
of the scale.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.formats.files import check_size, decoded
from bunraku.formats.places import known_names
from bunraku.study.design import PAIR, RATING, StudyDesign

COLUMNS = ("study", "participant", "part", "place", "first", "second", "question", "answer", "seconds")
ABOUT = "about"
MADE_UP = "-rehearsal"
"""What is added to the key of a study in answers that nobody gave."""
MAX_ANSWER_BYTES = 64 * 1024 * 1024
MAX_LINES = 500_000
MAX_FIELD = 2000
Wrong: TypeAlias = Callable[[str], BadInput]
"""Bad input at a place of a table, from what is wrong there."""
SIDES = {"left": -1.0, "equal": 0.0, "right": 1.0}


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of ``participants`` in the order of the design; NaN where there is none.

    ``pairs`` (participants, behaviours, questions): +1 for the optimized film, -1 for the control. ``sides``, likewise: +1 for the
    film on the right. ``ratings`` (participants, conditions, behaviours, scales). ``minutes`` (participants,) spent on all trials.
    ``about``: what participants said about themselves.
    """

    participants: tuple[int, ...]
    pairs: Array
    sides: Array
    ratings: Array
    minutes: Array
    about: tuple[Mapping[str, str], ...]
    made_up: bool = False

    @property
    def missing(self) -> NDArray[np.int64]:
        """How many answers of each participant are missing, shape (participants,)."""
        gaps = [np.isnan(values).reshape(len(self.participants), -1).sum(axis=1) for values in (self.pairs, self.ratings)]
        return np.asarray(gaps[0] + gaps[1], dtype=np.int64)

    def chosen(self, keep: NDArray[np.bool_]) -> Answers:
        """The answers of some participants."""
        kept = [i for i, one in enumerate(keep) if one]
        names, about = tuple(self.participants[i] for i in kept), tuple(self.about[i] for i in kept)
        arrays = (self.pairs[kept], self.sides[kept], self.ratings[kept], self.minutes[kept])
        return Answers(names, *arrays, about, self.made_up)


@dataclass
class _Sheet:
    """The answers of one participant while they are read."""

    file: str
    pairs: Array
    sides: Array
    ratings: Array
    seconds: dict[tuple[str, int], float] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    seen: set[tuple[str, int, str]] = field(default_factory=set)


def read_answers(files: Iterable[tuple[str, bytes]], design: StudyDesign) -> Answers:
    """The answers in tables (file name, bytes) of one or more participants each, every participant in one file."""
    sheets: dict[int, _Sheet] = {}
    kinds: dict[bool, str] = {}
    for file, data in files:
        for place, row in _rows(data, file):
            wrong = partial(BadInput, file=file, place=place)
            made_up = row["study"] == design.key + MADE_UP
            if row["study"] != design.key and not made_up:
                other = row["study"][:40]
                raise wrong(f"answers the study {other!r}, this plan is {design.key}; give the plan the survey was made with")
            kinds.setdefault(made_up, file)
            if len(kinds) > 1:
                mixed = f"{kinds[True]} is a rehearsal, {kinds[False]} holds answers that people gave; analyse one of them"
                raise BadInput(mixed, file=file)
            _take(row, sheets, design, file, wrong)
    if not sheets:
        raise BadInput("no answer arrived; give the tables that surveys wrote")
    people = tuple(sorted(sheets))
    chosen = [sheets[one] for one in people]
    pairs, sides, ratings = (np.stack([getattr(sheet, name) for sheet in chosen]) for name in ("pairs", "sides", "ratings"))
    minutes = np.array([math.fsum(sheet.seconds.values()) / 60.0 for sheet in chosen])
    return Answers(people, pairs, sides, ratings, minutes, tuple(sheet.about for sheet in chosen), True in kinds)


def _rows(data: bytes, file: str) -> Iterable[tuple[str, dict[str, str]]]:
    """The lines of a table with their places, by column; commas, semicolons or tabs part them."""
    check_size(data, file=file, limit=MAX_ANSWER_BYTES)
    text = decoded(data, file=file)
    head = text.split("\n", 1)[0]
    mark = next((mark for mark in (";", "\t") if mark in head), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        lacking = [name for name in COLUMNS if name not in names]
        if lacking or len(set(names)) < len(names):
            what = f"lacks the column {lacking[0]!r}" if lacking else "names a column twice"
            raise BadInput(f"{what}; a table of answers has the columns {', '.join(COLUMNS)}", file=file, place="line 1")
        for row in reader:
            place = f"line {reader.line_num}"
            wrong = partial(BadInput, file=file, place=place)
            if reader.line_num > MAX_LINES:
                raise wrong(f"holds more than {MAX_LINES} lines; that is no table of answers")
            if not any(row):
                continue
            if len(row) != len(names):
                raise wrong(f"{len(row)} entries arrived where {len(names)} are needed")
            if max(map(len, row)) > MAX_FIELD:
                raise wrong(f"an entry of {max(map(len, row))} characters arrived; none is so long")
            yield place, {name: value.strip() for name, value in zip(names, row, strict=True)}
    except csv.Error as error:
        place = f"line {reader.line_num}"
        raise BadInput(f"is no table ({error}); give the file as the survey wrote it", file=file, place=place) from None


def _take(row: dict[str, str], sheets: dict[int, _Sheet], design: StudyDesign, file: str, wrong: Wrong) -> None:
    """Check one answer against what its participant was shown and asked, and keep it."""
    plan, part, question, answer = design.plan, row["part"], row["question"], row["answer"]
    who = _whole(row["participant"], 1, plan.participants, "the participant", wrong)
    sheet = sheets.get(who)
    if sheet is None:
        blank = (len(plan.behaviours), len(plan.pairs))
        scales = np.full((2, len(plan.behaviours), len(plan.ratings)), np.nan)
        sheet = sheets[who] = _Sheet(file, np.full(blank, np.nan), np.full(blank, np.nan), scales)
    if sheet.file != file:
        raise wrong(f"participant {who} answered in {sheet.file} already; leave one of the two files out, or correct the number")
    names = {part: [one.name for one in asked] for part, asked in ((PAIR, plan.pairs), (RATING, plan.ratings), (ABOUT, plan.about))}
    if part not in names:
        raise wrong(f"the part {part[:40]!r} arrived; {known_names(part, names)}")
    if question not in names[part]:
        if part == ABOUT:  # what is asked about people may change meanwhile
            return
        raise wrong(f"the question {question[:40]!r} was not asked here; {known_names(question, names[part])}")
    if part == ABOUT:
        sheet.about[question] = answer
        return
    at = _whole(row["place"], 1, 2 * len(plan.behaviours), "the place", wrong)
    trial = design.sittings[who - 1].trial(part, at)
    if trial != (row["first"], row["second"]):
        shown = " and ".join(film for film in trial if film) if trial else "nothing"
        other = f"{row['first'][:40]} {row['second'][:40]}".rstrip()
        raise wrong(f"participant {who} was shown {shown} there, not {other}; lines must stay as the survey wrote them")
    if (part, at, question) in sheet.seen:
        raise wrong(f"participant {who} answers {question!r} at place {at} twice; leave one of the lines out")
    sheet.seen.add((part, at, question))
    sheet.seconds[part, at] = max(sheet.seconds.get((part, at), 0.0), _seconds(row["seconds"], wrong))
    first, column = design.films[trial[0]], names[part].index(question)
    if part == RATING:
        rated = _whole(answer, 1, plan.points, f"the answer to {question!r}", wrong)
        sheet.ratings[first.condition, first.behaviour, column] = rated
        return
    if answer not in SIDES:
        raise wrong(f"the answer {answer[:40]!r} to {question!r} arrived; left, equal or right is needed")
    sheet.sides[first.behaviour, column] = SIDES[answer]
    sheet.pairs[first.behaviour, column] = SIDES[answer] * (-1.0 if first.condition == 1 else 1.0) + 0.0


def _whole(text: str, low: int, high: int, what: str, wrong: Wrong) -> int:
    value = int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None
    if value is None or not low <= value <= high:
        raise wrong(f"{what} is {text[:40]!r}; a whole number from {low} to {high} is needed")
    return value


def _seconds(text: str, wrong: Wrong) -> float:
    try:
        value = float(text.replace(",", "."))  # a spreadsheet may have written a decimal comma
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= 1e7:
        raise wrong(f"{text[:40]!r} seconds arrived; a number from 0 is needed")
    return value
