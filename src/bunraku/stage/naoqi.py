"""A Python script that plays a performance on NAO or Pepper with NAOqi's ``ALMotion.angleInterpolation``.

The script needs the package of NAOqi and nothing of ours, and runs under Python 2.7, which NAOqi has, and Python 3. It goes
to the first pose slowly, then makes one blocking call with all angles [rad] and times [s], the voice beside it where one is named.
"""

from __future__ import annotations

from bunraku.errors import BadInput
from bunraku.motion import Performance
from bunraku.stage.c_text import array_lines, plain
from bunraku.stage.channels import need_kinds, table, thinned

_SIDES = ("ShoulderPitch", "ShoulderRoll", "ElbowYaw", "ElbowRoll", "WristYaw", "Hand")
_HEAD_AND_ARMS = {"HeadYaw", "HeadPitch", *(f"{side}{joint}" for side in "LR" for joint in _SIDES)}
_LEGS = ("HipYawPitch", "HipRoll", "HipPitch", "KneePitch", "AnklePitch", "AnkleRoll")
ROBOTS = {
    "NAO": _HEAD_AND_ARMS | {f"{side}{joint}" for side in "LR" for joint in _LEGS},
    "Pepper": _HEAD_AND_ARMS | {"HipRoll", "HipPitch", "KneePitch"},
}
"""The joints that each robot of NAOqi answers to."""

DIGITS = 6
"""Of the times [s]."""

_SCRIPT = """\
# -*- coding: utf-8 -*-
# {title}: {count} joints, {frames} angles each at {rate:g} Hz.
# rate_hz: {rate!r}
# Plays with NAOqi: python THIS_FILE --ip ROBOT [--port 9559] [--voice /path/of/the/sound/on/the/robot.wav]
# The robot must stand safely and be awake; it goes to the first pose within --ramp seconds, then starts.
import argparse

from naoqi import ALProxy

NAMES = [
{names}
]
TIMES = [
{times}
]
FIRST = [
{first}
]
ANGLES = [
{angles}
]


def play(ip, port, ramp, stiffness, voice):
    motion = ALProxy("ALMotion", ip, port)
    motion.setStiffnesses(NAMES, stiffness)
    motion.angleInterpolation(NAMES, FIRST, [ramp] * len(NAMES), True)
    if voice:
        ALProxy("ALAudioPlayer", ip, port).post.playFile(voice)
    if TIMES:
        motion.angleInterpolation(NAMES, ANGLES, [TIMES] * len(NAMES), True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Play a performance with NAOqi.")
    parser.add_argument("--ip", default="127.0.0.1", help="address of the robot")
    parser.add_argument("--port", type=int, default=9559)
    parser.add_argument("--ramp", type=float, default={ramp!r}, help="seconds to the first pose")
    parser.add_argument("--stiffness", type=float, default=1.0, help="0 to 1")
    parser.add_argument("--voice", default="", help="sound file on the robot, started with the motion")
    told = parser.parse_args()
    play(told.ip, told.port, told.ramp, told.stiffness, told.voice)
"""


def export_naoqi(performance: Performance, *, rate: float | None = None, ramp_s: float = 2.0) -> bytes:
    """The script. ``rate`` [Hz] thins the angles; it must divide the motor rate (NAOqi's own cycle is 50 Hz).

    ``ramp_s``: how long the robot takes to the first pose [s]. Angles read back exactly. Only angles can
    be sent: lengths, velocities and torques are refused by name, and so are joints that no such robot has.
    """
    channels = need_kinds(performance, ("position",), "naoqi")
    stray = next((channel for channel in channels if channel.unit != "rad"), None)
    if stray is not None:
        raise BadInput(f"channel {stray.name!r} is in {stray.unit}; angleInterpolation takes angles in rad: export csv or json")
    if not 0.1 <= ramp_s <= 60.0:
        raise BadInput(f"a ramp of {ramp_s:g} s cannot be used; give one between 0.1 and 60")
    strange = min(([c.name for c in channels if c.name not in joints] for joints in ROBOTS.values()), key=len)
    if strange:
        raise BadInput(
            f"channel {strange[0]!r} is no joint of {' or '.join(ROBOTS)}, which alone run this script; export csv, ros or json"
        )
    rate, values = thinned(*table(channels, "naoqi"), rate)
    times = [round(k / rate, DIGITS) for k in range(1, len(values))]
    text = _SCRIPT.format(
        title=f"{plain(performance.clip_name)}, performed by {plain(performance.character.name)}",
        count=len(channels),
        frames=len(values),
        rate=rate,
        names="\n".join(f"    {channel.name!a}," for channel in channels),
        times=array_lines(times),
        first=array_lines(values[0].tolist()),
        angles="\n".join(f"    [\n{array_lines(row, 8)}\n    ]," for row in values[1:].T.tolist()),
        ramp=float(ramp_s),
    )
    return text.encode("ascii")
