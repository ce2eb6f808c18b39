"""What carriages, winches and motors make of a command they cannot follow: they go as far as their limits let them."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.systems.carriages import CarriageLimits


class CarriageClamp:
    """Cuts the next places and lengths of a character to acceleration, speed and range; the order of `Character.prescribed`.

    ``count`` is how many steps so far had a command that was cut. The least separation of carriages is not enforced here.
    """

    def __init__(self, character: Character, dt: float) -> None:
        self._limits, self._dt, self._planar = CarriageLimits.of(character), dt, 2 * len(character.carriages)
        self.count = 0

    def __call__(self, command: Array, now: Array, speed: Array) -> Array:
        """Where (nk,) to be a step later, sent to ``command``, standing at ``now``, arrived with ``speed`` [m/s]."""
        limits, dt = self._limits, self._dt
        v = speed + dt * self._cut((((command - now) / dt) - speed) / dt, limits.acceleration, limits.winch_acceleration)
        v = self._cut(v, limits.speed, limits.winch_speed)
        reached: Array = np.clip(now + dt * v, limits.lower, limits.upper)
        self.count += bool(np.abs(reached - command).max(initial=0.0) > 1e-9)
        return reached

    def _cut(self, values: Array, planar: Array, winch: Array) -> Array:
        out = values.copy()
        pairs = out[: self._planar].reshape(-1, 2)
        size = np.linalg.norm(pairs, axis=1)
        pairs *= np.minimum(1.0, np.where(size > planar, planar / np.maximum(size, 1e-300), 1.0))[:, None]
        out[self._planar :] = np.clip(out[self._planar :], -winch, winch)
        return out


class ForceClamp:
    """Cuts the force inputs of a character's system to what tendons bear and what motors give at their speed."""

    def __init__(self, character: Character, inputs: tuple[str, ...]) -> None:
        self._motors = [next((motor for motor in character.motors if motor.name == name), None) for name in inputs]
        bears = {tendon.name: tendon.max_tension for tendon in character.tendons}
        self._bears = [bears.get(name) for name in inputs]
        self.coordinates = [None if motor is None else motor.coordinate for motor in self._motors]
        self.count = 0

    def __call__(self, command: Array, speeds: Array) -> Array:
        """The inputs (nu,) given, ``speeds`` (nu,) those of the motors [rad/s or m/s]."""
        given = command.copy()
        for i, (motor, most) in enumerate(zip(self._motors, self._bears, strict=True)):
            if motor is not None:
                available = motor.available_torque(float(speeds[i]) if given[i] * speeds[i] > 0.0 else 0.0)
                given[i] = np.clip(given[i], -available, available)
            elif most is not None:
                given[i] = np.clip(given[i], 0.0, most)
        self.count += bool(np.abs(given - command).max(initial=0.0) > 1e-9)
        return given
