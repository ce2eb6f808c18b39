"""What helps where a performance of gestures is not proven: less acceleration first, then smaller gestures, then a slower motion.

A captured motion whose legs move a little is asked for above the legs alone: they are held, so that the character stands. Where
most of it is in the legs, that is the nearest wish and no remedy.

What a motor cannot accelerate it need not be asked for. At share s of the stall torque tau_0 the limit is s tau_0 / I, I the
inertia that the motor moves (`problem.torque_accelerations`): a humanoid's waist gets 7 rad/s^2 where its maker states 30, and
the gestures change by a few thousandths of a radian. A trunk that carries the rest is made smaller before all the rest is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from bunraku.character import Character
from bunraku.mechanics.measures.coverage import COVERAGE, FOLLOWS, HELD, CapturedLimb, limbs_in
from bunraku.motion.excerpt import at_tempo
from bunraku.performers.remedy import LEAST, Attempted, Remedies, Remedy, smaller
from bunraku.performers.speech.problem import torque_accelerations

SHARES = (0.6, 0.3)
"""Shares of the stall torque that accelerations may use; the rest holds against gravity and against other joints."""

SIZES = (0.85, LEAST)
"""Shares of the size of gestures."""

PACES = (0.8, LEAST)
"""Shares of its pace for a motion that keeps no time with a voice."""

FAR = 1.5
"""A broken promise this many times beyond its threshold, or a fall, takes the strongest of each kind at once."""

CARRIED, HALF = 0.5, 0.5
"""A joint is of the trunk where this share of all that move hang beyond it; and the share of a trunk's size that is left."""

TRUNK = "trunk"
"""What that remedy is about."""

HARD = 0.5
"""Where no motor states a torque: the share of the largest acceleration that is left."""

CUTS = (6.0, 3.0)
"""What is faster than this [Hz] is taken out of a wish that shakes; gestures are slower."""

SHAKEN = ("shaking", "reversals")
"""What a smoother wish mends."""

DYNAMIC = ("torque", "peak torque", "rms torque", "winding", "fell", "tracking", "foot slip", "replay")
"""What less acceleration mends."""

SIZED = (*DYNAMIC, *SHAKEN, "self-collision", "balance", "least gesture scale", "largest")
"""What smaller gestures mend."""

LEFT_OUT = ("coverage", "motion followed", "least gesture scale")
"""What more time mends: the motors are too slow for all of it."""

SMALLEST = 0.3
"""The least intensity that the performer takes."""


class GestureRemedies(Remedies):
    """Those of speech and gestures."""

    add_up = True

    def against(self, attempt: Attempted) -> list[Remedy]:
        """Less acceleration, smaller, slower: the first that was not tried is the one that costs least."""
        remedies: list[Remedy] = []
        standing = _standing(attempt) if attempt.is_against("coverage") else None
        if standing is not None and _held_share(limbs_in(attempt.performance.certificate.figures)) <= 1.0 - COVERAGE:
            remedies.append(standing)
        if attempt.is_against(*SHAKEN):
            remedies += _smoother(attempt)
        if attempt.is_against(*DYNAMIC):
            remedies += [*_softer(attempt), *_lighter(attempt)]
        if attempt.is_against(*SIZED):
            remedies += _smaller(attempt)
        late = DYNAMIC if standing is not None else (*DYNAMIC, *LEFT_OUT)
        if attempt.is_against(*late) and attempt.wish.audio is None:
            remedies += _slower(attempt)
        return remedies

    def lesser(self, attempt: Attempted, share: float) -> Remedy | None:
        """Gestures of that share of their size; first of all those above the legs, where most of the wish was theirs."""
        standing, sized = _standing(attempt) if attempt.is_against("coverage") else None, _sized(attempt, share)
        if standing is None or sized is None:
            return sized
        words = standing.words if share == 1.0 else f"{standing.words}; {sized.words}"
        return replace(standing, words=words, options=sized.options)


def _standing(attempt: Attempted) -> Remedy | None:
    """Only what stands on the legs is wished, where these are held at home so that it stands."""
    limbs = limbs_in(attempt.performance.certificate.figures)
    held = [limb for limb in limbs if limb.fate == HELD]
    if attempt.clip.only or not held or not any(limb.fate == FOLLOWS for limb in limbs):
        return None
    words = (
        f"only what is above the legs follows, {100 * _held_share(limbs):.0f} % of the captured motion is left out (--only upper)"
    )
    return Remedy(words, "limbs", only=("upper",))


def _held_share(limbs: Sequence[CapturedLimb]) -> float:
    """The part of a captured motion that limbs carry which are held at home."""
    return sum(limb.captured for limb in limbs if limb.fate == HELD) / max(sum(limb.captured for limb in limbs), 1e-9)


def _smoother(attempt: Attempted) -> Iterator[Remedy]:
    """The wish without what is too fast to be a gesture."""
    used = attempt.options.get("smooth") or math.inf
    for cut in CUTS:
        if cut < used:
            yield Remedy(f"nothing of the wish that is faster than {cut:g} Hz (--smooth {cut:g})", "smoothness", {"smooth": cut})


