"""Files as the three systems open, rename and flush them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.system.conftest import OtherSystem

from bunraku.errors import BadInput
from bunraku.formats.atomic import write_atomically
from bunraku.studio.journal import Journal
from bunraku.system import files


def reader_leaves_after(attempts: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Someone has the file open, as a virus scanner has; Windows refuses so many renamings."""
    rename, left = os.replace, [attempts]

    def refusing(source: str | Path, target: str | Path) -> None:
        if left[0] > 0:
            left[0] -= 1
            raise PermissionError(13, "The process cannot access the file because it is being used by another process")
        rename(source, target)

    monkeypatch.setattr(os, "replace", refusing)
    return left


def test_a_file_that_is_open_elsewhere_is_waited_for_on_windows(
    tmp_path: Path, other: OtherSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "show.csv").write_bytes(b"old")
    other.windows(files)
    left = reader_leaves_after(3, monkeypatch)
    write_atomically(tmp_path / "show.csv", b"new")
    assert left == [0]
    assert (tmp_path / "show.csv").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["show.csv"]


def test_not_for_ever_and_then_nothing_has_changed(tmp_path: Path, other: OtherSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "show.csv").write_bytes(b"old")
    other.windows(files)
    monkeypatch.setattr(files, "PATIENCE_S", 0.03)
    reader_leaves_after(1_000_000, monkeypatch)
    with pytest.raises(BadInput, match="cannot be written"):
        write_atomically(tmp_path / "show.csv", b"new")
    assert (tmp_path / "show.csv").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["show.csv"]


def test_elsewhere_a_refusal_is_final(tmp_path: Path, other: OtherSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    other.macos(files)
    left = reader_leaves_after(2, monkeypatch)
    with pytest.raises(PermissionError):
        files.replace(tmp_path / "a", tmp_path / "b")
    assert left == [1]


@pytest.mark.parametrize("refuses", [True, False], ids=["the system refuses links", "it does not"])
def test_no_link_is_followed(refuses: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    if not refuses:
        monkeypatch.delattr(os, "O_NOFOLLOW", raising=False)
    with pytest.raises(OSError, match="symbolic links"):
        files.open_plain(tmp_path / "link", os.O_RDWR)
    os.close(files.open_plain(tmp_path / "mine", os.O_RDWR))


def test_a_line_ends_in_one_byte_on_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without O_BINARY ``os.write`` makes two of it there, and the journal's undo would be no undo any more."""
    binary, opened = 1 << 40, os.open
    flags_seen: list[int] = []

    def recording(path: Path, flags: int, mode: int = 0o777) -> int:
        flags_seen.append(flags)
        return opened(path, flags & ~binary, mode)

    monkeypatch.setattr(os, "O_BINARY", binary, raising=False)
    monkeypatch.setattr(os, "open", recording)
    Journal(tmp_path / "journal.jsonl").append("-")
    assert flags_seen
    assert all(flags & binary for flags in flags_seen)
    assert (tmp_path / "journal.jsonl").read_bytes() == b"-\n"


def test_a_folder_that_cannot_be_flushed_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def refusing(path: Path, flags: int, mode: int = 0o777) -> int:
        if Path(path).is_dir():
            raise PermissionError(13, "Permission denied")
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "open", refusing)
    write_atomically(tmp_path / "show.csv", b"new")
    assert (tmp_path / "show.csv").read_bytes() == b"new"
