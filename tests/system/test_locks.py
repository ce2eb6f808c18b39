"""A file that one process has alone."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from tests.system.conftest import OtherSystem

from bunraku.system import locks


@pytest.fixture
def handles(tmp_path: Path) -> tuple[int, int]:
    (tmp_path / "lock").write_bytes(b"{}")
    return os.open(tmp_path / "lock", os.O_RDWR), os.open(tmp_path / "lock", os.O_RDWR)


def test_the_other_waits(handles: tuple[int, int]) -> None:
    mine, theirs = handles
    with locks.alone_with(mine), pytest.raises(BlockingIOError):
        fcntl.flock(theirs, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(theirs, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_on_windows_a_byte_is_locked_that_nobody_reads(handles: tuple[int, int], other: OtherSystem) -> None:
    """A lock binds readers there: one on the content would keep others from reading who has the project."""
    console = other.windows(locks)
    console.locking = lambda handle, how, many: console.locked.append((how, os.lseek(handle, 0, os.SEEK_CUR), many))
    with locks.alone_with(handles[0]):
        assert console.locked == [(console.LK_LOCK, locks.BYTE, 1)]
        assert os.lseek(handles[0], 0, os.SEEK_CUR) == 0, "ready to be read"
        assert os.fstat(handles[0]).st_size == 2
    assert console.locked[1:] == [(console.LK_UNLCK, locks.BYTE, 1)]
    assert locks.BYTE > 1_000_000


def test_where_there_are_no_locks_the_work_is_done_without(handles: tuple[int, int], other: OtherSystem) -> None:
    console = other.windows(locks)

    def refuse(*_: int) -> None:
        raise OSError(36, "Resource deadlock avoided")

    console.locking = refuse
    with locks.alone_with(handles[0]):
        assert os.read(handles[0], 9) == b"{}"
