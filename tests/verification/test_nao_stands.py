"""The built-in NAO in MuJoCo: it stands through its strongest clip, and tips when the certificate says that it must."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.formats.registry import built_in, read_character, read_clip
from bunraku.mechanics.measures import measure_motion
from bunraku.motion import Certificate, Channel, JointCurves, MotionLimits, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.verification.replay import replay
from bunraku.verification.verify import verify

RATE = 100.0


@pytest.fixture(scope="module")
def nao() -> Character:
    if "nao" not in built_in("character"):
        pytest.skip("there is no built-in NAO")
    return read_character("nao")


def clamped(character: Character, wish: JointCurves) -> Performance:
    """The wish at the motor rate, each motor following as fast as it may: the simplest legal performance."""
    limits = MotionLimits.of(character)
    times = np.arange(0.0, wish.duration + 1e-9, 1 / RATE)
    wanted = np.tile([character.home.get(name, 0.0) for name in limits.names], (len(times), 1))
    for j, name in enumerate(limits.names):
        if name in wish.names:
            wanted[:, j] = np.interp(times, wish.times, wish.column(name))
    lower, upper = limits.bounds(wanted)
    values, step = np.clip(wanted, lower, upper), limits.velocity / RATE * (1 - 1e-9)
    for k in range(1, len(values)):
        values[k] = np.clip(values[k], values[k - 1] - step, values[k - 1] + step)
    curves = JointCurves(limits.names, RATE, values)
    measured = measure_motion(character, JointCurves(limits.names, RATE, wanted), curves)
    channels = tuple(Channel(name, "position", "rad", RATE, values[:, j]) for j, name in enumerate(limits.names))
    certificate = Certificate(Status.CONVERGED, measured.checks, measured.notes, measured.figures)
    wish = JointCurves(limits.names, RATE, wanted)
    return Performance(character, "clip", channels, wish, curves, certificate, Provenance("test", {}, {}, {}))


def test_it_stands_through_its_strongest_clip(nao: Character) -> None:
    performance = clamped(nao, read_clip("stop-it").need_joints("the test"))
    verdict = verify(performance)
    assert verdict.replay is not None
    assert not verdict.replay.fell, verdict.replay.reason
    assert verdict.figures["tracking_rms_rad"] < 0.05
    assert verdict.replay.foot_slip < 0.005
    # soles stay on the ground to within a few degrees of sway
    assert verdict.replay.tilt_max < 0.15
    assert performance.certificate.figures["balance_margin_m"] > 0.05


@pytest.mark.parametrize(("beyond", "falls"), [(-0.04, False), (0.02, True)])
def test_it_tips_where_the_certificate_says_so(nao: Character, beyond: float, falls: bool) -> None:
    # the margin is that of rigid joints: its servos give way, and this NAO already tips with 2 cm of it left (stiffer ones with 1)
    still = JointCurves(nao.driven[:1], RATE, np.zeros((101, 1)))
    behind = clamped(nao, still).certificate.figures["balance_margin_m"]
    mass = sum(body.mass for body in nao.bodies)
    torso = next(body for body in nao.bodies if body.name == "torso")
    # the nearest edge at home is at the heels; moving the torso's centre of mass back by this much crosses it
    shift = (behind + beyond) * mass / torso.mass
    x, y, z = torso.center_of_mass
    leaning = torso.changed(center_of_mass=(x - shift, y, z))
    moved = nao.changed(bodies=tuple(leaning if body.name == "torso" else body for body in nao.bodies))
    performance = clamped(moved, still)
    assert performance.certificate.figures["balance_margin_m"] == pytest.approx(-beyond, abs=2e-3)
    assert replay(performance).fell is falls
