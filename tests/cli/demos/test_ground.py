"""The demos of going: what they measure is what their JSON says, and a promise that is broken is seen."""

from __future__ import annotations

import json

import pytest

from bunraku.cli.demos import ground
from bunraku.cli.main import _run


def test_the_slalom_is_proved_in_figures(capsys) -> None:
    assert _run(["demo", "agilebot-slalom", "--quick", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found)[:7] == ["demo", "performer", "status", "duration_s", "solve_s", "worst_limit_violation", "verified"]
    assert found["verified"] is True
    assert found["fell"] is False
    assert found["max_residual"] <= 1e-6
    assert found["distance_m"] == pytest.approx(1.07, rel=1e-4)  # as played, to the last tick of 5 ms
    assert found["replay_velocity_error"] <= 0.02
    assert found["replay_distance_m"] == pytest.approx(3 * 1.07, rel=0.05)
    assert 0.0 < found["torque_utilisation"] < 1.0


def test_a_bar_that_is_not_met_is_exit_1(capsys, monkeypatch) -> None:
    monkeypatch.setitem(ground.VELOCITY_THRESHOLDS, "start-stop", 1e-6)
    assert _run(["demo", "agilebot-start-stop", "--quick"]) == 1
    assert "velocity error of start-stop" in capsys.readouterr().err


def test_an_export_goes_by_the_suffix_and_leaves_torques_out(tmp_path, capsys) -> None:
    """A performance of the car: speeds of wheels go out as CSV and JSON; names that fit no format are refused."""
    source = tmp_path / "car.performance.npz"
    assert _run(["perform", "car", "car-forward", "-o", str(source)]) == 0
    assert _run(["export", str(source), "-o", str(tmp_path / "car.json")]) == 0
    told = json.loads((tmp_path / "car.json").read_text())["channels"]
    assert [channel["kind"] for channel in told].count("velocity") == 4
    assert _run(["export", str(source), "-o", str(tmp_path / "car.txt")]) == 2
    assert "the name fits no format" in capsys.readouterr().err
    assert not (tmp_path / "car.txt").exists()
