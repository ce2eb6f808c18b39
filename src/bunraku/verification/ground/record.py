"""What a simulation on the ground recorded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array


@dataclass(frozen=True)
class GroundRecord:
    """m samples at the plan's ``times`` (m,) [s], k motors, e end effectors; world axes.

    ``qpos``, ``qvel``: MuJoCo's state; ``rotation`` (m, 3, 3) of the base; ``com`` (m, 3) [m]; ``angle`` and ``speed`` (m, k) of
    the motors; ``torque`` and ``torque_speed`` (steps, k): torques and speeds of the motors at every step of the simulation;
    ``force`` (m, e, 4): number of contacts and the ground's force [N] on each end effector, means until the next sample;
    ``center``, ``linear``, ``angular``, ``axis`` (m, e, 3): its centre [m], velocity [m/s], angular velocity [rad/s] and axis;
    ``touched`` [s]: when another part first touched the ground, NaN if none did.
    """

    times: Array
    qpos: Array
    qvel: Array
    rotation: Array
    com: Array
    angle: Array
    speed: Array
    torque: Array
    torque_speed: Array
    force: Array
    center: Array
    linear: Array
    angular: Array
    axis: Array
    touched: float

    @property
    def yaw(self) -> Array:
        """Heading (m,) [rad] of the base, continuous."""
        return np.unwrap(np.arctan2(self.rotation[:, 1, 0], self.rotation[:, 0, 0]))

    @property
    def contact(self) -> NDArray[np.bool_]:
        """Whether each end effector touches the ground (m, e)."""
        return self.force[..., 0] > 0.0
