"""A gait from commands alone: how fast to go and to turn. Pattern, cycle and swing follow from the legs and the speed.

Legs of different size move alike at equal Froude numbers Fr = v² / (g l), v the speed [m/s] of the fastest foot, l the length of
the leg [m], g gravity [m/s²]; the stride of animals is about s = 2.4 l Fr^0.34 (Alexander and Jayes 1983, A dynamic similarity
hypothesis for the gaits of quadrupedal mammals). Times scale with t = sqrt(l / g).
"""

from __future__ import annotations

import math

import numpy as np

from bunraku.character import Character, Motor
from bunraku.errors import BadInput
from bunraku.gait.feet import Feet, feet_of
from bunraku.gait.patterns import PATTERNS, REST, footfalls, named_swings
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.motion import Gait

STRIDE, EXPONENT = 2.4, 0.34
TROT_FROM = 0.01
"""The Froude number above which four legs or more trot instead of crawling."""
SWING_TIME = {"crawl": 1.7, "trot": 0.95}
"""The shortest swing, in units of sqrt(l / g)."""
SWIZZLE_TIME = (9.4, 15.6)
"""The shortest and the longest cycle on wheels that turn freely, in units of sqrt(l / g)."""
ROLL_TIME = 1.0
"""Duration [s] of a cycle on driven wheels, or of standing."""
AIR, WALK_TIME, STEP = 0.38, 6.0, 0.6
"""Of a walk on soft soles: share of a cycle that a foot is in the air, its time in units of sqrt(l / g), longest step over l."""
EASY = 0.1
"""The pace in units of sqrt(g l), l the longest leg: a Froude number of 0.01, where four legs still crawl."""
SPARE = 0.5
"""The largest share of what the motors allow that a first gait uses."""
STILL_LEG = 0.1
"""Taken for the leg [m] of a character whose wheels sit on its body."""
FASTEST_SHARE = 1.5
"""The highest speed of a smooth swing over its mean: that of 3 u² - 2 u³."""


def gait_for(character: Character, velocity: tuple[float, float] = (0.0, 0.0), turn_rate: float = 0.0) -> Gait:
    """The gait that goes with ``velocity`` (x forward, y left) [m/s] in the frame of the body and turns at ``turn_rate`` [rad/s].

    On driven wheels it rolls; on single wheels that turn freely it swizzles, on more of them a foot it strokes (trot); on legs it
    crawls or, faster, trots. The distance of a cycle of duration T is that of the arc driven meanwhile,
    int_0^T Rz(turn_rate t) velocity dt. A speed that the feet or wheels cannot follow is refused.
    """
    vx, vy = float(velocity[0]), float(velocity[1])
    if not all(math.isfinite(part) for part in (vx, vy, turn_rate)):
        raise BadInput(f"a velocity of ({vx}, {vy}) m/s and {turn_rate} rad/s arrived; give finite numbers")
    feet = feet_of(character)
    speed = _foot_speed(feet, vx, vy, turn_rate)
    if speed < 1e-9:
        return Gait(ROLL_TIME, "roll", distance=(0.0, 0.0), turn=0.0)
    leg = max((foot.leg for foot in feet.feet), default=0.1)
    way = _way(character, feet)
    unit, froude = math.sqrt(leg / GRAVITY), speed**2 / (GRAVITY * leg)
    if way == "walk":
        pattern = "trot" if froude > TROT_FROM and len(feet.feet) != 3 else "crawl"
        if speed > fastest(character, pattern) and len(feet.feet) > 3:
            pattern = "trot"
        share = _share(feet, pattern)
        duration = max(STRIDE * leg * froude**EXPONENT / speed, SWING_TIME[pattern] * unit / share)
    elif way == "roll":
        pattern, duration = "roll", ROLL_TIME
    else:
        pattern = "roll" if way == "swizzle" else "trot"
        duration = unit * float(np.clip(2.9 * leg / speed / unit, *SWIZZLE_TIME))
    limit = fastest(character, pattern)
    if speed > limit:
        raise BadInput(
            f"({vx:g}, {vy:g}) m/s at {turn_rate:g} rad/s moves a foot of {character.name!r} at {speed:.3g} m/s; "
            f"its motors allow {limit:.3g} m/s: go slower"
        )
    free = way in ("swizzle", "stroke") and math.hypot(vx, vy) < 1e-9
    return Gait(
        duration,
        pattern,
        distance=None if free else _arc(vx, vy, turn_rate, duration),
        turn=turn_rate * duration,
        swing_height=leg * (0.11 + 0.04 * min(1.0, froude / 0.1)),
    )


