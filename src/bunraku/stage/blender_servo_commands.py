"""The commands of blender-servo-animation one after the other: as a binary file and as an Arduino header that holds its bytes.

A command is five bytes: 0x3C, the servo's id, its position with the high byte first, 0x3E. The commands of a frame stand by rising
id and end in a line break (0x0A). The add-on writes these bytes as ``.bin`` (earlier ``.servoanim``), for an SD card, and as
``ANIMATION_DATA`` in its ``.h``; its Arduino library plays both, and takes single commands from a serial line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bunraku.errors import BadInput
from bunraku.motion import Performance
from bunraku.stage.blender_servo import ServoFrames, servo_frames
from bunraku.stage.c_text import plain

START, END, LINE_BREAK = 0x3C, 0x3E, 0x0A
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
    told = servo_frames(performance, servos, fps, "blender-servo-h")
    if told.fps > 255:
        raise BadInput(f"the header counts frames a second in one byte and {told.fps} arrived; give --fps of at most 255")
    data = [f"{one:#04x}" for one in _commands(told, skip_unchanged)]
    scene = plain(performance.clip_name)
    lines = [
        "/*",
        "  Blender Servo Animation Positions",
        "",
        f"  FPS: {told.fps}",
        f"  Frames: {told.frames}",
        f"  Seconds: {told.seconds}",
        f"  Bones: {len(told.positions)}",
        f"  Armature: {plain(performance.character.name)}",
        f"  Scene: {scene}",
        f"  File: {scene}",
        "*/",
        "",
        "#include <Arduino.h>",
        "",
    ]
    space = _space(performance.clip_name)
    if namespace:
        lines += [f"namespace {space} {{", ""]
    lines += [f"const byte FPS = {told.fps};", f"const int FRAMES = {told.frames};", f"const int LENGTH = {len(data)};", ""]
    lines.append("const byte PROGMEM ANIMATION_DATA[LENGTH] = {")
    lines += [f"    {', '.join(data[i : i + BYTES_A_LINE])}," for i in range(0, len(data), BYTES_A_LINE)]
    lines.append("};")
    if namespace:
        lines += ["", f"}} // namespace {space}"]
    return ("\n".join(lines) + "\n").encode()


def _commands(told: ServoFrames, skip_unchanged: bool) -> bytes:
    found = bytearray()
    for k in range(told.frames):
        for number, row in sorted(told.positions.items()):
            if not (skip_unchanged and k > 0 and row[k] == row[k - 1]):
                found += servo_command(number, row[k])
        found.append(LINE_BREAK)
    return bytes(found)


def _space(name: str) -> str:
    """The add-on's name of a namespace: other characters become underscores, a digit in front gets one."""
    found = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"
    return f"_{found}" if found[0].isdigit() else found
