"""The same wish through four doors gives the same bytes: command line, Python, studio job, batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

WISHES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "speech": ("nao", "not-done-yet", {"intensity": 0.8}),
    "vibration": ("one-rod", "tick", {"points": 40}),
    "speech+vibration": ("one-rod", "tick", {"points": 20, "max_iterations": 3}),
    "marionette": ("cart-pendulum", "stand-up", {"max_iterations": 150}),
    "locomotion": ("swizzlebot", "swizzle", {"posture": 1e-2}),
    "skin": ("beetle-quick", "beetle-lift-quick", {"frame": 0.02, "passes": 1, "collisions": False}),
}


@pytest.mark.parametrize("performer", WISHES)
def test_every_door_gives_the_same_bytes(performer: str, tmp_path: Path, doors: tuple[Any, ...]) -> None:
    who, clip, options = WISHES[performer]
    first, *others = (door(who, clip, performer, options, tmp_path) for door in doors)
    assert [other == first for other in others] == [True] * len(others)
