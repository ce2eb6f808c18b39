"""Real recordings end to end: parsed, retargeted, performed at several motor rates; limits, lag, and the stretched control."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.formats.registry import read_character, read_clip
from bunraku.motion import Clip, MotionLimits
from bunraku.performers.performer import make_performer
from bunraku.retargeting.retarget import retarget
from bunraku.verification.comparison import comparison_row

CLIPS = ("02_05", "18_08", "18_11", "18_15", "79_06")
NAO = read_character("nao")


@pytest.fixture(scope="module", params=CLIPS)
def wish(request: pytest.FixtureRequest, data: Path) -> Clip:
    return retarget(read_clip(data / f"cmu_{request.param}.bvh"), NAO).clip


@pytest.mark.parametrize("rate", [25.0, 100.0, 120.0])
def test_real_clips_are_performed_in_time_within_all_limits(wish: Clip, rate: float) -> None:
    performance = make_performer("speech", {"rate": rate}).perform(NAO, wish)
    excess = MotionLimits.of(NAO).excess(performance.positions().values, rate)
    assert max(excess.range.max(), excess.velocity.max()) <= 1e-9
    row = comparison_row(performance)
    assert abs(row["lag_ms"]) <= 10.0
    assert abs(row["worst_lag_ms"]) <= 10.0
    reference = MotionLimits.of(NAO).excess(performance.wish.values, rate)
    if reference.count("velocity"):
        control = comparison_row(make_performer("stretch", {"rate": rate}).perform(NAO, wish))
        assert control["velocity_violations"] == 0
        assert control["lag_ms"] > abs(row["lag_ms"])


def test_the_wishes_break_limits_at_the_motor_rate(wish: Clip) -> None:
    reference = make_performer("reference", {"rate": 100.0}).perform(NAO, wish)
    assert MotionLimits.of(NAO).excess(reference.positions().values, 100.0).count("velocity") > 0
    assert not reference.certificate.holds


def test_acceleration_limited_performance_of_a_real_clip(data: Path) -> None:
    motors = tuple(motor.changed(acceleration=90.0, jerk=9000.0) for motor in NAO.motors)
    limited = NAO.changed(motors=motors)
    clip = retarget(read_clip(data / "cmu_79_06.bvh"), NAO).clip
    performance = make_performer("speech", {"rate": 100.0}).perform(limited, clip)
    excess = MotionLimits.of(limited).excess(performance.positions().values, 100.0)
    assert excess.relative <= 1e-9
    assert np.isfinite(performance.positions().values).all()
    assert abs(comparison_row(performance)["lag_ms"]) <= 10.0
