"""The verdict on a flexible character: promises that hold, numbers and channels that were changed, and what is refused."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.cli.main import _run
from bunraku.errors import BadInput
from bunraku.formats.registry import write_performance
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.motion import Certificate, Channel, Check, Feedback, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.verification.agreement import common_checks
from bunraku.verification.flexible import judge as flexible_verify
from bunraku.verification.flexible.beam_section import BeamSection
from bunraku.verification.flexible.full_order import FullOrderReplay
from bunraku.verification.flexible.judge import FLOOR, FOREIGN, LOOP_GAP, SHARE, judged_again
from bunraku.verification.report.html import make_report
from bunraku.verification.verify import verify

AGREES, COMMON = "reduced model against the certificate", "certificate against recomputation"


def _agreement(performance: Performance) -> Check:
    return next(check for check in common_checks(performance) if check.name == "certificate against recomputation")


def broken(verdict) -> set[str]:
    return {check.name for check in verdict.checks if check.stands_against}


@pytest.fixture(scope="module")
def verdict(quiet_turn):
    return verify(quiet_turn)


def test_a_quiet_turn_holds_and_mujoco_confirms_it(quiet_turn, verdict) -> None:
    """MuJoCo's chains, which share no equation with the reduced model, are off by hundredths of a millimetre."""
    assert verdict.holds, broken(verdict)
    checks = {check.name: check for check in verdict.checks}
    assert checks[AGREES].value == checks[COMMON].value == 0.0
    assert (checks[FOREIGN].value, checks[FOREIGN].note) == (1, "MuJoCo")
    assert "loops open in MuJoCo" not in checks
    judged = verdict.judge.judged
    assert verdict.judge.promise.size == pytest.approx(0.3)
    allowed = judged.after.peak + SHARE * judged.before.peak + FLOOR * 0.3
    assert checks["peak error in MuJoCo"].threshold == pytest.approx(allowed)
    assert checks["peak error in MuJoCo"].value == pytest.approx(judged.after.peak, abs=1e-4)
    assert checks["MuJoCo against the prediction, RMS"].value < 1e-4
    assert verdict.figures["chain_from_target_rms_m"] == pytest.approx(verdict.figures["rms_error_after_m"], abs=1e-4)
    assert verdict.figures["rms_error_after_m"] < 0.2 * verdict.figures["rms_error_before_m"]
    assert verdict.figures["verified"] == 1.0
    assert verdict.replay.full is None
    assert "full_order_peak_error_m" not in verdict.figures


@pytest.mark.parametrize(
    "name",
    ["rms_error_after_m", "peak_error_before_m", "torque_share", "deflection_ratio", "motor_deviation_rms_deg", "hits_moved_s"],
)
def test_a_figure_that_was_changed_is_found(quiet_turn, name) -> None:
    certificate = quiet_turn.certificate
    changed = {**certificate.figures, name: certificate.figures[name] + 1e-7}
    again = verify(quiet_turn.changed(certificate=dataclasses.replace(certificate, figures=changed)), replay=False)
    assert broken(again) == {AGREES}
    (check,) = [check for check in again.checks if check.name == AGREES]
    assert check.value == pytest.approx(1e-7, rel=1e-3)
    assert f"figure {name}: the certificate says" in check.note


def test_a_promise_that_was_loosened_or_dropped_is_found(quiet_turn) -> None:
    certificate = quiet_turn.certificate
    loose = tuple(dataclasses.replace(c, threshold=0.9) if c.name == "deflection over length" else c for c in certificate.checks)
    fewer = tuple(c for c in certificate.checks if c.name != "RMS torque")
    for checks in (loose, fewer, (*certificate.checks, certificate.checks[-1])):
        again = verify(quiet_turn.changed(certificate=dataclasses.replace(certificate, checks=checks)), replay=False)
        assert broken(again) == {AGREES}


