"""A first gait: straight ahead at an easy pace, for a character that has none yet."""

from __future__ import annotations

import math

from bunraku.character import Character
from bunraku.gait.commands import fastest, gait_for, walk_for
from bunraku.gait.feet import feet_of
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.motion import Gait

EASY = 0.1
"""The pace in units of sqrt(g l), l the longest leg: a Froude number of 0.01, where four legs still crawl."""
SPARE = 0.5
"""The largest share of what the motors allow that a first gait uses."""
STILL_LEG = 0.1
"""Taken for the leg [m] of a character whose wheels sit on its body."""


def first_gait(character: Character) -> Gait:
    """The gait that goes forward at 0.1 sqrt(g l), or at half of what the motors allow if that is less; in a skin, three steps.

    A character without feet and wheels, or one that cannot go by itself, is refused in words.
    """
    feet = feet_of(character).feet
    leg = max((foot.leg for foot in feet), default=STILL_LEG)
    pace = EASY * math.sqrt(GRAVITY * leg)
    if character.skin is not None:
        return walk_for(character, (0.5 * pace, 0.0))
    limit = min(fastest(character, pattern) for pattern in (("roll", "crawl") if feet else ("roll",)))
    return gait_for(character, (min(pace, SPARE * limit), 0.0))
