"""What follows what, with and without idle, and what cues change."""

from __future__ import annotations

import numpy as np
import pytest
from tests.stage.player.conftest import performance_of, waving

from bunraku.errors import BadInput
from bunraku.stage.player.cues import Cue
from bunraku.stage.player.program import Program, Show, Take


def program(*roles: str, loops: int = 1) -> Program:
    return Program({role: Take(role, f"the {role}", np.zeros((2, 1)), None) for role in roles}, loops)


def order(made: Program, most: int = 12) -> list[str]:
    found = []
    while len(found) < most and (take := made.next()) is not None:
        found.append(take.role)
    return found


def test_without_idle_the_show_runs_through() -> None:
    assert order(program("main")) == ["main"]
    assert order(program("start", "main", "end", loops=3)) == ["start", "main", "main", "main", "end"]
    assert order(program("main", loops=0), 5) == ["main"] * 5


def test_idle_waits_for_a_cue_and_comes_back_until_someone_stops_it() -> None:
    made = program("start", "idle", "main", "end", loops=2)
    assert [made.next().role for _ in range(3)] == ["start", "idle", "idle"]  # type: ignore[union-attr]
    breaks, take = made.cue(Cue("start", "test"))
    assert breaks
    assert take is not None
    assert take.role == "main"
    assert made.cue(Cue("start", "test")) == (False, None), "main is not begun anew by a second start"
    assert [made.next().role for _ in range(3)] == ["main", "idle", "idle"]  # type: ignore[union-attr]
    breaks, take = made.cue(Cue("stop", "test"))
    assert breaks
    assert take is not None
    assert take.role == "end"
    assert made.next() is None
    assert made.cue(Cue("start", "test")) == (False, None), "after a stop nothing starts any more"


def test_cues_by_name_go_anywhere_and_unknown_names_nowhere() -> None:
    made = program("idle", "main")
    made.next()
    assert made.cue(Cue("cue", "test", "nobody")) == (False, None)
    assert made.cue(Cue("cue", "test", "the main"))[1].role == "main"  # type: ignore[union-attr]
    assert made.cue(Cue("cue", "test", "idle"))[1].role == "idle"  # type: ignore[union-attr]


def test_a_stop_without_end_performance_comes_to_rest() -> None:
    made = program("main", loops=0)
    made.next()
    assert made.cue(Cue("stop", "test")) == (True, None)
    assert made.next() is None


def test_who_ends_a_show_is_known_before() -> None:
    one = performance_of(waving())
    assert not Show(one, loops=3).unbounded
    assert Show(one, loops=0).unbounded
    assert Show(one, idle=one).unbounded
    with pytest.raises(BadInput, match="cannot be played -1 times"):
        Show(one, loops=-1)