@pytest.mark.parametrize("name", ["velocity excess", "lag", "worst lag in 3 s"])
def test_the_common_part_is_recomputed_too(quiet_turn, name) -> None:
    """A check changed or dropped, a figure of limits, and the predicted motion at one sample."""
    certificate, motion = quiet_turn.certificate, quiet_turn.motion
    other = tuple(dataclasses.replace(c, value=c.value + 5e-10) if c.name == name else c for c in certificate.checks)
    assert verify(quiet_turn.changed(certificate=dataclasses.replace(certificate, checks=other)), replay=False).holds
    changed = tuple(dataclasses.replace(c, value=c.value - 1e-6) if c.name == name else c for c in certificate.checks)
    fewer = tuple(c for c in certificate.checks if c.name != name)
    figures = {**certificate.figures, "velocity_violations_after": 1.0}
    bent = motion.values.copy()
    bent[20, 0] += 1e-6
    for other in (
        quiet_turn.changed(certificate=dataclasses.replace(certificate, checks=changed)),
        quiet_turn.changed(certificate=dataclasses.replace(certificate, checks=fewer)),
        quiet_turn.changed(certificate=dataclasses.replace(certificate, figures=figures)),
    ):
        assert not _agreement(other).holds
    unlike = common_checks(quiet_turn.changed(motion=JointCurves(motion.names, motion.rate, bent)))
    found = next(check for check in unlike if check.name == "channels against the plan")
    assert found.value == pytest.approx(1e-6, rel=1e-3)
    assert found.note == "shoulder at 0.200 s"


def test_modes_that_feedback_adds_are_not_compared(quiet_turn) -> None:
    """A column of the motion that the feedback knows is skipped; one that nobody knows is not."""
    motion, n = quiet_turn.motion, len(quiet_turn.motion.values)
    names = (*motion.names, "rod.mode0")
    wide = JointCurves(names, motion.rate, np.column_stack([motion.values, np.ones(n)]))
    state = np.zeros((n, 2 * len(names)))
    gains = np.zeros((n - 1, 1, 2 * len(names)))
    feedback = Feedback(motion.rate, names, names, ("shoulder",), state, np.zeros((n - 1, 1)), gains)
    assert _agreement(dataclasses.replace(quiet_turn, motion=wide, feedback=feedback)).holds
    assert _agreement(dataclasses.replace(quiet_turn, motion=wide)).value == np.inf


def test_without_a_judge_of_other_physics_nothing_is_verified(quiet_turn, monkeypatch) -> None:
    """MuJoCo refuses, the full model was not computed: not verified, and told what to do. With the full model: verified."""

    def refuse(*_, **__):
        raise BadInput("the flexible part 'rod' is a plate, no slender beam")

    monkeypatch.setattr(flexible_verify, "chain_models", refuse)
    monkeypatch.setattr(flexible_verify, "found_full_order", lambda *_: None)
    again = verify(quiet_turn)
    assert broken(again) == {FOREIGN}
    checks = {check.name: check for check in again.checks}
    assert "no slender beam" in checks["replay in MuJoCo"].note
    assert checks[FOREIGN].state == "not checked"
    assert "NOT CHECKED; `bunraku verify FILE --full-order`" in checks[FOREIGN].sentence
    assert again.sentence.startswith("Not proven: nothing could judge a second physics. Not checked: ")
    assert FOREIGN in again.sentence
    assert verify(quiet_turn, replay=False).holds
    judged = again.judge.judged
    full = FullOrderReplay(("tip",), judged.after.times, judged.after.seen.positions, judged.targets.positions, 0.0, 1, 1.0)
    monkeypatch.setattr(flexible_verify, "found_full_order", lambda *_: full)
    assert verify(quiet_turn).holds
    monkeypatch.setattr(flexible_verify, "found_full_order", lambda *_: dataclasses.replace(full, lost="cancelled"))
    assert {FOREIGN, "full-order model"} <= broken(verify(quiet_turn))


