"""A rod on a motor in closed form, cheap enough for many fits: its first two bending modes in a frame that turns with the motor."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

from bunraku.mechanics.identification.model import DrivenMarker
from bunraku.mechanics.identification.record import MarkerRecord

YOUNG, LENGTH = 200e9, 0.7
FREQUENCIES = np.array([2.1873, 26.140])  # Hz, steel rod of 4 mm with 0.1 kg at its tip
GAINS = np.array([1.02, -0.02])  # tip displacement a unit of -theta'' L / omega^2, by mode
PAUSE = 1.5


def command(times, angle=np.pi / 6, ramp=0.5, pause=PAUSE):
    """To ``angle`` in ``ramp`` seconds, a pause, and back."""
    return angle * np.interp(times, [0.0, ramp, ramp + pause, 2 * ramp + pause], [0.0, 1.0, 1.0, 0.0])


def tip(scale, beta, dt, seconds=4.2, angle=np.pi / 6):
    """The tip (N + 1, 3) in closed form: eta'' + beta w^2 eta' + w^2 eta = -g L theta'' for the bending eta of each mode.

    The command theta is piecewise linear, so each jump of theta' sets off a free vibration, and the sum of them is exact.
    """
    t = dt * np.arange(int(np.ceil(seconds / dt)) + 1)
    theta = command(t, angle)
    rate = np.diff(theta) / dt
    jumps = np.diff(np.concatenate([[0.0], rate, [0.0]]))
    bend = np.zeros_like(t)
    for w, g in zip(2 * np.pi * FREQUENCIES * np.sqrt(scale), GAINS, strict=True):
        s = 0.5 * beta * w**2
        pole = -s + 1j * np.sqrt(w**2 - s**2)
        wave = lfilter([1.0], [1.0, -np.exp(pole * dt)], jumps.astype(complex))
        bend -= g * LENGTH * wave.imag / pole.imag
    x = LENGTH * np.sin(theta) + bend * np.cos(theta)
    z = LENGTH * np.cos(theta) - bend * np.sin(theta)
    return np.column_stack([x, np.zeros_like(x), z])


STILL = ((0.6, 2.0), (2.6, 10.0))


@pytest.fixture
def rod():
    """A model whose nominal modulus is ``assumed`` times that of steel."""

    def make(assumed=1.0, still=STILL, seconds=4.6):
        return DrivenMarker(lambda scale, beta, dt: tip(assumed * scale, beta, dt, seconds), assumed * YOUNG, still)

    return make


@pytest.fixture
def camera():
    """A record of the closed-form rod: 60 Hz, 0.5 mm noise, an unknown camera."""

    def make(seed, *, young=YOUNG, beta=7.4e-4, delay=0.018, seconds=4.0, noise=5e-4, rate=60.0, pixels=None, space=False, t0=0.0):
        rng = np.random.default_rng(seed)
        t = t0 + np.arange(int((seconds - t0) * rate) + 1) / rate
        fine = tip(young / YOUNG, beta, 5e-4, seconds + 0.2)
        grid = 5e-4 * np.arange(len(fine))
        x = np.column_stack([np.interp(np.maximum(t - delay, 0.0), grid, fine[:, i]) for i in range(3)])
        if space:
            R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            points = x @ (R * np.linalg.det(R)).T + rng.normal(size=3)
        else:
            a = rng.uniform(-np.pi, np.pi)
            mirror = np.diag([1.0, -1.0]) if seed % 2 else np.eye(2)
            points = x[:, [0, 2]] @ mirror @ np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]) + rng.normal(size=2)
        points = points + noise * rng.normal(size=points.shape)
        return MarkerRecord(t, points if pixels is None else points * pixels, scaled=pixels is None)

    return make
