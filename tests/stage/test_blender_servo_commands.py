"""The add-on's header and binary file: bytes and text as it publishes them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import Channel, JointCurves
from bunraku.stage.blender_servo import export_blender_servo_bin, export_blender_servo_h, servo_command, servo_frames

SCENE_A = [1472, 1473, 1477, 1483, 1492, 1502]
"""The first positions of the add-on's example scene-a."""
SCENE_A_BYTES = "3c0005c03e0a3c0005c13e0a3c0005c53e0a3c0005cb3e0a3c0005d43e0a3c0005de3e0a"
"""And the bytes that it published for them: 60, 0, 5, 192, 62, 10, ..."""
MICROSECONDS = {"position_min": 544, "position_max": 2400}


@pytest.fixture
def scene(performance):
    """A performance that makes the positions of the example with pulses of 544 to 2400."""
    angle = np.radians(90.0 - (np.array(SCENE_A) - 544.0) / (2400.0 - 544.0) * 180.0)
    curves = JointCurves(("Bone",), 30.0, angle[:, None])
    channels = (Channel("Bone", "position", "rad", 30.0, angle),)
    return performance.changed(
        channels=channels, wish=curves, motion=JointCurves(performance.motion.names, 30.0, np.zeros((6, 3))), clip_name="SceneA"
    )


def test_a_command_is_the_published_example():
    assert servo_command(0, 375) == bytes.fromhex("3c0001773e")


def test_the_binary_file_is_the_published_one(scene):
    assert export_blender_servo_bin(scene, servos={"Bone": MICROSECONDS}).hex() == SCENE_A_BYTES


def test_the_header_is_the_published_one_line_by_line(scene):
    text = export_blender_servo_h(scene, servos={"Bone": MICROSECONDS}, namespace=True).decode()
    ours = [line for line in text.splitlines(keepends=True) if line.startswith("  bunraku: ")]
    assert len(ours) == 1  # one line of the first comment is ours, so that the file can be read back
    assert text.replace(ours[0], "") == (
        "/*\n  Blender Servo Animation Positions\n\n  FPS: 30\n  Frames: 6\n  Seconds: 0\n  Bones: 1\n  Armature: puppet\n"
        "  Scene: SceneA\n  File: SceneA\n*/\n\n#include <Arduino.h>\n\nnamespace SceneA {\n\n"
        "const byte FPS = 30;\nconst int FRAMES = 6;\nconst int LENGTH = 36;\n\nconst byte PROGMEM ANIMATION_DATA[LENGTH] = {\n"
        "    0x3c, 0x00, 0x05, 0xc0, 0x3e, 0x0a, 0x3c, 0x00, 0x05, 0xc1, 0x3e, 0x0a,\n"
        "    0x3c, 0x00, 0x05, 0xc5, 0x3e, 0x0a, 0x3c, 0x00, 0x05, 0xcb, 0x3e, 0x0a,\n"
        "    0x3c, 0x00, 0x05, 0xd4, 0x3e, 0x0a, 0x3c, 0x00, 0x05, 0xde, 0x3e, 0x0a,\n};\n\n} // namespace SceneA\n"
    )


def test_frames_hold_servos_by_rising_id_and_may_leave_out_what_stays(performance):
    servos = {"HeadYaw": {"id": 62}, "Head Pitch/1": {"id": 10}, "class": {"id": 60}}
    told = servo_frames(performance, servos, None, "x").positions
    data = export_blender_servo_bin(performance, servos=servos)
    assert len(data) == 76 * (3 * 5 + 1)
    at = 16 * 7
    assert data[at : at + 16] == b"".join(servo_command(one, told[one][7]) for one in (10, 60, 62)) + b"\n"
    assert servo_frames(performance, servos, None, "x").names == {62: "HeadYaw", 10: "Head Pitch/1", 60: "class"}
    short = export_blender_servo_bin(performance, servos=servos, skip_unchanged=True)
    moves = sum(1 + sum(a != b for a, b in pairwise(row)) for row in told.values())
    assert len(short) == 5 * moves + 76 < len(data)


def test_more_frames_than_a_byte_counts_are_refused(performance):
    fast = performance.channels[0].values
    curves = JointCurves(("HeadYaw",), 500.0, fast[:, None])
    channels = (Channel("HeadYaw", "position", "rad", 500.0, fast),)
    motion = JointCurves(performance.motion.names, 500.0, performance.motion.values)
    quick = performance.changed(channels=channels, wish=curves, motion=motion)
    with pytest.raises(BadInput, match="500 arrived; give --fps of at most 255"):
        export_blender_servo_h(quick)
    assert b"FPS = 250;" in export_blender_servo_h(quick, fps=250)
