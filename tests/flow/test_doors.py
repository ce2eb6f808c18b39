"""The same wish through four doors gives the same bytes, verdict included: command line, Python, studio job, batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

WISHES: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "speech": ("nao", "not-done-yet", {"intensity": 0.8}, "usual"),
    "vibration": ("one-rod", "tick", {"points": 40}, "once"),
    "speech+vibration": ("one-rod", "tick", {"points": 20, "max_iterations": 3}, "once"),
    "marionette": ("cart-pendulum", "stand-up", {"max_iterations": 150}, "verify"),
    "locomotion": ("swizzlebot", "swizzle", {"posture": 1e-2}, "verify"),
    "skin": ("beetle-quick", "beetle-lift-quick", {"frame": 0.02, "passes": 1, "collisions": False}, "once"),
}


@pytest.mark.parametrize("performer", WISHES)
def test_every_door_gives_the_same_bytes(performer: str, tmp_path: Path, doors: tuple[Any, ...]) -> None:
    who, clip, options, effort = WISHES[performer]
    first, *others = (door(who, clip, performer, options, tmp_path, effort) for door in doors)
    assert [other == first for other in others] == [True] * len(others)
