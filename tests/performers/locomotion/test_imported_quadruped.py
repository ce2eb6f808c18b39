"""Somebody else's robot: an imported Go1 with feet described in an overlay trots at its stated gains, in every replay."""

from __future__ import annotations

from pathlib import Path

import pytest

from bunraku.formats.registry import read_character
from bunraku.motion import Clip, Gait
from bunraku.performers.performer import make_performer
from bunraku.verification.verify import verify

LEGS = ("FL", "FR", "RL", "RR")


@pytest.mark.shared
def test_an_imported_go1_trots_at_its_stated_gains(tmp_path: Path, data: Path) -> None:
    """0.3 m/s, its joints damped and with friction; with motors of a tenth of the torque the plan still fails."""
    feet = "\n".join(
        f"  - {{name: {leg}, kind: ball, body: {leg}_calf, center_m: [0, 0, -0.213], radius_m: 0.023, friction: 0.8}}"
        for leg in LEGS
    )
    home = ", ".join(f"{leg}_thigh_joint: 0.9, {leg}_calf_joint: -1.8" for leg in LEGS)
    overlay = tmp_path / "go1.overlay.yaml"
    overlay.write_text(
        "bunraku: overlay/1\nbase: free\nmotors:\n  - {match: '*', velocity_rad_s: 30.1, no_load_speed_rad_s: 30.1}\n"
        f"end_effectors:\n{feet}\nhome_rad: {{{home}}}\n"
    )
    robot = read_character(data / "robots" / "unitree_go1" / "go1.xml", overlay=overlay)
    assert {motor.stiffness for motor in robot.motors} == {100.0}
    trot = Clip("trot", gait=Gait(0.5, "trot", distance=(0.15, 0.0), turn=0.0, swing_height=0.05))
    verdict = verify(make_performer("locomotion").perform(robot, trot))
    assert verdict.holds, verdict.sentence
    assert verdict.figures["fell"] == 0.0
    assert verdict.figures["replay_velocity_error"] < 0.04
    weak = robot.changed(motors=tuple(motor.changed(stall_torque=0.1 * motor.stall_torque) for motor in robot.motors))
    assert not make_performer("locomotion", {"max_iterations": 60}).perform(weak, trot).certificate.holds
