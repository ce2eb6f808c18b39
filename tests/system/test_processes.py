"""Whether a process still runs, and whether it is the same one, on each system; locks that the dead leave are taken over."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.system.conftest import OtherSystem

from bunraku.errors import BadInput
from bunraku.studio.lock import ProjectLock
from bunraku.system import processes

DEAD, ALIVE, FOREIGN = 4000, 4004, 4008
BORN = 133_456_789_012_345_678


def windows_processes(other: OtherSystem) -> list[int]:
    """One that has ended while someone keeps a handle of it, one that runs, one of another user; returns the handles given back."""
    closed: list[int] = []
    asked: list[int] = []

    def opened(right: int, inherit: bool, pid: int) -> int | None:
        asked.append(pid)
        return pid if pid in (DEAD, ALIVE) else None

    def code_of(handle: int, code: Any) -> int:
        code._obj.value = 259 if handle == ALIVE else 1
        return 1

    def times_of(handle: int, *times: Any) -> int:
        times[0]._obj.value = BORN
        return 1

    other.windows(processes)
    other.library(
        OpenProcess=opened, GetExitCodeProcess=code_of, GetProcessTimes=times_of, CloseHandle=closed.append,
        last_error=lambda: 5 if asked[-1] == FOREIGN else 87,
    )  # fmt: skip
    return closed


def test_windows_tells_who_runs_and_since_when(other: OtherSystem) -> None:
    closed = windows_processes(other)
    assert processes.alive(ALIVE)
    assert processes.alive(ALIVE, str(BORN))
    assert not processes.alive(ALIVE, str(BORN - 1)), "its number was taken by another"
    assert not processes.alive(DEAD), "someone else still has a handle of it"
    assert not processes.alive(1234), "there is none"
    assert processes.alive(FOREIGN), "it may not be asked, so it runs"
    assert not processes.alive(1 << 40)
    assert processes.birth(ALIVE) == str(BORN)
    assert processes.birth(1234) == ""
    assert set(closed) == {ALIVE, DEAD}


@pytest.mark.parametrize(("pid", "free"), [(DEAD, True), (ALIVE, False)])
def test_a_project_that_a_dead_studio_left_is_opened_on_windows(pid: int, free: bool, tmp_path: Path, other: OtherSystem) -> None:
    windows_processes(other)
    holder = {"process": pid, "born": str(BORN), "machine": socket.gethostname(), "secret": "x"}
    (tmp_path / "lock").write_text(json.dumps(holder), encoding="utf-8")
    if free:
        ProjectLock(tmp_path / "lock").release()
    else:
        with pytest.raises(BadInput, match="is open in another studio"):
            ProjectLock(tmp_path / "lock")


def test_macos_asks_ps(other: OtherSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    other.macos(processes)
    answers = {os.getpid(): b"Mon  2 Nov 10:01:02 2026\n"}

    def ps(words: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess(words, 0, answers.get(int(words[2]), b""), b"")

    monkeypatch.setattr(subprocess, "run", ps)
    assert processes.birth(os.getpid()) == "Mon 2 Nov 10:01:02 2026"
    assert processes.alive(os.getpid(), "Mon 2 Nov 10:01:02 2026")
    assert not processes.alive(os.getpid(), "Sun 1 Nov 10:01:02 2026")
    answers.clear()
    assert processes.alive(os.getpid(), "Sun 1 Nov 10:01:02 2026"), "where nothing is told, the number counts"


def test_here_a_process_is_known_by_its_birth() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        born = processes.birth(child.pid)
        assert processes.alive(child.pid, born)
        child.communicate(b"\n")
    assert not processes.alive(child.pid, born)


def test_ctrl_c_does_not_reach_a_worker(other: OtherSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    assert processes.apart() == {"start_new_session": True}
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
    other.windows(processes)
    assert processes.apart() == {"creationflags": 0x200}
