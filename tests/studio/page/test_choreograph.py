"""The choreograph tab without a browser: it shows numbers as they are, whatever they are and however they came."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bunraku.formats.clip_yaml import write_clip_yaml
from bunraku.motion import Clip
from bunraku.studio.page.choreograph import ChoreographTab
from bunraku.studio.session import Session
from bunraku.studio.studio import Studio


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    studio = Studio(Path(tmp_path_factory.mktemp("project")), tour=False)
    yield studio
    studio.close()


@pytest.fixture
def studio(opened: Studio) -> Iterator[Studio]:
    opened.session.do("open.example", name="walker-crawl")
    assert opened.page.settle(60.0)
    before = len(opened.session.messages.all)
    yield opened
    assert opened.page.settle(60.0)
    assert not [one.text for one in opened.session.messages.all[before:] if "could not show" in one.text]


def tab_of(studio: Studio) -> ChoreographTab:
    assert studio.page.settle(60.0)
    return next(one for one in studio.page._panels if isinstance(one, ChoreographTab))


def clip_of(studio: Studio, **changes: Any) -> bytes:
    """The gait that is open, changed, as a file."""
    clip = studio.session.document.need_clip()
    assert clip.gait is not None
    return write_clip_yaml(Clip("odd", gait=clip.gait.changed(**changes)), "odd.clip.yaml")["odd.clip.yaml"]


@pytest.mark.parametrize(
    ("field", "value", "name", "shown"),
    [
        ("duration", 80.0, "duration", 80.0),
        ("turn", 4.0, "turn", math.degrees(4.0)),
        ("swing_height", 0.0005, "height", 0.5),
    ],
)
def test_a_gait_beyond_the_usual_has_its_widgets(studio: Studio, field: str, value: float, name: str, shown: float) -> None:
    studio.session.bring("odd.clip.yaml", clip_of(studio, **{field: value}))
    handle = tab_of(studio)._goal._inputs[name]
    assert handle.value == pytest.approx(shown)
    assert handle.min <= handle.value <= handle.max


def test_a_number_beyond_the_usual_that_comes_by_an_edit_is_shown(studio: Studio) -> None:
    studio.session.do("gait.goal", turn=4.0)
    handle = tab_of(studio)._goal._inputs["turn"]
    assert handle.value == pytest.approx(math.degrees(4.0))
    assert handle.max >= handle.value


def test_a_gait_without_a_character_has_no_widgets(opened: Studio) -> None:
    session = opened.session
    session.do("open.example", name="walker-crawl")
    data = clip_of(opened)
    session.jump(0)
    assert session.document.base is None
    session.bring("first.clip.yaml", data)
    session.do("open.character", source="walker")
    assert tab_of(opened)._goal._inputs
    before = len(session.messages.all)
    session.undo()
    assert not tab_of(opened)._goal._inputs
    session.do("gait.goal", forward=0.03)
    assert opened.page.settle(60.0)
    assert [one.text for one in session.messages.all[before:]] == []


def test_time_and_length_follow_edits_and_undo(studio: Studio) -> None:
    session = studio.session
    session.do("target.add", what="com", time=0.4, place=[0.0, 0.0, None])
    session.select(target=0)
    tab = tab_of(studio)
    number = tab._target_inputs["time"]
    assert number.value == pytest.approx(0.4)
    session.do("target.move", index=0, time=0.2)
    assert studio.page.settle(60.0)
    assert tab._target_inputs["time"] is number, "what is typed into is left where it is"
    assert number.value == pytest.approx(0.2)
    assert "0.20 s" in tab._target_rows[0].content
    session.undo()
    assert studio.page.settle(60.0)
    assert number.value == pytest.approx(0.4)
    session.do("gait.set", field="duration", value=7.3)
    assert studio.page.settle(60.0)
    assert tab._title is not None
    assert "7.3 s" in tab._title.content


def test_the_first_emphasis_leaves_its_section_open(studio: Studio) -> None:
    session = studio.session
    session.do("open.example", name="one-rod")
    tab = tab_of(studio)
    folder = tab._emphasis._folder
    while session.document.need_clip().emphasis:
        session.do("emphasis.remove", index=0)
    assert studio.page.settle(60.0)
    assert tab._emphasis._folder is folder
    session.do("emphasis.add", frame=session.document.need_character().bodies[0].name, weight=2.0)
    assert studio.page.settle(60.0)
    assert tab._emphasis._folder is folder


def test_an_edit_while_the_tab_is_shown_is_shown_next(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job's edit takes the gait away between two looks at the document."""
    session = studio.session
    session.do("open.example", name="speech")
    tab = tab_of(studio)
    monkeypatch.setattr(session, "tell", lambda what: None)
    session.do("open.example", name="walker-crawl")
    look: Any = Session.previewed
    jobs: list[threading.Thread] = []

    def previewed(self: Session) -> Any:
        found = look.fget(self)
        if not jobs:
            jobs.append(threading.Thread(target=lambda: session.do("open.example", name="speech")))
            jobs[0].start()
            if not session.lock._is_owned():  # type: ignore[attr-defined]
                jobs[0].join()  # nothing keeps the edit from coming right now
        return found

    monkeypatch.setattr(Session, "previewed", property(previewed))
    tab.refresh("document")
    assert tab._going.shown
    jobs[0].join()
    tab.refresh("document")
    assert not tab._going.shown
