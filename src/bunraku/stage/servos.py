"""From joint angles to what a hobby servo takes: pulse lengths or position counts, by a calibration of each servo."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from bunraku.character.description import Description, Range
from bunraku.errors import BadInput
from bunraku.motion import Channel


class ServoCalibration(Description):
    """How one servo is built in; the meaning and the defaults are those of the blender-servo-animation add-on.

    The servo angle [deg] is a = neutral_deg - s * multiplier * (joint angle in degrees + offset_deg), s = -1 when ``reverse``, else
    +1; its position is position_min + a / range_deg * (position_max - position_min), rounded to the nearest integer. What is no
    angle runs linearly between the two ends: ``span_m`` are the lengths or places [m], ``span_rad_s`` the speeds [rad/s] at
    position_min and position_max. ``soft_min`` and ``soft_max`` narrow the range that is ever used. ``id`` is the number under
    which the servo is known to the controller; by default the channel's place.
    """

    id: int | None = Field(None, ge=0, le=255)
    position_min: int = Field(150, ge=0, le=32_767)
    position_max: int = Field(600, ge=0, le=32_767)
    soft_min: int | None = Field(None, ge=0, le=32_767)
    soft_max: int | None = Field(None, ge=0, le=32_767)
    neutral_deg: float = Field(90.0, ge=0.0, le=3600.0)
    range_deg: float = Field(180.0, gt=0.0, le=3600.0)
    offset_deg: float = Field(0.0, ge=-360.0, le=360.0)
    reverse: bool = False
    multiplier: float = Field(1.0, gt=0.0, le=100.0)
    span_m: Range | None = None
    span_rad_s: Range | None = None

    @model_validator(mode="after")
    def _check(self) -> ServoCalibration:
        if self.position_min >= self.position_max:
            raise ValueError(
                f"position_min {self.position_min} must be below position_max {self.position_max}; use reverse to mirror"
            )
        if not self.position_min <= self.low < self.high <= self.position_max:
            raise ValueError(
                f"the soft limits [{self.low}, {self.high}] must lie within [{self.position_min}, {self.position_max}], the range "
                "of the servo, the lower one first"
            )
        for name, span in (("span_m", self.span_m), ("span_rad_s", self.span_rad_s)):
            if span is not None and abs(span[1] - span[0]) < 1e-6:
                raise ValueError(f"{name} is {list(span)}; its ends, at position_min and at position_max, must differ")
        return self

    @property
    def low(self) -> int:
        """The lowest position that is sent, but on the way back in of a machine that was found beyond it."""
        return self.position_min if self.soft_min is None else self.soft_min

    @property
    def high(self) -> int:
        """The highest position that is sent, but on the way back in of a machine that was found beyond it."""
        return self.position_max if self.soft_max is None else self.soft_max

    @property
    def per_radian(self) -> float:
        """Positions per radian of the joint, signed."""
        sign = 1.0 if self.reverse else -1.0
        return sign * self.multiplier * math.degrees(1.0) / self.range_deg * (self.position_max - self.position_min)

    @property
    def at_zero(self) -> float:
        """The position, not yet rounded, at joint angle zero."""
        share = self.neutral_deg / self.range_deg * (self.position_max - self.position_min)
        return self.position_min + share + self.per_radian * math.radians(self.offset_deg)

    def line(self, unit: str, name: str) -> tuple[float, float]:
        """(position at zero, positions per unit) of a channel ``name`` in ``unit``: rad, m or rad/s; another is refused by name."""
        if unit == "rad":
            return self.at_zero, self.per_radian
        span = {"m": self.span_m, "rad/s": self.span_rad_s}.get(unit)
        if span is None:
            key = {"m": "span_m", "rad/s": "span_rad_s"}.get(unit)
            how = f"give its servo {key}, the values at both ends of its range" if key else "rad, m and rad/s can be played"
            raise BadInput(f"channel {name!r} is in {unit}, which its servo cannot take; {how}")
        slope = (self.position_max - self.position_min) / (span[1] - span[0])
        return self.position_min - slope * span[0], slope


def servos_of(given: Any) -> Any:
    """The calibrations of what a file holds: of a device file (``bunraku: device/1``) its servos, else all of it."""
    if isinstance(given, Mapping) and str(given.get("bunraku", "")).startswith("device/"):
        return given.get("servos")
    return given


def calibrations(channels: tuple[Channel, ...], servos: Mapping[str, Any] | None) -> tuple[ServoCalibration, ...]:
    """One calibration for each channel: from ``servos`` by channel name (a calibration or its fields), else the default.

    ``servos`` may also be what a device file holds.
    """
    servos = servos_of(servos)
    if servos is not None and not isinstance(servos, Mapping):
        raise BadInput(f"servos is {str(servos)[:60]!r}; a calibration of each channel by its name is needed")
    given = dict(servos or {})
    names = [channel.name for channel in channels]
    for name in given:
        if name not in names:
            raise BadInput(f"servos names {name!r}, which is no channel; there are {', '.join(names[:12])}")
    fitted = []
    for place, name in enumerate(names):
        one = given.get(name, ServoCalibration())
        one = one if isinstance(one, ServoCalibration) else _calibration(name, one)
        if one.id is None and place > 255:
            raise BadInput(f"channel {name!r} has no servo id and its place {place} is beyond 255; give it one")
        fitted.append(one if one.id is not None else one.changed(id=place))
    ids = [one.id for one in fitted]
    for place, number in enumerate(ids):
        if number in ids[:place]:
            raise BadInput(
                f"channels {names[ids.index(number)]!r} and {names[place]!r} share the servo id {number}; ids must differ"
            )
    return tuple(fitted)


def _calibration(name: str, fields: Any) -> ServoCalibration:
    """The calibration of one servo from its fields, as a file gives them; nothing given means the default."""
    if fields is None:
        return ServoCalibration()
    if not isinstance(fields, Mapping) or not all(isinstance(key, str) for key in fields):
        known = ", ".join(ServoCalibration.model_fields)
        raise BadInput(f"the servo of {name!r} is {str(fields)[:60]!r}; fields are needed, by name: {known}")
    try:
        return ServoCalibration(**fields)
    except BadInput as error:
        raise BadInput(f"the servo of {name!r}: {str(error).removeprefix('ServoCalibration: ')}") from error


def calibrated(channel: Channel, values: NDArray[np.float64], servo: ServoCalibration, rate: float) -> NDArray[np.int64]:
    """Positions of one servo, within its calibrated range or refused by name; off by at most half a position."""
    if channel.unit != "rad":
        raise BadInput(f"channel {channel.name!r} is in {channel.unit}; servo positions are made from angles in rad")
    positions: NDArray[np.int64] = np.rint(servo.at_zero + servo.per_radian * values).astype(np.int64)
    outside = (positions < servo.low) | (positions > servo.high)
    if outside.any():
        k = int(np.argmax(outside))
        raise BadInput(
            f"channel {channel.name!r} needs position {positions[k]} at {k / rate:.3f} s, outside the servo's "
            f"[{servo.low}, {servo.high}]; say how it is built in (neutral_deg, range_deg, reverse) with --servos FILE"
        )
    return positions
