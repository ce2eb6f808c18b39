"""The session without a browser: edits, live solving, performing, faults. Jobs run in the real worker process."""

from __future__ import annotations

import io
import os
import signal
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from bunraku.building.components.dimensions import dimensions
from bunraku.errors import BadInput, BunrakuError
from bunraku.formats.wav import wav_bytes
from bunraku.motion import Audio, JointCurves
from bunraku.studio.jobs.state import LiveAnswer
from bunraku.studio.session import Session
from bunraku.studio.widgets.plots import motors


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    made = Session(tmp_path / "project")
    yield made
    made.close()


def until(session: Session, ready: Callable[[], bool], timeout: float = 120.0) -> None:
    """Wait for the session to say that something changed, until it is so."""
    changed = threading.Condition()

    def heard(what: str) -> None:
        with changed:
            changed.notify_all()

    stop = session.listen(heard)
    with changed:
        fine = changed.wait_for(ready, timeout)
    stop()
    assert fine, [one.text for one in session.messages.all]


def messages_of(session: Session) -> list[str]:
    """Grows with every message from now on; the same one twice counts twice."""
    heard: list[str] = []
    session.listen(lambda what: heard.append(what) if what == "message" else None)
    return heard


def test_a_performance_is_made_shown_and_found_again(session: Session) -> None:
    session.do("open.example", name="speech")
    session.make.perform()
    until(session, lambda: session.shown.motion is not None and not session.busy)
    assert session.result is not None
    assert session.result.performance.certificate.holds
    assert not session.stale
    assert session.shown.wish is not None
    assert session.transport.duration == pytest.approx(session.result.performance.duration)
    session.do("option.set", name="acceleration", value=60.0)
    assert session.stale
    assert session.result is None
    assert session.latest is not None
    session.undo()
    assert not session.stale
    assert session.result is not None
    session.make.verify()
    until(session, lambda: session.result is not None and session.result.verdict is not None and not session.busy)
    assert session.result.verdict["holds"]
    assert session.shown.replay is not None
    session.save()
    again = Session(session.project.folder)
    try:
        assert again.document == session.document
        assert not again.journal.waiting
    finally:
        again.close()


def test_a_crash_loses_nothing(tmp_path: Path) -> None:
    first = Session(tmp_path)
    first.do("open.example", name="walker-crawl")
    first.do("gait.goal", forward=0.07)
    first.do("gait.goal", forward=0.09)
    first.undo()
    lost = first.document
    first.queue.close()  # the process is gone; nothing was saved
    with (tmp_path / ".bunraku" / "journal.jsonl").open("a") as journal:
        journal.write('{"name": "gait.goal", "argum')  # cut in the middle of a line
    again = Session(tmp_path)
    try:
        assert again.document == lost
        assert again.history.at > 0
        assert again.history.can_redo
        assert any("are back" in one.text for one in again.messages.all)
        assert any("could not be followed" in one.text for one in again.messages.all)
        again.do("gait.goal", forward=0.11)
        third = Session(tmp_path)
        try:
            assert third.document == again.document
        finally:
            third.close()
    finally:
        again.close()


def test_a_gait_follows_the_hand(session: Session) -> None:
    session.do("open.example", name="swizzlebot")
    until(session, lambda: session.shown.live)
    first = session.shown.motion
    assert first is not None
    steps = len(session.history.edits)
    session.preview("gait.goal", forward=0.3)
    until(session, lambda: session.shown.motion is not first)
    assert len(session.history.edits) == steps
    session.do("gait.goal", forward=0.3)
    assert len(session.history.edits) == steps + 1
    until(session, lambda: session.shown.motion is not None and abs(float(session.shown.motion.com[-1, 0]) - 0.3) < 0.03)
    moved = session.shown.motion
    session.undo()
    until(session, lambda: session.shown.motion is not moved and session.shown.motion is not None)
    assert session.document.clip is not None
    until(
        session,
        lambda: session.shown.motion is not None and np.allclose(session.shown.motion.com[-1, 0], first.com[-1, 0], atol=0.02),
    )


def test_a_performance_and_the_timeline_have_one_length(session: Session) -> None:
    session.do("open.example", name="swizzlebot")
    until(session, lambda: session.shown.live)
    cycle = session.transport.duration
    assert session.timed is None
    session.make.perform()
    until(session, lambda: session.shown.motion is not None and not session.shown.live and not session.busy)
    assert session.result is not None
    made = session.result.performance
    assert made.duration == pytest.approx(3.0 * cycle)
    once = JointCurves(made.motion.names, made.rate, made.motion.values[: round(cycle * made.rate) + 1])
    session.following.answered(LiveAnswer("open", "drag", mark=session.document.key, curves=once, ok=True))  # it comes late
    assert session.timed is session.result
    assert session.shown.motion is not None
    lengths = [session.transport.duration, session.shown.motion.duration, float(motors(made).x[-1])]
    assert lengths == pytest.approx([made.duration] * 3)
    session.preview("gait.goal", forward=0.3)
    until(session, lambda: session.shown.live)
    assert session.transport.duration == pytest.approx(cycle)
    assert session.timed is None, "plots of three cycles beside a timeline of one"
    session.drop_preview()
    until(session, lambda: session.timed is not None)
    assert session.transport.duration == pytest.approx(made.duration)


