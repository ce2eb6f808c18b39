"""Words and phrases in the voice's picture: a click picks the one that was clicked, borders of both can be dragged."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bunraku.formats.wav import wav_bytes
from bunraku.motion import Audio
from bunraku.performers.performer import make_performer
from bunraku.studio.page.choreograph import WIDTH, ChoreographTab
from bunraku.studio.page.timeline import Timeline
from bunraku.studio.results import Result
from bunraku.studio.studio import Studio
from bunraku.studio.widgets.scale import time_scale


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    studio = Studio(Path(tmp_path_factory.mktemp("project")), tour=False)
    studio.session.do("open.example", name="speech")
    yield studio
    studio.close()


def send(studio: Studio, name: str, **fields: Any) -> str:
    """An event of the page; the picture after it."""
    studio.server._events.put(name, {key: str(value) for key, value in fields.items()})
    assert studio.server.wait_idle(60.0)
    assert studio.page.settle(60.0)
    tab = next(one for one in studio.page._panels if isinstance(one, ChoreographTab))
    assert tab._voice.picture is not None
    return tab._voice.picture.content


@pytest.mark.parametrize("track", ["phrase", "word"])
def test_a_click_picks_the_mark_that_was_clicked(studio: Studio, track: str) -> None:
    picture = send(studio, "phrase.select", track=track, index=1)
    chosen = re.findall(
        r'<g data-click="phrase.select" data-track="(\w+)" data-index="(\d+)"[^>]*><title>[^<]*</title><rect [^>]*0\.55', picture
    )
    assert chosen == [(track, "1")]


@pytest.mark.parametrize("track", ["phrase", "word"])
def test_the_border_of_a_mark_is_dragged(studio: Studio, track: str) -> None:
    session = studio.session

    def end() -> float:
        clip = session.document.need_clip()
        return float((clip.phrases if track == "phrase" else clip.words)[-1].end)

    old, steps = end(), session.history.at
    scale = time_scale(WIDTH, session.document.need_clip().duration)
    count = len(session.document.need_clip().phrases if track == "phrase" else session.document.need_clip().words)
    for phase, time in (("start", old), ("move", old - 0.1), ("end", old - 0.1)):
        send(studio, "phrase.border", phase=phase, x=scale.x(time), y=5.0, track=track, index=count - 1, end="end")
    assert session.history.at == steps + 1
    assert end() == pytest.approx(old - 0.1, abs=0.01)


def key_by_key(studio: Studio, handle: Any, text: str) -> None:
    """A browser tells what stands in a field after a key."""
    handle._impl.value = text
    for act in handle._impl.update_cb:
        asyncio.run(act(SimpleNamespace(client=SimpleNamespace(), target=handle)))
    assert studio.page.settle(60.0)


def press(studio: Studio, label: str) -> None:
    """A button of the page."""
    handles = studio.server.viser.gui._gui_input_handle_from_uuid.values()
    handle: Any = next(one for one in handles if getattr(one, "label", "") == label)
    for act in handle._impl.update_cb:
        asyncio.run(act(SimpleNamespace(client=None, target=handle)))
    assert studio.page.settle(60.0)


def test_a_phrase_is_added_renamed_and_removed(studio: Studio) -> None:
    session = studio.session
    tab = next(one for one in studio.page._panels if isinstance(one, ChoreographTab))
    before = session.document.need_clip().phrases
    session.transport.scrub(before[-1].end)
    press(studio, "Add a phrase at this time")
    added = session.document.need_clip().phrases
    assert added[:-1] == before
    assert added[-1].start == pytest.approx(before[-1].end)
    assert tab._voice._mark == ("phrase", len(before))
    assert tab._voice._text.value == "phrase"
    steps = session.history.at
    for text in ("g", "good", "good ", "good night"):
        key_by_key(studio, tab._voice._text, text)
        assert tab._voice._text.value == text, "what is being typed is not overwritten"
    send(studio, "phrase.select", track="phrase", index=0)  # another is chosen before the typing rests
    studio.page.ui.hand.finish()
    assert session.document.need_clip().phrases[-1].text == "good night"
    assert session.document.need_clip().phrases[0] == before[0]
    assert session.history.at == steps + 1, "one step, not one for every key"
    send(studio, "phrase.select", track="phrase", index=len(before))
    assert tab._voice._text.value == "good night"
    press(studio, "Remove this phrase")
    assert session.document.need_clip().phrases == before
    assert tab._voice._mark is None


def test_what_was_performed_is_drawn_beside_the_voice(studio: Studio) -> None:
    session = studio.session
    tab = next(one for one in studio.page._panels if isinstance(one, ChoreographTab))
    document = session.document
    tab.refresh("document")
    assert tab._voice.picture is not None
    assert "performed" not in tab._voice.picture.content
    done = make_performer(document.performer).perform(document.need_character(), document.need_clip())
    session.results[document.key] = Result(document.key, Path("none"), done, {})
    tab.refresh("result")
    assert "performed" in tab._voice.picture.content


def test_the_timeline_sounds_as_what_is_open_does(studio: Studio) -> None:
    session = studio.session
    line = next(one for one in studio.page._panels if isinstance(one, Timeline))
    old = session.document.need_clip().audio
    done = make_performer(session.document.performer).perform(session.document.need_character(), session.document.need_clip())
    session.results[session.document.key] = Result(session.document.key, Path("none"), done, {})
    session.shown = replace(session.shown, key=session.document.key)
    assert old is not None
    assert line._sound().duration == pytest.approx(old.duration)
    session.bring("tone.wav", wav_bytes(Audio(0.1 * np.sin(np.arange(8000)), 4000)))
    assert line._sound() is session.document.need_clip().audio
    session.undo()
    assert line._sound().duration == pytest.approx(old.duration)
