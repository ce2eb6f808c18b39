"""Motor limits, recomputed from what a performance would send to the motors, at the rate it is sent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.errors import BadInput
from bunraku.mechanics.measures.limits import LIMIT_TOLERANCE, ask, limit_checks
from bunraku.mechanics.servos.commands import command_checks as limits_of_commands
from bunraku.mechanics.servos.gains import servo_gains
from bunraku.motion import Check, JointCurves, MotionLimits, Performance

SAME_PLACE = 1e-9
"""A channel holds the planned place when it differs from it by no more than this [rad or m]."""


def position_curves(performance: Performance) -> JointCurves:
    """The position channels as curves; they must belong to motors of the character."""
    curves, driven = performance.sent(), performance.character.driven
    for name in curves.names:
        if name not in driven:
            who = f"no motor of {performance.character.name!r}; motors drive {', '.join(driven[:12])}"
            raise BadInput(f"the channel {name!r} drives {who}")
    return curves


def limit_figures(limits: Sequence[Check]) -> dict[str, float]:
    """The figure of a verdict that sums up its limits, of the plan and of the commands; 0 where none was checked."""
    worst = [
        check.value for check in limits if check.name.startswith("worst limit violation") and check.state in ("holds", "broken")
    ]
    return {"worst_limit_violation": max(worst, default=0.0)}


def recomputed_limits(performance: Performance) -> tuple[Check, ...]:
    """Excess over range, velocity, acceleration and jerk of the position channels, each at most 1e-9, at their own rate.

    Motors without a channel stand at home.
    """
    return _limits_of(performance, position_curves(performance))


def wheel_check(performance: Performance, name: str) -> Check:
    """By what share the speed of a wheel exceeds its motor's, at most; not checked where a motor states none."""
    limits = MotionLimits.of(performance.character)
    most = dict(zip(limits.names, limits.velocity.tolist(), strict=True))
    speeds = [channel for channel in performance.channels if channel.kind == "velocity"]
    if not speeds:
        return Check.not_applicable(name, "no wheel is sent a speed")
    silent = [channel.name for channel in speeds if not np.isfinite(most.get(channel.name, np.inf))]
    if silent:
        return Check.not_checked(name, ask("velocity", silent))
    excess, who = max((float(np.abs(one.values).max()) / most[one.name] - 1.0, one.name) for one in speeds)
    return Check(name, max(excess, 0.0), "relative", LIMIT_TOLERANCE, note=who if excess > 0.0 else "")


def planned_limits(performance: Performance) -> list[Check]:
    """The same of the places that are planned, and of what is sent where that is not the plan itself."""
    return [*_limits_of(performance, performance.positions()), *command_checks(performance)]


def _limits_of(performance: Performance, curves: JointCurves) -> tuple[Check, ...]:
    limits = MotionLimits.of(performance.character)
    slides = [axis.name for axis in performance.character.axes if axis.kind == "slide"]
    return limit_checks(limits, limits.completed(curves.names, curves.values), curves.rate, slides)[0]


def command_checks(performance: Performance) -> list[Check]:
    """What servos are sent where it is not the plan itself.

    Servos whose gains nobody states are sent the plan, exactly. Those of stated gains are sent commands with a feed-forward, which
    keep range and speed of the motor as the plan does.
    """
    sent, plan, character = position_curves(performance), performance.positions(), performance.character
    gains = servo_gains(character)
    stated = {name for name, has in zip(gains.coordinates, gains.stated, strict=True) if has} if not character.flexibles else set()
    plain = [j for j, name in enumerate(sent.names) if name not in stated]
    apart = np.abs(sent.values - plan.values)
    checks = []
    if plain:
        k, j = np.unravel_index(int(np.argmax(apart[:, plain])), (len(apart), len(plain)))
        worst = float(apart[k, plain[j]])
        where = f"{sent.names[plain[j]]} at {k / sent.rate:.3f} s" if worst > SAME_PLACE else ""
        checks.append(Check("channels against the plan", worst, "rad or m", SAME_PLACE, note=where))
    return [*checks, *limits_of_commands(character, performance.motion, performance.channels)]