def test_a_killed_solver_is_said_and_the_next_run_works(session: Session) -> None:
    session.do("open.example", name="speech")
    session.make.perform()
    until(session, lambda: session.queue.jobs.worker_pid is not None)
    pid = session.queue.jobs.worker_pid
    assert pid is not None
    before = session.document
    os.kill(pid, signal.SIGKILL)
    until(session, lambda: session.job is not None and session.job.status == "lost")
    assert session.document is before
    assert any(one.kind == "error" for one in session.messages.all)
    session.make.perform()
    until(session, lambda: session.result is not None and not session.busy)
    assert session.queue.jobs.worker_pid != pid


def test_a_full_disk_loses_no_edit(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.do("open.example", name="walker-crawl")
    session.save()
    saved = {path: path.read_bytes() for path in session.project.folder.rglob("*") if path.is_file()}

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    heard = messages_of(session)
    session.do("gait.goal", forward=0.08)
    assert heard, "a message that nobody is told of is no notification"
    assert session.document.clip is not None
    assert session.document.clip.gait is not None
    assert session.document.clip.gait.distance == (0.08, 0.0)
    assert any("autosave does not work" in one.text for one in session.messages.all)
    with pytest.raises(BadInput, match="No space left"):
        session.save()
    assert session.dirty
    for path, data in saved.items():
        if path.exists() and path.name != "journal.jsonl":
            assert path.read_bytes() == data
    monkeypatch.undo()
    session.save()
    assert not session.dirty
    again = Session(session.project.folder)
    assert again.document == session.document
    again.close()


def test_cancel_keeps_the_best_so_far(session: Session) -> None:
    session.do("open.example", name="marionette")
    session.make.perform()
    until(session, lambda: session.job is not None and session.job.verb == "perform" and len(session.job.history) > 2)
    session.cancel()
    until(session, lambda: session.run is not None and not session.run.running)  # the newest job draws what was found already
    assert session.run is not None
    assert session.run.status == "cancelled"
    until(session, lambda: session.result is not None)
    assert session.result is not None
    assert session.result.performance.certificate.status.value == "cancelled"


def test_files_of_ones_own(session: Session) -> None:
    character = Path(str(__import__("bunraku").__file__)).parent / "assets" / "characters" / "walker.character.yaml"
    session.bring("my robot.character.yaml", character.read_bytes())
    assert session.document.base is not None
    assert session.document.base.name == "walker"
    clip = Path(str(__import__("bunraku").__file__)).parent / "assets" / "clips" / "crawl.clip.yaml"
    session.bring("crawl.clip.yaml", clip.read_bytes())
    assert session.document.clip is not None
    session.save()
    with pytest.raises(BadInput):
        session.bring("broken.character.yaml", b"bunraku: character/1\nname: 5\n")
    assert session.document.base.name == "walker"


def test_what_is_missing_is_said(session: Session) -> None:
    with pytest.raises(BadInput, match="no character"):
        session.make.perform()
    with pytest.raises(BadInput, match="no performance"):
        session.make.verify()
    with pytest.raises(BadInput, match="by hand"):
        session.make.improve()


def test_a_design_improves_by_itself_in_one_edit(session: Session) -> None:
    session.do("open.example", name="tilted-car")
    session.do("design.mode", mode="automatic")
    session.do("design.free", names=["F.tip z", "H.tip z"])
    steps = len(session.history.edits)
    session.make.improve()
    until(session, lambda: len(session.history.edits) > steps)
    assert session.history.edits[-1].name == "dimension.several"
    assert set(session.document.dimensions) <= {"F.tip z", "H.tip z"}
    assert session.run is not None
    assert session.run.result["energy_after"] < session.run.result["energy_before"]
    session.undo()
    assert not session.document.dimensions


def test_other_dimensions_follow_each_drag_while_features_are_kept(session: Session) -> None:
    session.do("open.example", name="tilted-car")
    session.do("design.mode", mode="semi-automatic")
    session.do("design.kept", feature="feet+com")
    assert session.document.base is not None
    design = dimensions(session.document.base)
    k = design.index("F.tip z")
    start, high = float(design.initial[k]), float(design.upper[k])
    for share in (0.1, 0.2):
        value = start + share * (high - start)
        steps = len(session.history.edits)
        session.do("dimension.set", name="F.tip z", value=value)
        until(session, lambda steps=steps: len(session.history.edits) > steps + 1 and not session.busy)  # type: ignore[misc]
        assert session.history.edits[-1].name == "dimension.several"
        assert session.document.dimensions["F.tip z"] == pytest.approx(value)
        assert len(session.document.dimensions) > 1
        assert session.run is not None
        assert session.run.result["kept"] == "feet+com"
        assert session.run.result["drift"] < 1e-4
    session.undo()
    assert session.history.edits[session.history.at - 1].name == "dimension.set"
    assert not session.busy, "a step back is left as it was"


def test_what_the_live_solver_refuses_is_not_shown_as_done(session: Session) -> None:
    session.do("open.example", name="tilted-car")
    until(session, lambda: session.shown.key == session.document.key)
    rolls, heard = session.shown.key, messages_of(session)
    session.do("gait.set", field="pattern", value="crawl")
    until(session, lambda: len(heard) == 1)
    session.do("gait.goal", forward=0.05)
    until(session, lambda: len(heard) == 2 or session.shown.key == session.document.key)
    assert session.shown.key == rolls
    assert session.stale
    session.do("gait.set", field="pattern", value="roll")
    until(session, lambda: session.shown.key == session.document.key)
    assert session.shown.motion is not None
    assert session.shown.motion.com[-1, 0] - session.shown.motion.com[0, 0] == pytest.approx(0.05, abs=0.01)


def test_what_waited_behind_a_refusal_is_asked_again(session: Session) -> None:
    session.do("open.example", name="tilted-car")
    until(session, lambda: session.shown.key == session.document.key)
    rolls, heard = session.shown.key, messages_of(session)
    session.do("gait.set", field="pattern", value="crawl")
    session.do("gait.goal", forward=0.05)  # before the refusal is heard
    until(session, lambda: len(heard) == 2 or session.shown.key == session.document.key)
    assert session.shown.key == rolls
    assert session.stale


def test_the_old_motion_is_out_of_date_until_an_edit_is_solved(session: Session) -> None:
    session.do("open.example", name="tilted-car")
    until(session, lambda: session.shown.key == session.document.key)
    assert session.shown.live
    assert not session.stale
    solver = session.queue.jobs.live_pid
    assert solver is not None
    os.kill(solver, signal.SIGSTOP)
    try:
        session.preview("gait.goal", forward=0.05)
        assert not session.stale  # it follows the hand
        session.do("gait.goal", forward=0.05)
        assert session.stale
    finally:
        os.kill(solver, signal.SIGCONT)
    until(session, lambda: session.shown.key == session.document.key)
    assert not session.stale


def test_a_captured_motion_is_retargeted_though_a_joint_was_muted(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(session.queue, "ask", lambda verb, arguments, then: asked.append(str(arguments.get("clip"))))
    session.do("open.example", name="speech")
    session.do("joint.mute", joint="RElbowRoll")
    session.do("open.clip", source="hello-everybody")
    assert session.document.muted == ("RElbowRoll",)  # its curve is there, and can be unmuted
    capture = Path(str(__import__("bunraku").__file__)).parent / "assets" / "clips" / "chicken-dance.bvh"
    session.bring("dance.bvh", capture.read_bytes())
    assert session.document.muted == ()
    session.make.retarget()
    assert asked[-1] == str(session.project.path(session.document.sources["clip"]).resolve())


def test_a_clip_of_sound_alone_has_its_own_length(session: Session) -> None:
    session.do("open.example", name="speech")
    assert session.transport.duration == pytest.approx(session.document.need_clip().duration)
    tone = wav_bytes(Audio(0.1 * np.sin(np.arange(8000)), 4000))
    session.do("open.example", name="walker-crawl")
    session.bring("tone.wav", tone)
    assert session.document.need_clip().tracks == ("audio",)
    assert session.transport.duration == pytest.approx(2.0)


def zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("broken.character.yaml", b"bunraku: character/1\nname: 5\n"),
        ("broken.bvh", b"HIERARCHY nonsense"),
        ("notes.zip", zipped({"deep/down/notes.csv": b"no numbers", "deep/other.stl": b"solid nothing"})),
        ("evil.zip", zipped({"a.csv": b"time,a\n0,0\n", "../b.csv": b"x"})),
        ("what.npz", b"PK"),
    ],
)
def test_what_is_refused_leaves_no_file(session: Session, name: str, data: bytes) -> None:
    before = set(session.project.folder.rglob("*"))
    document = session.document
    with pytest.raises(BunrakuError):
        session.bring(name, data)
    assert session.document is document
    assert {path for path in set(session.project.folder.rglob("*")) - before if "files" in path.parts} == set()


def test_what_was_brought_before_stays_when_it_is_refused_later(session: Session) -> None:
    """The same bytes under a name that tells another kind: what the document has from them is not taken away."""
    data = b"bunraku: clip/1\nname: mine\nwords: [{text: hello, start_s: 0.1, end_s: 0.5}]\n"
    session.bring("mine.clip.yaml", data)
    source = session.document.sources["clip"]
    with pytest.raises(BunrakuError):
        session.bring("mine.character.npz", data)
    assert session.project.path(source).read_bytes() == data
    assert [path.name for path in session.project.path(source).parent.iterdir()] == ["mine.clip.yaml"]
