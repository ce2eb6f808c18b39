"""Gaits drawn at random, on built-in robots and on robots drawn from components. No question of its own.

Robots in turn, every third one drawn; a footfall pattern that suits what the robot stands on; cycles of 0.8 to 1.6 s; a speed of
0.03 to 0.12 sqrt(g l), l the leg's length; one of five goes backwards, one of ten sideways, every second one turns by up to 0.3 rad
a cycle.
"""

from __future__ import annotations

import math
from pathlib import Path

import yaml

from _open_case import OpenCase, generator
from _open_robots import drawn_robot
from bunraku.character import Character
from bunraku.formats.registry import read_character
from bunraku.gait.feet import feet_of

LEGS = ("crawl", "trot", "best", "pace", "bound")
PATTERNS: dict[str, tuple[str, ...]] = {
    "walker": LEGS,
    "creature3": ("crawl", "best"),
    "skatebot": ("trot",),
    "brainbot": ("roll",),
    "agilebot": ("roll", "trot"),
    "swizzlebot": ("roll",),
    "dinobot": ("trot",),
    "agilebot-tall": ("roll", "trot"),
    "reacher": ("roll", "trot"),
    "car": ("roll",),
}
"""Built-in robots and the patterns that suit them."""
STILL_LEG = 0.1
"""Taken for the leg [m] of a robot whose wheels sit on its body."""


def draw(seed: int, number: int, data: Path) -> OpenCase:
    """The gait of that number."""
    rng = generator("gaits", seed, number)
    if number % 3 == 2:
        robot, stands = drawn_robot(rng)
        who = f"{robot.name} on {stands}"
        patterns: tuple[str, ...] = ("roll", "trot") if "wheels" in stands else LEGS
        feet = feet_of(robot)
        character: str | Character = robot
    else:
        who = list(PATTERNS)[(2 * (number // 3) + number % 3) % len(PATTERNS)]
        patterns, feet, character = PATTERNS[who], feet_of(read_character(who)), who
    leg = max([foot.leg for foot in feet.feet if foot.leg > 0.0], default=STILL_LEG)
    pattern = str(rng.choice(patterns))
    duration = float(rng.uniform(0.8, 1.6))
    speed = float(rng.uniform(0.03, 0.12)) * math.sqrt(9.81 * leg)
    turn = float(rng.uniform(-0.3, 0.3)) if rng.integers(2) else 0.0
    way = rng.random()
    aside = way < 0.1 and who != "car"
    x, y = (0.0, speed) if aside else (-speed, 0.0) if way < 0.3 else (speed, 0.0)
    gait = {
        "duration_s": round(duration, 3),
        "pattern": pattern,
        "distance_m": [round(x * duration, 4), round(y * duration, 4)],
        "turn_rad": round(turn, 4),
    }
    what = f"{pattern} {duration:.2f} s, {x:+.3f} {y:+.3f} m/s, turn {turn:+.2f}"
    clip = {"bunraku": "clip/1", "name": "wish", "gait": gait}
    return OpenCase(who, what, character, yaml.safe_dump(clip, sort_keys=False).encode(), ".clip.yaml")
