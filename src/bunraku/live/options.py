"""The options of the streaming form, stated once, and the stream that they make of a character."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.motion import MotionLimits
from bunraku.performers.performer import option
from bunraku.performers.speech.problem import home_in_range, motor_rate, softened_character
from bunraku.performers.speech.stream import SpeechStream


@dataclass(frozen=True, kw_only=True)
class StreamOptions:
    """How a character is streamed to. The command line's flags are generated from these fields."""

    rate: float = option(0.0, "frames a second, in and out; 0 takes the motors' own", unit="Hz", low=0.0, high=10_000.0)
    look_ahead: float = option(0.8, "time planned ahead of what is emitted", unit="s", low=0.0, high=60.0)
    held: tuple[str, ...] = option((), "coordinates or groups that stay at home")
    position_weight: float = option(5.0, "weight of the deviation from the wish (Q1)", unit="1/rad^2", low=1e-6, high=1e6)
    velocity_weight: float = option(0.1, "weight of the deviation in velocity (Q2)", unit="s^2/rad^2", low=0.0, high=1e6)
    acceleration: float = option(0.0, "limit for motors that state none; 0 for none", unit="rad/s^2", low=0.0, high=1e12)
    jerk: float = option(0.0, "limit for motors that state none; 0 for none", unit="rad/s^3", low=0.0, high=1e12)

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value, low, high = getattr(self, field.name), field.metadata["low"], field.metadata["high"]
            if isinstance(value, (int, float)) and not low <= value <= high:
                raise BadInput(f"option {field.name} = {value} is outside [{low:g}, {high:g}]: {field.metadata['meaning']}")

    def open(self, character: Character) -> SpeechStream:
        """A stream to the motors of ``character``, which stands at home."""
        rate = self.rate or motor_rate(character)
        limits = MotionLimits.of(softened_character(character, self.acceleration, self.jerk))
        return SpeechStream(
            limits,
            rate=rate,
            look_ahead=self.look_ahead,
            position_weight=self.position_weight,
            velocity_weight=self.velocity_weight,
            start=home_in_range(character, limits),
            held=set(character.expand(self.held)),
        )
