"""The demo of folds, on coarse meshes: its figures, and that they prove what they promise."""

from __future__ import annotations

import json

import pytest

from bunraku.cli.main import _run

LEADING = ["demo", "performer", "status", "duration_s", "solve_s", "worst_limit_violation", "verified"]


def test_a_folded_skin_lets_the_ankle_turn_where_a_smooth_one_stalls(capsys):
    assert _run(["demo", "fold", "--quick", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert list(figures)[: len(LEADING)] == LEADING
    assert figures["status"] == "converged"
    assert figures["verified"]
    assert figures["torque_limit_nm"] == 1.96
    assert figures["young_mpa"] == 1.32
    assert 12.0 < figures["stall_angle_deg"] < 28.0  # a coarse mesh; on the fine one 20.1
    assert figures["reached_deg"] == pytest.approx(70.0)
    assert 0.3 < figures["max_torque_nm"] < 1.0
    assert figures["contact_pairs"] > 0
    assert figures["overlap_mm"] < 1.0
    assert figures["work_error"] < 0.01
    assert figures["residual"] < 1e-6
