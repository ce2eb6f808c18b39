"""From a capture to a character on the command line: retarget, perform, interruption and resumption, overlays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bunraku.cli.main import _run
from bunraku.formats.registry import read_character, read_clip, read_performance
from bunraku.motion import MotionLimits
from bunraku.optimization.solution import Status

DIES = """
import os, signal, sys
from bunraku.cli.main import _run
from bunraku.formats import atomic
whole = os.replace
def replace(source, target):
    if str(target).endswith(".performance.npz"):
        os.kill(os.getpid(), signal.SIGKILL)
    whole(source, target)
atomic.os.replace = replace
_run(sys.argv[1:])
"""


def moved(path: Path) -> dict[str, float]:
    """How far each joint of a clip moves."""
    curves = read_clip(path).joints
    return dict(zip(curves.names, np.ptp(curves.values, axis=0).tolist(), strict=True))


def test_retarget_moves_the_arm_that_was_moved(waving: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, rig = tmp_path / "wave.csv", tmp_path / "wave.rig.yaml"
    assert _run(["retarget", str(waving), "nao", "-o", str(target), "--write-rig", str(rig), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["status"] == "converged"
    way = moved(target)
    assert max(way["LShoulderRoll"], way["LShoulderPitch"]) > 0.3
    assert max(amount for name, amount in way.items() if not name.startswith("L")) < 0.02
    again = tmp_path / "again.csv"
    assert _run(["retarget", str(waving), "nao", "-o", str(again), "--rig", str(rig)]) == 0
    assert again.read_bytes() == target.read_bytes()


def test_retarget_takes_speed_factor_and_held(waving: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "slow.csv"
    words = ["retarget", str(waving), "nao", "-o", str(target), "--json"]
    assert _run([*words, "--speed-factor", "0.1"]) == 0
    assert json.loads(capsys.readouterr().out)["speed_ratio"] == pytest.approx(0.1, rel=1e-6)
    assert _run([*words, "--held", "left_arm, HeadYaw"]) == 0
    held = json.loads(capsys.readouterr().out)["held"]
    assert set(held) == {*read_character("nao").groups["left_arm"], "HeadYaw"}
    assert all(moved(target)[name] == 0.0 for name in held)
    assert _run([*words, "--held", ""]) == 0
    assert json.loads(capsys.readouterr().out)["held"] == []
    for bad in (["--held", "wings"], ["--speed-factor", "0"], ["--rig", str(tmp_path / "none.yaml")]):
        assert _run([*words, *bad]) == 2


@pytest.mark.parametrize(("status", "code"), [(Status.MAX_ITERATIONS, 3), (Status.CANCELLED, 130)])
def test_an_unfinished_retarget_is_written_and_told_by_the_exit_code(
    status: Status, code: int, waving: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import dataclasses
    import importlib

    module = importlib.import_module("bunraku.retargeting.retarget")
    solve = module.solve_motion
    monkeypatch.setattr(module, "solve_motion", lambda *a, **k: dataclasses.replace(solve(*a, **k), status=status))
    target, cancelled = tmp_path / "wave.csv", ".cancelled" if status is Status.CANCELLED else ""
    target.write_bytes(b"before")
    assert _run(["retarget", str(waving), "nao", "-o", str(target)]) == code
    assert (target.read_bytes() == b"before") == bool(cancelled)
    assert (tmp_path / "wave.cancelled.csv").exists() == bool(cancelled)
    output = tmp_path / "wave.performance.npz"
    assert _run(["perform", "nao", str(waving), "-o", str(output)]) == code
    assert read_performance(tmp_path / f"wave{cancelled}.performance.npz").certificate.status is status
    assert output.exists() != bool(cancelled)
    assert status.sentence in capsys.readouterr().err
    kept = output.with_name(output.name + ".retargeted")
    assert not kept.exists(), "a cancelled retargeting is not kept as if it were whole"


def test_perform_takes_a_capture_and_resumes_after_a_kill(waving: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected, output = tmp_path / "expected.performance.npz", tmp_path / "wave.performance.npz"
    assert _run(["perform", "nao", str(waving), "-o", str(expected)]) == 0
    result = read_performance(expected)
    assert MotionLimits.of(result.character).excess(result.positions().values, result.rate).relative <= 1e-9
    assert np.ptp(result.positions().values[:, result.positions().names.index("LShoulderRoll")]) > 0.3
    words = ["perform", "nao", str(waving), "-o", str(output)]
    process = subprocess.run([sys.executable, "-c", DIES, *words], stderr=subprocess.DEVNULL, check=False, timeout=120)
    assert process.returncode == -signal.SIGKILL
    assert not output.exists(), "killed while writing, and nothing that looks like an output is there"
    assert [path for path in tmp_path.iterdir() if path.name.endswith(".part") and path.read_bytes() == expected.read_bytes()]
    kept = [output.with_name(output.name + end) for end in (".retargeted", ".checkpoint")]
    assert all(path.exists() for path in kept)
    capsys.readouterr()
    assert _run([*words, "--resume"]) == 0
    assert "going on from there" in capsys.readouterr().err
    assert output.read_bytes() == expected.read_bytes()
    assert not any(path.exists() for path in kept)
    assert _run(words) == 0
    assert "going on from there" not in capsys.readouterr().err


def test_a_cancelled_perform_keeps_what_it_can_resume_from(
    waving: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bunraku.cli import console

    report, seen = console._TerminalMonitor.report, []

    def interrupt(self: console._TerminalMonitor, event: object) -> None:
        report(self, event)
        if event.stage == "speech" and event.fraction > 0.5 and not seen:
            seen.append(event)
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(console._TerminalMonitor, "report", interrupt)
    output, expected = tmp_path / "wave.performance.npz", tmp_path / "expected.performance.npz"
    words = ["perform", "nao", str(waving), "-o"]
    assert _run([*words, str(output)]) == 130
    assert read_performance(tmp_path / "wave.cancelled.performance.npz").certificate.status is Status.CANCELLED
    assert not output.exists()
    assert _run([*words, str(output), "--resume"]) == 0
    assert "going on from there" in capsys.readouterr().err
    assert _run([*words, str(expected)]) == 0
    assert output.read_bytes() == expected.read_bytes()


@pytest.mark.parametrize("there", [True, False])
def test_a_cancelled_perform_replaces_no_file(
    there: bool, waving: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bunraku.cli import console

    def interrupt(self: console._TerminalMonitor, event: object) -> None:
        if event.stage == "speech" and event.fraction > 0.5 and not self.cancelled:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(console._TerminalMonitor, "report", interrupt)
    output, other = tmp_path / "keep.performance.npz", tmp_path / "keep.cancelled.performance.npz"
    if there:
        output.write_bytes(b"proved")
    assert _run(["perform", "nao", str(waving), "-o", str(output)]) == 130
    said = capsys.readouterr().err
    assert read_performance(other).certificate.status is Status.CANCELLED
    assert f"cancelled: the best so far goes to {other}; {output} stays as it is" in said
    assert f"wrote {other}" in said
    assert output.exists() == there
    assert not there or output.read_bytes() == b"proved"


def test_an_overlay_sets_the_limits_that_are_certified(waving: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "slow.overlay.yaml"
    overlay.write_text('bunraku: overlay/1\nmotors:\n  - {match: "LShoulder*", velocity_deg_s: 30}\n')
    output = tmp_path / "slow.performance.npz"
    assert _run(["perform", "nao", str(waving), "--overlay", str(overlay), "-o", str(output)]) in (0, 1)
    result = read_performance(output)
    at = [j for j, name in enumerate(result.positions().names) if name.startswith("LShoulder")]
    speed = np.abs(np.diff(result.positions().values[:, at], axis=0)).max() * result.rate
    assert 0.9 * np.radians(30) < speed <= np.radians(30) * (1 + 1e-9)
    assert _run(["perform", "nao", str(waving), "--overlay", str(tmp_path / "none.yaml"), "-o", str(output)]) == 2