def walk_for(character: Character, velocity: tuple[float, float] = (0.0, 0.0), turn_rate: float = 0.0, *, cycles: int = 3) -> Gait:
    """A walk of diagonal pairs from rest to rest, at ``velocity`` [m/s] and ``turn_rate`` [rad/s] between the first and last step.

    For soft soles: feet are long in the air, come down without going on, and stand on each other's time. A cycle takes
    `WALK_TIME` sqrt(l / g), l the legs' length; steps longer than `STEP` l are refused.
    """
    if not 1 <= cycles <= 1000 or not all(math.isfinite(part) for part in (*velocity, turn_rate)):
        raise BadInput(f"{cycles} cycles at {velocity} m/s and {turn_rate} rad/s arrived; give 1 to 1000 and finite numbers")
    feet = feet_of(character)
    leg = max((foot.leg for foot in feet.feet), default=0.0)
    if leg <= 0.0:
        raise BadInput(f"{character.name!r} has no legs to walk with")
    cycle = WALK_TIME * math.sqrt(leg / GRAVITY)
    vx, vy = float(velocity[0]), float(velocity[1])
    step = cycle * _foot_speed(feet, vx, vy, turn_rate)
    if step > STEP * leg:
        limit = STEP * leg / step
        raise BadInput(
            f"({vx:g}, {vy:g}) m/s at {turn_rate:g} rad/s makes steps of {step:.3g} m on legs of {leg:.3g} m; "
            f"go at {limit:.2g} of that"
        )
    moving = (cycles - 0.5 + AIR) * cycle
    return Gait(
        (cycles + 2.0 * REST) * cycle, "trot", periodic=False, cycles=cycles, distance=_arc(vx, vy, turn_rate, moving),
        turn=turn_rate * moving, swing_height=0.08 * leg, air=AIR,
    )  # fmt: skip


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


def fastest(character: Character, pattern: str) -> float:
    """The highest speed [m/s] of a foot over the ground that the motors allow in a pattern, infinite if they state none.

    A driven wheel: r w, its radius times its motor's speed. A leg of length l whose foot swings for the share s of a cycle moves
    it against the body at v (1 - s) / s in the mean and 1.5 times that at most, with two joints of speed w at least:
    v = 2 w l s / (1.5 (1 - s)).
    """
    feet = feet_of(character)
    motors = {motor.coordinate: motor for motor in character.motors}
    above = {joint.child: joint for joint in character.joints}
    speed = math.inf
    if pattern != "roll":
        share = _share(feet, pattern)
        for foot in feet.feet:
            body, joints = foot.body, []
            while body in above and above[body].kind != "free":
                joints.append(above[body].name)
                body = above[body].parent
            speeds = [_speed(motors[name]) for name in joints if name in motors]
            if speeds:
                speed = min(speed, 2.0 * min(speeds) * foot.leg * share / (FASTEST_SHARE * (1.0 - share)))
    for tip in character.end_effectors:
        if tip.kind == "active":
            speed = min(speed, tip.radius * _speed(motors[above[tip.body].name]))
    return speed


def candidates(character: Character, gait: Gait) -> tuple[Gait, ...]:
    """The gaits to try: of the pattern "best" every named one that the character can make, each footfall once; else the gait.

    Rolling is tried when every end effector is a wheel that turns; on feet it goes nowhere.
    """
    if gait.pattern != "best":
        return (gait,)
    wheels = all(tip.spins for tip in character.end_effectors)
    still = not any(gait.distance or ()) and not gait.turn
    gaits: dict[tuple[tuple[int, float, float], ...], Gait] = {}
    for name in PATTERNS:
        if name == "roll" and not (wheels or still):
            continue
        one = gait.changed(pattern=name)
        try:
            pattern = footfalls(character, one)
        except BadInput:
            continue
        if name == "roll" or pattern.swings:
            gaits.setdefault(_around(pattern.swings), one)
    if not gaits:
        raise BadInput(f"no named footfall pattern fits {character.name!r}; give the pattern custom with its swings")
    return tuple(gaits.values())


def _around(swings: tuple[tuple[int, float, float], ...]) -> tuple[tuple[int, float, float], ...]:
    """Swings counted from the first of the first end effector that lifts: equal for patterns that differ by a shift in time."""
    if not swings:
        return ()
    zero = min(swings)[1]
    return tuple(sorted((j, round((start - zero) % 1.0, 6), round(end - start, 6)) for j, start, end in swings))


def _way(character: Character, feet: Feet) -> str:
    """How this character goes: "walk", "roll" (a wheel is driven), "swizzle" (wheels turn freely) or "stroke" (two a foot)."""
    tips = character.end_effectors
    if not all(tips[j].spins for foot in feet.feet for j in foot.effectors):
        return "walk"
    if any(tip.kind == "active" for tip in tips):
        return "roll"
    if not feet.feet:
        raise BadInput(f"no wheel of {character.name!r} is driven and none is on a leg; it cannot go by itself")
    return "stroke" if any(len(foot.effectors) > 1 for foot in feet.feet) else "swizzle"


def _foot_speed(feet: Feet, vx: float, vy: float, turn_rate: float) -> float:
    """The highest speed of an end effector when the body moves so: |v + w x place|."""
    return max(math.hypot(vx - turn_rate * y, vy + turn_rate * x) for x, y in feet.places)


def _share(feet: Feet, pattern: str) -> float:
    """The share of the cycle for which a foot swings in a pattern."""
    return min(end - start for _, start, end in named_swings(feet, pattern))


def _speed(motor: Motor) -> float:
    """The highest speed [rad/s] of a motor, half its no-load speed if only that is stated (its torque is half gone there)."""
    if motor.velocity is not None:
        return motor.velocity
    return math.inf if motor.no_load_speed is None else 0.5 * motor.no_load_speed


def _arc(vx: float, vy: float, turn_rate: float, duration: float) -> tuple[float, float]:
    """int_0^T Rz(w t) v dt = T (v sinc + z x v cosc), sinc = sin(wT)/(wT), cosc = (1 - cos(wT))/(wT)."""
    angle = turn_rate * duration
    along = float(np.sinc(angle / math.pi))
    aside = 0.5 * angle * float(np.sinc(0.5 * angle / math.pi)) ** 2
    return duration * (vx * along - vy * aside), duration * (vy * along + vx * aside)
