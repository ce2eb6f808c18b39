"""Which physics judges a performance: cheap tests that load no physics."""

from __future__ import annotations

from bunraku.character import WORLD
from bunraku.motion import Performance


def bends(performance: Performance) -> bool:
    """Whether the character has flexible parts."""
    return bool(performance.character.flexibles)


def is_skinned(performance: Performance) -> bool:
    """Whether servos move a character with a skin that stands on soles."""
    character = performance.character
    return character.skin is not None and bool(character.end_effectors) and not performance.dynamic


def goes_over_ground(performance: Performance) -> bool:
    """Whether servos move a character with a free base and wheels or feet (end effectors)."""
    character = performance.character
    floats = any(joint.kind == "free" and joint.parent == WORLD for joint in character.joints)
    return floats and bool(character.end_effectors) and not performance.dynamic
