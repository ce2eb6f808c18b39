"""The built-in characters in MuJoCo: they stand through every clip made for them, and tip when the certificate says they must."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.formats.registry import built_in, read_character, read_clip
from bunraku.motion import Clip, JointCurves
from bunraku.performers.performer import make_performer
from bunraku.verification.rigid.judge import MOST_SLIP, TRACKING_RMS
from bunraku.verification.rigid.replay import model_for, play
from bunraku.verification.rigid.replays import RigidReplays
from bunraku.verification.verify import verify

RATE = 100.0


MUSIC = {"full-show"}
"""Clips with music, for characters that bend; the others with sound have a voice."""

SPOKEN = [name for name in built_in("clip") if read_clip(name).audio is not None and name not in MUSIC]
"""Clips with a voice are made for characters that stand on servos; those without sound for puppets and pendulums."""


@pytest.fixture(scope="module")
def characters() -> dict[str, Character]:
    return {name: read_character(name) for name in built_in("character")}


def player(clip: Clip, characters: dict[str, Character]) -> str:
    """The built-in character whose motors drive everything that the clip moves: every spoken clip is made for one."""
    (name,) = (name for name, who in characters.items() if set(clip.need_joints("the test").names) <= set(who.driven))
    return name


def test_every_character_that_stands_on_servos_has_a_clip(characters: dict[str, Character]) -> None:
    assert {player(read_clip(name), characters) for name in SPOKEN} == {
        name for name, character in characters.items() if character.motors and character.feet
    }


@pytest.mark.parametrize("name", SPOKEN)
def test_it_stands_through_the_clip(name: str, characters: dict[str, Character]) -> None:
    clip = read_clip(name)
    performance = make_performer("speech").perform(characters[player(clip, characters)], clip)
    verdict = verify(performance)
    broken = {check.name for check in verdict.checks if check.stands_against}
    assert isinstance(verdict.replay, RigidReplays)
    assert not verdict.replay.fell, verdict.replay.reason
    # of what the replay shows, only the torque of the wildest gestures may be short: their limits state no acceleration
    assert broken <= {"torque saturation"}
    assert verdict.figures["saturation_share"] < 0.06
    assert verdict.figures["tracking_rms_rad"] < 0.5 * TRACKING_RMS
    assert verdict.figures["foot_slip_m"] < 0.5 * MOST_SLIP
    # soles stay on the ground to within a few degrees of sway
    assert verdict.figures["tilt_max_rad"] < 0.15
    assert performance.certificate.figures["balance_margin_m"] > 0.0


@pytest.mark.parametrize(("beyond", "falls"), [(-0.04, False), (0.02, True)])
def test_it_tips_where_the_certificate_says_so(characters: dict[str, Character], beyond: float, falls: bool) -> None:
    nao = characters["nao"]
    # the margin is that of rigid joints: its servos give way, and this NAO already tips with 2 cm of it left (stiffer ones with 1)
    still = Clip("still", joints=JointCurves(nao.driven[:1], RATE, np.zeros((101, 1))))
    behind = make_performer("clamp").perform(nao, still).certificate.figures["balance_margin_m"]
    mass = sum(body.mass for body in nao.bodies)
    torso = next(body for body in nao.bodies if body.name == "torso")
    # the nearest edge at home is at the heels; moving the torso's centre of mass back by this much crosses it
    shift = (behind + beyond) * mass / torso.mass
    x, y, z = torso.center_of_mass
    leaning = torso.changed(center_of_mass=(x - shift, y, z))
    moved = nao.changed(bodies=tuple(leaning if body.name == "torso" else body for body in nao.bodies))
    performance = make_performer("clamp").perform(moved, still)
    assert performance.certificate.figures["balance_margin_m"] == pytest.approx(-beyond, abs=2e-3)
    assert play(performance, model_for(performance)).fell is falls
