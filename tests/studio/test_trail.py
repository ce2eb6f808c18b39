"""A crash at any moment: what the journal leads to, from what was saved, is the document that was being edited."""

from __future__ import annotations

import json
import os
import random
from importlib.resources import files
from pathlib import Path

import pytest

from bunraku.errors import BadInput
from bunraku.studio import history as history_module
from bunraku.studio.document import EMPTY
from bunraku.studio.edits.registry import Edit, apply
from bunraku.studio.history import History
from bunraku.studio.journal import Journal
from bunraku.studio.project import Project
from bunraku.studio.session import Session
from bunraku.studio.trail import Trail, read_copy


class Worked:
    """A history with its trail, as a session keeps them, of a project without a character."""

    def __init__(self, folder: Path) -> None:
        self.project, self.journal = Project(folder), Journal(folder / ".bunraku" / "journal.jsonl")
        if not (folder / "project.yaml").exists():
            self.project.save(EMPTY.changed(performer="speech"))
        self.history = self.recovered()
        self.trail = Trail(self.journal, self.history)

    def recovered(self) -> History:
        found = self.journal.replay(self.project.load(), self.project.folder)
        assert not found.trouble
        return found.history

    def do(self, value: float) -> None:
        one = Edit("option.set", {"name": "acceleration", "value": 20.0 + value})
        before, self.history = self.history, self.history.done(one, apply(self.history.document, one))
        self.note(lambda: self.trail.did(one.text, before, self.history))

    def jump(self, at: int) -> None:
        self.history = self.history.jumped(at)
        self.note(lambda: self.trail.stepped(self.history))

    def save(self) -> None:
        self.project.save(self.history.document)
        self.trail.saved(self.history)

    def note(self, write: object) -> None:
        write()  # type: ignore[operator]


def act(worked: Worked, rng: random.Random, count: int) -> None:
    """A few random steps; jumps reach everywhere."""
    for _ in range(count):
        kind = rng.choice(["do", "do", "do", "undo", "undo", "redo", "jump", "save"])
        if kind == "do":
            worked.do(rng.random())
        elif kind == "save":
            worked.save()
        else:
            at, top = worked.history.at, len(worked.history.edits)
            worked.jump({"undo": max(0, at - 1), "redo": min(top, at + 1), "jump": rng.randint(0, top)}[kind])


@pytest.mark.parametrize("seed", range(12))
def test_a_replay_arrives_at_the_document_whatever_was_done(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_module, "MOST", 6)
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    rng = random.Random(seed)
    worked = Worked(tmp_path)
    for _ in range(8):
        act(worked, rng, rng.randint(1, 9))
        assert worked.recovered().document == worked.history.document
        if rng.random() < 0.3:  # a crash: another session goes on from what was recovered
            worked = Worked(tmp_path)


@pytest.mark.parametrize("back", [1, 2, 3])
def test_jumps_are_right_after_steps_from_before_saving_were_dropped(
    tmp_path: Path, back: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_module, "MOST", 6)
    worked = Worked(tmp_path)
    for k in range(3):
        worked.do(float(k))
    worked.save()
    for k in range(3, 3 + 6):
        worked.do(float(k))
    assert worked.history.dropped == 3
    worked.jump(worked.history.at - back)
    assert worked.recovered().document == worked.history.document
    assert not list((tmp_path / ".bunraku").glob("copy-*")), "the journal reaches it"


