"""All servos of a character as arrays: gains, torque-speed line, delay, resolution, deadband, gear play, heat."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.servos.gains import ServoGains, servo_gains


@dataclass(frozen=True)
class ServoBank:
    """The k servos in the order of the character's motors; arrays (k,). Unstated torque and speed are infinite.

    ``stall``: the largest torque at rest, its stated fraction taken; ``continuous`` torque and ``winding_time`` are NaN where
    nobody states them; ``backlash``: how far the joint can be turned while the motor stands still, end to end.
    """

    gains: ServoGains
    stall: Array
    no_load_speed: Array
    continuous: Array
    winding_time: Array
    delay: Array
    resolution: Array
    deadband: Array
    backlash: Array

    @staticmethod
    def of(character: Character) -> ServoBank:
        """The servos of a character as its motors state them; unstated gains are of a scale with the robot."""

        def listed(field: str, missing: float) -> Array:
            values = (getattr(motor, field) for motor in character.motors)
            return np.array([missing if value is None else value for value in values], dtype=np.float64)

        gains = servo_gains(character)
        return ServoBank(
            gains,
            listed("stall_torque", np.inf) * listed("torque_fraction", 1.0),
            listed("no_load_speed", np.inf),
            listed("continuous_torque", np.nan),
            listed("winding_time", np.nan),
            listed("delay", 0.0),
            np.where(gains.wheel, 0.0, listed("resolution", 0.0)),
            np.where(gains.wheel, 0.0, listed("deadband", 0.0)),
            listed("backlash", 0.0),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The motors."""
        return self.gains.names

    @property
    def coordinates(self) -> tuple[str, ...]:
        """What they drive."""
        return self.gains.coordinates

    @property
    def wheel(self) -> NDArray[np.bool_]:
        """Whether each is sent a speed (k,)."""
        return self.gains.wheel

    @property
    def back_emf(self) -> Array:
        """Loss of torque with speed (k,) [N·m·s/rad], stall torque over no-load speed; 0 without a stated line."""
        return np.where(np.isfinite(self.stall), np.minimum(self.stall, 1e9) / self.no_load_speed, 0.0)

    def scaled(self, gain: float | Array) -> ServoBank:
        """With servos ``gain`` times as stiff."""
        return replace(self, gains=self.gains.scaled(gain))

    def torque_range(self, speed: Array) -> tuple[Array, Array]:
        """Least and largest torque (k,) that the motors can give at ``speed`` (k,)."""
        share = speed / self.no_load_speed
        return -self.stall * np.clip(1.0 + share, 0.0, 1.0), self.stall * np.clip(1.0 - share, 0.0, 1.0)

    def utilisation(self, torque: Array, speed: Array) -> Array:
        """Share (..., k) of the motors' line in use: (|tau| + (tau_0 / v_0) max(0, sign(tau) v)) / tau_0; 1 on the line.

        tau_0 the stall torque (times its fraction), v_0 the no-load speed; a motor that brakes has all of tau_0. 0 without a line.
        """
        driving = np.maximum(0.0, np.sign(torque) * speed)
        return np.asarray((np.abs(torque) + self.back_emf * driving) / self.stall)
