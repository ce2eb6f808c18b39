"""What the built-in examples promise beyond the verdict on any performance: each a check with its bar."""

from __future__ import annotations

from collections.abc import Sequence

from bunraku.character import Character
from bunraku.mechanics.carriages import CarriageLimits
from bunraku.motion import Check, JointCurves
from bunraku.verification.held import crossings, longest_hold
from bunraku.verification.stability import NEAR, Returns

__all__ = [
    "FIRST_STEP",
    "IMITATION_RATIO",
    "IMITATION_RMS",
    "RETURNED",
    "SAVING",
    "STANDING",
    "UPRIGHT",
    "first_step_promises",
    "hold_promises",
    "imitation_promises",
    "passing_promises",
    "return_promises",
    "show_promises",
    "standing_promises",
]

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


def imitation_promises(rms: float, baseline: float) -> tuple[Check, ...]:
    """RMS error [m] of the tracked points, and what part it is of the quasi-static baseline's."""
    note = f"which leaves {100 * baseline:.2f} cm RMS"
    return (
        Check("imitation rms", rms, "m", IMITATION_RMS),
        Check("imitation against quasi-static baseline", rms / baseline, "of it", IMITATION_RATIO, note=note),
    )


def return_promises(found: Returns) -> tuple[Check, ...]:
    """The share of disturbed starts that came back."""
    note = f"to within {100 * NEAR:g} cm, pushed by up to {100 * found.pushed.max():.1f} cm, {len(found.errors)} starts"
    return (Check("returned", found.fraction, "of disturbed starts", RETURNED, at_least=True, note=note),)


def show_promises(character: Character, saving: float, tensions: Sequence[float], jump: float, dt: float) -> tuple[Check, ...]:
    """What the times save, the least of the ``tensions`` [N] of several shows, and the largest ``jump`` of a velocity [m/s].

    Velocities are continuous when none changes by more over a step ``dt`` [s] than the carriages' and winches' accelerations allow.
    """
    limits = CarriageLimits.of(character)
    bar = dt * max(float(limits.acceleration.max()), float(limits.winch_acceleration.max()))
    return (
        Check("saving of the optimized times", saving, "of the cost of equal spacing", SAVING, at_least=True),
        Check("least tension through every transition", min(tensions), "N", TENSION, at_least=True),
        Check("velocity jump of carriages and winches", jump, "m/s", bar, note="from one step to the next"),
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
        Check("order of Newton's method at the end", order, bar=ORDER, at_least=True),
    )


def hold_promises(reached: int, ways: int, returned: float, unaided: float) -> tuple[Check, ...]:
    """All of the state space is reached; nudges return with feedback, and most do not without."""
    return (
        Check("dimension that tensions reach", reached, f"of {2 * ways}", 2 * ways, at_least=True),
        Check("returned", returned, "of nudges", RETURNED, at_least=True),
        Check("returned without feedback", unaided, "of nudges", 1.0 - RETURNED, note="or there would be nothing to stabilise"),
    )
