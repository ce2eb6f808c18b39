"""JSON in the layouts of the blender-servo-animation add-on, for its Arduino library and the programs that read it.

The add-on has written three layouts, all with ``fps``, ``frames`` and ``seconds`` beside the positions, which are integers:

- ``positions``: {servo: [position of each frame]}, the servo by id or by name;
- ``servos``: {id: {"name": name, "positions": [position of each frame]}};
- ``frames``: "positions" is a list with one {id: position} a frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from bunraku.errors import BadInput
from bunraku.motion import Performance
from bunraku.stage.channels import need_kinds, table, thinned
from bunraku.stage.json_export import as_json
from bunraku.stage.servos import calibrated, calibrations

__all__ = ["export_blender_servo"]


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
    channels = need_kinds(performance, ("position",), "blender-servo")
    found = calibrations(channels, servos)
    rate, values = thinned(*table(channels, "blender-servo"), fps)
    if abs(rate - round(rate)) > 1e-9:
        raise BadInput(f"the motor rate of {rate:g} Hz is no whole number of frames a second; perform the clip at one that is")
    positions = {
        servo.id: calibrated(channel, values[:, j], servo, rate).tolist()
        for j, (channel, servo) in enumerate(zip(channels, found, strict=True))
    }
    names = {servo.id: channel.name for channel, servo in zip(channels, found, strict=True)}
    content: dict[str, Any] = {
        "description": "Blender Servo Animation Positions",
        "fps": round(rate),
        "frames": len(values),
        "seconds": round(len(values) / rate),
        "bones": len(channels),
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
            content["positions"] = [{str(key): row[k] for key, row in positions.items()} for k in range(len(values))]
        case _:
            raise BadInput(f"there is no layout {layout!r}; choose positions, servos or frames")
    return as_json(content)
