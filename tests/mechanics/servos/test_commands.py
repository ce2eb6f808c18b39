"""Commands of whole characters: who is sent the plan, and that commands keep every limit that a player looks at."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.formats.registry import read_character
from bunraku.mechanics.measures.prediction import predicted_motion
from bunraku.mechanics.servos.commands import command_checks, commands_of, plain
from bunraku.mechanics.servos.torques import gesture_torques
from bunraku.motion import Channel, JointCurves

RATE = 100.0


def arm(**motor: object) -> Character:
    """One link of 1 kg, its centre 0.2 m from a hinge about y, in the world."""
    return Character(
        name="arm",
        bodies=(Body(name="a", mass=1.0, center_of_mass=(0.2, 0.0, 0.0)),),
        joints=(Joint(name="j", kind="hinge", parent="world", child="a", axis=(0.0, 1.0, 0.0), range=(-1.0, 1.0)),),
        motors=(Motor(name="m", coordinate="j", velocity=4.0, stall_torque=5.0, **motor),),  # type: ignore[arg-type]
    )


def nod(size: float = 0.5) -> JointCurves:
    t = np.arange(300) / RATE
    return JointCurves(("j",), RATE, size * np.sin(3.0 * t)[:, None])


def sent(character: Character, motion: JointCurves) -> np.ndarray:
    return commands_of(character, motion)[:, 0]


def test_an_arm_is_sent_what_it_would_sag_by() -> None:
    """A slow arm: m g l cos q over kp above the angle, the closed form of a sag."""
    character = arm(stiffness=40.0, damping=0.5)
    slow = JointCurves(("j",), RATE, 0.5 * np.sin(0.05 * np.arange(300) / RATE)[:, None])
    q = slow.values[:, 0]
    np.testing.assert_allclose(sent(character, slow) - q, -9.81 * 0.2 * np.cos(q) / 40.0, rtol=2e-4)


def test_who_states_no_gains_or_bends_is_sent_the_plan() -> None:
    assert plain(arm())
    np.testing.assert_array_equal(sent(arm(), nod()), nod().values[:, 0])
    assert not plain(arm(stiffness=40.0))
    bending = read_character("rapper")
    stiff = bending.changed(motors=tuple(motor.changed(stiffness=20.0) for motor in bending.motors))
    assert plain(stiff)


@pytest.mark.parametrize("more", [{}, {"acceleration": 4.6}, {"acceleration": 5.0, "jerk": 40.0}])
def test_commands_keep_all_limits_of_their_motor(more: dict[str, float]) -> None:
    """Also acceleration and jerk, which a player refuses to exceed; the plan uses nearly all of them."""
    character = arm(stiffness=8.0, damping=0.3, **more)
    checks = command_checks(character, nod(), [Channel("j", "position", "rad", RATE, sent(character, nod()))])
    assert {check.name for check in checks} >= {"range excess of the commands", "velocity excess of the commands"}
    assert ("acceleration excess of the commands" in {check.name for check in checks}) == ("acceleration" in more)
    assert all(check.holds for check in checks)
    assert np.abs(sent(character, nod()) - nod().values[:, 0]).max() > 0.05
    free = arm(stiffness=8.0, damping=0.3)
    loud = command_checks(character, nod(), [Channel("j", "position", "rad", RATE, 2.5 * sent(free, nod()))])
    assert any(check.broken for check in loud)


def test_legs_share_the_weight_of_nao() -> None:
    """At home both legs take alike, and what ankles and knees take is small beside what the motors give."""
    nao = read_character("nao")
    home = predicted_motion(nao, JointCurves(nao.driven, RATE, np.array([[nao.home.get(name, 0.0) for name in nao.driven]])))
    torque = dict(zip(nao.driven, gesture_torques(nao, home)[0], strict=True))
    for name in ("HipPitch", "KneePitch", "AnklePitch"):
        assert torque[f"L{name}"] == pytest.approx(torque[f"R{name}"], abs=1e-3)
        assert abs(torque[f"L{name}"]) < 1.5
    for name in ("HipRoll", "AnkleRoll"):
        assert torque[f"L{name}"] == pytest.approx(-torque[f"R{name}"], abs=1e-3)
