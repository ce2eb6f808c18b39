"""A project that is opened again shows what was made; a show that was timed can be performed."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from bunraku.formats.registry import read_character, read_clip, write_clip, write_performance
from bunraku.motion import Audio, Clip, JointCurves
from bunraku.performers.performer import make_performer
from bunraku.studio.document import EMPTY
from bunraku.studio.edits.registry import Edit, apply
from bunraku.studio.making import Making
from bunraku.studio.session import Session


def test_a_project_opened_again_shows_the_performance_that_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(Making, "draw", lambda self, found: drawn.append(found.key))
    clip = Clip("nod", joints=JointCurves(("HeadPitch",), 50.0, 0.2 * np.sin(np.arange(0.0, 2.0, 0.1))[:, None]))
    write_clip(tmp_path / "nod.clip.yaml", clip)
    first = Session(tmp_path)
    first.do("open.character", source="nao")
    first.do("open.clip", source="nod.clip.yaml")
    document = first.document
    made = make_performer("speech", {}).perform(read_character("nao"), read_clip(tmp_path / "nod.clip.yaml"))
    write_performance(first.project.result_path(document.key, "nao", "nod"), made)
    first.save()
    first.close()
    again = Session(tmp_path)
    assert again.result is None
    again.show()
    assert drawn == [document.key]
    assert again.result is not None
    assert again.result.performance.clip_name == "nod"
    again.close()


def test_a_timing_that_is_taken_over_brings_the_curves_of_the_show(tmp_path: Path) -> None:
    show = apply(EMPTY, Edit("open.example", {"name": "marionette-show"}))
    modes = show.need_clip().modes
    assert modes is not None
    times = [mode.start + 0.05 for mode in modes.modes[1:]]
    joints = JointCurves(("base.ry",), 50.0, np.linspace(0.0, 0.1, 51)[:, None])
    timed = show.need_clip().changed(modes=modes.switched_at(tuple(times)), joints=joints)
    write_clip(tmp_path / "timed.clip.yaml", timed)
    bare = apply(show, Edit("mode.times", {"times": times}), folder=tmp_path)
    assert bare.need_clip().joints is None
    whole = apply(show, Edit("mode.times", {"times": times, "source": "timed.clip.yaml"}), folder=tmp_path).need_clip()
    assert whole.modes is not None
    assert [mode.start for mode in whole.modes.modes[1:]] == pytest.approx(times)
    assert whole.joints is not None
    np.testing.assert_allclose(whole.joints.column("base.ry"), joints.column("base.ry"), atol=1e-9)
    border = apply(show.changed(clip=whole), Edit("mode.border", {"mode": 1, "time": times[0] + 0.1})).need_clip()
    assert border.joints is None  # the curves were those of another timing


def voiced(folder: Path, kind: str) -> Session:
    """A session with a clip that speaks: built in, or with a voice in a file of another name, of two channels or 24 bits."""
    session = Session(folder)
    if kind == "built in":
        session.do("open.example", name="speech")
        return session
    curves = JointCurves(("HeadPitch",), 50.0, 0.2 * np.sin(np.arange(0.0, 2.0, 0.02))[:, None])
    write_clip(folder / "talk.clip.yaml", Clip("talk", joints=curves, audio=Audio(np.zeros(8), 8000.0)))
    (folder / "talk.wav").unlink()
    text = (folder / "talk.clip.yaml").read_text()
    (folder / "talk.clip.yaml").write_text(text.replace("talk.wav", "recorded.wav"))
    with wave.open(str(folder / "recorded.wav"), "wb") as voice:
        voice.setnchannels(2 if kind == "stereo" else 1)
        voice.setsampwidth(3 if kind == "24 bits" else 2)
        voice.setframerate(8000)
        voice.writeframes(np.random.default_rng(7).bytes(12 * 800))
    session.do("open.character", source="nao")
    session.do("open.clip", source="talk.clip.yaml")
    return session


@pytest.mark.parametrize("kind", ["built in", "another name", "stereo", "24 bits"])
def test_unsaved_steps_of_a_clip_with_a_voice_come_back_after_every_save(tmp_path: Path, kind: str) -> None:
    session = voiced(tmp_path, kind)
    clip = session.document.need_clip()
    assert clip.joints is not None
    joint = clip.joints.names[0]
    for saves in range(3):
        session.do("keys.move", joint=joint, key=1, time=0.5, value=0.01 * saves)
        key = session.document.key
        session.save()
        assert session.document.key == key, "a performance that was made before would not be found"
        assert not session.dirty
        session.do("keys.move", joint=joint, key=1, time=0.5, value=0.1)
        session.do("keys.move", joint=joint, key=1, time=0.5, value=0.11)
        session.queue.jobs.close()  # the process is gone
        again = Session(tmp_path)
        assert [one.text for one in again.messages.all] == ["2 steps that were not saved are back"]
        assert again.document == session.document
        assert again.document.key == session.document.key
        np.testing.assert_array_equal(again.document.need_clip().audio.samples, clip.audio.samples)
        session.close()
        session = again
    session.close()


@pytest.mark.parametrize("steps", [1, 2])
def test_steps_that_begin_elsewhere_are_said_and_kept(tmp_path: Path, steps: int) -> None:
    first = Session(tmp_path)
    first.do("open.example", name="walker-crawl")
    first.save()
    for k in range(steps):
        first.do("gait.goal", forward=0.08 + 0.01 * k)
    first.close()
    path = tmp_path / "project.yaml"
    path.write_text(path.read_text() + "mirror: false\n")  # by hand
    again = Session(tmp_path)
    again.close()
    assert not again.document.mirror
    [said] = [one for one in again.messages.all if one.kind == "warning"]
    assert ("its step begins" if steps == 1 else "its 2 steps begin") in said.text
    assert "journal.lost" in said.text
    lost = (tmp_path / ".bunraku" / "journal.lost").read_text()
    assert lost.count("gait.goal") == steps
