"""The verdict: true performances pass, tampered, illegal, falling and unconverged ones do not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bunraku.character import Body, Character, Foot, Joint, Motor, Shape
from bunraku.errors import BadInput
from bunraku.mechanics.measures.prediction import predicted_motion
from bunraku.motion import Channel, Check, JointCurves, Mark, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.performers.certify import certify
from bunraku.verification.limits import position_curves, recomputed_limits
from bunraku.verification.rigid.judge import RigidJudge
from bunraku.verification.rigid.replay import RigidReplay
from bunraku.verification.rigid.replays import RigidReplays
from bunraku.verification.verifier import Verdict
from bunraku.verification.verify import verify

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


WORDS = (Mark("now", 0.8, 1.2, 1.0),)


def from_values(values: np.ndarray, *, status: Status = Status.CONVERGED, wish: np.ndarray | None = None) -> Performance:
    curves = JointCurves(("lean",), RATE, values)
    wanted = curves if wish is None else JointCurves(("lean",), RATE, wish)
    return Performance(
        tower(),
        "lean",
        (Channel("lean", "position", "rad", RATE, values[:, 0]),),
        wanted,
        predicted_motion(tower(), curves),
        certify(tower(), wanted, curves, words=WORDS, status=status, checks=(Check("effort", 3.0),)),
        Provenance("test", {}, {}, {}),
        words=WORDS,
    )


def nod(late: float = 0.0) -> np.ndarray:
    t = np.arange(301) / RATE
    return 0.1 * np.exp(-(((t - 1.0 - late) / 0.3) ** 2))[:, None]


AGREES = "certificate against recomputation"


def broken(verdict: Verdict) -> set[str]:
    return {check.name for check in verdict.checks if check.stands_against}


def test_a_true_performance_is_believed() -> None:
    verdict = verify(performed(0.1))
    assert verdict.holds, verdict.sentence
    assert verdict.replay is not None
    assert verdict.figures["fell"] == 0.0
    assert verdict.figures["verified"] == 1.0
    assert verdict.sentence.startswith("Proven: ")


def test_a_changed_channel_is_caught_though_it_is_legal() -> None:
    honest = performed(0.1)
    values = honest.channels[0].values.copy()
    values[100] += 1e-6
    tampered = honest.changed(channels=(dataclasses.replace(honest.channels[0], values=values),))
    assert broken(verify(tampered, replay=False)) == {"channels against the plan"}


@pytest.mark.parametrize("name", ["balance margin", "lag", "worst lag in 3 s", "largest stroke lag", "largest stroke offset"])
def test_a_changed_number_bar_or_missing_check_is_caught(name: str) -> None:
    honest = from_values(nod(0.006), wish=nod())
    assert verify(honest, replay=False).holds
    certificate = honest.certificate
    real = certificate.check(name)
    for forged in (
        (dataclasses.replace(real, value=real.value + 1e-6),),
        (dataclasses.replace(real, value=-0.5),),
        (dataclasses.replace(real, threshold=-1.0 if real.at_least else 1.0),),
        (dataclasses.replace(real, threshold=None if real.threshold is not None else 9.0),),
        (dataclasses.replace(real, at_least=not real.at_least),),
        (dataclasses.replace(real, unit="mm"),),
        (dataclasses.replace(real, value=float("nan")),),
        (dataclasses.replace(real, value=real.value - 0.005), real),
        (real, dataclasses.replace(real, value=real.value - 0.005)),
        (),
    ):
        others = tuple(check for check in certificate.checks if check.name != name)
        verdict = verify(honest.changed(certificate=dataclasses.replace(certificate, checks=forged + others)), replay=False)
        assert AGREES in broken(verdict), forged
        assert name in next(c.note for c in verdict.checks if c.name == AGREES)


def test_a_late_performance_that_says_it_is_on_time_is_caught() -> None:
    late = from_values(nod(0.3), wish=nod())
    assert late.certificate.check("lag").value == pytest.approx(0.3, abs=0.01)
    assert broken(verify(late, replay=False)) == {"lag", "motion followed", "motion followed by the worst joint"}
    said = tuple(dataclasses.replace(c, value=0.0) if "lag" in c.name else c for c in late.certificate.checks)
    verdict = verify(late.changed(certificate=dataclasses.replace(late.certificate, checks=said)), replay=False)
    assert {AGREES, "lag"} <= broken(verdict)
    # without the words there are no strokes to answer for; the certificate still speaks of them
    silent = late.changed(words=())
    assert "largest stroke lag" not in {c.name for c in verify(silent, replay=False).checks}


def test_every_figure_must_be_the_one_recomputed() -> None:
    honest = performed(0.1)
    for name, value in honest.certificate.figures.items():
        for figures in (
            {**honest.certificate.figures, name: value + 1e-6},
            {key: number for key, number in honest.certificate.figures.items() if key != name},
        ):
            forged = honest.changed(certificate=dataclasses.replace(honest.certificate, figures=figures))
            verdict = verify(forged, replay=False)
            assert broken(verdict) == {AGREES}
            assert name in next(c.note for c in verdict.checks if c.name == AGREES)


def test_a_forged_motion_is_caught() -> None:
    honest = performed(0.1)
    for name in honest.motion.names:
        values = honest.motion.values.copy()
        values[50, honest.motion.names.index(name)] += 1e-6
        forged = honest.changed(motion=JointCurves(honest.motion.names, RATE, values))
        verdict = verify(forged, replay=False)
        assert AGREES in broken(verdict)
        driven = name in honest.character.driven
        where = "channels against the plan" if driven else AGREES
        assert f"{'' if driven else 'motion: '}{name} at 0.500 s" in next(c.note for c in verdict.checks if c.name == where)
    only = honest.changed(motion=JointCurves(("lean",), RATE, honest.motion.values[:, -1:]))
    assert broken(verify(only, replay=False)) == {AGREES}


def test_what_cannot_be_recomputed_is_not_checked() -> None:
    honest = performed(0.1)
    more = (*honest.certificate.checks, Check("patience", 0.1, "s", 1.0), Check("effort", 3.0))
    verdict = verify(honest.changed(certificate=dataclasses.replace(honest.certificate, checks=more)), replay=False)
    check = next(c for c in verdict.checks if c.name == "patience")
    assert check.state == "not checked"
    assert "0.1 s" in check.note
    assert "patience" in verdict.sentence
    assert "effort" not in {c.name for c in verdict.checks}


def test_a_limit_broken_at_the_motor_rate_is_found() -> None:
    values = np.zeros((50, 1))
    values[20:] = 0.05
    verdict = verify(from_values(values), replay=False)
    assert {"velocity excess", "worst limit violation"} <= broken(verdict)
    excess = next(check for check in verdict.checks if check.name == "velocity excess")
    assert excess.value == pytest.approx(0.05 * RATE - 2.0)


def test_a_fall_is_a_broken_promise() -> None:
    verdict = verify(performed(0.5, seconds=3.0))
    assert "fell" in broken(verdict)
    assert verdict.figures["fell"] == len(verdict.replay.rows) == 3
    assert "balance margin" in broken(verdict)


def test_an_unconverged_performance_and_its_own_broken_promise_do_not_hold() -> None:
    verdict = verify(performed(0.1, status=Status.MAX_ITERATIONS), replay=False)
    assert broken(verdict) == {"status"}
    honest = performed(0.1)
    more = (*honest.certificate.checks, Check("patience", 0.1, "s", 0.01))
    verdict = verify(honest.changed(certificate=dataclasses.replace(honest.certificate, checks=more)), replay=False)
    assert broken(verdict) == {"patience"}


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


def replay_checks(result: RigidReplay) -> list[Check]:
    return RigidJudge(performed(0.1)).judge(RigidReplays((result,), complete=True))[0]


def replayed(*, continuous: float | None = None, performance: Performance | None = None) -> RigidReplay:
    honest = performed(0.1) if performance is None else performance
    motors = tuple(motor.changed(continuous_torque=continuous) for motor in honest.character.motors)
    result = verify(honest.changed(character=honest.character.changed(motors=motors))).replay
    assert isinstance(result, RigidReplays)
    return result.usual


def test_heat_is_a_promise_where_the_continuous_torque_is_stated() -> None:
    """The mean of (torque / continuous)^2; where nobody states it, the verdict says what to add."""
    load = float(replayed(continuous=1.0).heat[0])
    for continuous, holds in ((1.05 * np.sqrt(load), True), (0.95 * np.sqrt(load), False)):
        (heat,) = (check for check in replay_checks(replayed(continuous=continuous)) if check.name == "winding heat")
        assert heat.threshold == 1.0
        assert heat.value == pytest.approx(load / continuous**2, rel=1e-9)
        assert heat.holds is holds
    (unknown,) = (check for check in replay_checks(replayed()) if check.name == "winding heat")
    assert unknown.state == "not checked"
    assert "continuous_torque_n_m" in unknown.missing


def test_without_a_stall_torque_saturation_is_not_checked() -> None:
    honest = performed(0.1)
    endless = tuple(motor.changed(stall_torque=None) for motor in honest.character.motors)
    checks = replay_checks(replayed(performance=honest.changed(character=honest.character.changed(motors=endless))))
    (saturation,) = (check for check in checks if check.name == "torque saturation")
    assert saturation.state == "not checked"
    assert "stall_torque_n_m" in saturation.missing


def test_what_is_bolted_down_cannot_fall_or_slip() -> None:
    """A base that is fixed to the world: falling and slipping do not apply; with a free one they are judged."""
    honest = performed(0.1)
    base, lean = honest.character.joints
    bolted = honest.character.changed(joints=(base.changed(kind="fixed"), lean), feet=())
    curves = honest.positions()
    fixed = honest.changed(character=bolted, motion=predicted_motion(bolted, curves))
    states = {check.name: check.state for check in verify(fixed).checks}
    assert (states["fell"], states["foot slip"]) == ("does not apply", "does not apply")
    states = {check.name: check.state for check in verify(honest).checks}
    assert (states["fell"], states["foot slip"]) == ("holds", "holds")


def test_softer_and_stiffer_servos_are_replayed_too() -> None:
    """Stated gains are facts, a little softer and stiffer; those that nobody states may be half or twice as stiff."""
    honest = performed(0.1)
    replay = verify(honest).replay
    assert isinstance(replay, RigidReplays)
    assert [float(one.world.gain[0]) for one in replay.replays] == [1.0, 0.5, 2.0]
    stated = tuple(motor.changed(stiffness=100.0) for motor in honest.character.motors)
    replay = verify(honest.changed(character=honest.character.changed(motors=stated))).replay
    assert isinstance(replay, RigidReplays)
    assert [float(one.world.gain[0]) for one in replay.replays] == [1.0, 0.8, 1.25]


def test_feet_that_slip_break_a_promise() -> None:
    result = replayed()
    for slip, holds in ((0.009, True), (0.011, False)):
        checks = replay_checks(dataclasses.replace(result, foot_slip=slip))
        assert next(check for check in checks if check.name == "foot slip").holds is holds


def test_sliding_motors_are_judged_in_metres() -> None:
    result = dataclasses.replace(replayed(), slides=np.array([True]), tracking_rms=np.array([0.02]))
    names = {check.name: check for check in replay_checks(result)}
    assert "tracking rms" not in names
    assert names["tracking rms of slides"].unit == "m"
    assert not names["tracking rms of slides"].holds


def test_channels_must_belong_to_motors() -> None:
    honest = performed(0.1)
    stranger = dataclasses.replace(honest.channels[0], name="tail")
    wish = JointCurves(("tail",), RATE, honest.wish.values)
    with pytest.raises(BadInput, match="tail"):
        position_curves(honest.changed(channels=(stranger,), wish=wish))
    assert not any(check.stands_against for check in recomputed_limits(honest))
