"""The performance: motor channels, the motion they make, and the certificate. It is itself a clip."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.motion.certificate import Certificate
from bunraku.motion.clip import Clip
from bunraku.motion.curves import JointCurves, frozen_array
from bunraku.motion.sound import Audio, Mark

__all__ = ["Channel", "Performance", "Provenance"]

ChannelKind = Literal["position", "velocity", "torque", "length"]


@dataclass(frozen=True)
class Channel:
    """What one motor is told: values of one kind in one unit at one rate."""

    name: str
    kind: ChannelKind
    unit: str
    rate: float
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen_array(self.values, (None,), f"channel {self.name}"))
        if not 0.0 < self.rate <= 100_000.0:
            raise BadInput(f"channel {self.name} has the rate {self.rate} Hz; give one between 0 and 100000")


@dataclass(frozen=True)
class Provenance:
    """Where a performance came from: hashes of the inputs, versions, options, seed. No clock: same input, same bytes."""

    performer: str
    inputs: dict[str, str]
    options: dict[str, Any]
    versions: dict[str, str]
    seed: int = 0


@dataclass(frozen=True)
class Performance:
    """What the character will do and what is promised about it.

    ``wish``: the reference of every position channel, in their order, rate and length; ``motion``: every coordinate of the
    character as predicted, at the same rate and length.
    """

    character: Character
    clip_name: str
    channels: tuple[Channel, ...]
    wish: JointCurves
    motion: JointCurves
    certificate: Certificate
    provenance: Provenance
    audio: Audio | None = None
    words: tuple[Mark, ...] = ()
    phrases: tuple[Mark, ...] = ()

    def __post_init__(self) -> None:
        kinds = [(channel.name, channel.kind) for channel in self.channels]
        twice = next((name for name, kind in kinds if kinds.count((name, kind)) > 1), None)
        if twice is not None:
            raise BadInput(f"two channels of one kind drive {twice[:60]!r}; each motor is told one thing")
        chosen = [channel for channel in self.channels if channel.kind == "position"]
        if not chosen:
            return
        first = chosen[0]
        fitting = f"the channel {first.name[:60]!r} {len(first.values)} at {first.rate:g} Hz; they share rate and length"
        for channel in chosen:
            if channel.rate != first.rate or len(channel.values) != len(first.values):
                raise BadInput(f"channel {channel.name[:60]!r} has {len(channel.values)} samples at {channel.rate:g} Hz, {fitting}")
        for what, curves in (("the wish", self.wish), ("the motion", self.motion)):
            if curves.rate != first.rate or len(curves.values) != len(first.values):
                raise BadInput(f"{what} has {len(curves.values)} samples at {curves.rate:g} Hz, {fitting}")
        names = tuple(channel.name for channel in chosen)
        if self.wish.names != names:
            listed = [", ".join(name[:60] for name in several[:8]) for several in (self.wish.names, names)]
            raise BadInput(f"the wish is for {listed[0]}, the position channels are {listed[1]}; they must be the same, in order")

    @property
    def rate(self) -> float:
        """The motor rate [Hz]."""
        return self.motion.rate

    @property
    def duration(self) -> float:
        """Length of the motion [s]."""
        return self.motion.duration

    def positions(self) -> JointCurves:
        """The position channels as joint curves."""
        chosen = [channel for channel in self.channels if channel.kind == "position"]
        if not chosen:
            raise BadInput(f"the performance of {self.clip_name!r} has no position channel")
        return JointCurves(tuple(c.name for c in chosen), chosen[0].rate, np.column_stack([c.values for c in chosen]))

    def as_clip(self) -> Clip:
        """The performance as a clip, so that performers chain."""
        return Clip(self.clip_name, joints=self.positions(), audio=self.audio, words=self.words, phrases=self.phrases)

    def changed(self, **fields: Any) -> Performance:
        """The same performance with some fields replaced."""
        return replace(self, **fields)
