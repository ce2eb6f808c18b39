"""The description of a machine: which protocol it speaks, where it is plugged in, and how each of its servos is built in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field, model_validator

from bunraku.character.description import Description, Name
from bunraku.stage.servos import ServoCalibration

DriverName = Literal["dry-run", "dynamixel", "maestro", "serial", "blender-live", "websocket"]


def listed(names: Iterable[str], most: int = 12) -> str:
    """Names in a sentence: ``most`` of them, and how many more there are."""
    all_names = list(names)
    return ", ".join(all_names[:most]) + (f" and {len(all_names) - most} more" if len(all_names) > most else "")


def same_id(names: Iterable[str], ids: Sequence[object]) -> tuple[str, str] | None:
    """The first servo with the id of one before it, and what is to be said about it."""
    for place, name in enumerate(names):
        if ids[place] in ids[:place]:
            return name, f"the servo of {name!r} has the id {ids[place]} of another; ids must differ"
    return None


def standing(servo: ServoCalibration) -> int | None:
    """The count at which a wheel stands still, within its range or not; None for a servo that is sent places."""
    return None if servo.span_rad_s is None else round(servo.line("rad/s", "")[0])


class Device(Description):
    """A machine with one servo for each channel that it plays, in the order of ``servos`` (by channel name).

    ``port`` is a serial line (a path, or COM3) or, for a websocket, a port number on this machine. ``rate_hz`` is how often it
    takes commands; ``timeout_ms`` how long an answer may take. ``sensors`` are coordinates that it reports without moving them,
    after the servos; their calibration says how.

    The player stops the machine when ``missed_deadlines`` periods in a row have passed without their command, or a servo is farther
    than ``following_deg`` or ``following_mm`` from everything it was sent within the last ``following_ms``. ``posture_gain`` (0:
    off) times that distance, at most ``posture_deg``, is added to what a servo is sent that gives way under a load. ``at_end``:
    after a show that ended as planned, servos are left in the last pose, which machines with a patience of their own (``serial``,
    ``websocket``) hold no longer than that, or are released.
    """

    name: Name
    driver: DriverName
    port: str = Field("", max_length=200)
    baud: int = Field(57_600, ge=300, le=10_000_000)
    rate_hz: float = Field(100.0, gt=0.0, le=1_000.0)
    timeout_ms: float = Field(20.0, gt=0.0, le=50.0)
    missed_deadlines: int = Field(5, ge=1, le=1_000)
    following_deg: float = Field(20.0, gt=0.0, le=180.0)
    following_mm: float = Field(50.0, gt=0.0, le=1_000.0)
    following_ms: float = Field(200.0, gt=0.0, le=2_000.0)
    posture_gain: float = Field(0.0, ge=0.0, le=0.9)
    posture_deg: float = Field(3.0, gt=0.0, le=20.0)
    at_end: Literal["hold", "release"] = "hold"
    servos: dict[Name, ServoCalibration] = Field(min_length=1, max_length=512)
    sensors: dict[Name, ServoCalibration] = Field(default_factory=dict, max_length=512)

    @model_validator(mode="after")
    def _check(self) -> Device:
        twice = same_id(self.servos, self.ids)
        if twice is not None:
            raise ValueError(twice[1])
        both = next((name for name in self.sensors if name in self.servos), None)
        if both is not None:
            raise ValueError(f"{both!r} is a servo and a sensor; a servo reports by itself, leave the sensor out")
        return self

    @property
    def ids(self) -> tuple[int, ...]:
        """The number of each servo on its line, in the order of ``servos``; its place where none is given."""
        return tuple(place if one.id is None else one.id for place, one in enumerate(self.servos.values()))
