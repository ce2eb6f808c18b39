"""JSON in the layouts of the blender-servo-animation add-on, for its Arduino library and the programs that read it.

The add-on has written three layouts, all with ``fps``, ``frames`` and ``seconds`` beside the positions, which are integers:

- ``positions``: {servo: [position of each frame]}, the servo by id or by name;
- ``servos``: {id: {"name": name, "positions": [position of each frame]}};
- ``frames``: "positions" is a list with one {id: position} a frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bunraku.errors import BadInput
from bunraku.motion import Performance
from bunraku.stage.channels import need_kinds, table, thinned
from bunraku.stage.json_export import as_json
from bunraku.stage.servos import calibrated, calibrations


@dataclass(frozen=True)
class ServoFrames:
    """Integer positions of every servo, by id, one a frame; ``names``: the channel of each."""

    fps: int
    frames: int
    positions: dict[int, list[int]]
    names: dict[int, str]

    @property
    def seconds(self) -> int:
        """The length as the add-on states it: rounded to whole seconds."""
        return round(self.frames / self.fps)


def servo_frames(performance: Performance, servos: Mapping[str, Any] | None, fps: int | None, form: str) -> ServoFrames:
    """What the add-on would have computed, by the calibration of each servo, at a whole number of frames a second."""
    channels = need_kinds(performance, ("position",), form)
    found = calibrations(channels, servos)
    rate, values = thinned(*table(channels, form), fps)
    if abs(rate - round(rate)) > 1e-9:
        raise BadInput(f"the motor rate of {rate:g} Hz is no whole number of frames a second; perform the clip at one that is")
    positions: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    for j, (channel, servo) in enumerate(zip(channels, found, strict=True)):
        number = j if servo.id is None else servo.id
        positions[number], names[number] = calibrated(channel, values[:, j], servo, rate).tolist(), channel.name
    return ServoFrames(round(rate), len(values), positions, names)


def export_blender_servo(
    performance: Performance,
    *,
    servos: Mapping[str, Any] | None = None,
    layout: Literal["positions", "servos", "frames"] = "positions",
    keys: Literal["id", "name"] = "id",
    fps: int | None = None,
) -> bytes:
    """Servo positions, by the calibration of each servo (`ServoCalibration`, or its fields, by channel name).

    ``keys``: servos by id or by channel name in the layout "positions". ``fps``: a whole number that divides the motor rate,
    the motor rate itself by default; every k-th sample is written. ``seconds`` is rounded as in the add-on. Unlike there, the
    angle is not rounded to hundredths of a degree before the position is.
    """
    told = servo_frames(performance, servos, fps, "blender-servo")
    names, positions = told.names, told.positions
    content: dict[str, Any] = {
        "description": "Blender Servo Animation Positions",
        "fps": told.fps,
        "frames": told.frames,
        "seconds": told.seconds,
        "bones": len(positions),
        "armature": performance.character.name,
        "file": performance.clip_name,
        "scene": performance.clip_name,
    }
    match layout:
        case "positions":
            content["positions"] = {(names[key] if keys == "name" else str(key)): row for key, row in positions.items()}
        case "servos":
            content["servos"] = {str(key): {"name": names[key], "positions": row} for key, row in positions.items()}
        case "frames":
            content["positions"] = [{str(key): row[k] for key, row in positions.items()} for k in range(told.frames)]
        case _:
            raise BadInput(f"there is no layout {layout!r}; choose positions, servos or frames")
    return as_json(content)
