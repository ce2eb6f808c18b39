"""What a position servo does with the commands it is sent: rate, resolution, delay, gains, torque-speed line.

A servo reads its command at its own rate, rounded to its resolution, holds it until the next, and acts on it ``delay`` later
with torque kp (target - q) + kv (target rate - v), cut to what its torque-speed line allows: tau_0 (1 - v / v_0) when driving,
tau_0 when braking.
Backlash is not simulated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character, Motor

FULL_TORQUE_AT = 0.05
"""A servo without a stated stiffness gives its full torque at this error [rad]."""

LOOSE_STIFFNESS = 100.0
"""Stiffness [N·m/rad] of a servo that states neither stiffness nor torque."""

CONTINUOUS_SHARE = 1.0 / 3.0
"""Continuous (RMS) torque of a motor whose maker states none, as a share of its stall torque."""


def stiffness_of(motor: Motor) -> float:
    """The servo's stiffness [N·m/rad]: stated, or full torque at ``FULL_TORQUE_AT``, or ``LOOSE_STIFFNESS``."""
    if motor.stiffness is not None:
        return motor.stiffness
    if motor.stall_torque is not None:
        return motor.torque_fraction * motor.stall_torque / FULL_TORQUE_AT
    return LOOSE_STIFFNESS


@dataclass(frozen=True)
class ServoBank:
    """All servos of a character as arrays (k,), in the order of its motors; unstated torque and speed are infinite."""

    names: tuple[str, ...]
    coordinates: tuple[str, ...]
    stiffness: Array
    damping: Array
    stall: Array
    continuous: Array
    continuous_stated: NDArray[np.bool_]
    no_load_speed: Array
    delay: Array
    resolution: Array
    rate: Array

    @staticmethod
    def of(character: Character, damping: Array) -> ServoBank:
        """The servos of a character; ``damping`` (k,) [N·m·s/rad] is used where a motor states none."""
        motors = character.motors

        def listed(field: str, missing: float) -> Array:
            return np.array([missing if getattr(m, field) is None else getattr(m, field) for m in motors], dtype=np.float64)

        stated, third = listed("continuous_torque", np.nan), CONTINUOUS_SHARE * listed("stall_torque", np.inf)
        return ServoBank(
            tuple(motor.name for motor in motors),
            tuple(motor.coordinate for motor in motors),
            np.array([stiffness_of(motor) for motor in motors], dtype=np.float64),
            np.array([d if m.damping is None else m.damping for m, d in zip(motors, damping, strict=True)], dtype=np.float64),
            listed("stall_torque", np.inf) * listed("torque_fraction", 1.0),
            np.where(np.isnan(stated), third, stated),
            ~np.isnan(stated),
            listed("no_load_speed", np.inf),
            listed("delay", 0.0),
            listed("resolution", 0.0),
            listed("rate", 100.0),
        )

    @property
    def pure_delay(self) -> Array:
        """Mean time (k,) [s] from a command's time to its effect: the delay and half a period of hold."""
        return self.delay + 0.5 / self.rate

    def targets(self, times: Array, curve_times: Array, curves: Array) -> tuple[Array, Array]:
        """Position and rate (n, k) that the servos aim at, at ``times`` (n,), sent ``curves`` (m, k) at ``curve_times`` (m,)."""
        position, speed = np.empty((len(times), len(self.names))), np.empty((len(times), len(self.names)))
        for j, (delay, resolution, rate) in enumerate(zip(self.delay, self.resolution, self.rate, strict=True)):
            tick = np.floor((times - delay) * rate + 1e-6)
            now = np.interp(tick / rate, curve_times, curves[:, j])
            before = np.interp((tick - 1) / rate, curve_times, curves[:, j])
            speed[:, j] = (now - before) * rate
            position[:, j] = np.round(now / resolution) * resolution if resolution > 0.0 else now
        return position, speed

    def torque_range(self, speed: Array) -> tuple[Array, Array]:
        """Least and largest torque (k,) that the motors can give at ``speed`` (k,)."""
        share = speed / self.no_load_speed
        return -self.stall * np.clip(1.0 + share, 0.0, 1.0), self.stall * np.clip(1.0 - share, 0.0, 1.0)
