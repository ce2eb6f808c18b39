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
from bunraku.motion import Certificate, Channel, Check, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.verification.flexible_verify import SHARE, SLACK, judged_again
from bunraku.verification.report import make_report
from bunraku.verification.verify import verify

AGREES = "reduced model against the certificate"


def broken(verdict) -> set[str]:
    return {check.name for check in verdict.checks if not check.holds}


@pytest.fixture(scope="module")
def verdict(quiet_turn):
    return verify(quiet_turn)


def test_a_quiet_turn_holds_and_mujoco_confirms_it(quiet_turn, verdict) -> None:
    """MuJoCo's chains, which share no equation with the reduced model, are off by hundredths of a millimetre."""
    assert verdict.holds, broken(verdict)
    checks = {check.name: check for check in verdict.checks}
    assert checks[AGREES].value == 0.0
    judged = verdict.replay.judged
    assert checks["peak error in MuJoCo"].bar == pytest.approx((1 + SHARE) * judged.after.peak + SLACK)
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
    loose = tuple(dataclasses.replace(c, bar=0.9) if c.name == "deflection over length" else c for c in certificate.checks)
    fewer = tuple(c for c in certificate.checks if c.name != "RMS torque")
    for checks in (loose, fewer, (*certificate.checks, certificate.checks[0])):
        again = verify(quiet_turn.changed(certificate=dataclasses.replace(certificate, checks=checks)), replay=False)
        assert broken(again) == {AGREES}


def test_a_channel_that_was_changed_is_found(quiet_turn) -> None:
    """A tenth of a degree more at one sample: the numbers are no longer those of the certificate."""
    (channel,) = quiet_turn.channels
    values = channel.values.copy()
    values[20] += np.radians(0.1)
    again = verify(quiet_turn.changed(channels=(dataclasses.replace(channel, values=values),)), replay=False)
    assert AGREES in broken(again)
    assert not again.holds
    assert again.figures["verified"] == 0.0


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
    assert {"range excess", "worst limit violation"} <= broken(again)
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
    assert "Every promise holds." in page
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
    assert all(set(check) == {"name", "value", "bar", "unit", "holds"} for check in facts["checks"])
