"""The private folder of jobs: for this user alone, gone at the end, and what dead processes left goes with the next."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bunraku.errors import BadInput
from bunraku.studio.jobs.folders import private_folder


def test_it_is_private_and_what_the_dead_left_is_removed(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = tmp_path / f"jobs-{gone.pid}-abc"
    left.mkdir()
    (left / "big.npz").write_text("")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / f"jobs-{gone.pid}-link").symlink_to(elsewhere)
    mine, other = private_folder(tmp_path), tmp_path / "jobs-notes"
    other.mkdir()
    again = private_folder(tmp_path)
    assert mine.stat().st_mode & 0o077 == 0
    assert not left.exists()
    assert mine.is_dir()
    assert other.is_dir()
    assert elsewhere.is_dir()
    assert again != mine
    assert str(os.getpid()) in mine.name


def test_where_nothing_can_be_written_it_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        private_folder(tmp_path / "file")


def test_closing_removes_the_files_of_jobs(scripted, make_jobs, tmp_path):
    scripted(
        "def verify(arguments, folder, monitor):\n    (folder / 'a').write_text('a')\n    return {'folder': str(folder)}, False\n"
    )
    jobs = make_jobs()
    jobs.start("verify", {})
    folder = jobs.wait().result["folder"]
    assert os.listdir(folder) == ["a"]
    jobs.close()
    assert list((tmp_path / "jobs").iterdir()) == []
