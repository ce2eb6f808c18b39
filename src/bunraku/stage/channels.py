"""What several exporters ask of the channels of a performance: of the right kind, at one rate, equally long.

And what every joint does at every sample, in the terms of ROS: position, velocity and effort, not a number where it is not known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion import Channel, Performance


def need_some(performance: Performance) -> None:
    """A performance without channels is refused."""
    if not performance.channels:
        raise BadInput(f"the performance of {performance.clip_name!r} has no channel; there is nothing to export")


def need_kinds(performance: Performance, kinds: tuple[str, ...], form: str) -> tuple[Channel, ...]:
    """The channels of kinds that the format can express; another is refused by name.

    The torque of a motor that is sent a place or speed is the proof, not the command: it is left out where a format has no torques.
    """
    need_some(performance)
    moved = {channel.name for channel in performance.channels if channel.kind in ("position", "velocity")}
    proof = () if "torque" in kinds or performance.dynamic else ("torque",)
    sent = tuple(channel for channel in performance.channels if channel.kind not in proof or channel.name not in moved)
    for channel in sent:
        if channel.kind not in kinds:
            raise BadInput(
                f"channel {channel.name!r} is a {channel.kind}, which the {form} format cannot express; "
                f"it takes {' and '.join(kinds)}: export csv or json"
            )
    return sent


def table(channels: tuple[Channel, ...], form: str) -> tuple[float, NDArray[np.float64]]:
    """Rate [Hz] and values (samples, channels) of channels that share rate and length."""
    first = channels[0]
    for channel in channels:
        if channel.rate != first.rate or len(channel.values) != len(first.values):
            raise BadInput(
                f"channel {channel.name!r} has {len(channel.values)} samples at {channel.rate:g} Hz and {first.name!r} "
                f"{len(first.values)} at {first.rate:g} Hz; the {form} format holds one rate: export json"
            )
    return first.rate, np.column_stack([channel.values for channel in channels])


def stride(rate: float, asked: float | None) -> int:
    """Of how many samples one is taken when a rate that divides the motor rate is asked; 1 when none is."""
    step = 1.0 if asked is None else rate / asked if asked > 0.0 else 0.0
    if step < 1.0 or abs(step - round(step)) > 1e-9:
        raise BadInput(
            f"a rate of {asked:g} Hz does not divide the motor rate of {rate:g} Hz; perform the clip at that rate instead"
        )
    return round(step)


def thinned(rate: float, values: NDArray[np.float64], asked: float | None) -> tuple[float, NDArray[np.float64]]:
    """Every k-th sample, when a lower rate that divides the motor rate is asked; no value is made up."""
    step = stride(rate, asked)
    return rate if asked is None else asked, values[::step]


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

    The velocity of a place is its central difference; the place of what is sent a velocity is that of the motion, where the
    motion has it. ``rate`` [Hz] thins the samples; it must divide the motor rate.
    """
    motor_rate, values = table(channels, form)
    step = stride(motor_rate, rate)
    names = tuple(dict.fromkeys(channel.name for channel in channels))
    shape = (len(values[::step]), len(names))
    states = JointStates(names, motor_rate / step, *(np.full(shape, np.nan) for _ in range(3)))
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
