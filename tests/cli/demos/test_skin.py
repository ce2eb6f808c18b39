"""The demos of skinned characters with coarse skins and short clips: what they promise, measured in every frame."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bunraku.assets.examples import DEMOS
from bunraku.cli.main import _run
from bunraku.performers.skin.measures import steady_speed

LEADING = ["demo", "performer", "status", "duration_s", "solve_s", "worst_limit_violation", "verified"]
KEYS = {
    "skin_vertices", "glue_vertices", "joints", "mass_kg", "frames", "frame_s", "spacetime_s", "max_torque_nm", "torque_limit_nm",
    "cop_violation_m", "complementarity_residual", "speed_m_s", "foot_clearance_m", "slip_per_step_m", "alternations",
    "support_force_error", "replay_distance_error", "fell",
}  # fmt: skip
BODIES = {"beetle": (12, 140, 3.9), "monster": (16, 301, 11.87), "lizard": (17, 176, 10.8)}
SKINNED = [name for name, demo in DEMOS.items() if demo.kind == "skin"]


def test_the_demos_of_the_issue_are_there() -> None:
    assert set(SKINNED) == {
        "beetle-lift", "beetle-lift-two", "beetle-walk", "monster-walk", "monster-walk-high", "monster-trot", "lizard-walk",
    }  # fmt: skip


QUICKEST = ("beetle-lift",)
"""Run with every test; the others (half a minute each and more) with the exhaustive ones, where what still fails can be seen."""


@pytest.mark.parametrize(
    "name", [name if name in QUICKEST else pytest.param(name, marks=pytest.mark.exhaustive) for name in SKINNED]
)
def test_a_coarse_skin_keeps_every_limit_in_every_frame(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = _run(["demo", name, "--quick", "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert list(figures)[: len(LEADING)] == LEADING
    assert set(figures) >= KEYS
    joints, glue, mass = BODIES[name.partition("-")[0]]
    assert figures["joints"] == joints
    assert figures["glue_vertices"] == pytest.approx(glue, rel=0.1)
    assert figures["mass_kg"] == pytest.approx(mass, rel=0.1)
    assert figures["max_torque_nm"] <= figures["torque_limit_nm"] + 1e-9
    assert figures["cop_violation_m"] <= 1e-6
    assert figures["complementarity_residual"] <= 1e-9
    assert figures["support_force_error"] <= 1e-3
    assert figures["foot_clearance_m"] >= 0.005
    assert figures["slip_per_step_m"] <= 0.005
    assert not figures["fell"]
    assert code == 0


def test_the_steady_speed_is_that_of_the_middle_half() -> None:
    h, n = 0.01, 400
    t = h * np.arange(n + 1)
    com = np.zeros((n + 1, 3))
    com[:, 0] = np.where(t < 1.0, 0.0, np.where(t < 3.0, 0.2 * (t - 1.0), 0.4))
    com[:, 2] = 0.1 * np.sin(9.0 * t)  # heights do not count
    stands = np.ones((n, 4), dtype=bool)
    stands[100:300, 1] = False
    assert steady_speed(com, stands, h) == pytest.approx(0.2)
    stands[:] = True
    assert steady_speed(com, stands, h) == 0.0
