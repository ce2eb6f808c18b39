"""Shapers against the closed form of a single mode."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from bunraku.errors import BadInput
from bunraku.performers.vibration.shapers import low_pass, zero_vibration, zero_vibration_derivative

FREQUENCY, DAMPING = 2.1, 0.03


def _residual(shaper, frequency, damping=0.0):
    """What is left of the vibration of a mode, as a part of what one impulse would leave (``frequency`` in Hz, undamped)."""
    w = 2.0 * np.pi * frequency
    t = shaper.times - shaper.times[-1]
    grown = shaper.amplitudes * np.exp(damping * w * t)
    return abs((grown * np.exp(1j * w * np.sqrt(1.0 - damping**2) * t)).sum())


def _swing(shaped, w=2 * np.pi * FREQUENCY, zeta=DAMPING):
    """The vibration left in x'' + 2 zeta w x' + w^2 (x - theta) = 0 half a second after a ramp of the base of 0.5 s has ended."""
    t = np.linspace(0.0, 3.0, 6001)
    ramp = np.clip((t - 0.5) / 0.5, 0.0, 1.0)[:, None]
    theta = ramp if shaped is None else shaped.shaped(t, ramp)

    def rates(at, x):
        return [x[1], -2 * zeta * w * x[1] - w * w * (x[0] - np.interp(at, t, theta[:, 0]))]

    late = t[t > 2.0]
    found = solve_ivp(rates, (0.0, 3.0), [0.0, 0.0], t_eval=late, rtol=1e-8, atol=1e-10, max_step=2e-3)
    return np.abs(found.y[0] - 1.0).max()


@pytest.mark.parametrize("make", [zero_vibration, zero_vibration_derivative])
def test_a_shaper_leaves_no_vibration_of_its_mode(make):
    shaper = make(FREQUENCY, DAMPING)
    assert shaper.amplitudes.sum() == pytest.approx(1.0, abs=1e-15)
    assert _residual(shaper, FREQUENCY, DAMPING) < 1e-14
    assert _swing(None) > 0.03
    assert _swing(shaper) < 1e-4


def test_zvd_is_insensitive_to_first_order():
    small = 1e-3
    zv, zvd = zero_vibration(FREQUENCY), zero_vibration_derivative(FREQUENCY)
    assert _residual(zv, FREQUENCY * (1 + small)) == pytest.approx(np.pi / 2 * small, rel=1e-2)
    assert _residual(zvd, FREQUENCY * (1 + small)) == pytest.approx((np.pi / 2 * small) ** 2, rel=1e-2)


def test_two_shapers_in_a_row_cancel_both_modes():
    both = zero_vibration(2.0, 0.01).after(zero_vibration(5.3, 0.02))
    assert both.amplitudes.sum() == pytest.approx(1.0)
    assert _residual(both, 2.0, 0.01) < 1e-14
    assert _residual(both, 5.3, 0.02) < 1e-14
    assert _residual(both, 3.0) > 0.1


def test_an_advanced_shaper_is_centred():
    shaper = zero_vibration_derivative(FREQUENCY).advanced()
    assert (shaper.amplitudes * shaper.times).sum() == pytest.approx(0.0, abs=1e-15)
    assert _residual(shaper, FREQUENCY) < 1e-14


def test_low_pass_halves_the_power_twice_at_its_cutoff_and_has_no_delay():
    rate, t = 500.0, np.arange(5000) / 500.0
    wave = np.sin(2 * np.pi * 2.0 * t)[:, None]
    passed = low_pass(wave, rate, 2.0)
    middle = slice(1500, 3500)
    assert np.linalg.norm(passed[middle]) / np.linalg.norm(wave[middle]) == pytest.approx(0.5, abs=0.01)
    assert passed[middle, 0] @ np.cos(2 * np.pi * 2.0 * t[middle]) == pytest.approx(0.0, abs=1.0)
    with pytest.raises(BadInput, match="low-pass"):
        low_pass(wave, rate, 300.0)
