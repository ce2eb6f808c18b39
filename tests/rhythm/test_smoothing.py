"""The low-pass without delay: its gain, its phase, its ends, and what a performance does with it."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import JointCurves
from bunraku.rhythm.lag import lag
from bunraku.rhythm.smoothing import smoothed

RATE = 100.0
T = np.arange(801) / RATE


def curve(values: np.ndarray) -> JointCurves:
    return JointCurves(("a",), RATE, values[:, None])


@pytest.mark.parametrize(("frequency", "gain"), [(1.0, 1.0), (6.0, 0.5), (12.0, 1.0 / 17.0)])
def test_the_gain_is_a_half_at_the_cutoff(frequency: float, gain: float) -> None:
    middle = slice(200, 600)
    wave = np.sin(2 * np.pi * frequency * T)
    out = smoothed(curve(wave), 6.0).values[:, 0]
    assert out[middle] @ wave[middle] / (wave[middle] @ wave[middle]) == pytest.approx(gain, abs=5e-3)


def test_it_takes_no_time_and_moves_no_end() -> None:
    gesture = np.exp(-(((T - 4.0) / 0.4) ** 2)) + 0.1 * T
    shaken = gesture + 0.02 * np.sin(2 * np.pi * 14.0 * T)
    out = smoothed(curve(shaken), 6.0)
    assert abs(lag(gesture[:, None], out.values, RATE).seconds) < 1e-3
    assert out.values[[0, -1], 0] == pytest.approx(shaken[[0, -1]], abs=1e-9)
    assert np.abs(out.values[:, 0] - gesture).max() < 0.012


def test_lines_pass_and_nonsense_does_not() -> None:
    line = curve(0.3 * T)
    assert smoothed(line, 2.0).values == pytest.approx(line.values, abs=1e-12)
    assert smoothed(line, 60.0) is line
    with pytest.raises(BadInput, match="leaves no motion"):
        smoothed(line, 0.0)
