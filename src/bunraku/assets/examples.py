"""The built-in examples: who performs what, with which performer and options. Demos, studio and docs read this table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Demo:
    """A built-in example: who performs what, with which performer and options.

    ``kind``: the module of `cli.demos` that says what its demo adds to figures, promises and files.
    """

    performer: str
    character: str
    clip: str
    options: dict[str, Any]
    meaning: str
    kind: str


def _puppet(character: str, clip: str, meaning: str, kind: str = "small", **options: Any) -> Demo:
    return Demo("marionette", character, clip, options, meaning, kind)


def _bends(character: str, clip: str, points: int, meaning: str, **options: Any) -> Demo:
    return Demo("vibration", character, clip, {"points": points, **options}, meaning, "flexible")


def _moves(character: str, clip: str, meaning: str, kind: str = "ground", **options: Any) -> Demo:
    return Demo("locomotion", character, clip, options, meaning, kind)


def _skinned(character: str, clip: str, meaning: str, **options: Any) -> Demo:
    return Demo("skin", character, clip, options, meaning, "skin")


DEMOS = {
    "speech": Demo(
        "speech",
        "nao",
        "not-done-yet",
        {"acceleration": 80.0},
        "NAO speaks and gestures faster than its motors can follow, and stays in time",
        "speech",
    ),
    "marionette": _puppet(
        "marionette",
        "chicken-dance",
        "a puppet imitates a dance at full speed, over all its six strings",
        "marionette",
        duration=4.0,
    ),
    "marionette-show": _puppet(
        "marionette", "marionette-show", "walk, wave and bow, pieced together with optimized timing", "show", blend=0.0
    ),
    "cart-pendulum": _puppet(
        "cart-pendulum", "stand-up", "a pendulum stands up on its cart and hangs down again, from its description alone"
    ),
    "double-pendulum": _puppet("double-pendulum", "wide-swing", "one Newton step on trajectories solves almost all of a problem"),
    "puppet-arm": _puppet(
        "puppet-arm", "arm-wave", "an arm on one string goes through its singularity, waves, and drops back", blend=0.3
    ),
    "hand": Demo(
        "hold", "hand", "hold", {}, "a hand of tendons holds a ball and comes back from a nudge; without feedback it falls", "hand"
    ),
    "one-rod": _bends(
        "one-rod", "tick", 150, "a rod on a motor ticks and stands still", profile_weight=1e-5, acceleration_weight=1e-10
    ),
    "two-rods": _bends("two-rods", "tilt", 100, "a motor between two rods tilts the upper one"),
    "dancer": _bends("dancer", "dance", 200, "four motors and three rods dance and wave"),
    "bartender": _bends("bartender", "serve", 250, "a glass of water goes around and is not spilled"),
    "rapper": _bends("rapper", "rap", 250, "an arm of printed parts with a four-bar linkage raps"),
    "drummer": _bends("drummer", "drumming", 200, "a figure of 13 motors drums on legs of spring steel", profile_weight=3e-3),
    "boxer": _bends("boxer", "boxing", 250, "the same figure punches, blocks and dodges"),
    "swizzlebot": _moves("swizzlebot", "swizzle", "four passive wheels swizzle, always on the ground"),
    "swizzlebot-turn": _moves("swizzlebot", "swizzle-turn", "the same turns", posture=1e-2),
    "swizzlebot-rest": _moves("swizzlebot", "swizzle-rest", "and sets off from rest"),
    "creature3": _moves("creature3", "walk-tripod", "three legs and a wheel walk"),
    "creature3-fast": _moves("creature3", "fast-walk", "three times as fast"),
    "creature3-turn": _moves("creature3", "turn-tripod", "and turn on the spot"),
    "brainbot": _moves("brainbot", "brain-swizzle", "three legs on passive wheels swizzle"),
    "brainbot-turn": _moves("brainbot", "brain-turn", "and turn"),
    "agilebot-start-stop": _moves("agilebot", "start-stop", "a metre from rest to rest on driven wheels"),
    "agilebot-turn": _moves("agilebot", "turn-in-place", "it turns on the spot", posture=1e-2),
    "agilebot-slalom": _moves("agilebot", "slalom", "a slalom by two targets"),
    "agilebot-sidestep": _moves("agilebot", "side-step", "it steps aside and rolls on", posture=1e-2),
    "skatebot": _moves("skatebot", "skate", "two wheels a foot: it skates in strokes"),
    "dinobot": _moves("dinobot", "dino-skate", "a skater with a neck"),
    "walker-crawl": _moves("walker", "crawl", "a four-legged walker crawls"),
    "walker-trot": _moves("walker", "trot", "and trots"),
    "tilted-car": _moves("tilted-car", "car-forward", "a car whose front wheels are tilted repairs itself", "design"),
    "growing-robot": _moves("reacher", "reach-high", "a robot that cannot reach its target grows longer legs", "design"),
    "motion-graph": _moves("walker", "random-path", "stand, crawl and turn in any order", "graph"),
    "beetle-lift": _skinned("beetle", "beetle-lift", "a skinned beetle lifts one foot", crouch=0.015),
    "beetle-lift-two": _skinned("beetle", "beetle-lift-two", "and two feet at once", crouch=0.015),
    "beetle-walk": _skinned("beetle", "beetle-walk", "it walks, beside the same walk planned without dynamics", crouch=0.015),
    "monster-walk": _skinned("monster", "monster-walk", "a heavy monster, long low steps, 0.11 m/s", crouch=0.01),
    "monster-walk-high": _skinned("monster", "monster-walk-high", "and short high steps, 0.06 m/s"),
    "monster-trot": _skinned("monster", "monster-trot", "a trot after a drawing that defies gravity, 0.45 m/s", collisions=False),
    "lizard-walk": _skinned("lizard", "lizard-walk", "a lizard with a spine walks", crouch=0.01),
    "fold": Demo("", "", "", {}, "an ankle turns 70 degrees in a folded skin; a smooth one stalls its motor near 20", "fold"),
    "full-show": Demo(
        "speech+vibration",
        "drummer",
        "full-show",
        {"profile_weight": 3e-3, "step_ms": 4.0},
        "a count, music, and the drummer: speech and vibration chained, every hit on its beat",
        "full_show",
    ),
}
