"""Torques of motors against their torque-speed lines: |torque| / stall + |speed| / free speed <= 1.

What a motor must give at a node is the discrete inverse dynamics at its own, prescribed coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.integrators.driven.simulate import DrivenMotion
from bunraku.mechanics.integrators.driven.torque import motor_forces


@dataclass(frozen=True, eq=False)
class TorqueLines:
    """Torque-speed lines: |torque| / ``stall`` + |speed| / ``free_speed`` <= 1 for each motor; infinite where none is stated."""

    stall: Array
    free_speed: Array

    @property
    def any(self) -> bool:
        """Whether a motor states a torque."""
        return bool(np.isfinite(self.stall).any())

    def use(self, torque: Array, speed: Array) -> Array:
        """How much of what a motor can give is used, 1 at the line; arrays (..., motors)."""
        share: Array = np.abs(torque) / self.stall + np.abs(speed) / self.free_speed
        return np.where(np.isfinite(self.stall), share, 0.0)


def torque_lines(character: Character, motors: tuple[str, ...]) -> TorqueLines:
    """The torque-speed lines of the ``motors`` (names of coordinates)."""
    of = {motor.coordinate: motor for motor in character.motors}
    stall = [of[name].available_torque(0.0) if of[name].stall_torque is not None else np.inf for name in motors]
    return TorqueLines(np.array(stall, dtype=np.float64), no_load_speeds(character, motors))


def no_load_speeds(character: Character, names: tuple[str, ...]) -> Array:
    """Speeds [rad/s, m/s] at which the motors of coordinates ``names`` give no torque; infinite where none is stated."""
    of = {motor.coordinate: motor.no_load_speed for motor in character.motors}
    speeds = [of.get(name) for name in names]
    return np.array([np.inf if speed is None else speed for speed in speeds], dtype=np.float64)


def torques_of(motion: DrivenMotion) -> tuple[Array, Array]:
    """Torques [N·m, N] and speeds (N, nk) of the motors at the first N nodes of a motion."""
    speed: Array = np.gradient(motion.motors, motion.dt, axis=0)[:-1]
    return motor_forces(motion), speed
