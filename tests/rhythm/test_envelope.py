import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import Audio
from bunraku.rhythm.envelope import envelope

RATE = 16_000


def test_a_sine_has_its_amplitude_over_root_two():
    t = np.arange(2 * RATE) / RATE
    # 30 ms hold 15 whole periods of 500 Hz, so the mean of the square is that of a period
    found = envelope(Audio(0.5 * np.sin(2 * np.pi * 500 * t), RATE), 100.0, 0.03)
    assert len(found) == 200
    np.testing.assert_allclose(found[5:-5], 0.5 / np.sqrt(2), rtol=2e-3)


def test_a_step_is_seen_at_its_time_within_half_a_window():
    samples = np.zeros(RATE)
    samples[RATE // 2 :] = 0.25
    found = envelope(Audio(samples, RATE), 200.0, 0.03)
    times = np.arange(len(found)) / 200.0
    assert found[times < 0.5 - 0.016].max() == 0.0
    np.testing.assert_allclose(found[times > 0.5 + 0.016], 0.25, rtol=1e-9)
    # half of the window is loud at the step itself: the mean square is half
    assert found[100] == pytest.approx(0.25 / np.sqrt(2), rel=5e-3)


def test_scaling_and_reversal_are_exact_symmetries():
    samples = np.random.default_rng(3).normal(size=RATE + 1) * 0.1
    found = envelope(Audio(samples, RATE))
    np.testing.assert_allclose(envelope(Audio(-0.5 * samples, RATE)), 0.5 * found, rtol=1e-9)
    np.testing.assert_allclose(envelope(Audio(samples[::-1], RATE)), found[::-1], rtol=1e-9)


def test_an_impossible_window_is_refused():
    with pytest.raises(BadInput, match="window"):
        envelope(Audio(np.zeros(10), RATE), 100.0, -1.0)
