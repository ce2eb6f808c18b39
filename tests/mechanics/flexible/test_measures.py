"""What is measured of a flexible character's motion: numbers that are known beforehand."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bunraku.mechanics.flexible.judge import judge
from bunraku.mechanics.flexible.measures import CLOSURE_THRESHOLD, HIT_THRESHOLD, measure_flexible, torque_shares
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.motion import JointCurves, Mark

RATE = 100.0


def measured(model, wish, played, places=("tip",), marks=()):
    judged = judge(model, wish, played, places)
    return measure_flexible(model, wish, played, judged, marks), judged


def check(found, name):
    (one,) = [check for check in found.checks if check.name == name]
    return one


@pytest.fixture
def nod():
    t = np.arange(71) / RATE
    return JointCurves(("shoulder",), RATE, 0.1 * np.exp(-(((t - 0.35) / 0.06) ** 2))[:, None])


def test_deviation_and_errors_of_an_offset(one_rod, nod) -> None:
    """All motors 1 degree beside the wish: that is the deviation; at rest the tip is off by the turn about the motor."""
    model = flexible_system(one_rod())
    off = JointCurves(nod.names, RATE, nod.values + np.radians(1.0))
    found, judged = measured(model, nod, off)
    assert found.figures["motor_deviation_rms_deg"] == pytest.approx(1.0)
    assert found.figures["motor_deviation_rms_deg.shoulder"] == pytest.approx(1.0)
    assert check(found, "largest motor deviation, RMS").value == pytest.approx(np.radians(1.0))
    assert judged.after.distance[0, 0] == pytest.approx(0.5 * np.radians(1.0), rel=0.1)
    for key, error in (("before", judged.before), ("after", judged.after)):
        assert found.figures[f"peak_error_{key}_m"] == found.figures[f"peak_error_{key}_m.tip"] == error.distance.max()
        assert found.figures[f"rms_error_{key}_m"] == pytest.approx(float(np.sqrt((error.distance**2).mean())), rel=1e-12)
    gain = check(found, "tracked error, RMS")
    assert gain.threshold == judged.before.rms
    assert gain.holds is bool(judged.after.rms <= judged.before.rms)
    assert "hits_moved_s" not in found.figures
    assert "loop_closure_m" not in found.figures
    assert "torque_share" not in found.figures


def test_torque_against_the_line_and_continuous_torque(one_rod) -> None:
    """Held level: the moment of the weights over stall torque x fraction; RMS over the continuous torque; nothing else moves."""
    motor = {"stall_torque": 2.0, "no_load_speed": 6.0, "torque_fraction": 0.5, "continuous_torque": 0.4}
    model = flexible_system(one_rod(**motor))
    held = JointCurves(("shoulder",), RATE, np.full((8, 1), np.pi / 2))
    found, judged = measured(model, held, held)
    steel = model.parts["rod"].reduction.segment.mass
    moment = 9.81 * (0.1 * judged.after.seen.positions[0, 0, 0] + steel * 0.25)
    assert found.figures["torque_share"] == pytest.approx(moment / 1.0, rel=5e-3)
    assert found.figures["rms_torque_share"] == pytest.approx(moment / 0.4, rel=5e-3)
    assert check(found, "torque against the torque-speed line").holds
    assert not check(found, "RMS torque").holds
    names, torque, share = torque_shares(model, judged)
    assert names == ("shoulder",)
    np.testing.assert_allclose(share, np.abs(torque) / 1.0, rtol=1e-9)


def test_speed_uses_the_line_too(one_rod, nod) -> None:
    """The same motion with and without a no-load speed: uses differ by |speed| over it."""
    shares = []
    for speed in (4.0, None):
        model = flexible_system(one_rod(stall_torque=2.0, no_load_speed=speed))
        shares.append(torque_shares(model, measured(model, nod, nod)[1])[2][:, 0])
    t = 5e-4 * np.arange(len(shares[0]))
    rate = 0.1 * -2 * (t - 0.35) / 0.06**2 * np.exp(-(((t - 0.35) / 0.06) ** 2))
    np.testing.assert_allclose(shares[0] - shares[1], np.abs(rate) / 4.0, atol=2e-3)
    assert np.abs(rate).max() / 4.0 > 0.3


def test_a_rod_bent_far_is_warned_of_and_refused(one_rod) -> None:
    """A swing so fast that the tip lags by more than a quarter of the length; the note names the part."""
    model = flexible_system(one_rod())
    t = np.arange(41) / RATE
    for size, words in ((0.4, "doubtful"), (0.8, "does not hold")):
        s = np.clip(t / 0.12, 0.0, 1.0)
        swing = JointCurves(("shoulder",), RATE, (size * s**3 * (10 - 15 * s + 6 * s**2))[:, None])
        found, _ = measured(model, swing, swing)
        ratio = check(found, "deflection over length")
        assert ratio.value == found.figures["deflection_ratio"]
        assert words in ratio.note
        assert ratio.note.startswith("rod bends by")
        assert ratio.holds is (words == "doubtful")
        assert any("doubtful" in note for note in found.notes) is (words == "doubtful")


def test_hits_that_move_too_far_break_the_promise(one_rod) -> None:
    """A soft nod, played 30 ms late: so is the hit."""
    model = flexible_system(one_rod())
    t = np.arange(161) / RATE
    wish, played = (JointCurves(("shoulder",), RATE, 0.2 * np.exp(-(((t - c) / 0.25) ** 2))[:, None]) for c in (0.8, 0.83))
    found, _ = measured(
        model, wish, played, marks=(Mark("hit", 0.6, 1.0, 0.8), Mark("no stroke", 0.1, 0.2), Mark("early", 0.0, 0.2, 0.1))
    )
    assert found.figures["hits_moved_s"] == pytest.approx(0.03, abs=0.002)
    late = check(found, "hits moved")
    assert late.threshold == HIT_THRESHOLD == 0.02
    assert late.note == "most: hit at 0.8 s; 1 of 2 strokes judged"
    assert not late.holds


def test_a_wish_that_cannot_be_simulated_has_no_numbers(one_rod, nod) -> None:
    """Nothing is said of it rather than numbers that are none; what is performed is measured as ever."""
    model = flexible_system(one_rod())
    whole, judged = measured(model, nod, nod)
    found = measure_flexible(model, nod, nod, dataclasses.replace(judged, before=None, note="it falls apart"))
    gone = {name for name in whole.figures if "_before_m" in name}
    assert gone == {"peak_error_before_m", "rms_error_before_m", "peak_error_before_m.tip", "rms_error_before_m.tip"}
    assert found.figures == {name: value for name, value in whole.figures.items() if name not in gone}
    assert check(found, "tracked error, RMS").threshold is None
    assert found.notes == ("it falls apart",)


def test_a_loop_that_opens_for_two_milliseconds_is_seen(legs) -> None:
    """Two nodes in a row, wherever they are, cannot be missed."""
    model = flexible_system(legs(cell=0.05))
    still = JointCurves(("waist",), RATE, np.zeros((8, 1)))
    judged = judge(model, still, still, ("pelvis",))
    q = judged.after.motion.q.copy()
    q[51:53] += 1e-3
    motion = dataclasses.replace(judged.after.motion, q=q)
    found = measure_flexible(
        model, still, still, dataclasses.replace(judged, after=dataclasses.replace(judged.after, motion=motion))
    )
    assert not check(found, "loop closure").holds


def test_loops_are_promised_closed(legs) -> None:
    model = flexible_system(legs(cell=0.05))
    t = np.arange(21) / RATE
    wave = JointCurves(("waist",), RATE, 0.2 * np.sin(np.pi * t / 0.2)[:, None] ** 2)
    found, judged = measured(model, wave, wave, ("pelvis", "torso"))
    closed = check(found, "loop closure")
    assert closed.threshold == CLOSURE_THRESHOLD == 1e-9
    assert 0.0 < closed.value == found.figures["loop_closure_m"] <= 1e-9
    assert judged.after.peak > 1e-5
    assert {f"rms_error_after_m.{name}" for name in ("pelvis", "torso")} <= set(found.figures)
