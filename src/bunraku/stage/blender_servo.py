"""What the blender-servo-animation add-on writes, for its Arduino library and the programs that read it: JSON and commands.

The add-on has written three layouts, all with ``fps``, ``frames`` and ``seconds`` beside the positions, which are integers:

- ``positions``: {servo: [position of each frame]}, the servo by id or by name;
- ``servos``: {id: {"name": name, "positions": [position of each frame]}};
- ``frames``: "positions" is a list with one {id: position} a frame.

A command is five bytes: 0x3C, the servo's id, its position with the high byte first, 0x3E. The commands of a frame stand by rising
id and end in a line break (0x0A). The add-on writes these bytes as ``.bin`` (earlier ``.servoanim``), for an SD card, and as
``ANIMATION_DATA`` in its ``.h``; its Arduino library plays both, and takes single commands from a serial line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bunraku.errors import BadInput
from bunraku.motion import Performance
from bunraku.stage.c_text import plain
from bunraku.stage.channels import need_kinds, table, thinned
from bunraku.stage.json_export import as_json
from bunraku.stage.manifest import Manifest, as_data, as_line, manifest
from bunraku.stage.servos import calibrated, calibrations


@dataclass(frozen=True)
class ServoFrames:
    """Integer positions of every servo, by id, one a frame; ``names``: the channel of each; ``manifest``: what they mean."""

    fps: int
    frames: int
    positions: dict[int, list[int]]
    names: dict[int, str]
    manifest: Manifest

    @property
    def seconds(self) -> int:
        """The length as the add-on states it: rounded to whole seconds."""
        return round(self.frames / self.fps)


def servo_frames(performance: Performance, servos: Mapping[str, Any] | None, fps: int | None, form: str) -> ServoFrames:
    """What the add-on would have computed, by the calibration of each servo, at a whole number of frames a second."""
    channels = need_kinds(performance, ("position",), form)
    fitted = calibrations(channels, servos)
    rate, values = thinned(*table(channels, form), fps)
    if abs(rate - round(rate)) > 1e-9:
        raise BadInput(f"the motor rate of {rate:g} Hz is no whole number of frames a second; perform the clip at one that is")
    positions: dict[int, list[int]] = {}
    names: dict[int, str] = {}
    for j, (channel, servo) in enumerate(zip(channels, fitted, strict=True)):
        number = j if servo.id is None else servo.id
        positions[number], names[number] = calibrated(channel, values[:, j], servo, rate).tolist(), channel.name
    lines = [(servo.at_zero, servo.per_radian) for servo in fitted]
    return ServoFrames(round(rate), len(values), positions, names, manifest(float(round(rate)), channels, list(names), lines))


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
    angle is not rounded to hundredths of a degree before the position is, and ``bunraku`` says which channel a servo is and
    what its positions mean.
    """
    motion = servo_frames(performance, servos, fps, "blender-servo")
    names, positions = motion.names, motion.positions
    content: dict[str, Any] = {
        "description": "Blender Servo Animation Positions",
        "fps": motion.fps,
        "frames": motion.frames,
        "seconds": motion.seconds,
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
            content["positions"] = [{str(key): row[k] for key, row in positions.items()} for k in range(motion.frames)]
        case _:
            raise BadInput(f"there is no layout {layout!r}; choose positions, servos or frames")
    return as_json(content | {"bunraku": as_data(motion.manifest)})


START, END, LINE_BREAK = 0x3C, 0x3E, 0x0A
BYTES_A_COMMAND = 5
BYTES_A_LINE = 12


def servo_command(id: int, position: int) -> bytes:
    """The five bytes that send a servo to a position."""
    return bytes((START, id, *position.to_bytes(2, "big"), END))


def export_blender_servo_bin(
    performance: Performance,
    *,
    servos: Mapping[str, Any] | None = None,
    fps: int | None = None,
    skip_unchanged: bool = False,
) -> bytes:
    """The bytes of all frames; the file does not say how many frames a second there are, whoever plays it must know.

    ``servos``: calibrations by channel name; ``fps``: a whole number that divides the motor rate, the motor rate by default.
    ``skip_unchanged`` leaves out servos that stay where they were in the frame before, as the add-on can.
    """
    return _commands(servo_frames(performance, servos, fps, "blender-servo-bin"), skip_unchanged)


def export_blender_servo_h(
    performance: Performance,
    *,
    servos: Mapping[str, Any] | None = None,
    fps: int | None = None,
    skip_unchanged: bool = False,
    namespace: bool = False,
) -> bytes:
    """The add-on's header: FPS, FRAMES, LENGTH and ANIMATION_DATA; ``namespace`` wraps them in one named after the clip.

    Other options as for the binary file. The add-on counts in ``int``: boards whose int has 16 bits take up to 32767 bytes.
    """
    motion = servo_frames(performance, servos, fps, "blender-servo-h")
    if motion.fps > 255:
        raise BadInput(f"the header counts frames a second in one byte and {motion.fps} arrived; give --fps of at most 255")
    data = [f"{one:#04x}" for one in _commands(motion, skip_unchanged)]
    scene = plain(performance.clip_name)
    lines = [
        "/*",
        "  Blender Servo Animation Positions",
        "",
        f"  FPS: {motion.fps}",
        f"  Frames: {motion.frames}",
        f"  Seconds: {motion.seconds}",
        f"  Bones: {len(motion.positions)}",
        f"  Armature: {plain(performance.character.name)}",
        f"  Scene: {scene}",
        f"  File: {scene}",
        f"  {as_line(motion.manifest)}",
        "*/",
        "",
        "#include <Arduino.h>",
        "",
    ]
    space = _space(performance.clip_name)
    if namespace:
        lines += [f"namespace {space} {{", ""]
    lines += [f"const byte FPS = {motion.fps};", f"const int FRAMES = {motion.frames};", f"const int LENGTH = {len(data)};", ""]
    lines.append("const byte PROGMEM ANIMATION_DATA[LENGTH] = {")
    lines += [f"    {', '.join(data[i : i + BYTES_A_LINE])}," for i in range(0, len(data), BYTES_A_LINE)]
    lines.append("};")
    if namespace:
        lines += ["", f"}} // namespace {space}"]
    return ("\n".join(lines) + "\n").encode()


def _commands(motion: ServoFrames, skip_unchanged: bool) -> bytes:
    commands = bytearray()
    for k in range(motion.frames):
        for number, row in sorted(motion.positions.items()):
            if not (skip_unchanged and k > 0 and row[k] == row[k - 1]):
                commands += servo_command(number, row[k])
        commands.append(LINE_BREAK)
    return bytes(commands)


def _space(name: str) -> str:
    """The add-on's name of a namespace: other characters become underscores, a digit in front gets one."""
    identifier = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"
    return f"_{identifier}" if identifier[0].isdigit() else identifier
