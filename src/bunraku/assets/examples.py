"""The built-in examples: who performs what, with which performer and options. Demos, studio and docs read this table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Demo:
    """A built-in example: who performs what, with which performer and options; ``module`` of the door that runs it.

    The module has ``run(name, demo, folder)``, which returns the figures and the exit code; no folder, no report.
    """

    performer: str
    character: str
    clip: str
    options: dict[str, Any]
    meaning: str
    module: str


DEMOS = {
    "speech": Demo(
        "speech",
        "nao",
        "not-done-yet",
        {"acceleration": 80.0},
        "NAO speaks and gestures faster than its motors can follow, and stays in time",
        "demo_speech",
    ),
    "marionette": Demo(
        "marionette",
        "marionette",
        "chicken-dance",
        {"duration": 4.0},
        "a puppet imitates a dance at full speed, over all its six strings",
        "demo_marionette",
    ),
    "marionette-show": Demo(
        "marionette",
        "marionette",
        "marionette-show",
        {"blend": 0.0},
        "walk, wave and bow, pieced together with optimized timing",
        "demo_show",
    ),
    "cart-pendulum": Demo(
        "marionette",
        "cart-pendulum",
        "stand-up",
        {},
        "a pendulum stands up on its cart and hangs down again, from its description alone",
        "demo_small",
    ),
    "double-pendulum": Demo(
        "marionette",
        "double-pendulum",
        "wide-swing",
        {},
        "one Newton step on trajectories solves almost all of a problem",
        "demo_small",
    ),
    "puppet-arm": Demo(
        "marionette",
        "puppet-arm",
        "arm-wave",
        {"blend": 0.3},
        "an arm on one string goes through its singularity, waves, and drops back",
        "demo_small",
    ),
    "hand": Demo(
        "hold",
        "hand",
        "hold",
        {},
        "a hand of tendons holds a ball and comes back from a nudge; without feedback it falls",
        "demo_hand",
    ),
    "one-rod": Demo(
        "vibration",
        "one-rod",
        "tick",
        {"points": 150, "profile_weight": 1e-5, "acceleration_weight": 1e-10},
        "a rod on a motor ticks and stands still",
        "demo_flexible",
    ),
    "two-rods": Demo(
        "vibration", "two-rods", "tilt", {"points": 100}, "a motor between two rods tilts the upper one", "demo_flexible"
    ),
    "dancer": Demo("vibration", "dancer", "dance", {"points": 200}, "four motors and three rods dance and wave", "demo_flexible"),
    "bartender": Demo(
        "vibration", "bartender", "serve", {"points": 250}, "a glass of water goes around and is not spilled", "demo_flexible"
    ),
    "rapper": Demo(
        "vibration", "rapper", "rap", {"points": 250}, "an arm of printed parts with a four-bar linkage raps", "demo_flexible"
    ),
    "drummer": Demo(
        "vibration",
        "drummer",
        "drumming",
        {"points": 200, "profile_weight": 3e-3},
        "a figure of 13 motors drums on legs of spring steel",
        "demo_flexible",
    ),
    "boxer": Demo("vibration", "boxer", "boxing", {"points": 250}, "the same figure punches, blocks and dodges", "demo_flexible"),
    "swizzlebot": Demo(
        "locomotion", "swizzlebot", "swizzle", {}, "four passive wheels swizzle, always on the ground", "demo_ground"
    ),
    "swizzlebot-turn": Demo("locomotion", "swizzlebot", "swizzle-turn", {"posture": 1e-2}, "the same turns", "demo_ground"),
    "swizzlebot-rest": Demo("locomotion", "swizzlebot", "swizzle-rest", {}, "and sets off from rest", "demo_ground"),
    "creature3": Demo("locomotion", "creature3", "walk-tripod", {}, "three legs and a wheel walk", "demo_ground"),
    "creature3-fast": Demo("locomotion", "creature3", "fast-walk", {}, "three times as fast", "demo_ground"),
    "creature3-turn": Demo("locomotion", "creature3", "turn-tripod", {}, "and turn on the spot", "demo_ground"),
    "brainbot": Demo("locomotion", "brainbot", "brain-swizzle", {}, "three legs on passive wheels swizzle", "demo_ground"),
    "brainbot-turn": Demo("locomotion", "brainbot", "brain-turn", {}, "and turn", "demo_ground"),
    "agilebot-start-stop": Demo(
        "locomotion", "agilebot", "start-stop", {}, "a metre from rest to rest on driven wheels", "demo_ground"
    ),
    "agilebot-turn": Demo("locomotion", "agilebot", "turn-in-place", {"posture": 1e-2}, "it turns on the spot", "demo_ground"),
    "agilebot-slalom": Demo("locomotion", "agilebot", "slalom", {}, "a slalom by two targets", "demo_ground"),
    "agilebot-sidestep": Demo(
        "locomotion", "agilebot", "side-step", {"posture": 1e-2}, "it steps aside and rolls on", "demo_ground"
    ),
    "skatebot": Demo("locomotion", "skatebot", "skate", {}, "two wheels a foot: it skates in strokes", "demo_ground"),
    "dinobot": Demo("locomotion", "dinobot", "dino-skate", {}, "a skater with a neck", "demo_ground"),
    "walker-crawl": Demo("locomotion", "walker", "crawl", {}, "a four-legged walker crawls", "demo_ground"),
    "walker-trot": Demo("locomotion", "walker", "trot", {}, "and trots", "demo_ground"),
    "tilted-car": Demo(
        "locomotion", "tilted-car", "car-forward", {}, "a car whose front wheels are tilted repairs itself", "demo_design"
    ),
    "growing-robot": Demo(
        "locomotion", "reacher", "reach-high", {}, "a robot that cannot reach its target grows longer legs", "demo_design"
    ),
    "motion-graph": Demo("locomotion", "walker", "random-path", {}, "stand, crawl and turn in any order", "demo_graph"),
    "beetle-lift": Demo("skin", "beetle", "beetle-lift", {"crouch": 0.015}, "a skinned beetle lifts one foot", "demo_skin"),
    "beetle-lift-two": Demo("skin", "beetle", "beetle-lift-two", {"crouch": 0.015}, "and two feet at once", "demo_skin"),
    "beetle-walk": Demo(
        "skin", "beetle", "beetle-walk", {"crouch": 0.015}, "it walks, beside the same walk planned without dynamics", "demo_skin"
    ),
    "monster-walk": Demo(
        "skin", "monster", "monster-walk", {"crouch": 0.01}, "a heavy monster, long low steps, 0.11 m/s", "demo_skin"
    ),
    "monster-walk-high": Demo("skin", "monster", "monster-walk-high", {}, "and short high steps, 0.06 m/s", "demo_skin"),
    "monster-trot": Demo(
        "skin",
        "monster",
        "monster-trot",
        {"collisions": False},
        "a trot after a drawing that defies gravity, 0.45 m/s",
        "demo_skin",
    ),
    "lizard-walk": Demo("skin", "lizard", "lizard-walk", {"crouch": 0.01}, "a lizard with a spine walks", "demo_skin"),
    "fold": Demo("", "", "", {}, "an ankle turns 70 degrees in a folded skin; a smooth one stalls its motor near 20", "demo_fold"),
    "full-show": Demo(
        "speech+vibration",
        "drummer",
        "full-show",
        {"profile_weight": 3e-3, "step_ms": 4.0},
        "a count, music, and the drummer: speech and vibration chained, every hit on its beat",
        "demo_full_show",
    ),
}
