"""Where each channel stands on DMX lines and what its two bytes mean."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from bunraku.character.description import Description
from bunraku.errors import BadInput
from bunraku.motion import Channel, MotionLimits, Performance

FULL = 65_535
SLOTS = 512


class DmxSlot(Description):
    """One channel's place: ``universe`` (0 to 32767), ``address`` of its coarse byte (1 to 511; the fine one follows), and range.

    ``low`` and ``high`` are the values, in the channel's unit, that 0 and 65535 stand for; ``high`` below ``low`` mirrors.
    """

    universe: int = Field(0, ge=0, le=32_767)
    address: int = Field(ge=1, le=SLOTS - 1)
    low: float = Field(allow_inf_nan=False)
    high: float = Field(allow_inf_nan=False)

    @model_validator(mode="after")
    def _check(self) -> DmxSlot:
        if abs(self.high - self.low) < 1e-9:
            raise ValueError(f"low {self.low:g} and high {self.high:g} must differ")
        return self


def patched(performance: Performance, channels: tuple[Channel, ...], patch: Mapping[str, Any] | None) -> tuple[DmxSlot, ...]:
    """The slot of each channel: what ``patch`` says by channel name, the rest by default.

    By default channels stand one after the other from universe 0, address 1, 256 a universe, and range over the limits of their
    motor: its range for a place, its velocity for a speed, the winch's range for a length. An angle without limits ranges over one
    turn, -pi to pi; for anything else without limits the patch must say it.
    """
    if patch is not None and not isinstance(patch, Mapping):
        raise BadInput(f"patch is {str(patch)[:60]!r}; universe, address, low and high of each channel by its name are needed")
    given = dict(patch or {})
    names = [channel.name for channel in channels]
    stray = next((name for name in given if name not in names), None)
    if stray is not None:
        raise BadInput(f"patch names {str(stray)[:60]!r}, which is no channel; there are {', '.join(names[:12])}")
    limits = _limits(performance)
    found = tuple(_slot(place, channel, given.get(channel.name), limits) for place, channel in enumerate(channels))
    taken: dict[tuple[int, int], str] = {}
    for channel, slot in zip(channels, found, strict=True):
        for byte in (slot.address, slot.address + 1):
            other = taken.setdefault((slot.universe, byte), channel.name)
            if other != channel.name:
                raise BadInput(
                    f"channels {other!r} and {channel.name!r} share address {byte} of universe {slot.universe}; each needs two"
                )
    return found


def sixteen_bits(channel: Channel, values: NDArray[np.float64], slot: DmxSlot, rate: float) -> NDArray[np.int64]:
    """Values 0 to 65535 of a channel; beyond its range it is refused by name, with the time."""
    share = (values - slot.low) / (slot.high - slot.low)
    outside = (share < -1e-9) | (share > 1.0 + 1e-9)
    if outside.any():
        k = int(np.argmax(outside))
        raise BadInput(
            f"channel {channel.name!r} is at {values[k]:.4g} {channel.unit} at {k / rate:.3f} s, outside the patch's "
            f"[{slot.low:g}, {slot.high:g}]; widen low and high in the patch"
        )
    found: NDArray[np.int64] = np.clip(np.rint(share * FULL), 0, FULL).astype(np.int64)
    return found


def _slot(place: int, channel: Channel, fields: Any, limits: dict[tuple[str, str], tuple[float, float]]) -> DmxSlot:
    if isinstance(fields, DmxSlot):
        return fields
    if fields is not None and not (isinstance(fields, Mapping) and all(isinstance(key, str) for key in fields)):
        known = ", ".join(DmxSlot.model_fields)
        raise BadInput(f"the patch of {channel.name!r} is {str(fields)[:60]!r}; fields are needed, by name: {known}")
    told: dict[str, Any] = {"universe": place // 256, "address": 1 + 2 * (place % 256)}
    turn = (-math.pi, math.pi) if (channel.kind, channel.unit) == ("position", "rad") else None
    span = limits.get((channel.name, channel.kind), turn)
    told |= {} if span is None else {"low": span[0], "high": span[1]}
    told |= fields or {}
    if not {"low", "high"} <= set(told):
        raise BadInput(
            f"channel {channel.name!r} has no limit to range over; give --patch a file with its low and high [{channel.unit}]"
        )
    try:
        return DmxSlot(**told)
    except BadInput as error:
        raise BadInput(f"the patch of {channel.name!r}: {str(error).removeprefix('DmxSlot: ')}") from error


def _limits(performance: Performance) -> dict[tuple[str, str], tuple[float, float]]:
    """The finite limits of what is told, by channel name and kind."""
    who, found = performance.character, {}
    motors = MotionLimits.of(who)
    for j, name in enumerate(motors.names):
        found[name, "position"] = (float(motors.lower[j]), float(motors.upper[j]))
        found[name, "velocity"] = (-float(motors.velocity[j]), float(motors.velocity[j]))
    for carriage in who.carriages:
        for name, span in zip(carriage.coordinates, (carriage.x_range, carriage.y_range), strict=True):
            if span is not None:
                found[name, "position"] = span
    winches = {carriage.name: carriage.winch_range for carriage in who.carriages}
    for string in who.strings:
        span = winches[string.carriage]
        if span is not None:
            found[string.coordinate, "length"] = span
    return {key: span for key, span in found.items() if np.isfinite(span).all() and span[0] < span[1]}
