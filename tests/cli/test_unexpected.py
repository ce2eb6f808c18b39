"""An error that is not ours, at the doors of the command line: one line, exit 70, a report, nothing written."""

from __future__ import annotations

import importlib
import io
import re
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.cli import main
from bunraku.cli.main import _run

DOORS = [
    (["perform", "nao", "not-done-yet", "-o", "x.performance.npz"], "bunraku.flow.perform:prepare"),
    (["perform", "nao", "not-done-yet", "-o", "x.performance.npz"], "bunraku.formats.performance_npz:write_performance_npz"),
    (["perform", "nao", "--stream"], "bunraku.live.lines:serve_lines"),
    (["verify", "nod.performance.npz"], "bunraku.verification.verify:verify"),
    (["inspect", "nao"], "bunraku.formats.registry:read_any"),
    (["compare", "nao", "not-done-yet", "-o", "x.png"], "bunraku.flow.perform:prepare"),
    (["plot", "nod.performance.npz", "-o", "x.png"], "bunraku.verification.plots.joints:draw_joints"),
    (["render", "nod.performance.npz", "-o", "x.png"], "bunraku.studio.rendering:rendered"),
    (["report", "nod.performance.npz", "-o", "x.pdf"], "bunraku.verification.verify:verify"),
    (["export", "nod.performance.npz", "-o", "x.csv"], "bunraku.stage.csv_export:export_csv"),
    (["play", "nod.performance.npz", "--log", "x.csv"], "bunraku.stage.player.player:Player.run"),
    (["calibrate", "x.device.yaml", "--from", "nao"], "bunraku.stage.player.described:described_device"),
    (["retarget", "wave.bvh", "nao", "-o", "x.csv"], "bunraku.retargeting.retarget:retarget"),
]


@pytest.fixture(scope="module")
def gesture(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("gesture") / "g.performance.npz"
    assert _run(["perform", "nao", "not-done-yet", "--once", "-o", str(path)]) == 0
    return path.read_bytes()


@pytest.mark.parametrize(("words", "target"), DOORS, ids=[f"{words[0]}-{target}" for words, target in DOORS])
def test_an_error_that_is_not_ours_is_a_line_and_a_report(
    words: list[str],
    target: str,
    gesture: bytes,
    tmp_path: Path,
    waving: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    work, reports = tmp_path / "work", tmp_path / "reports"
    work.mkdir()
    reports.mkdir()
    waving.rename(work / "wave.bvh")
    (work / "nod.performance.npz").write_bytes(gesture)
    monkeypatch.chdir(work)
    monkeypatch.setattr(tempfile, "tempdir", str(reports))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    before = sorted(work.iterdir())

    def broken(*_: Any, **__: Any) -> None:
        raise np.linalg.LinAlgError("Singular matrix")

    module, _, name = target.partition(":")
    owner: Any = importlib.import_module(module)
    *owners, name = name.split(".")
    for part in owners:
        owner = getattr(owner, part)
    monkeypatch.setattr(owner, name, broken)
    assert _run(words) == 70
    shown = capsys.readouterr()
    assert shown.out == ""
    last = shown.err.strip().splitlines()[-1]
    assert last.startswith("bunraku: unexpected LinAlgError: Singular matrix (test_unexpected.py, line ")
    assert "Traceback" not in shown.err
    (report,) = (Path(found) for found in re.findall(r"send in (\S+)", last))
    assert list(reports.iterdir()) == [report]
    assert "in broken" in report.read_text()
    assert f"while: bunraku {' '.join(words)}" in report.read_text()
    left = [path for path in sorted(work.iterdir()) if path.suffix != ".checkpoint"]  # perform --resume goes on from that
    assert left == before


def test_an_error_in_a_thread_is_a_line_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    monkeypatch.setattr(sys, "argv", ["bunraku", "--version"])
    with pytest.raises(SystemExit):
        main.run()
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    (line,) = capsys.readouterr().err.splitlines()
    assert "unexpected ZeroDivisionError" in line
    assert len(list(tmp_path.iterdir())) == 1
