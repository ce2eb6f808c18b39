"""The performer as a whole on a short rod: what it promises, what it refuses, feedback that damps."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.checkpoint import Checkpoint
from bunraku.mechanics.flexible.judge import hit_lags, judge
from bunraku.mechanics.integrators.driven.rest import rest_start
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.motion import Clip, Emphasis, JointCurves, Mark
from bunraku.optimization.solution import Status
from bunraku.performers.choose import choose_performer
from bunraku.performers.performer import make_performer
from bunraku.performers.vibration.frequencies import vibrations

OPTIONS = {"points": 40, "step_ms": 4.0}


@pytest.fixture(scope="module")
def performed(rod_character, turn_clip):
    return make_performer("vibration", OPTIONS).perform(rod_character, turn_clip)


def test_it_is_chosen_for_characters_that_bend(rod_character, turn_clip):
    assert choose_performer(rod_character, turn_clip).name == "vibration"
    stiff = rod_character.changed(flexibles=(), materials=())
    assert make_performer("vibration").suits(stiff, turn_clip).score == 0.0


def test_the_certificate_holds_and_says_what_was_gained(performed):
    certificate, figures = performed.certificate, performed.certificate.figures
    assert certificate.status is Status.CONVERGED
    assert certificate.holds, [check.sentence for check in certificate.checks if check.stands_against]
    assert figures["rms_error_after_m"] < 0.1 * figures["rms_error_before_m"]
    assert figures["peak_error_after_m"] < 0.5 * figures["peak_error_before_m"]
    assert figures["motors"] == 1
    assert figures["parameters"] >= 40
    assert 0.0 < figures["torque_share"] <= 1.0
    assert 0.0 < figures["motor_deviation_rms_deg"] < 5.0
    assert performed.positions().names == ("shoulder",)


def test_the_cost_starts_at_the_wish_and_never_rises(performed):
    figures = performed.certificate.figures
    costs = [figures[f"cost {k}"] for k in range(int(figures["iterations"]) + 1)]
    wish = 0.5 * 1.6 * figures["rms_error_before_m"] ** 2  # of the clip's 1.6 s, the small weights of the motors left out
    assert costs[0] == pytest.approx(wish, rel=0.05)
    assert np.all(np.diff(costs) <= 0.0)
    assert costs[-1] == figures["final cost"] < 0.02 * costs[0]


def test_how_far_the_splines_are_off_the_clip_is_told(performed, turn_clip):
    """The wish of the performance is the spline: at the clip's own samples it is off by what the figures say."""
    joints, figures = turn_clip.joints, performed.certificate.figures
    every = round(performed.wish.rate / joints.rate)
    off = performed.wish.column("shoulder")[::every] - joints.column("shoulder")
    assert figures["spline misfit, peak"] == pytest.approx(np.abs(off).max(), rel=1e-6)
    assert figures["spline misfit, RMS"] == pytest.approx(np.sqrt((off**2).mean()), rel=1e-6)


def test_the_certificate_is_computed_from_the_channels(performed, rod_system):
    """Judged again from the channels: the same errors; judged with the wish in their place: those before."""
    again = judge(rod_system, performed.wish, performed.positions(), ("ball",))
    figures = performed.certificate.figures
    assert again.after.rms == pytest.approx(figures["rms_error_after_m"], rel=1e-6)
    assert again.before.rms == pytest.approx(figures["rms_error_before_m"], rel=1e-6)


def test_hits_that_come_late_are_found(rod_system, performed):
    """The quiet motion played 30 ms late is 30 ms late; played as it is, it is on time."""
    played = performed.positions()
    late = JointCurves(played.names, played.rate, np.vstack([np.repeat(played.values[:1], 3, axis=0), played.values[:-3]]))
    stop = [Mark("stop", 0.2, 0.6, 0.4), Mark("no stroke", 0.7, 0.8)]
    for curves, expected in ((late, 0.03), (played, 0.0)):
        lags = hit_lags(judge(rod_system, performed.wish, curves, ("ball",)), stop)
        assert list(lags) == ["stop at 0.4 s"]
        assert lags["stop at 0.4 s"] == pytest.approx(expected, abs=0.004)


