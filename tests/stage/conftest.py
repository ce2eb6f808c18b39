"""A small performance made in code: two hinges and a slide, moving smoothly within their limits."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.motion import Certificate, Channel, Check, JointCurves, Mark, Performance, Provenance
from bunraku.optimization.solution import Status

RATE, FRAMES = 50.0, 76


@pytest.fixture
def performance() -> Performance:
    names = ("HeadYaw", "Head Pitch/1", "class")
    character = Character(
        name="puppet",
        bodies=tuple(Body(name=f"b{i}", mass=1.0) for i in range(3)),
        joints=(
            Joint(name=names[0], kind="hinge", parent="world", child="b0", range=(-1.2, 1.2)),
            Joint(name=names[1], kind="hinge", parent="b0", child="b1", range=(-0.5, 0.5)),
            Joint(name=names[2], kind="hinge", parent="b1", child="b2"),
        ),
        motors=tuple(Motor(name=f"m{i}", coordinate=name, velocity=4.0) for i, name in enumerate(names)),
    )
    t = np.arange(FRAMES) / RATE
    values = np.column_stack([1.1 * np.sin(2.0 * t), 0.4 * np.cos(3.0 * t) - 0.1, 0.7 * np.sin(5.0 * t + 1.0) / 1.5])
    curves = JointCurves(names, RATE, values)
    channels = tuple(Channel(name, "position", "rad", RATE, values[:, j]) for j, name in enumerate(names))
    return Performance(
        character,
        "hello there",
        channels,
        curves,
        curves,
        Certificate(
            Status.CONVERGED, (Check("velocity excess", 0.0, "rad/s", 1e-9), Check("unbounded", float("inf"))), ("a note",)
        ),
        Provenance("speech", {"clip": "abc"}, {"q1": 50.0}, {"bunraku": "0.1.0"}, 7),
        words=(Mark("hello", 0.1, 0.4, 0.25), Mark("thére", 0.5, 0.9)),
        phrases=(Mark("hello thére", 0.1, 0.9),),
    )


@pytest.fixture(scope="session")
def readers() -> ModuleType:
    """Readers of every export format that share no code with the writers."""
    folder = str(Path(__file__).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module("foreign_readers")


@pytest.fixture(scope="session")
def real() -> Callable[[str], Performance]:
    """Real performances of built-in characters by name, made when first asked for.

    The rod's takes minutes where its kernels are not compiled yet, so it is kept: ``bunraku perform one-rod tick --points 60``.
    """
    from bunraku.formats.registry import read_character, read_clip, read_performance
    from bunraku.performers.performer import performer_class
    from bunraku.retargeting.retarget import retarget

    shows: dict[str, tuple[str, str, dict[str, Any]]] = {
        "nao": ("speech", "not-done-yet", {}),
        "marionette": ("marionette", "chicken-dance", {"duration": 0.5, "blend": 0.1}),
        "swizzlebot": ("locomotion", "swizzle", {}),
        "car": ("locomotion", "car-forward", {}),
    }

    @functools.cache
    def made(name: str) -> Performance:
        kept = Path(__file__).resolve().parent / "performances" / f"{name}.performance.npz"
        if kept.exists():
            return read_performance(kept)
        performer, clip_name, options = shows[name]
        character, clip = read_character(name), read_clip(clip_name)
        wish = retarget(clip, character).clip if clip.skeleton is not None else clip
        return performer_class(performer)(**options).perform(character, wish)

    return made
