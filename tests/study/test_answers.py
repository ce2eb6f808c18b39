"""Answers: coded as the paper does, and hostile tables refused in one line that says where."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import BadInput
from bunraku.study.answers import COLUMNS, MADE_UP, read_answers
from bunraku.study.design import StudyDesign
from bunraku.study.rehearsal import rehearse


@pytest.fixture(scope="module")
def table(design: StudyDesign) -> bytes:
    """A whole table as if people had given it."""
    return rehearse(design).replace(MADE_UP.encode(), b"")


def rows_of(table: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(table.decode(), newline="")))


def written(rows: list[list[str]]) -> bytes:
    stream = io.StringIO()
    csv.writer(stream).writerows(rows)
    return stream.getvalue().encode()


def changed(table: bytes, line: int, column: str, value: str) -> bytes:
    rows = rows_of(table)
    rows[line - 1][COLUMNS.index(column)] = value
    return written(rows)


def refusal(data: bytes, design: StudyDesign) -> str:
    with pytest.raises(BadInput) as caught:
        read_answers([("a.csv", data)], design)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    return str(caught.value)


def test_left_and_right_are_coded_by_what_was_there(design: StudyDesign) -> None:
    rows = [list(COLUMNS)]
    expected = np.full((2, 2), math.nan)
    for place, (left, right) in enumerate(design.sittings[0].pairs, start=1):
        rows.append([design.key, "1", "pair", str(place), left, right, "naturalness", "left", "4.5"])
        rows.append([design.key, "1", "pair", str(place), left, right, "synchrony", "equal", "4.5"])
        expected[design.films[left].behaviour] = [1.0 if design.films[left].condition == 1 else -1.0, 0.0]
    found = read_answers([("a.csv", written(rows))], design)
    np.testing.assert_array_equal(found.pairs[0], expected)
    np.testing.assert_array_equal(found.sides[0], [[-1.0, 0.0], [-1.0, 0.0]])
    assert np.isnan(found.ratings).all()
    assert found.missing.tolist() == [12]
    assert found.minutes[0] == pytest.approx(2 * 4.5 / 60.0)


def test_order_of_lines_files_and_separators_do_not_matter(design: StudyDesign, table: bytes) -> None:
    whole = read_answers([("a.csv", table)], design)
    head, *rows = rows_of(table)
    apart = [(f"{who}.csv", written([head, *reversed([row for row in rows if row[1] == str(who)])])) for who in (5, 3, 1, 2, 4)]
    semicolons = b"\xef\xbb\xbf" + table.replace(b",", b";").replace(b"\r\n", b"\n")
    for other in (read_answers(apart, design), read_answers([("b.csv", semicolons)], design)):
        assert other.participants == whole.participants == (1, 2, 3, 4, 5)
        for name in ("pairs", "sides", "ratings", "minutes"):
            np.testing.assert_array_equal(getattr(other, name), getattr(whole, name))


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("study", "0123456789ab", "give the plan the survey was made with"),
        ("participant", "6", "from 1 to 5"),
        ("participant", "-1", "from 1 to 5"),
        ("participant", "1e3", "from 1 to 5"),
        ("participant", "٣", "from 1 to 5"),
        ("part", "third", "known: about, pair, rating"),
        ("place", "9" * 5000, "an entry of 5000 characters"),
        ("place", "3", "was shown nothing there"),
        ("first", "film-99", "lines must stay as the survey wrote them"),
        ("question", "beauty", "known: naturalness, synchrony"),
        ("answer", "both", "left, equal or right"),
        ("answer", "=cmd()", "left, equal or right"),
        ("seconds", "nan", "a number from 0"),
        ("seconds", "-1", "a number from 0"),
        ("seconds", "soon", "a number from 0"),
    ],
)
def test_wrong_entries_say_where_and_what(design: StudyDesign, table: bytes, column: str, value: str, says: str) -> None:
    line = next(k for k, row in enumerate(rows_of(table), start=1) if row[2] == "pair")
    told = refusal(changed(table, line, column, value), design)
    assert says in told
    assert told.startswith(f"a.csv, line {line}: ")


@pytest.mark.parametrize("value", ["0", "11", "5.5", "", "inf", "ten"])
def test_ratings_are_whole_points(design: StudyDesign, table: bytes, value: str) -> None:
    line = next(k for k, row in enumerate(rows_of(table), start=1) if row[2] == "rating")
    assert "a whole number from 1 to 10" in refusal(changed(table, line, "answer", value), design)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "lacks the column 'study'"),
        (b"a,b\n1,2\n", "lacks the column 'study'"),
        ((",".join(COLUMNS) + ",study\n").encode(), "names a column twice"),
        ((",".join(COLUMNS) + "\n").encode(), "no answer arrived"),
        ((",".join(COLUMNS) + "\n1,2,3\n").encode(), "3 entries arrived where 9 are needed"),
        ((",".join(COLUMNS) + '\n"1,2,3\n').encode(), "no table"),
        ((",".join(COLUMNS) + '\n"' + "x" * 300_000 + '"\n').encode(), "no table"),
        (b"\xff\xfe\x00\x01", "not UTF-8"),
        (b"study,participant\x00,part\n", "lacks the column"),
        (b"PK\x03\x04 something zipped", "lacks the column"),
    ],
    ids=["empty", "foreign", "twice", "head", "short", "open quote", "huge entry", "binary", "nul", "zip"],
)
def test_what_is_no_table_of_answers(design: StudyDesign, data: bytes, says: str) -> None:
    assert says in refusal(data, design)


def test_too_long(design: StudyDesign) -> None:
    assert "more than 500000 lines" in refusal((",".join(COLUMNS) + "\n" + "\n" * 500_001 + "x\n").encode(), design)


def test_twice_is_refused(design: StudyDesign, table: bytes) -> None:
    rows = rows_of(table)
    line = next(row for row in rows if row[2] == "pair")
    assert "twice" in refusal(written([*rows, line]), design)
    with pytest.raises(BadInput, match=r"b\.csv, line 2: participant 1 answered in a\.csv already"):
        read_answers([("a.csv", table), ("b.csv", table)], design)


def test_a_rehearsal_is_no_answer(design: StudyDesign, table: bytes) -> None:
    one = written([rows_of(table)[0], *(row for row in rows_of(table)[1:] if row[1] == "1")])
    others = rehearse(design)
    with pytest.raises(BadInput, match="is a rehearsal"):
        read_answers([("a.csv", one), ("b.csv", others)], design)
    assert read_answers([("b.csv", others)], design).made_up


@given(st.binary(max_size=400), st.integers(0, 4000))
@settings(max_examples=80, deadline=None)
def test_damage_never_ends_in_anything_but_one_line(design: StudyDesign, noise: bytes, at: int) -> None:
    whole = rehearse(design)
    for data in (noise, whole[:at] + noise, whole[:at] + noise + whole[at:]):
        said = ""
        try:
            read_answers([("a.csv", data)], design)
        except BadInput as error:
            said = str(error)
        assert "\n" not in said