def _softer(attempt: Attempted) -> Iterator[Remedy]:
    """Limits of acceleration by torque and inertia, or by what was reached where no motor states a torque."""
    used = attempt.options.get("torque_share") or 1.0
    for share in _steps(SHARES, attempt):
        limits = torque_accelerations(attempt.character, share)
        if share < used and limits:
            named = _motor_in_the_way(attempt) or min(limits, key=lambda name: limits[name])
            words = f"acceleration limited to what {100 * share:.0f} % of the stall torque gives"
            where = f" ({named}: {limits[named]:.3g} rad/s^2)" if named in limits else ""
            yield Remedy(f"{words}{where} (--torque-share {share:g})", "acceleration", {"torque_share": share})
    if not torque_accelerations(attempt.character, 1.0):
        curves = attempt.performance.positions()
        most = float(np.abs(np.diff(curves.values, n=2, axis=0)).max(initial=0.0)) * curves.rate**2
        if most > 0.0:
            limit = float(f"{HARD * most:.2g}")
            words = f"acceleration limited to {limit:g} rad/s^2 (--acceleration {limit:g})"
            yield Remedy(words, "acceleration", {"acceleration": limit})


def _lighter(attempt: Attempted) -> Iterator[Remedy]:
    """The trunk, which carries most of what moves, at half of its size about home."""
    joints, who = attempt.clip.joints, attempt.character
    if joints is None or any(one.of == TRUNK for one in attempt.remedies):
        return
    held = set(who.expand((*attempt.clip.held, *attempt.options.get("held", ()))))
    driven = {motor.coordinate for motor in who.motors}
    moving = [name for name in joints.names if name in driven and name not in held]
    above = _bodies_above(who)
    trunk = [
        name for name, child in _children(who).items()
        if name in moving and sum(child in above[other] for other in _bodies(who, moving)) > CARRIED * len(moving)
    ]  # fmt: skip
    if trunk and len(trunk) < len(moving):
        clip = smaller(attempt.clip, who, HALF, trunk)
        yield Remedy(f"{', '.join(trunk)} at {100 * HALF:.0f} % of their size", TRUNK, clip=clip)


def _children(who: Character) -> dict[str, str]:
    """The body beyond each coordinate."""
    return {axis.name: joint.child for joint in who.joints for axis in joint.axes}


def _bodies(who: Character, names: list[str]) -> list[str]:
    """The bodies beyond these coordinates."""
    children = _children(who)
    return [children[name] for name in names]


def _bodies_above(who: Character) -> dict[str, set[str]]:
    """The bodies that carry each body."""
    parent = {joint.child: joint.parent for joint in who.joints}
    above: dict[str, set[str]] = {}
    for body in parent:
        chain, at = set(), parent[body]
        while at in parent and at not in chain:
            chain.add(at)
            at = parent[at]
        above[body] = chain
    return above


def _smaller(attempt: Attempted) -> Iterator[Remedy]:
    """Smaller gestures, as far as it is still the same wish."""
    asked = float(attempt.asked.get("intensity", 1.0))
    for size in _steps(SIZES, attempt):
        remedy = _sized(attempt, size)
        if remedy is not None and size * asked < float(attempt.options.get("intensity", 1.0)) - 1e-9:
            yield remedy


def _slower(attempt: Attempted) -> Iterator[Remedy]:
    """The wish at a slower pace."""
    played = attempt.wish.duration / max(attempt.clip.duration, 1e-9)
    for pace in _steps(PACES, attempt):
        if pace < played - 1e-3:
            yield Remedy(f"played at {100 * pace:.0f} % of its pace", "pace", clip=at_tempo(attempt.clip, pace / played))


def _steps(shares: tuple[float, ...], attempt: Attempted) -> tuple[float, ...]:
    """The shares to try: all of them, or the last alone where a promise is far from being kept."""
    excess = [check.value / check.threshold for check in attempt.against if check.threshold and not check.at_least]
    return shares[-1:] if attempt.is_against("fell") or max(excess, default=0.0) > FAR else shares


def _motor_in_the_way(attempt: Attempted) -> str:
    """The motor that a broken check of torque names, or nothing."""
    names = {motor.name for motor in attempt.character.motors}
    said = (check.note.split(";")[0].strip() for check in attempt.against if "torque" in check.name)
    return next((name for name in said if name in names), "")


def _sized(attempt: Attempted, share: float) -> Remedy | None:
    """Gestures of a share of the size that was asked for; None where the performer makes none so small."""
    intensity = round(share * float(attempt.asked.get("intensity", 1.0)), 3)
    if intensity < SMALLEST:
        return None
    return Remedy(
        f"gestures asked for at {100 * share:.3g} % of their size (--intensity {intensity:g})", "size", {"intensity": intensity}
    )


REMEDIES = GestureRemedies()
