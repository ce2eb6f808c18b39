"""The verdict on puppets: a true performance passes; a tampered, slack, rushed or unreplayable one does not. Pictures show it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bunraku.cli.main import _run
from bunraku.errors import BadInput
from bunraku.formats.registry import read_performance, write_performance
from bunraku.mechanics.measures.driven_motion import replayed
from bunraku.motion import Channel, JointCurves, Performance
from bunraku.verification.comparison import comparison_row
from bunraku.verification.plots.figure import figure_bytes
from bunraku.verification.plots.joints import draw_comparison, draw_joints
from bunraku.verification.plots.strings import draw_dynamic, draw_replay
from bunraku.verification.report.html import make_report
from bunraku.verification.strings.plan import plan_of
from bunraku.verification.strings.replay import StringReplay
from bunraku.verification.verifier import Verdict
from bunraku.verification.verify import verify

AGREES = "certificate against recomputation"


def broken(verdict: Verdict) -> set[str]:
    return {check.name for check in verdict.checks if check.stands_against}


def with_channel(performance: Performance, name: str, change: np.ndarray) -> Performance:
    """The same performance, one channel changed, its motion and feedback with it."""
    channels = tuple(dataclasses.replace(c, values=c.values + change) if c.name == name else c for c in performance.channels)
    values = performance.motion.values.copy()
    values[:, performance.motion.names.index(name)] += change
    feedback = performance.feedback
    assert feedback is not None
    states, commands = feedback.states.copy(), feedback.commands.copy()
    states[:, feedback.coordinates.index(name)] += change
    commands[:, feedback.inputs.index(name)] += change[1:]
    return performance.changed(
        channels=channels,
        motion=JointCurves(performance.motion.names, performance.rate, values),
        feedback=dataclasses.replace(feedback, states=states, commands=commands),
    )


@pytest.fixture(scope="module")
def verdict(wave) -> Verdict:
    return verify(wave)


def test_a_true_performance_is_believed(wave, verdict) -> None:
    assert verdict.holds, verdict.sentence
    assert isinstance(verdict.replay, StringReplay)
    assert verdict.figures["replay_rms_m"] < 0.02
    assert verdict.figures["worst_limit_violation"] == 0.0
    plan = plan_of(wave)
    pull = replayed(plan.system, plan.q, wave.rate, plan.u).tensions
    assert verdict.figures["minimum_tension_n"] == pull.min() > 0.5


def test_a_cart_is_judged_by_the_same_verdict(balance) -> None:
    verdict = verify(balance(40.0))
    assert verdict.holds, verdict.sentence
    assert verdict.figures["replay_rms_m"] < 1e-3
    assert "minimum_tension_n" not in verdict.figures
    weak = balance(0.1)
    over = np.abs(weak.channels[0].values[:-1]).max() / 0.1 - 1.0
    verdict = verify(weak, replay=False)
    assert "motor torque excess" in broken(verdict)
    assert verdict.figures["worst_limit_violation"] == pytest.approx(over, rel=1e-9)


def test_a_motion_that_is_not_that_of_the_channels_is_found(wave) -> None:
    values = wave.motion.values.copy()
    values[150:, wave.motion.names.index("l_elbow")] += 1e-4
    found = broken(verify(wave.changed(motion=JointCurves(wave.motion.names, wave.rate, values)), replay=False))
    assert {"dynamics residual", AGREES, "feedback against motion"} <= found


def test_momenta_that_are_not_those_of_the_motion_are_found(wave) -> None:
    assert wave.feedback is not None
    states = wave.feedback.states.copy()
    states[150, -1] += 1e-4
    found = broken(verify(wave.changed(feedback=dataclasses.replace(wave.feedback, states=states)), replay=False))
    assert found == {"feedback momenta against motion"}


def test_channels_that_differ_from_the_motion_are_found(wave) -> None:
    channels = (dataclasses.replace(wave.channels[0], values=wave.channels[0].values + 1e-3), *wave.channels[1:])
    found = broken(verify(wave.changed(channels=channels), replay=False))
    assert {"motion against channels", "feedback against motion"} <= found


def test_a_carriage_too_fast_and_strings_of_wrong_length_are_found(wave) -> None:
    jump = np.where(np.arange(301) >= 150, 0.02, 0.0)
    found = verify(with_channel(wave, "l_knee_carriage.x", jump), replay=False)
    assert {"carriage speed excess", "carriage acceleration excess", "string length residual", "dynamics residual"} <= broken(found)
    assert found.figures["worst_limit_violation"] == pytest.approx(2.0 / 0.01 / 10.0 - 1.0, rel=1e-6)


def test_a_promised_tension_that_is_not_there_is_found(wave) -> None:
    certificate = wave.certificate
    checks = tuple(dataclasses.replace(c, value=2.0, threshold=1.0) if c.name == "least tension" else c for c in certificate.checks)
    lied = wave.changed(certificate=dataclasses.replace(certificate, checks=checks))
    verdict = verify(lied, replay=False)
    assert {"least tension", AGREES} <= broken(verdict)
    note = next(check.note for check in verdict.checks if check.name == AGREES)
    assert "least tension: the certificate says 2" in note


def test_a_feedback_that_ruins_the_motion_does_not_pass(wave) -> None:
    assert wave.feedback is not None
    mad = dataclasses.replace(wave.feedback, gains=-30.0 * wave.feedback.gains)
    verdict = verify(wave.changed(feedback=mad))
    assert "replay rms" in broken(verdict)
    assert verdict.figures["open_loop_replay_rms_m"] < 1e-3


def test_rows_and_pictures_of_a_puppet(wave, verdict) -> None:
    row = comparison_row(wave)
    assert row["rms_deviation"] == 0.0
    assert row["velocity_violations"] == 0
    jump = np.where(np.arange(301) >= 150, 0.02, 0.0)
    assert comparison_row(with_channel(wave, "l_knee_carriage.x", jump))["velocity_violations"] == 1
    figure = draw_dynamic(wave)
    assert [axis.get_ylabel().split(" [")[0].split("\n")[0] for axis in figure.axes] == [
        "tension",
        "carriage speed",
        "winch speed",
        "points off wish",
        "x, forward",
    ]
    plan = plan_of(wave)
    hand = figure.axes[0].get_lines()[2].get_ydata()
    np.testing.assert_array_equal(hand, replayed(plan.system, plan.q, wave.rate, plan.u).tensions[:, 2])
    assert figure_bytes(figure)[:4] == b"\x89PNG"
    errors = draw_replay(verdict.replay, wave.rate)
    np.testing.assert_array_equal(errors.axes[0].get_lines()[1].get_ydata(), 1e3 * verdict.replay.open_loop.errors.max(axis=1))
    figure_bytes(errors)
    for drawn in (draw_joints(wave, ("l_elbow",)), draw_comparison([wave, wave])):
        figure_bytes(drawn)
    text = make_report(wave, verdict)
    assert "MuJoCo with its own tendons" in text
    assert text.count("data:image/png") == 4
    assert "least tension" in text


def test_the_doors_know_puppets(wave, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_performance("wave.performance.npz", wave)
    again = read_performance("wave.performance.npz")
    assert again.feedback is not None
    np.testing.assert_array_equal(again.feedback.gains, wave.feedback.gains)
    assert _run(["verify", "wave.performance.npz", "--no-replay"]) == 0
    assert _run(["inspect", "wave.performance.npz"]) == 0
    said = capsys.readouterr().err
    assert "12 position, 6 length" in said
    assert "18 inputs by 62 states" in said
    assert _run(["plot", "wave.performance.npz", "-o", "w.png"]) == 0
    assert (tmp_path / "w.png").read_bytes()[:4] == b"\x89PNG"
    torque = Channel("l_elbow", "torque", "N·m", wave.rate, np.full(301, 0.1))
    with pytest.raises(BadInput, match="torque channel 'l_elbow' drives no"):
        wave.changed(channels=(torque, *wave.channels))


def test_strings_that_hang_slack_in_the_replay_break_the_promise(verdict) -> None:
    """As one whose strings were slack for a fifth of the time once ended with every promise kept."""
    run = verdict.replay.best
    for share, state in ((0.19, "broken"), (0.04, "holds")):
        slack = dataclasses.replace(run, slack=share)
        replay = dataclasses.replace(verdict.replay, open_loop=slack, closed_loop=slack)
        checks, _ = verdict.judge.judge(replay)
        assert next(check for check in checks if check.name == "slack").state == state
