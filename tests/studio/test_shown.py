"""The scene shows the character that is open: nothing of the one before stays, and nothing of it comes late."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bunraku.stage.figure.motion import DrawnMotion, drawn_pose
from bunraku.studio.results import ShownMotion
from bunraku.studio.session import Session


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """With a speech that was performed, as it is shown."""
    made = Session(tmp_path / "project")
    made.do("open.example", name="speech")
    pose = drawn_pose(made.document.need_character())
    made.shown = ShownMotion(made.document.key, pose, pose, pose, pose)
    yield made
    made.close()


def until(session: Session, ready: Callable[[], bool], timeout: float = 120.0) -> None:
    changed = threading.Condition()

    def heard(what: str) -> None:
        with changed:
            changed.notify_all()

    stop = session.listen(heard)
    with changed:
        fine = changed.wait_for(ready, timeout)
    stop()
    assert fine, [one.text for one in session.messages.all]


def drawn(session: Session) -> set[str]:
    """The names of all characters in the scene."""
    shown = session.shown
    layers: list[DrawnMotion | None] = [shown.motion, shown.wish, shown.before, shown.replay]
    return {one.figure.character.name for one in layers if one is not None}


def test_a_show_takes_the_speaker_off_the_stage(session: Session) -> None:
    session.do("open.example", name="marionette-show")
    assert drawn(session) == set()
    assert not session.stale


def test_a_rod_whose_wish_is_drawn_by_a_job_is_alone(session: Session) -> None:
    session.do("open.example", name="one-rod")
    assert drawn(session) == set()
    until(session, lambda: session.shown.wish is not None)
    assert drawn(session) == {session.document.need_character().name}
    assert session.shown.motion is None


def test_a_gait_that_is_solved_has_no_speaker_beside_it(session: Session) -> None:
    session.do("open.example", name="tilted-car")
    assert drawn(session) == set()
    until(session, lambda: session.shown.live)
    assert drawn(session) == {session.document.need_character().name}
    assert session.shown.before is None


def test_without_a_character_nothing_is_shown(session: Session) -> None:
    session.undo()
    assert drawn(session) == set()


def test_the_wish_of_curves_goes_with_them(session: Session) -> None:
    session.do("open.clip", source="crawl")
    assert session.shown.wish is None
    assert session.stale  # the motion is that of the clip before


def test_another_length_is_no_other_character(session: Session) -> None:
    moved = session.shown.motion
    session.do("option.set", name="acceleration", value=60.0)
    assert session.shown.motion is moved
    assert session.stale
