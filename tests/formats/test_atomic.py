"""Atomic writes: whole or not at all; bounded, confined reads."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from bunraku.errors import BadInput
from bunraku.formats import atomic
from bunraku.formats.atomic import check_folder, check_output, write_atomically
from bunraku.formats.files import confined, read_bytes, read_reference
from bunraku.formats.places import Where


def test_writes_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    for data in (b"first", b"second and longer", b""):
        write_atomically(path, data)
        assert path.read_bytes() == data
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.bin"]


def test_a_name_below_a_file_is_told_from_one_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "afile").write_bytes(b"")
    for name, words in (
        ("afile/x.mp4", "is a file, not a folder"),
        ("afile/deep/x.mp4", "is a file, not a folder"),
        ("nowhere/x.mp4", "does not exist; make it first"),
        ("", "this is a folder"),
    ):
        with pytest.raises(BadInput, match=words):
            check_output(tmp_path / name)
    check_output(tmp_path / "afile")
    check_output("x.mp4")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, step, fail)
    with pytest.raises(BadInput, match="No space left") as caught:
        write_atomically(path, b"new")
    assert caught.value.file == str(path)
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_killed_writer_never_leaves_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    script = textwrap.dedent(
        """
        import sys
        from bunraku.formats.atomic import write_atomically
        print("go", flush=True)
        n = 0
        while True:
            n += 1
            write_atomically(sys.argv[1], bytes([n % 251]) * 3_000_000)
        """
    )
    for wait in (0.0, 0.004, 0.011):
        process = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        while not path.exists():
            assert process.poll() is None
        deadline = os.times().elapsed + wait
        while os.times().elapsed < deadline:
            pass
        process.kill()
        process.wait()
        process.stdout.close()
        data = path.read_bytes()
        assert len(data) == 3_000_000
        assert set(data) == {data[0]}


def test_folders_that_do_not_exist_are_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="does not exist"):
        write_atomically(tmp_path / "no" / "a.bin", b"")
    with pytest.raises(BadInput, match="is a folder"):
        write_atomically(tmp_path, b"")


def test_reading_is_bounded_and_of_regular_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert read_bytes(tmp_path / "a", limit=5) == b"12345"
    with pytest.raises(BadInput, match="at most 4"):
        read_bytes(tmp_path / "a", limit=4)
    with pytest.raises(BadInput, match="no such file"):
        read_bytes(tmp_path / "b")
    with pytest.raises(BadInput, match="folder"):
        read_bytes(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadInput, match="pipe"):
        read_bytes(tmp_path / "pipe")
    with pytest.raises(BadInput):
        read_bytes("a\x00b")


def test_references_stay_in_their_folder(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    (inside / "sub").mkdir(parents=True)
    (inside / "sub" / "ok.csv").write_bytes(b"x")
    (tmp_path / "secret").write_bytes(b"secret")
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "good_link").symlink_to(inside / "sub" / "ok.csv")
    (inside / "loop").symlink_to(inside / "loop")
    where = Where("clip.yaml", ("audio", "file"), {("audio",): 4})
    assert read_reference("sub/ok.csv", inside, where) == b"x"
    assert read_reference("sub/../sub/ok.csv", inside, where) == b"x"
    assert confined("good_link", inside, where) == (inside / "sub" / "ok.csv").resolve()
    for bad in (
        "../secret",
        "link",
        str(tmp_path / "secret"),
        "/etc/passwd",
        "C:\\x",
        "\\\\host\\x",
        "",
        "a\x00",
        "sub/../../secret",
        "loop",
        "none",
    ):
        with pytest.raises(BadInput) as caught:
            read_reference(bad, inside, where)
        assert caught.value.place == "line 4, audio.file"
        assert "secret" not in str(caught.value).replace(bad, "").replace(repr(bad), "")
    with pytest.raises(BadInput, match="folder"):
        read_reference("x", None, where)


def test_a_folder_that_cannot_be_made_or_written_into_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "afile").write_bytes(b"x")
    for path in (tmp_path / "afile", tmp_path / "afile" / "deeper" / "still"):
        with pytest.raises(BadInput, match="afile: this is a file; give a folder"):
            check_folder(path)
    check_folder(tmp_path / "new" / "deeper")
    assert not (tmp_path / "new").exists()
    monkeypatch.setattr(os, "access", lambda place, mode: place != tmp_path)
    with pytest.raises(BadInput, match="nothing may be written into this folder; change its rights, or give another"):
        check_folder(tmp_path / "new" / "deeper")
