"""A device described from a character or a performance: one entry a channel, to begin a calibration with, or to rehearse on."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.motion import Performance
from bunraku.stage.devices.device import Device, DriverName
from bunraku.stage.player.check import TOLERANCE
from bunraku.stage.player.limits import limits_of
from bunraku.stage.player.outputs import commands
from bunraku.stage.servos import ServoCalibration


@dataclass(frozen=True)
class _Default:
    """What the servos of a driver usually are: position range, the angle [deg] it spans (0: whatever is needed), ids from, baud.

    ``round``: the positions go all round, so that the one after the last is the first again, a whole span from it.
    """

    low: int
    high: int
    span_deg: float
    first_id: int
    baud: int = 115_200
    round: bool = False


DEFAULTS: dict[str, _Default] = {
    "dry-run": _Default(0, 32_000, 0.0, 0),
    "dynamixel": _Default(0, 4_095, 360.0, 1, 1_000_000, round=True),
    "maestro": _Default(4_000, 8_000, 90.0, 0),
    "serial": _Default(150, 600, 180.0, 0),
    "blender-live": _Default(150, 600, 180.0, 0),
    "websocket": _Default(0, 32_000, 0.0, 0),
}
"""A Maestro counts quarter microseconds: 1000 to 2000 us, which turns most hobby servos by 90 degrees; a Dynamixel 4096 a turn."""


ENCODER = _Default(0, 4_095, 360.0, 0, round=True)
"""What a sensor usually is."""
NO_SENSORS = ("maestro", "blender-live")
"""Drivers whose protocol reports no sensor."""


def units_of(source: Character | Sequence[Performance]) -> tuple[Character, dict[str, str]]:
    """The character and the unit of each channel that performances tell, or of each motor, carriage and winch."""
    if isinstance(source, Character):
        axes = {axis.name: "m" if axis.kind == "slide" else "rad" for axis in source.axes}
        units = {name: axes[name] for name in source.driven} | dict.fromkeys(source.prescribed, "m")
        return source, units
    commanded = [channel for performance in source for channel in commands(performance) if channel.kind != "torque"]
    return source[0].character, {channel.name: channel.unit for channel in commanded}


def described_device(
    source: Character | Sequence[Performance],
    driver: DriverName,
    *,
    name: str = "",
    port: str = "",
    rate: float | None = None,
    ample: bool = False,
) -> Device:
    """A device for every channel of a character or of performances, with what is usual for the driver's servos.

    An angle that a servo cannot reach about its middle is
    put into its middle by ``offset_deg``; what is still beyond is refused when it is played. ``ample``, for rehearsals: a quick
    line, and servos that turn as far as the character does where the usual ones do not.
    """
    character, units = units_of(source)
    if not units and not isinstance(source, Character):
        raise BadInput(
            f"the performance of {source[0].clip_name!r} tells torques or tensions only; servos take places, lengths and speeds"
        )
    if not units:
        raise BadInput(f"{character.name!r} has no motor, carriage or winch; there is nothing that a device could move")
    usual = DEFAULTS[driver]
    servos = {
        channel: _servo(usual, number, units[channel], low, high, ample)
        for number, (channel, (low, high)) in enumerate(_ranges(source).items(), usual.first_id)
    }
    rates = [motor.rate for motor in character.motors]
    first = source[0].rate if not isinstance(source, Character) else (min(rates) if rates else 100.0)
    return Device(
        name=re.sub(r"^[\s/]+|[\x00-\x1f]", "", name) or character.name,
        driver=driver,
        port=port,
        baud=max(usual.baud, 1_000_000) if ample else usual.baud,
        rate_hz=min(rate or first, 1_000.0),
        missed_deadlines=1_000 if driver == "dry-run" else 5,
        servos=servos,
    )


def with_sensors(device: Device, performance: Performance) -> Device:
    """The device with a sensor for every coordinate that the gains of a performance need and no servo reports.

    An angle has an encoder of 4096 counts a turn, a place a scale that reaches as far beyond the motion as the motion is wide.
    """
    feedback = performance.feedback
    if feedback is None:
        raise BadInput(f"the performance of {performance.clip_name!r} has no gains, so no sensor is needed; leave --sensors out")
    if device.driver in NO_SENSORS:
        raise BadInput(f"the {device.driver} driver cannot report sensors; dynamixel, serial and websocket can")
    sensors: dict[str, ServoCalibration] = {}
    first = max(device.ids) + 1
    for name in (one for one in feedback.coordinates if one not in device.servos):
        seen = feedback.states[:, feedback.coordinates.index(name)]
        low, high, unit = float(seen.min()), float(seen.max()), performance.unit_of(name)
        beyond = max(high - low, 0.1) if unit == "m" else 0.0
        sensors[name] = _servo(ENCODER, first + len(sensors), unit, low - beyond, high + beyond, ample=True)
    return device.changed(sensors=sensors, rate_hz=feedback.rate)


def out_of_reach(source: Character | Sequence[Performance], device: Device) -> dict[str, tuple[float, float, float, float]]:
    """Joints that turn farther than their servo: name -> the joint's lower and upper end, then the servo's [rad]."""
    _, units = units_of(source)
    beyond = {}
    for name, (low, high) in _ranges(source).items():
        servo = device.servos.get(name)
        if servo is None or units[name] != "rad":
            continue
        zero, slope = servo.line("rad", name)
        least, most = sorted(((servo.low - zero) / slope, (servo.high - zero) / slope))
        slack = TOLERANCE * (high - low)
        if low < least - slack or high > most + slack:
            beyond[name] = (low, high, least, most)
    return beyond


def _ranges(source: Character | Sequence[Performance]) -> dict[str, tuple[float, float]]:
    """Least and largest value of each channel, in its unit: as the character states, else as far as anything goes, at least 1."""
    character, units = units_of(source)
    limits = limits_of(character, tuple(units), tuple(units.values()))
    seen: dict[str, tuple[float, float]] = {}
    for performance in () if isinstance(source, Character) else source:
        for channel in performance.channels:
            low, high = seen.get(channel.name, (0.0, 0.0))
            seen[channel.name] = (min(low, float(channel.values.min())), max(high, float(channel.values.max())))
    ranges = {}
    for name, low, high in zip(units, limits.lower.tolist(), limits.upper.tolist(), strict=True):
        least, most = seen.get(name, (-1.0, 1.0))
        ranges[name] = (low if np.isfinite(low) else min(least, -1.0), high if np.isfinite(high) else max(most, 1.0))
    return ranges


def _servo(usual: _Default, number: int, unit: str, low: float, high: float, ample: bool) -> ServoCalibration:
    ends = {"position_min": usual.low, "position_max": usual.high, "id": number}
    if unit != "rad":
        span = (low, high) if high - low > 1e-6 else (low - 0.5, high + 0.5)
        return ServoCalibration(**ends, **{"span_m" if unit == "m" else "span_rad_s": span})
    largest = math.degrees(max(abs(low), abs(high)))
    needed = min(max(2.1 * largest, 10.0), 3_600.0)
    span_deg = max(usual.span_deg, needed) if ample else usual.span_deg or needed
    middle = math.degrees(low + high) / 2.0 if largest > 0.5 * span_deg else 0.0
    steps = usual.high - usual.low
    range_deg = span_deg * steps / (steps + 1) if usual.round else span_deg
    return ServoCalibration(**ends, neutral_deg=0.5 * span_deg, range_deg=range_deg, offset_deg=-round(middle, 3), reverse=True)
