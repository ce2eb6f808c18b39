"""What the built-in examples promise beyond the verdict on any performance: each a check with its threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bunraku.character import Character
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.motion import Check, JointCurves
from bunraku.verification.stability import NEAR, Returns

IMITATION_RMS, IMITATION_RATIO = 0.08, 0.55
"""A puppet imitates when its points are off by at most this RMS [m], and by this part of what the quasi-static baseline leaves."""

RETURNED = 0.95
"""So many of the disturbed starts must come back to the plan."""

SAVING, TENSION = 0.2, 0.1
"""Optimized switching times save this part of the cost of equal spacing, while every string carries this much [N]."""

STANDING, UPRIGHT = 1.0, 0.052359877559829886
"""A pendulum stands when it stays so long [s] within this angle [rad] (3 degrees) of upright."""

FIRST_STEP, ORDER = 1.1, 1.8
"""The first Newton iterate costs at most so many times what the optimum does; and Newton's order at the end."""


def imitation_promises(rms: float, baseline: float, *, finished: bool) -> tuple[Check, ...]:
    """RMS error [m] of the tracked points, and what part it is of the quasi-static baseline's.

    A baseline that was not ``finished``, broken off on the way, is none to compare with: the part counts as infinite.
    """
    note = f"which leaves {100 * baseline:.2f} cm RMS" if finished else "which broke off: nothing to compare with"
    ratio = rms / baseline if finished else math.inf
    return (
        Check("imitation rms", rms, "m", IMITATION_RMS),
        Check("imitation against quasi-static baseline", ratio, "of it", IMITATION_RATIO, note=note),
    )


def return_promises(back: Returns) -> tuple[Check, ...]:
    """The share of disturbed starts that came back."""
    note = f"to within {100 * NEAR:g} cm, pushed by up to {100 * back.pushed.max():.1f} cm, {len(back.errors)} starts"
    pushing = int((back.least_tension < 0.0).sum())
    if pushing:
        worst = f"{back.least_tension.min():.2f} N at worst"
        note += f"; in {pushing} a two-sided string of our model pushed for a moment ({worst}); MuJoCo's go slack"
    return (Check("returned", back.fraction, "of disturbed starts", RETURNED, at_least=True, note=note),)


def show_promises(
    character: Character, saving: float, tensions: Sequence[float], carriage: float, winch: float, dt: float
) -> tuple[Check, ...]:
    """What the times save, the least of the ``tensions`` [N] of several shows, and the largest jumps of velocities [m/s].

    Velocities are continuous when none changes by more over a step ``dt`` [s] than the accelerations allow: the jump of a
    ``carriage`` and that of a ``winch`` each by the largest acceleration that one of its kind states; information where none does.
    """
    limits = CarriageLimits.of(character)
    kinds = (("carriages", carriage, limits.acceleration), ("winches", winch, limits.winch_acceleration))
    jumps = [
        Check(
            f"velocity jump of {kind}",
            jump,
            "m/s",
            dt * float(most[np.isfinite(most)].max()) if np.isfinite(most).any() else None,
            note="from one step to the next",
        )
        for kind, jump, most in kinds
    ]
    return (
        Check("saving of the optimized times", saving, "of the cost of equal spacing", SAVING, at_least=True),
        Check("least tension through every transition", min(tensions), "N", TENSION, at_least=True),
        *jumps,
    )


def standing_promises(motion: JointCurves, name: str, upright: float) -> tuple[Check, ...]:
    """How long the coordinate ``name`` stays near ``upright`` [rad], and how far it is from 0 at the end."""
    end = abs(float(motion.column(name)[-1]))
    held = longest_hold(motion, name, upright, UPRIGHT)
    return (
        Check("standing", held, "s", STANDING, at_least=True, note="within 3 degrees of upright"),
        Check("angle at the end", end, "rad", UPRIGHT, note="from hanging"),
    )


def passing_promises(motion: JointCurves, name: str) -> tuple[Check, ...]:
    """How often the coordinate ``name`` passes 0, where a limb is straight: there and back."""
    return (Check(f"{name} passed straight", crossings(motion, name), "times", 2, at_least=True),)


def first_step_promises(ratio: float, order: float) -> tuple[Check, ...]:
    """How near the first Newton iterate is to the optimum, and the order of the last steps."""
    return (
        Check("first Newton iterate", ratio, "of the optimum's cost", FIRST_STEP),
        Check("order of Newton's method at the end", order, threshold=ORDER, at_least=True),
    )


def hold_promises(reached: int, ways: int, returned: float, unaided: float) -> tuple[Check, ...]:
    """All of the state space is reached; nudges return with feedback, and most do not without."""
    return (
        Check("dimension that tensions reach", reached, f"of {2 * ways}", 2 * ways, at_least=True),
        Check("returned", returned, "of nudges", RETURNED, at_least=True),
        Check("returned without feedback", unaided, "of nudges", 1.0 - RETURNED, note="or there would be nothing to stabilise"),
    )


def longest_hold(curves: JointCurves, name: str, value: float, within: float) -> float:
    """The longest time [s] that a coordinate stays within ``within`` of ``value`` [rad or m]; from first to last sample there."""
    off = np.abs(curves.column(name) - value) > within
    edges = np.flatnonzero(np.concatenate([[True], off, [True]]))
    samples = int(np.diff(edges).max()) - 1
    return max(0, samples - 1) / curves.rate


def crossings(curves: JointCurves, name: str, value: float = 0.0) -> int:
    """How often a coordinate passes ``value`` from one side to the other."""
    sides = np.sign(curves.column(name) - value)
    sides = sides[sides != 0.0]
    return int(np.count_nonzero(sides[1:] != sides[:-1]))