@pytest.mark.parametrize("seed", range(6))
def test_after_a_disk_that_refused_some_lines_the_journal_is_whole_again(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    worked = Worked(tmp_path)
    full = False

    def fsync(handle: int) -> None:
        if full:
            raise OSError(28, "No space left on device")

    def note(write: object) -> None:
        try:
            write()  # type: ignore[operator]
        except BadInput:
            assert full

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(worked, "note", note)
    for k in range(40):
        full = rng.random() < 0.4
        if rng.random() < 0.6:
            worked.do(float(k))
        else:
            worked.jump(rng.randint(0, len(worked.history.edits)))
        if not full:
            assert worked.recovered().document == worked.history.document
    assert len([one for one in (tmp_path / ".bunraku").iterdir() if one.is_dir()]) <= 1


def test_undo_behind_what_was_saved_survives_a_crash(tmp_path: Path) -> None:
    first = Session(tmp_path)
    first.do("open.example", name="walker-crawl")
    first.do("gait.goal", forward=0.07)
    first.do("gait.goal", forward=0.09)
    first.save()
    first.undo()
    first.queue.jobs.close()  # the process is gone
    again = Session(tmp_path)
    try:
        assert again.document.need_clip().gait.distance == (0.07, 0.0)
        assert again.document == first.document
        assert again.dirty
        again.do("gait.goal", turn=0.1)
        again.undo()
        again.save()
        assert not any(one.name.startswith("copy-") for one in (tmp_path / ".bunraku").iterdir())
    finally:
        again.close()
    assert Project(tmp_path).load().key == first.document.key


@pytest.mark.parametrize(
    "line",
    [
        "=",
        "={}",
        '={"folder": "copy-0123456789abcdef", "sources": {}}',
        '={"folder": "../../elsewhere", "sources": {}}',
        '={"folder": ["copy"], "sources": {}}',
        '={"folder": "copy-aaaaaaaaaaaaaaaa", "sources": {"character": 5}}',
        "=" + "[" * 100_000,
    ],
)
def test_a_line_that_names_no_copy_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "copy-aaaaaaaaaaaaaaaa").mkdir()
    with pytest.raises(BadInput, match="no copy"):
        read_copy(line, tmp_path, tmp_path)
    assert read_copy('={"folder": "copy-aaaaaaaaaaaaaaaa", "sources": {}}', tmp_path, tmp_path) == EMPTY


@pytest.mark.parametrize("source", ["../out.clip.yaml", "/etc/passwd", "link.clip.yaml"])
def test_a_copy_reads_nothing_outside_of_the_project(tmp_path: Path, source: str) -> None:
    own = tmp_path / "project" / ".bunraku"
    (own / "copy-aaaaaaaaaaaaaaaa").mkdir(parents=True)
    (tmp_path / "out.clip.yaml").write_text("bunraku: clip/1\nname: out\n")
    (own.parent / "link.clip.yaml").symlink_to(tmp_path / "out.clip.yaml")
    line = "=" + json.dumps({"folder": "copy-aaaaaaaaaaaaaaaa", "sources": {"clip": source}})
    with pytest.raises(BadInput):
        read_copy(line, own, own.parent)


def test_a_copy_with_a_recipe_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "copy-aaaaaaaaaaaaaaaa").mkdir()
    (tmp_path / "copy-aaaaaaaaaaaaaaaa" / "project.yaml").write_text(
        "bunraku: project/1\nrecipe: {source: a.obj, template: dragon}\n"
    )
    with pytest.raises(BadInput, match="dragon"):
        read_copy('={"folder": "copy-aaaaaaaaaaaaaaaa", "sources": {}}', tmp_path, tmp_path)


def test_undo_to_a_captured_motion_behind_what_was_saved_survives_a_crash(tmp_path: Path) -> None:
    """A captured skeleton cannot be written as a clip; it lies in the project, and the copy only names it."""
    first = Session(tmp_path)
    first.do("open.character", source="nao")
    first.bring("chicken.bvh", (files("bunraku.assets") / "clips" / "chicken-dance.bvh").read_bytes())
    assert first.document.need_clip().skeleton is not None
    first.do("open.clip", source="no-problem")
    first.save()
    first.undo()
    first.do("joint.mute", joint="HeadYaw")
    first.queue.jobs.close()  # the process is gone
    assert not [one.text for one in first.messages.all if one.kind == "error"]
    again = Session(tmp_path)
    try:
        assert again.document == first.document
        assert again.document.need_clip().skeleton is not None
        assert not [one.text for one in again.messages.all if one.kind == "warning"]
        [copy] = (tmp_path / ".bunraku").glob("copy-*")
        assert [path.name for path in copy.iterdir()] == ["project.yaml"]
    finally:
        again.close()
        first.close()
