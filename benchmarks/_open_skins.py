"""Random walks on creatures in coarse skins. No question of its own.

One cycle from rest to rest, at 15 to 55 % of the speed at which steps become too long; those whose hips move their feet aside turn
now and then.
"""

from __future__ import annotations

import math
from pathlib import Path

import yaml

from _open_case import OpenCase, generator
from bunraku.formats.registry import read_character
from bunraku.gait.commands import STEP, WALK_TIME, walk_for
from bunraku.gait.feet import feet_of

CREATURES = ("beetle-quick", "lizard-quick", "monster-quick")


def draw(seed: int, number: int, data: Path) -> OpenCase:
    """The walk of that number."""
    rng = generator("skins", seed, number)
    who = CREATURES[number % len(CREATURES)]
    character = read_character(who)
    leg = max(foot.leg for foot in feet_of(character).feet)
    fastest = STEP * leg / (WALK_TIME * math.sqrt(leg / 9.81))
    speed = float(rng.uniform(0.15, 0.55)) * fastest
    rate = float(rng.uniform(-0.08, 0.08)) if not who.startswith("beetle") and rng.random() < 0.4 else 0.0
    gait = walk_for(character, (speed, 0.0), rate, cycles=1)
    assert gait.distance is not None
    wish = {
        "duration_s": round(gait.duration, 3),
        "pattern": gait.pattern,
        "periodic": False,
        "cycles": 1,
        "distance_m": [round(float(part or 0.0), 4) for part in gait.distance],
        "turn_rad": round(float(gait.turn or 0.0), 4),
        "swing_height_m": round(gait.swing_height, 4),
        "air": gait.air,
    }
    clip = {"bunraku": "clip/1", "name": "wish", "gait": wish}
    what = f"walk {gait.duration:.2f} s, {speed:.3f} m/s, turn {rate:+.2f} rad/s"
    return OpenCase(who, what, who, yaml.safe_dump(clip, sort_keys=False).encode(), ".clip.yaml")
