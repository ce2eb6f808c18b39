"""One's own voice joins a motion; phrases are added, renamed, removed: undone exactly, saved with every bit, back after a crash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bunraku.editing.marks import added
from bunraku.errors import BadInput
from bunraku.formats.wav import wav_bytes
from bunraku.motion import Audio, Mark
from bunraku.studio.session import Session

RATE = 8000.0


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(tmp_path / "project")
    made.do("open.example", name="speech")
    yield made
    made.close()


def voice(pitch: float = 220.0) -> bytes:
    return wav_bytes(Audio(0.5 * np.sin(2.0 * np.pi * pitch * np.arange(int(1.5 * RATE)) / RATE), RATE))


def again(session: Session) -> Session:
    session.close()
    return Session(session.project.folder)


def test_a_sound_joins_the_motion_that_is_open(session: Session) -> None:
    before = session.document
    old = before.need_clip()
    session.bring("mine.wav", voice())
    clip = session.document.need_clip()
    assert clip.audio is not None
    assert clip.audio.duration == pytest.approx(1.5)
    assert clip.joints == old.joints
    assert (clip.words, clip.phrases) == ((), ()), "they were those of the voice before"
    assert any("now the voice of" in one.text for one in session.messages.all)
    session.undo()
    assert session.document is before
    session.redo()
    session.do("audio.set", source="")
    assert session.document.need_clip().audio is None


def test_a_sound_without_a_motion_is_a_clip_of_its_own(session: Session) -> None:
    session.do("open.example", name="walker-crawl")
    session.bring("mine.wav", voice())
    assert session.document.need_clip().tracks == ("audio",)
    assert any("clip of its own" in one.text for one in session.messages.all)


def test_what_is_no_sound_is_refused(session: Session) -> None:
    with pytest.raises(BadInput, match="holds no sound"):
        session.do("audio.set", source="crawl")


def test_voices_and_phrases_are_back_after_crashes_and_saves(session: Session) -> None:
    session.bring("mine.wav", voice())
    session.do("phrase.add", text="one", start=0.2, end=0.6)
    session.do("phrase.add", text="one more", start=0.6, end=0.9)
    crashed = again(session)
    assert crashed.document == session.document
    crashed.save()
    crashed.bring("other.wav", voice(330.0))
    crashed.save()
    assert not crashed.document.need_clip().phrases
    crashed.do("phrase.add", text="another", start=0.1, end=0.4)
    crashed.do("phrase.rename", index=0, text="first")
    crashed.save()
    crashed.do("phrase.remove", index=0)
    crashed.do("audio.set", source="")
    crashed.undo()
    opened = again(crashed)
    try:
        assert opened.document == crashed.document
        assert not [one.text for one in opened.messages.all if "could not be followed" in one.text]
        heard = opened.document.need_clip().audio
        assert heard is not None
        spectrum = np.abs(np.fft.rfft(heard.samples))
        assert np.argmax(spectrum) / heard.duration == pytest.approx(330.0, abs=1.0)
        opened.jump(0)
        back = again(opened)
        assert back.document == opened.document
        back.close()
    finally:
        opened.close()


def test_phrases_stand_in_order_and_beside_each_other() -> None:
    marks = (Mark("a", 0.0, 1.0), Mark("c", 2.0, 3.0))
    made = added(marks, "  b\n b ", 1.2, 5.0, 4.0)
    assert [(one.text, one.start, one.end) for one in made] == [("a", 0.0, 1.0), ("b b", 1.2, 2.0), ("c", 2.0, 3.0)]
    assert added(marks, "d", 3.5, 9.0, 4.0)[-1].end == 4.0
    for start, match in ((0.5, "there is 'a' already"), (1.98, "no room"), (float("nan"), "starts at 0 s")):
        with pytest.raises(BadInput, match=match):
            added(marks, "x", start, start + 1.0, 4.0)
    with pytest.raises(BadInput, match="0 characters"):
        added(marks, " ", 1.2, 1.5, 4.0)


def test_marks_that_are_not_there_are_refused_in_one_line(session: Session) -> None:
    for edit, arguments in (("phrase.remove", {}), ("phrase.rename", {"text": "x"})):
        with pytest.raises(BadInput, match="mark 99 of"):
            session.do(edit, index=99, **arguments)
    with pytest.raises(BadInput, match="a phrase or a word can"):
        session.do("phrase.remove", index=0, track="noise")