def test_frequencies_are_those_of_a_rod_with_a_tip_mass(rod_system):
    """Rayleigh's quotient of a cantilever with a tip mass, 33/140 of the rod's mass added: less what gravity takes."""
    E, d, L, m = 2e11, 0.004, 0.5, 0.1
    rod = 7850.0 * np.pi * d**2 / 4 * L
    k = 3 * E * np.pi * d**4 / 64 / L**3
    at_rest, _ = rest_start(rod_system.system, np.zeros(1), rod_system.home)
    found = vibrations(rod_system, at_rest, 2)
    weight = 9.81 * (m + 0.375 * rod) * 1.2 / L
    expected = np.sqrt((k - weight) / (m + 33 / 140 * rod)) / (2 * np.pi)
    assert found.frequencies == pytest.approx([expected, expected], rel=0.01)
    assert found.damping[0] == pytest.approx(np.pi * found.frequencies[0] * 7.4e-4 * k / (k - weight), rel=0.05)


def test_feedback_damps_what_open_loop_leaves(rod_character, rod_system, turn_clip):
    done = make_performer("vibration", {**OPTIONS, "feedback": True}).perform(rod_character, turn_clip)
    feedback = done.feedback
    assert feedback.rate == pytest.approx(250.0)
    assert set(feedback.coordinates) <= set(done.motion.names)
    integrator = VariationalIntegrator(rod_system.system, 1.0 / feedback.rate)
    x0 = feedback.states[0].copy()
    C = rod_system.parts["rod"].reduction.segment.interfaces[0].C
    mode = rod_system.coordinates("rod")[int(np.argmax(np.abs(C[0, :2])))]
    x0[mode] += 0.01 / np.abs(C[0, :2]).max()
    nq, none = rod_system.system.nq, np.zeros((feedback.steps, 0))
    runs = [
        integrator.rollout(x0[:nq], x0[nq:], none, feedback.commands),
        integrator.rollout(x0[:nq], x0[nq:], none, feedback.commands, reference=feedback.states, gain=feedback.gains),
    ]
    left = [np.abs(run.q[-100:, mode] - feedback.states[-100:, mode]).max() for run in runs]
    assert all(run.status.good for run in runs)
    assert left[1] < 0.2 * left[0]


def test_a_checkpoint_is_taken_up(rod_character, turn_clip, performed, tmp_path):
    kept = Checkpoint(tmp_path / "run.npz", "key")
    make_performer("vibration", {**OPTIONS, "max_iterations": 1}).perform(rod_character, turn_clip, checkpoint=kept)
    assert int(kept.load()["numbers"][4]) == 1
    resumed = make_performer("vibration", OPTIONS).perform(rod_character, turn_clip, checkpoint=kept)
    assert resumed.positions().values == pytest.approx(performed.positions().values, abs=1e-9)


def test_bad_wishes_are_refused_by_name(rod_character, turn_clip):
    artist = make_performer("vibration", OPTIONS)
    fast = turn_clip.changed(joints=JointCurves(("shoulder",), 500.0, turn_clip.joints.values))
    with pytest.raises(BadInput, match=r"'shoulder' at .* rad/s"):
        artist.perform(rod_character, fast)
    with pytest.raises(BadInput, match="'nose' is no frame"):
        artist.perform(rod_character, turn_clip.changed(emphasis=(Emphasis("nose", 2.0),)))
    with pytest.raises(BadInput, match="scenarios"):
        make_performer("vibration", {**OPTIONS, "scenarios": "soft"}).perform(rod_character, turn_clip)
    with pytest.raises(BadInput, match="no joint curves"):
        artist.perform(rod_character, Clip("nothing"))
