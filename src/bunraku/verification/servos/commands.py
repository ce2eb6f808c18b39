"""What servos make of the commands they are sent: the drive of their actuators at every step of a simulation.

A servo gets a command at every tick of its rate, rounded to its resolution, and goes straight from one to the next (what a player
does that sends at the device's rate, and the profile mode of bus servos); ``late`` by its delay. With c the place it aims at and w
its rate, the drive is kp c + kv w where the derivative acts on the error, kp c where it acts on the speed of the joint, and kv c
for the motor of a wheel, whose commands are speeds. Nothing here knows the plan: servos of other gains than the commands were made
for get the same commands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.verification.servos.bank import ServoBank


@dataclass(frozen=True)
class Commands:
    """Commands (n, k) at ``rate`` [Hz], from time zero on: places, for wheels speeds."""

    values: Array
    rate: float

    @property
    def duration(self) -> float:
        """Time of the last command [s]."""
        return (len(self.values) - 1) / self.rate

    def at_rate(self, rate: float) -> Commands:
        """The same commands read at another rate [Hz]; a slower device leaves some out."""
        if rate == self.rate:
            return self
        at = np.arange(int(np.floor(self.duration * rate + 1e-6)) + 1) / rate
        ticks = np.arange(len(self.values)) / self.rate
        return Commands(np.column_stack([np.interp(at, ticks, column) for column in self.values.T]), rate)


def commanded(bank: ServoBank, sent: Commands, times: Array, *, late: Array, jitter: Array | None = None) -> tuple[Array, Array]:
    """Where the servos aim and how fast that moves: places and rates (m, k) at ``times`` (m,) [s]; of wheels speeds.

    ``late`` (k,) [s]: from when a command is sent to its effect; ``jitter`` (n,) [s]: how much later each command is sent. Before
    the first command and after the last they aim at these.
    """
    ticks = np.arange(len(sent.values)) / sent.rate
    if jitter is not None:
        ticks = np.maximum.accumulate(ticks + jitter)
    step = bank.resolution
    values = np.where(step > 0.0, np.round(sent.values / np.where(step > 0.0, step, 1.0)) * step, sent.values)
    slopes = (
        np.diff(values, axis=0) / np.maximum(np.diff(ticks), 1e-9)[:, None] if len(ticks) > 1 else np.zeros((1, values.shape[1]))
    )
    place, rate = np.empty((len(times), values.shape[1])), np.empty((len(times), values.shape[1]))
    for j in range(values.shape[1]):
        at = times - late[j]
        place[:, j] = np.interp(at, ticks, values[:, j])
        between = np.searchsorted(ticks, at, side="right") - 1
        inside = (between >= 0) & (between < len(ticks) - 1)
        rate[:, j] = np.where(inside, slopes[np.clip(between, 0, len(slopes) - 1), j], 0.0)
    return place, rate


def drive(bank: ServoBank, place: Array, rate: Array) -> Array:
    """The drive (m, k) of servos that aim at these places, which move at these rates (m, k)."""
    kp, kv = bank.gains.stiffness, bank.gains.damping
    return np.asarray(np.where(bank.wheel, kv * place, kp * place + np.where(bank.gains.on_error, kv, 0.0) * rate))
