"""Which channel goes to which servo, and every limit on the way: the one table that the player works with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion import Channel, Performance
from bunraku.stage.devices.device import Device, listed
from bunraku.stage.player.limits import OutputLimits, common, limits_of

Counts = NDArray[np.int64]

SPEEDS = ("dry-run", "maestro", "serial", "blender-live", "websocket")
"""The drivers that can tell a servo a speed: by a pulse, as continuous rotation servos take it, or by a program at the other
end."""


@dataclass(frozen=True)
class DeviceOutputs:
    """The outputs of a device, in its order; all arrays (k,).

    A value x in the unit of its channel is the count ``zero`` + ``slope`` x. ``limits`` are those of the character within what
    the calibration can express, ``count_low`` and ``count_high`` the whole numbers inside them, ``pulse_low`` and ``pulse_high``
    those that the servo takes at all. ``home``: where an output stays
    that is not sent anything; ``still``: whether a value that is not known is replaced by the last one (places) or by home
    (speeds). ``following`` is how far a measured value may be from those sent; infinite for speeds.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    zero: Array
    slope: Array
    limits: OutputLimits
    count_low: Counts
    count_high: Counts
    pulse_low: Counts
    pulse_high: Counts
    home: Array
    still: NDArray[np.bool_]
    following: Array

    def counts(self, x: Array, low: Counts | None = None, high: Counts | None = None) -> Counts:
        """The counts of values x (..., k), rounded to the nearest and within the bounds; by default those of the limits."""
        low, high = self.count_low if low is None else low, self.count_high if high is None else high
        return np.clip(np.rint(self.zero + self.slope * x), low, high).astype(np.int64)

    def values(self, counts: Array | Counts) -> Array:
        """The values (..., k) of counts."""
        return (counts - self.zero) / self.slope

    def rest(self, x: Array) -> Array:
        """Values (k,) that stay: those of x (k,) where they are places, home where they are speeds."""
        return np.where(self.still, x, self.home)

    @property
    def resolution(self) -> Array:
        """The value of one count (k,)."""
        return np.abs(1.0 / self.slope)


def commands(performance: Performance) -> tuple[Channel, ...]:
    """The channels that are commands: all but the torques of motors that are sent a place or a speed; those are the proof."""
    moved = {channel.name for channel in performance.channels if channel.kind != "torque"}
    return tuple(channel for channel in performance.channels if channel.kind != "torque" or channel.name not in moved)


