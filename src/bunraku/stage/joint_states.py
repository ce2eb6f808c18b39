"""What every joint does at every sample, in the terms of ROS: position, velocity and effort, not a number where it is not known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.motion import Channel, Performance
from bunraku.stage.channels import stride, table


@dataclass(frozen=True, eq=False)
class JointStates:
    """Of each of ``names``, at ``rate`` [Hz]: ``positions``, ``velocities``, ``efforts`` (samples, names), NaN where unknown.

    Positions and lengths [rad or m], velocities [rad/s or m/s], efforts [N·m or N].
    """

    names: tuple[str, ...]
    rate: float
    positions: Array
    velocities: Array
    efforts: Array


def joint_states(performance: Performance, channels: tuple[Channel, ...], form: str, rate: float | None = None) -> JointStates:
    """Channels of the performance, those of one name together: a place with its velocity, a velocity with its place, a torque.

    The velocity of a place is its central difference; the place of what is told a velocity is that of the motion, where the
    motion has it. ``rate`` [Hz] thins the samples; it must divide the motor rate.
    """
    found, values = table(channels, form)
    step = stride(found, rate)
    names = tuple(dict.fromkeys(channel.name for channel in channels))
    shape = (len(values[::step]), len(names))
    states = JointStates(names, found / step, *(np.full(shape, np.nan) for _ in range(3)))
    for channel in channels:
        _put(states, names.index(channel.name), channel, performance, step)
    return states


def _put(states: JointStates, j: int, channel: Channel, performance: Performance, step: int) -> None:
    values = channel.values[::step]
    if channel.kind == "torque":
        states.efforts[:, j] = values
    elif channel.kind == "velocity":
        states.velocities[:, j] = values
        if channel.name in performance.motion.names and np.isnan(states.positions[:, j]).all():
            states.positions[:, j] = performance.motion.column(channel.name)[::step]
    else:
        states.positions[:, j] = values
        if np.isnan(states.velocities[:, j]).all():
            states.velocities[:, j] = central_velocities(values[:, None], states.rate)[:, 0]


def central_velocities(values: Array, rate: float) -> Array:
    """Central differences of samples (n, k) at ``rate`` [Hz], one-sided at the ends; zero for a single sample."""
    velocities: Array = np.zeros_like(values)
    if len(values) > 1:
        steps = np.diff(values, axis=0) * rate
        velocities[0], velocities[-1] = steps[0], steps[-1]
        velocities[1:-1] = 0.5 * (steps[1:] + steps[:-1])
    return velocities