def test_a_rod_that_is_not_what_was_planned_for_is_found(quiet_turn, monkeypatch) -> None:
    """The catalogue's rod, a quarter softer in MuJoCo than the one that was planned with: 13 % of frequency."""
    rigidity = BeamSection.rigidity
    monkeypatch.setattr(BeamSection, "rigidity", lambda section, material: tuple(0.75 * x for x in rigidity(section, material)))
    again = verify(quiet_turn)
    assert broken(again) >= {"peak error in MuJoCo"}


def test_what_is_no_beam_is_judged_with_foreign_elasticity(quiet_turn, verdict, monkeypatch) -> None:
    """The same rod as a part of any shape: scikit-fem finds what the reduced model and the chains of MuJoCo find."""
    monkeypatch.setattr(flexible_verify, "is_beam", lambda _: False)
    again = verify(quiet_turn)
    assert again.holds, broken(again)
    checks = {check.name: check for check in again.checks}
    assert (checks[FOREIGN].value, checks[FOREIGN].note) == (1, "scikit-fem in MuJoCo")
    assert checks["peak error by scikit-fem"].value == pytest.approx(verdict.judge.judged.after.peak, abs=5e-5)
    assert checks["RMS error by scikit-fem"].value == pytest.approx(verdict.judge.judged.after.rms, abs=5e-5)
    assert again.figures["parts_from_target_peak_m"] == checks["peak error by scikit-fem"].value


@pytest.mark.parametrize(("gap", "good"), [(0.9 * LOOP_GAP, True), (1.1 * LOOP_GAP, False)])
def test_loops_are_judged_beside_the_errors(verdict, gap, good) -> None:
    """Loops that open by 0.9 and 1.1 mm."""
    runs = tuple(dataclasses.replace(run, gap=gap) for run in verdict.replay.chains.runs)
    made = dataclasses.replace(verdict.replay.chains, runs=runs)
    found = flexible_verify._chain_checks(made, verdict.judge.judged, verdict.judge.promise, closed=True)
    checks = {check.name: check for check in found}
    assert checks["loops open in MuJoCo"].value == gap
    assert checks["loops open in MuJoCo"].holds is good


def test_a_motor_that_gives_way_is_judged_with_its_spring(quiet_turn) -> None:
    """On a spring of 25 N m/rad the rod swings by millimetres: foreign physics finds as much as the reduced model, within 2 %."""
    motor = quiet_turn.character.motors[0].changed(torsional_stiffness=25.0, torsional_damping=0.02)
    verdict = verify(quiet_turn.changed(character=quiet_turn.character.changed(motors=(motor,))))
    checks = {check.name: check for check in verdict.checks}
    peak = verdict.judge.judged.after.peak
    assert peak > 2e-3
    assert checks["peak error by scikit-fem"].value == pytest.approx(peak, rel=0.02)
    assert checks[FOREIGN].holds


def test_a_channel_that_was_changed_is_found(quiet_turn) -> None:
    """A tenth of a degree more at one sample: the numbers are no longer those of the certificate."""
    (channel,) = quiet_turn.channels
    values = channel.values.copy()
    values[20] += np.radians(0.1)
    again = verify(quiet_turn.changed(channels=(dataclasses.replace(channel, values=values),)), replay=False)
    assert AGREES in broken(again)
    assert not again.holds
    assert again.figures["verified"] == 0.0


def test_motors_may_shake_so_that_the_rod_stands_still_but_the_tip_may_not(quiet_turn, verdict) -> None:
    """What is promised is that places do not shake; 3 degrees at 11 Hz on top of the channel shake them."""
    checks = {check.name: check for check in verdict.checks}
    assert checks["shaking above 8 Hz"].threshold is None
    assert checks["shaking above 8 Hz of places"].state == "holds"
    (channel,) = quiet_turn.channels
    trembling = channel.values + np.radians(3.0) * np.sin(2.0 * np.pi * 11.0 * np.arange(61) / channel.rate)
    again = verify(quiet_turn.changed(channels=(dataclasses.replace(channel, values=trembling),)), replay=False)
    assert "shaking above 8 Hz of places" in broken(again)