def outputs_of(performances: Sequence[Performance], device: Device) -> DeviceOutputs:
    """The outputs of a device that plays these performances of one character, within the limits of each of them.

    Every channel needs a servo of its name; a servo without channel stays at home and must be a coordinate of the character.
    """
    character = performances[0].character
    units: dict[str, str] = {}
    for performance in performances:
        if performance.character.driven != character.driven or performance.character.prescribed != character.prescribed:
            raise BadInput(
                f"{performance.clip_name!r} is for {performance.character.name!r}, {performances[0].clip_name!r} for "
                f"{character.name!r}; performances of one show have the same motors"
            )
        for channel in commands(performance):
            _check_channel(channel, device)
            if units.setdefault(channel.name, channel.unit) != channel.unit:
                raise BadInput(f"channel {channel.name!r} is in {units[channel.name]} and in {channel.unit}; one servo takes one")
    names = tuple(device.servos)
    axes = {axis.name: "m" if axis.kind == "slide" else "rad" for axis in character.axes}
    known = dict.fromkeys(character.prescribed, "m") | {name: axes[name] for name in character.driven}
    for name in names:
        if name not in units and name not in known:
            raise BadInput(
                f"the device {device.name!r} has a servo {name!r}, which is no motor of {character.name!r}; leave it out"
            )
    servos = list(device.servos.values())
    idle = {name: "rad/s" if servo.span_rad_s is not None else known.get(name, "") for name, servo in device.servos.items()}
    every = tuple(units.get(name) or idle[name] for name in names)
    lines = np.array([servo.line(unit, name) for servo, unit, name in zip(servos, every, names, strict=True)])
    zero, slope = lines[:, 0], lines[:, 1]
    limits = common([limits_of(performance.character, names, every) for performance in performances])
    if (limits.lower > limits.upper).any():
        j = int(np.argmax(limits.lower > limits.upper))
        raise BadInput(f"the ranges of {names[j]!r} in the performances of this show have nothing in common; perform them again")
    low, high, pulse_low, pulse_high = (
        np.array([getattr(servo, end) for servo in servos]) for end in ("low", "high", "position_min", "position_max")
    )
    ends = np.sort(zero + slope * np.clip(np.stack([limits.lower, limits.upper]), -1e6, 1e6), axis=0)
    count_low = np.maximum(low, np.ceil(ends[0] - 1e-9)).astype(np.int64)
    count_high = np.minimum(high, np.floor(ends[1] + 1e-9)).astype(np.int64)
    if (count_low > count_high).any():
        j = int(np.argmax(count_low > count_high))
        raise BadInput(
            f"the servo of {names[j]!r} cannot reach any place within [{limits.lower[j]:.3g}, {limits.upper[j]:.3g}] {every[j]}; "
            "correct neutral_deg, offset_deg, reverse or the soft limits in the device file"
        )
    reach = np.sort(np.stack([(count_low - zero) / slope, (count_high - zero) / slope]), axis=0)
    narrowed = replace(limits, lower=np.maximum(limits.lower, reach[0]), upper=np.minimum(limits.upper, reach[1]))
    begun = _home(performances[0], names, every)
    still = np.array([unit != "rad/s" for unit in every])
    home = np.clip(begun, narrowed.lower, narrowed.upper)
    turning = ~still & (np.abs(home - begun) > 0.5 * np.abs(1.0 / slope))
    if turning.any():
        j = int(np.argmax(turning))
        raise BadInput(
            f"the wheel {names[j]!r} cannot stand still: its servo can be sent [{narrowed.lower[j]:.3g}, {narrowed.upper[j]:.3g}] "
            "rad/s; correct span_rad_s or the soft limits so that 0 rad/s is among them"
        )
    most = {"rad": np.radians(device.following_deg), "m": 1e-3 * device.following_mm}
    following = np.array([most.get(unit, np.inf) for unit in every])
    return DeviceOutputs(names, every, zero, slope, narrowed, count_low, count_high, pulse_low, pulse_high, home, still, following)


def _check_channel(channel: Channel, device: Device) -> None:
    if channel.kind == "torque":
        raise BadInput(f"channel {channel.name!r} is a torque; servos take places, lengths and speeds, not torques")
    if channel.kind == "velocity" and device.driver not in SPEEDS:
        raise BadInput(
            f"channel {channel.name!r} is a velocity, which the {device.driver} driver cannot express; {', '.join(SPEEDS)} can"
        )
    servo = device.servos.get(channel.name)
    if servo is None:
        few = listed(device.servos, 8)
        raise BadInput(
            f"the device {device.name!r} has no servo for the channel {channel.name!r}; it has {few}: add one (bunraku calibrate)"
        )
    if channel.kind != "velocity" and servo.span_rad_s is not None:
        raise BadInput(
            f"channel {channel.name!r} is a {channel.kind}, its servo a wheel (span_rad_s); take span_rad_s out of the device file"
        )


def _home(performance: Performance, names: tuple[str, ...], units: tuple[str, ...]) -> Array:
    """Home of each output: the character's, of a carriage or string that of the first sample, of a speed 0."""
    first = {channel.name: float(channel.values[0]) for channel in commands(performance)}
    home, prescribed = performance.character.home, performance.character.prescribed
    places = [first.get(name, 0.0) if name in prescribed else home.get(name, 0.0) for name in names]
    return np.array([0.0 if unit == "rad/s" else place for unit, place in zip(units, places, strict=True)])
