"""What was exported, read back: channels, and how finely the file holds them; what a file does not say, and who says it instead.

To add a reader: a function ``read_NAME`` (bytes, keyword ``file`` for messages, a `Reading`) -> `Exported`, named in the registry.
Nothing is executed, every size is bounded, and what the file does not say and nobody else does is bad input, never a guess.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.files import MAX_NUMBERS
from bunraku.formats.places import known_names
from bunraku.motion import Channel
from bunraku.motion.performance import ChannelKind

MAX_FILE_BYTES = 64 * 1024 * 1024
LARGEST = 1e12
"""No value of a channel is beyond this."""


@dataclass(frozen=True)
class Reading:
    """What is known of a file beside its bytes: who performs, and what was said when it was exported.

    ``channels``: those of the performance that was exported, where it is at hand; ``servos``: the calibration of each servo,
    ``patch``: the slots of DMX, by channel name; ``rate`` [Hz] of a file that does not say it.
    """

    character: Character
    channels: tuple[Channel, ...] = ()
    servos: Mapping[str, Any] | None = None
    patch: Mapping[str, Any] | None = None
    rate: float | None = None

    def kind_of(self, name: str, *, torque: bool = False) -> tuple[ChannelKind, str]:
        """Kind and unit of a channel that a file only names: as of the performance, or as the character's motors take them.

        ``torque``: the file holds a torque.
        """
        for channel in self.channels:
            if channel.name == name and (channel.kind == "torque") == torque:
                return channel.kind, channel.unit
        who = self.character
        kinds = {axis.name: axis.kind for axis in who.axes}
        lengths = {string.coordinate for string in who.strings}
        if name not in kinds and name not in who.prescribed:
            known = known_names(name, [*who.driven, *who.prescribed])
            raise BadInput(f"the channel {name[:60]!r} drives nothing of {who.name[:60]!r}; {known}")
        slides = kinds.get(name) == "slide"
        if torque:
            return "torque", "N" if slides else "N·m"
        if name in lengths:
            return "length", "m"
        axle = {joint.child: joint.name for joint in who.joints}
        if name in {axle.get(tip.body) for tip in who.end_effectors if tip.kind == "active"}:
            return "velocity", "rad/s"
        return "position", "m" if slides or name in who.prescribed else "rad"


@dataclass(frozen=True, eq=False)
class Exported:
    """The channels of a file in the format ``form``, and by name the ``steps`` [their unit] in which the file counts them.

    What is in no step is held exactly. ``rate_error`` is how far, as a share, the rate may be from the one that was exported.
    """

    form: str
    channels: tuple[Channel, ...]
    steps: dict[str, float] = field(default_factory=dict)
    rate_error: float = 0.0


def channel_of(name: str, kind: ChannelKind, unit: str, rate: float, values: Sequence[float] | Array) -> Channel:
    """A channel of a file: at least one sample, every one finite and below `LARGEST`."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"channel {name[:60]!r} holds what is no number") from error
    if array.ndim != 1 or not 1 <= array.size <= MAX_NUMBERS:
        raise BadInput(f"channel {name[:60]!r} holds {array.size} samples; at least one is needed")
    if not np.isfinite(array).all() or np.abs(array).max() > LARGEST:
        k = int(np.argmax(~np.isfinite(array) | (np.abs(array) > LARGEST)))
        raise BadInput(f"channel {name[:60]!r} holds {array[k]} at sample {k}; only finite numbers below {LARGEST:g} can be sent")
    return Channel(name, kind, unit, rate, array)


def number_of(value: Any, what: str) -> float:
    """A number of a file as a float; ``what`` it is, for the message where it is none or beyond all floats."""
    try:
        if not isinstance(value, bool) and isinstance(value, (int, float)):
            return float(value)
    except OverflowError:
        pass
    raise BadInput(f"{what} is {str(value)[:40]!r}, no number")


def between(text: str, start: str, end: str) -> str | None:
    """What stands between the first ``start`` in a text and the next ``end``; None where either is missing."""
    _, found, rest = text.partition(start)
    inside, closed, _ = rest.partition(end)
    return inside if found and closed else None


def counted(name: str, kind: ChannelKind, unit: str, rate: float, raw: Sequence[int] | Array, line: tuple[float, float]) -> Channel:
    """A channel of whole numbers zero + per_unit * value, ``line`` = (zero, per_unit)."""
    zero, per_unit = line
    if not (math.isfinite(zero) and math.isfinite(per_unit) and abs(per_unit) > 1e-12):
        raise BadInput(f"channel {name[:60]!r} counts {per_unit} a {unit}; that is no scale")
    return channel_of(name, kind, unit, rate, (np.asarray(raw, dtype=np.float64) - zero) / per_unit)


def rate_of(times: Array, error: float, *, known: float | None = None) -> float:
    """The rate [Hz] of samples at ``times`` [s] from 0, each right to ``error`` [s].

    It is ``known`` if that fits, else the fraction of the smallest denominator that does; times that no rate fits are refused.
    """
    k = np.arange(len(times))
    if known is not None and np.abs(times - k / known).max() <= error:
        return known
    if len(times) < 2:
        raise BadInput("holds one sample, which tells no rate; give --rate")
    if abs(times[0]) > error or not (np.diff(times) > 0.0).all():
        raise BadInput("the times do not start at 0 and rise; export the performance again")
    late = times[1:] + error, np.maximum(times[1:] - error, 1e-12)
    low, high = float((k[1:] / late[0]).max()), float((k[1:] / late[1]).min())
    if not low <= high:
        raise BadInput("the times are uneven; a performance has one rate")
    return float(_simplest(Fraction(low), Fraction(high)))


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of the smallest denominator in [low, high], by continued fractions."""
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    below = math.floor(low)
    return below + 1 / _simplest(1 / (high - below), 1 / (low - below))
