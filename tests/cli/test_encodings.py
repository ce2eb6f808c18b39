"""Consoles that do not take every sign, as many of Windows: nothing that is printed ends a command."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
from bunraku.cli import main
main._run = lambda words: print("at most \u2264 5, \u4eba\u5f62") or print("\u4eba", file=sys.stderr) or 0
main.run()
"""


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "cp932"])
def test_what_a_console_cannot_show_is_written_as_its_number(encoding: str) -> None:
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode(encoding)
    assert "at most" in shown
    assert ("\u4eba" in shown) or (r"\u4eba" in shown)


@pytest.mark.parametrize("words", [["--help"], ["perform", "--help"], ["inspect", "nao"]])
def test_commands_run_on_a_console_of_cp1252(words: list[str]) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    program = [sys.executable, "-m", "bunraku.cli.main", *words]
    done = subprocess.run(program, capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    (done.stdout + done.stderr).decode("cp1252")
