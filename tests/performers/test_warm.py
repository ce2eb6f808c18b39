"""Compiling ahead covers what the first performance needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import sys
from numba.core.dispatcher import Dispatcher
from bunraku.performers import warm
for name in NAMES:
    getattr(warm, name)()

def compiled():
    found = {}
    for module in [m for name, m in sys.modules.items() if name.startswith("bunraku") and name.endswith("_kernels")]:
        found.update({(module.__name__, k): len(v.signatures) for k, v in vars(module).items() if isinstance(v, Dispatcher)})
    return found

before = compiled()
from bunraku.formats.registry import read_character, read_clip
from bunraku.performers.performer import make_performer
from bunraku.performers.prepare import prepare
character = read_character(CHARACTER)
make_performer(PERFORMER, OPTIONS).perform(character, prepare(character, read_clip(CLIP)).clip)
print("NEW", sorted(key for key, count in compiled().items() if count > before.get(key, 0)))
"""


@pytest.mark.parametrize(
    ("names", "performer", "character", "clip", "options"),
    [
        (("measures", "chain"), "speech", "nao", "not-done-yet", {}),
        (("measures", "chain", "smooth_chain"), "speech", "nao", "not-done-yet", {"acceleration": 80.0}),
        (
            ("retargeting", "control", "collisions", "steps"),
            "marionette",
            "marionette",
            "chicken-dance",
            {"duration": 0.2, "max_iterations": 2},
        ),
        (("control", "collisions", "steps", "curvature"), "marionette", "cart-pendulum", "stand-up", {"duration": 0.5}),
    ],
)
def test_a_performance_after_warming_compiles_nothing(
    names: tuple[str, ...], performer: str, character: str, clip: str, options: dict[str, float]
) -> None:
    head = f"NAMES = {tuple(f'warm_{name}' for name in names)}; PERFORMER, OPTIONS = {performer!r}, {options!r}"
    head += f"; CHARACTER, CLIP = {character!r}, {clip!r}"
    done = subprocess.run([sys.executable, "-c", head + SCRIPT], capture_output=True, text=True)
    assert "NEW []" in done.stdout, done.stdout + done.stderr
