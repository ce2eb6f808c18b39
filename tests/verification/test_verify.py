"""The verdict: true performances pass, tampered, illegal, falling and unconverged ones do not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bunraku.character import Body, Character, Foot, Joint, Motor, Shape
from bunraku.errors import BadInput
from bunraku.mechanics.measures import measure_motion
from bunraku.motion import Certificate, Channel, Check, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.verification.limits import position_curves, recomputed_limits
from bunraku.verification.verify import Verdict, verify

RATE = 100.0


def tower() -> Character:
    """A heavy head that leans over a square foot: 0.4 sin(angle) must stay below 0.1 m."""
    corners = tuple((x, y, 0.0) for x in (-0.1, 0.1) for y in (-0.1, 0.1))
    ball = Shape(kind="sphere", size=(0.05,))
    return Character(
        name="tower",
        bodies=(
            Body(name="sole", mass=0.5, inertia=(2e-3, 2e-3, 3e-3, 0, 0, 0)),
            Body(name="head", mass=2.0, center_of_mass=(0, 0, 0.5), inertia=(2e-3, 2e-3, 2e-3, 0, 0, 0), shapes=(ball,)),
        ),
        joints=(
            Joint(name="base", kind="free", parent="world", child="sole"),
            Joint(name="lean", kind="hinge", parent="sole", child="head", axis=(0, 1, 0)),
        ),
        motors=(Motor(name="waist", coordinate="lean", stall_torque=30.0, velocity=2.0, range=(-1.0, 1.0), rate=RATE),),
        feet=(Foot(name="sole", body="sole", points=corners),),
    )


def performed(angle: float, *, status: Status = Status.CONVERGED, seconds: float = 2.0) -> Performance:
    u = np.linspace(0, 1, int(seconds * RATE) + 1)[:, None]
    return from_values(angle * (10 * u**3 - 15 * u**4 + 6 * u**5), status=status)


def from_values(values: np.ndarray, *, status: Status = Status.CONVERGED) -> Performance:
    curves = JointCurves(("lean",), RATE, values)
    measured = measure_motion(tower(), curves, curves)
    return Performance(
        tower(),
        "lean",
        (Channel("lean", "position", "rad", RATE, values[:, 0]),),
        curves,
        curves,
        Certificate(status, measured.checks, measured.notes, measured.figures),
        Provenance("test", {}, {}, {}),
    )


def broken(verdict: Verdict) -> set[str]:
    return {check.name for check in verdict.checks if not check.holds}


def test_a_true_performance_is_believed() -> None:
    verdict = verify(performed(0.1))
    assert verdict.holds, verdict.sentence
    assert verdict.replay is not None
    assert verdict.figures["fell"] == 0.0
    assert verdict.figures["verified"] == 1.0
    assert verdict.sentence == "Every promise holds."


def test_a_changed_channel_is_caught_though_it_is_legal() -> None:
    honest = performed(0.1)
    values = honest.channels[0].values.copy()
    values[100] += 1e-6
    tampered = honest.changed(channels=(dataclasses.replace(honest.channels[0], values=values),))
    assert broken(verify(tampered, replay=False)) == {"certificate against recomputation"}


def test_a_changed_number_bar_or_missing_check_is_caught() -> None:
    honest = performed(0.1)
    certificate = honest.certificate
    name = "balance margin"
    for other in (
        tuple(dataclasses.replace(c, value=c.value + 1e-6) if c.name == name else c for c in certificate.checks),
        tuple(dataclasses.replace(c, bar=-1.0) if c.name == name else c for c in certificate.checks),
        tuple(dataclasses.replace(c, bar=None) if c.name == name else c for c in certificate.checks),
        tuple(dataclasses.replace(c, at_least=False, bar=0.5) if c.name == name else c for c in certificate.checks),
        tuple(dataclasses.replace(c, value=float("nan")) if c.name == name else c for c in certificate.checks),
        tuple(c for c in certificate.checks if c.name != name),
    ):
        forged = honest.changed(certificate=dataclasses.replace(certificate, checks=other))
        verdict = verify(forged, replay=False)
        assert "certificate against recomputation" in broken(verdict)
        assert name in next(c.note for c in verdict.checks if c.name == "certificate against recomputation")
    figures = {**certificate.figures, "balance_margin_m": 1.0}
    forged = honest.changed(certificate=dataclasses.replace(certificate, figures=figures))
    assert broken(verify(forged, replay=False)) == {"certificate against recomputation"}


def test_a_limit_broken_at_the_motor_rate_is_found() -> None:
    values = np.zeros((50, 1))
    values[20:] = 0.05
    verdict = verify(from_values(values), replay=False)
    assert {"velocity excess", "worst limit violation", "promises broken in the certificate"} <= broken(verdict)
    excess = next(check for check in verdict.checks if check.name == "velocity excess")
    assert excess.value == pytest.approx(0.05 * RATE - 2.0)


def test_a_fall_is_a_broken_promise() -> None:
    verdict = verify(performed(0.5, seconds=3.0))
    assert "fell" in broken(verdict)
    assert verdict.figures["fell"] == 1.0
    assert "balance margin" in next(c.note for c in verdict.checks if c.name == "promises broken in the certificate")


def test_an_unconverged_performance_and_its_own_broken_promise_do_not_hold() -> None:
    verdict = verify(performed(0.1, status=Status.MAX_ITERATIONS), replay=False)
    assert broken(verdict) == {"status"}
    honest = performed(0.1)
    more = (*honest.certificate.checks, Check("lag", 0.1, "s", 0.01))
    verdict = verify(honest.changed(certificate=dataclasses.replace(honest.certificate, checks=more)), replay=False)
    assert broken(verdict) == {"promises broken in the certificate"}


def test_a_replay_that_cannot_be_made_does_not_hold() -> None:
    honest = performed(0.1)
    footless = honest.character.changed(feet=())
    verdict = verify(honest.changed(character=footless))
    assert "replay" in broken(verdict)
    assert verdict.replay is None


def test_weak_motors_do_not_follow() -> None:
    honest = performed(0.2)
    weak = honest.character.changed(
        motors=tuple(motor.changed(stall_torque=0.2, stiffness=50.0, damping=1.0) for motor in honest.character.motors)
    )
    assert {"tracking rms", "torque saturation"} <= broken(verify(honest.changed(character=weak)))


def test_channels_must_fit() -> None:
    honest = performed(0.1)
    stranger = dataclasses.replace(honest.channels[0], name="tail")
    with pytest.raises(BadInput, match="tail"):
        position_curves(honest.changed(channels=(stranger,)))
    short = Channel("lean", "position", "rad", 50.0, np.zeros(3))
    with pytest.raises(BadInput, match="share rate and length"):
        position_curves(honest.changed(channels=(*honest.channels, short)))
    assert all(check.holds for check in recomputed_limits(honest))
