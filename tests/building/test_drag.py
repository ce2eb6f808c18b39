"""Other drag and friction at the wheels."""

from __future__ import annotations

import pytest

from bunraku.building.tips import with_rolling_resistance
from bunraku.formats.registry import read_character


def test_drag_of_wheel_and_axle_change_together() -> None:
    """A wheel of drag c rolling at v turns with v / r; the axle's damping c r² takes the power c v²."""
    changed = with_rolling_resistance(read_character("creature3"), 2.0)
    wheel = next(tip for tip in changed.end_effectors if tip.kind == "passive")
    axle = next(joint for joint in changed.joints if joint.child == wheel.body)
    v = 0.4
    assert axle.damping * (v / wheel.radius) ** 2 == pytest.approx(2.0 * v**2)
    assert {tip.rolling_resistance for tip in changed.end_effectors if tip.kind == "ball"} == {0.0}
