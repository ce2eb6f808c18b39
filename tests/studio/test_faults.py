"""Faults without a browser: busy ports, folders that vanish, damaged and hostile files, two studios, solvers that do not start."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from bunraku.errors import BadInput
from bunraku.studio.jobs import process
from bunraku.studio.lock import ProjectLock
from bunraku.studio.session import Session
from bunraku.studio.skinning import Skinning
from bunraku.system.processes import alive, birth

WALK = {"name": "walker-crawl"}


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


def told(session: Session, kind: str) -> list[str]:
    return [one.text for one in session.messages.all if one.kind == kind]


def own_files(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.name.startswith(("jobs-", "lock"))}


# -- the port --


def test_a_busy_port_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    from bunraku.studio.studio import Studio

    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(BadInput, match=f"port {port} is in use") as caught:
            Studio(tmp_path, port=port, tour=False)
    assert "\n" not in str(caught.value)
    assert own_files(tmp_path) == set()
    studio = Studio(tmp_path, port=port, tour=False)
    studio.close()
    assert own_files(tmp_path) == set()


# -- the folder --


def test_a_folder_removed_while_running_loses_no_edit(session: Session) -> None:
    session.do("open.example", **WALK)
    session.save()
    shutil.rmtree(session.project.folder)
    session.do("gait.goal", forward=0.08)
    assert not told(session, "error")
    session.save()
    session.do("gait.goal", forward=0.09)
    again = Session(session.project.folder)
    try:
        assert again.document == session.document
    finally:
        again.close()


def test_a_folder_that_cannot_be_written_is_said_and_edits_go_on(session: Session) -> None:
    """The folder has become a file: every write fails, for root too."""
    session.do("open.example", **WALK)
    folder = session.project.folder
    shutil.rmtree(folder)
    folder.write_bytes(b"")
    session.do("gait.goal", forward=0.08)
    session.do("gait.goal", forward=0.09)
    assert session.document.need_clip().gait.distance == (0.09, 0.0)
    assert any("autosave does not work" in text for text in told(session, "error"))
    session.undo()
    assert session.document.need_clip().gait.distance == (0.08, 0.0)
    for act in (session.save, session.make.perform, lambda: session.bring("a.csv", b"time,a\n0,0\n1,1\n")):
        with pytest.raises(BadInput) as caught:
            act()
        assert "\n" not in str(caught.value)
    assert session.dirty
    folder.unlink()
    session.save()
    again = Session(folder)
    try:
        assert again.document == session.document
    finally:
        again.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder_is_refused_in_one_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(BadInput, match="rights"):
            Session(tmp_path)
    finally:
        tmp_path.chmod(0o700)


# -- the journal --

HOSTILE = {
    "newer": b'{"name":"gait.teleport","arguments":{"where":"moon"}}',
    "argument": b'{"name":"gait.goal","arguments":{"forward":0.1,"warp":9}}',
    "binary": bytes(range(128, 256)) + b"\x00\x01\xff",
    "deep": b'{"name":"gait.goal","arguments":{"forward":' + b"[" * 200_000,
    "huge": b'{"name":"gait.goal","arguments":{"forward":"' + b"9" * 3_000_000 + b'"}}',
    "digits": b'{"name":"gait.goal","arguments":{"forward":' + b"9" * 5000 + b"}}",
    "infinite": b'{"name":"gait.goal","arguments":{"forward":1e999}}',
    "no number": b'{"name":"gait.goal","arguments":{"forward":NaN}}',
    "a list": b"[1, 2, 3]",
    "jump": b"@99999999",
    "outside": b'{"name":"open.character","arguments":{"source":"../../etc/passwd"}}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_journal_is_followed_up_to_a_line_that_is_none(tmp_path: Path, name: str) -> None:
    journal = tmp_path / ".bunraku" / "journal.jsonl"
    journal.parent.mkdir()
    good = [{"name": "open.example", "arguments": WALK}, {"name": "gait.goal", "arguments": {"forward": 0.08}}]
    before = b"".join(json.dumps(one).encode() + b"\n" for one in good)
    after = b'{"name":"gait.goal","arguments":{"forward":0.2}}\n'
    journal.write_bytes(before + HOSTILE[name] + b"\n" + after)
    session = Session(tmp_path)
    try:
        assert session.document.need_clip().gait.distance == (0.08, 0.0)
        [text] = told(session, "warning")
        assert "step 3" in text
        assert len(text) <= 500
        assert journal.read_bytes() == before
        assert journal.with_suffix(".lost").read_bytes().endswith(after)
    finally:
        session.close()


def test_a_journal_too_large_to_read_is_set_aside(tmp_path: Path) -> None:
    journal = tmp_path / ".bunraku" / "journal.jsonl"
    journal.parent.mkdir()
    with journal.open("wb") as stream:
        stream.truncate(65 * 2**20)
    first = Session(tmp_path)
    try:
        assert "at most" in told(first, "warning")[0]
        first.do("open.example", **WALK)
    finally:
        first.close()
    again = Session(tmp_path)
    try:
        assert again.document == first.document
    finally:
        again.close()
    assert journal.with_suffix(".lost").stat().st_size == 65 * 2**20


def put_in_the_way(path: Path, kind: str, precious: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "link":
        path.symlink_to(precious)
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, links unfollowed."""
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()
    }


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
@pytest.mark.parametrize("name", [".bunraku/journal.jsonl", "project.yaml"])
@pytest.mark.parametrize("content", [b"", b"bunraku: project/1\nperformer: speech\n"])
def test_a_project_whose_own_files_lead_elsewhere_is_refused(tmp_path: Path, kind: str, name: str, content: bytes) -> None:
    """A project from a stranger: what its files point to is neither read, copied nor written, and nobody waits for a pipe."""
    precious, project = tmp_path / "precious", tmp_path / "project"
    precious.write_bytes(content)
    put_in_the_way(project / name, kind, precious)
    before = tree(tmp_path)
    with pytest.raises(BadInput, match=kind) as caught:
        Session(project)
    assert "\n" not in str(caught.value)
    assert Path(name).name in str(caught.value)
    assert tree(tmp_path) == before, "nothing is copied, set aside or left behind"


