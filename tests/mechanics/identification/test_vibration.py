import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.mechanics.identification.vibration import find_vibration


def swing(t, f=3.3, s=0.4, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    wave = np.exp(-s * t) * np.cos(2 * np.pi * f * t + 0.7)
    return np.outer(wave, [2.0, -1.0, 0.5]) + [10.0, 20.0, 30.0] + noise * rng.normal(size=(len(t), 3))


def test_frequency_decay_and_size_of_a_pure_vibration_are_exact():
    t = np.arange(0.0, 3.0, 1 / 60)
    found = find_vibration(t, swing(t), [(0.0, 3.0)])
    assert found.frequency == pytest.approx(3.3, rel=1e-5)
    assert found.decay == pytest.approx(0.4, rel=1e-3)
    assert found.amplitude == pytest.approx(np.sqrt(5.25), rel=1e-4)
    assert found.damping_ratio == pytest.approx(0.4 / np.hypot(2 * np.pi * 3.3, 0.4), rel=1e-3)
    assert found.cycles == pytest.approx(3.3 * t[-1])


def test_windows_have_their_own_rest_and_share_the_frequency():
    t = np.arange(0.0, 4.0, 1 / 60)
    y = swing(t)
    y[t > 2.0] += [5.0, 0.0, 0.0]
    y[(t > 1.5) & (t < 2.5)] += 100.0 * np.sin(9.0 * t[(t > 1.5) & (t < 2.5)])[:, None]
    assert find_vibration(t, y, [(0.0, 1.4), (2.6, 4.0)]).frequency == pytest.approx(3.3, rel=1e-5)


def test_uneven_times_are_no_obstacle_and_noise_is_measured():
    t = np.sort(np.random.default_rng(3).uniform(0.0, 4.0, 200))
    found = find_vibration(t, swing(t, noise=0.05), [(0.0, 4.0)])
    assert found.frequency == pytest.approx(3.3, rel=2e-3)
    assert found.noise == pytest.approx(0.05, rel=0.1)


def test_noise_alone_is_no_vibration():
    t = np.arange(0.0, 4.0, 1 / 60)
    for seed in range(8):
        noise = 5e-4 * np.random.default_rng(seed).normal(size=(len(t), 2))
        with pytest.raises(BadInput, match="no vibration stands out"):
            find_vibration(t, noise, [(0.0, 4.0)])


def test_too_little_stillness_is_said():
    t = np.arange(0.0, 4.0, 1 / 60)
    with pytest.raises(BadInput, match="only 0 samples"):
        find_vibration(t, swing(t), [(5.0, 6.0)])
