"""Holding times and crossings of known curves."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.motion import JointCurves
from bunraku.verification.promises import crossings, longest_hold


def test_the_longest_of_several_holds_counts() -> None:
    values = np.array([0.0, 1.0, 1.02, 0.0, 0.99, 1.0, 1.01, 1.0, 3.0, 1.0])
    curves = JointCurves(("a",), 10.0, values[:, None])
    assert longest_hold(curves, "a", 1.0, 0.05) == pytest.approx(0.3)
    assert longest_hold(curves, "a", 1.0, 0.005) == pytest.approx(0.0)
    assert longest_hold(curves, "a", 7.0, 0.05) == 0.0
    assert longest_hold(curves, "a", 1.0, 10.0) == pytest.approx(0.9)


@pytest.mark.parametrize(("values", "times"), [([1, -1, 1], 2), ([1, 0, 1], 0), ([1, 0, -1], 1), ([0, 0, 2], 0), ([-3, 2], 1)])
def test_a_touch_is_no_crossing(values, times) -> None:
    assert crossings(JointCurves(("a",), 10.0, np.array(values, dtype=float)[:, None]), "a") == times


def test_crossings_of_another_value() -> None:
    t = np.linspace(0.0, 1.0, 200)
    wave = JointCurves(("a",), 199.0, (2.0 + np.sin(6.0 * np.pi * t + 0.1))[:, None])
    assert crossings(wave, "a", 2.0) == 6
    assert crossings(wave, "a", 0.0) == 0
