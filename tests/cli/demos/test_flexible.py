"""The demo of a flexible character: its figures are those of certificate and verdict, under the promised names."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bunraku.assets.examples import Demo
from bunraku.character import Body, Character, ElasticMaterial, FlexiblePart, Joint, Motor, PartShape, Pose
from bunraku.cli.demos.flexible import KIND, _errors
from bunraku.formats.registry import read_performance, write_character, write_clip
from bunraku.motion import Clip, JointCurves, Mark
from bunraku.verification.verify import verify

PROMISED = {
    "peak_error_before_m", "peak_error_after_m", "rms_error_before_m", "rms_error_after_m", "iterations", "simulate_steps_per_s",
    "retarget_s", "modes", "motors", "parameters", "full_order_peak_error_m", "motor_deviation_rms_deg",
}  # fmt: skip


@pytest.fixture
def turn(tmp_path):
    """A rod of 0.3 m that turns by 10 degrees in 0.2 s and pauses."""
    shape = PartShape(kind="rod", length=0.3, diameter=0.004, cell=0.006)
    character = Character(
        name="rod",
        bodies=(
            Body(name="hub", mass=0.1, inertia=(1e-4,) * 3 + (0.0,) * 3),
            Body(name="tip", mass=0.1, inertia=(1e-5,) * 3 + (0.0,) * 3),
        ),
        joints=(
            Joint(name="shoulder", kind="hinge", parent="world", child="hub", axis=(0.0, 1.0, 0.0)),
            Joint(name="rod", kind="fixed", parent="hub", child="tip", pose=Pose(position=(0.0, 0.0, 0.3))),
        ),
        motors=(Motor(name="shoulder", coordinate="shoulder", velocity=6.0, rate=200.0),),
        materials=(ElasticMaterial(name="steel", young=200e9, poisson=0.3, density=7850.0, strain_damping=2e-4),),
        flexibles=(FlexiblePart(name="rod", material="steel", shape=shape, base="hub", children=({"body": "tip"},), modes=1),),
    )
    write_character(tmp_path / "rod.character.yaml", character)
    t = np.arange(71) / 100.0
    angle = np.radians(10.0) * np.interp(t, [0.0, 0.2, 0.4], [0.0, 0.0, 1.0])
    clip = Clip("turn", joints=JointCurves(("shoulder",), 100.0, angle[:, None]), phrases=(Mark("pause", 0.4, 0.7),))
    write_clip(tmp_path / "turn.clip.yaml", clip)
    options = {"points": 30, "step_ms": 2.0}
    return Demo("vibration", str(tmp_path / "rod.character.yaml"), str(tmp_path / "turn.clip.yaml"), options, "", "flexible")


def test_figures_are_those_of_the_performance_and_of_its_verdict(turn, tmp_path) -> None:
    figures, code = KIND.run("one-rod", turn, tmp_path / "out")
    assert set(figures) >= PROMISED
    assert json.loads(json.dumps(figures)) == figures
    assert figures["motors"] == 1
    assert figures["parameters"] >= 30
    assert figures["modes"] >= 3
    assert figures["iterations"] >= 1
    assert figures["full_order_peak_error_m"] is None
    assert figures["rms_error_after_m"] < 0.2 * figures["rms_error_before_m"]
    assert figures["retarget_s"] == figures["solve_s"] > 0.0
    assert figures["simulate_steps_per_s"] > 0.0
    (path,) = (tmp_path / "out").glob("*.performance.npz")
    again = verify(read_performance(path), replay=False)
    for name in ("peak_error_before_m", "peak_error_after_m", "rms_error_before_m", "rms_error_after_m", "motor_deviation_rms_deg"):
        assert again.figures[name] == pytest.approx(figures[name], rel=1e-9)
    assert figures["verified"] is again.holds is True
    kept = figures["rms_error_after_m"] <= 1.1e-3 and figures["pause_rms_m"] <= 1.5e-4
    assert code == (0 if kept else 1)


def test_words_without_a_wish_that_can_be_simulated() -> None:
    known = {"peak_error_after_m": 0.0123, "rms_error_after_m": 0.00456}
    both = _errors({**known, "peak_error_before_m": 0.25, "rms_error_before_m": 0.1})
    assert both == "worst place off by 25.0 cm as wished, 1.23 cm now; RMS 100.0 and 4.56 mm"
    alone = _errors({**known, "peak_error_before_m": None, "rms_error_before_m": None})
    assert alone == "worst place off by 1.23 cm; RMS 4.56 mm; the motion as wished cannot be simulated"