def test_a_journal_that_becomes_a_link_is_not_written(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(b"")
    session = Session(tmp_path / "project")
    try:
        put_in_the_way(session.journal.path, "link", precious)
        session.do("open.example", **WALK)
        assert any("autosave does not work" in text for text in told(session, "error"))
        assert precious.read_bytes() == b""
    finally:
        session.close()


def test_a_junction_of_windows_is_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There a folder can lead elsewhere without being a symbolic link."""
    (tmp_path / ".bunraku").mkdir()
    plain = os.lstat

    def lstat(path: object) -> object:
        status = plain(path)  # type: ignore[arg-type]
        if not str(path).endswith(".bunraku"):
            return status
        return SimpleNamespace(st_mode=status.st_mode, st_reparse_tag=0xA0000003)

    monkeypatch.setattr(os, "lstat", lstat)
    with pytest.raises(BadInput, match="link"):
        Session(tmp_path)


def test_a_performance_behind_a_link_is_not_read(session: Session, tmp_path_factory: pytest.TempPathFactory) -> None:
    session.do("open.example", name="speech")
    path = session.project.result_path(session.document.key, "a", "b")
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "x.performance.npz"
    elsewhere.write_bytes(b"precious")
    path.symlink_to(elsewhere)
    assert session.project.found_result(session.document.key) is None


def test_own_files_are_not_kept_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".bunraku").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="link"):
        Session(tmp_path / "project")
    assert list((tmp_path / "elsewhere").iterdir()) == []


# -- two studios --


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """A process that runs, and could be a studio."""
    running = subprocess.Popen([sys.executable, "-S", "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    yield running
    running.kill()
    running.communicate()


def held_by(path: Path, process: int, **fields: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    facts = {"process": process, "born": birth(process), "machine": socket.gethostname(), "secret": "x"}
    path.write_text(json.dumps(facts | fields))


def test_a_project_open_elsewhere_is_refused_until_that_process_is_gone(tmp_path: Path, other: subprocess.Popen[bytes]) -> None:
    lock = tmp_path / ".bunraku" / "lock"
    held_by(lock, other.pid)
    before = lock.read_bytes()
    with pytest.raises(BadInput, match=f"open in another studio \\(process {other.pid}") as caught:
        Session(tmp_path)
    assert "\n" not in str(caught.value)
    assert lock.read_bytes() == before
    assert {path.name for path in lock.parent.iterdir()} == {"lock"}
    other.kill()
    other.wait()
    session = Session(tmp_path)
    assert json.loads(lock.read_bytes())["process"] == os.getpid()
    session.close()
    assert not lock.exists()


def test_a_number_that_another_process_has_now_holds_nothing(tmp_path: Path, other: subprocess.Popen[bytes]) -> None:
    held_by(tmp_path / "lock", other.pid, born="1")
    assert alive(other.pid)
    assert not alive(other.pid, "1")
    ProjectLock(tmp_path / "lock").release()
    held_by(tmp_path / "lock", other.pid, machine="elsewhere.invalid")
    with pytest.raises(BadInput, match=r"elsewhere\.invalid.*remove"):
        ProjectLock(tmp_path / "lock")


@pytest.mark.parametrize(
    "content", [b"", b"\xff\x00", b"[1]", b'{"process": "1"}', b"{" * 5000, b'{"process": -1, "machine": "m"}']
)
def test_a_damaged_lock_holds_nothing_unless_it_names_another_machine(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "lock").write_bytes(content.replace(b'"m"', json.dumps(socket.gethostname()).encode()))
    lock = ProjectLock(tmp_path / "lock")
    assert json.loads((tmp_path / "lock").read_bytes())["process"] == os.getpid()
    lock.release()
    lock.release()


def test_a_lock_that_was_taken_over_is_not_removed_by_who_had_it(tmp_path: Path) -> None:
    first = ProjectLock(tmp_path / "lock")
    second = ProjectLock(tmp_path / "lock")
    first.release()
    assert (tmp_path / "lock").exists()
    second.release()
    assert not (tmp_path / "lock").exists()


def test_a_lock_whose_folder_was_deleted_is_made_again(tmp_path: Path) -> None:
    """And the journal goes on from the document as it is, not from lines that are gone."""
    first = Session(tmp_path)
    try:
        first.do("open.example", **WALK)
        first.do("gait.goal", forward=0.08)
        shutil.rmtree(tmp_path / ".bunraku")
        first.do("gait.goal", forward=0.09)
        assert json.loads((tmp_path / ".bunraku" / "lock").read_bytes())["process"] == os.getpid()
        document = first.document
    finally:
        first.close()
    again = Session(tmp_path)
    try:
        assert again.document == document
        assert not told(again, "warning")
    finally:
        again.close()


def test_two_studios_never_write_one_journal(tmp_path: Path, other: subprocess.Popen[bytes]) -> None:
    """The folder was deleted, and another studio has taken the project meanwhile: the first one says so and writes nothing."""
    session = Session(tmp_path)
    try:
        session.do("open.example", **WALK)
        shutil.rmtree(tmp_path / ".bunraku")
        held_by(tmp_path / ".bunraku" / "lock", other.pid)
        before = tree(tmp_path)
        session.do("gait.goal", forward=0.09)
        assert any(f"open in another studio (process {other.pid}" in text for text in told(session, "error"))
        with pytest.raises(BadInput, match="open in another studio"):
            session.save()
        assert tree(tmp_path) == before
        assert session.document.need_clip().gait.distance == (0.09, 0.0), "what was edited is still there"
    finally:
        session.close()
    assert (tmp_path / ".bunraku" / "lock").exists(), "the lock is the other's"


def test_a_lock_removed_while_it_was_waited_for_is_opened_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who holds it removes the file at the end; who waited for that has a file that nobody else finds."""
    fcntl = pytest.importorskip("fcntl")
    path, taken = tmp_path / "lock", []

    def flock(handle: int, how: int) -> None:
        taken.extend([handle] if how == fcntl.LOCK_EX else [])
        if len(taken) == 1 and how == fcntl.LOCK_EX:
            path.unlink()

    monkeypatch.setattr(fcntl, "flock", flock)
    ProjectLock(path)
    assert len(taken) == 2
    assert json.loads(path.read_bytes())["process"] == os.getpid()


def test_a_project_that_cannot_be_read_is_not_held(tmp_path: Path) -> None:
    (tmp_path / "project.yaml").write_text("bunraku: project/9\n")
    with pytest.raises(BadInput):
        Session(tmp_path)
    assert own_files(tmp_path) == set()


def test_a_session_that_cannot_begin_holds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Skinning, document: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(Skinning, "follow", broken)
    before = set(threading.enumerate())
    with pytest.raises(RuntimeError, match="broken"):
        Session(tmp_path)
    assert own_files(tmp_path) == set()
    begun = set(threading.enumerate()) - before
    for thread in begun:  # each was told to end
        thread.join(10.0)
    assert not any(thread.is_alive() for thread in begun)


@pytest.mark.parametrize(
    "recipe", ["{source: a.obj, template: dragon}", "{source: ../a.obj}", "{template: lizard}", "{source: a.obj, scale: -1}"]
)
def test_a_project_with_a_recipe_that_is_none_opens_without_it(tmp_path: Path, recipe: str) -> None:
    (tmp_path / "project.yaml").write_text(f"bunraku: project/1\ncharacter: walker\nclip: crawl\nrecipe: {recipe}\n")
    session = Session(tmp_path)
    try:
        assert session.document.base is not None
        assert session.document.recipe == {}
        [text] = told(session, "warning")
        assert "left out" in text
        session.do("gait.goal", forward=0.08)
    finally:
        session.close()
    assert own_files(tmp_path) == set()
    again = Session(tmp_path)  # the journal begins at the document without it
    try:
        assert again.document == session.document
    finally:
        again.close()


# -- results --


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 half of it", b"\x93NUMPY junk"])
def test_a_damaged_performance_is_said_and_not_shown(session: Session, content: bytes) -> None:
    session.do("open.example", name="speech")
    path = session.project.result_path(session.document.key, "a", "b")
    session.do("option.set", name="acceleration", value=60.0)
    path.write_bytes(content)
    session.undo()
    assert session.result is None
    assert any("made before cannot be read" in text for text in told(session, "warning"))
    assert not told(session, "error")


# -- the solver --


def test_a_solver_that_cannot_start_is_said_and_the_next_run_works(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.do("open.example", name="speech")
    until(session, lambda: not session.busy)
    session.queue.jobs.close()  # the worker that drew the wish is gone
    session.close()
    session = Session(session.project.folder)
    try:
        monkeypatch.setattr(sys, "executable", str(session.project.folder / "no-python"))
        session.make.perform()
        assert not session.busy
        assert any("no solver process could be started" in text for text in told(session, "error"))
        monkeypatch.undo()
        monkeypatch.setattr(process, "PROGRAM", ("-S", "-c", "import sys; sys.exit('no room here')"))
        session.make.perform()
        until(session, lambda: session.job is not None and session.job.status == "lost" and not session.busy)
        assert any("no room here" in text for text in told(session, "error"))
        assert session.document.base is not None
        monkeypatch.undo()
        session.make.perform()
        until(session, lambda: session.result is not None)
    finally:
        session.close()


def test_a_live_solver_that_cannot_start_is_said(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(session.project.folder / "no-python"))
    session.do("open.example", **WALK)
    until(session, lambda: any("no solver process could be started" in text for text in told(session, "warning")))
    session.do("gait.goal", forward=0.09)
    assert session.document.need_clip().gait.distance == (0.09, 0.0)


def test_closing_while_something_is_computed_leaves_no_process(tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.do("open.example", **WALK)
    session.make.perform()
    until(session, lambda: session.queue.jobs.live_pid is not None and session.queue.jobs.worker_pid is not None)
    pids = [session.queue.jobs.live_pid, session.queue.jobs.worker_pid]
    session.close()
    assert [pid for pid in pids if pid is not None and alive(pid)] == []
    assert own_files(tmp_path) == set()
    with pytest.raises(BadInput, match="closed"):
        session.queue.jobs.start("perform", {})