def test_playing_the_wish_as_it_is_gains_nothing(quiet_turn) -> None:
    """The wish in place of the channels: before and after are the same, the promises of the certificate are not kept."""
    (channel,) = quiet_turn.channels
    again = verify(quiet_turn.changed(channels=(dataclasses.replace(channel, values=quiet_turn.wish.values[:, 0]),)), replay=False)
    assert again.figures["rms_error_after_m"] == again.figures["rms_error_before_m"]
    assert AGREES in broken(again)


def test_limits_are_of_the_channels(quiet_turn) -> None:
    (channel,) = quiet_turn.channels
    far = quiet_turn.changed(channels=(dataclasses.replace(channel, values=channel.values + 0.9),))
    again = verify(far, replay=False)
    assert {"range excess of the commands", "worst limit violation of the commands"} <= broken(again)
    assert again.figures["worst_limit_violation"] > 0.0


def test_the_tracked_places_are_those_of_the_certificate(quiet_turn) -> None:
    flexible, judged = judged_again(quiet_turn)
    assert judged.after.names == ("tip",)
    assert flexible.system.nq == flexible_system(quiet_turn.character).system.nq
    certificate = quiet_turn.certificate
    figures = {**certificate.figures, "rms_error_after_m.hub": 0.0, "rms_error_after_m.nose": 0.0}
    other = quiet_turn.changed(certificate=dataclasses.replace(certificate, figures=figures))
    assert judged_again(other)[1].after.names == ("tip", "hub")


def test_the_report_shows_frames_errors_motors(quiet_turn, verdict) -> None:
    page = make_report(quiet_turn, verdict)
    assert "Proven: " in page
    assert "How far they are from the target" in page
    assert "peak error in MuJoCo" in page
    assert "rods as chains of rigid links" in page
    assert page.count("data:image/png;base64,") == 4


def rigid() -> Performance:
    character = Character(
        name="stiff",
        bodies=(Body(name="arm", mass=0.2, center_of_mass=(0.0, 0.0, 0.1), inertia=(1e-4, 1e-4, 1e-4, 0, 0, 0)),),
        joints=(Joint(name="turn", kind="hinge", parent="world", child="arm", axis=(0, 1, 0)),),
        motors=(Motor(name="turn", coordinate="turn"),),
    )
    curves = JointCurves(("turn",), 50.0, np.zeros((10, 1)))
    channels = (Channel("turn", "position", "rad", 50.0, np.zeros(10)),)
    certificate = Certificate(Status.CONVERGED, (Check("nothing", 0.0),), (), {})
    return Performance(character, "still", channels, curves, curves, certificate, Provenance("test", {}, {}, {}))


def test_the_full_order_model_is_not_for_rigid_characters(tmp_path, capfd) -> None:
    with pytest.raises(BadInput, match="no part of 'stiff' bends; the full-order model is for characters with flexible parts"):
        verify(rigid(), full_order=True)
    write_performance(tmp_path / "still.performance.npz", rigid())
    assert _run(["verify", str(tmp_path / "still.performance.npz"), "--full-order"]) == 2
    assert "no part of 'stiff' bends" in capfd.readouterr().err


def test_the_command_says_the_same_from_the_file(quiet_turn, verdict, tmp_path, capfd) -> None:
    path = tmp_path / "turn.performance.npz"
    write_performance(path, quiet_turn)
    assert _run(["verify", str(path), "--json"]) == 0
    facts = json.loads(capfd.readouterr().out)
    assert facts["verified"] is True
    assert facts["performance"] == str(path)
    wanted = {"peak_error_before_m", "peak_error_after_m", "rms_error_before_m", "rms_error_after_m", "motor_deviation_rms_deg"}
    assert {key: facts[key] for key in wanted} == {key: verdict.figures[key] for key in wanted}
    assert facts["chain_from_target_peak_m"] == pytest.approx(verdict.figures["chain_from_target_peak_m"], rel=1e-6)
    assert [check["name"] for check in facts["checks"]] == [check.name for check in verdict.checks]
    assert all(set(check) == {"name", "value", "threshold", "unit", "holds", "state"} for check in facts["checks"])
