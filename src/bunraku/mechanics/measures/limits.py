"""Motor limits as checks: each kind that motors state is a promise, a kind that they do not is said to be unchecked, never kept.

A motor that moves and states no velocity, or whose joint states no range, is not checked for it. Makers hardly ever state
accelerations or jerks: where no motor does, nothing was promised.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.motion import Check, Excess, MotionLimits

LIMIT_TOLERANCE = 1e-9
"""Limits hold when no excess is above this, in the units of the quantity (rad, m, rad/s, ...) and relative alike."""

KINDS = {"range": "", "velocity": "/s", "acceleration": "/s^2", "jerk": "/s^3"}
"""The kinds of limit, with what their unit has more than rad or m."""

NEEDED = ("range", "velocity")
"""The kinds that every motor which moves should state."""

_LISTED = 6


def limit_checks(
    limits: MotionLimits, values: Array, rate: float, slides: Collection[str] = ()
) -> tuple[tuple[Check, ...], Excess]:
    """The worst excess over range, velocity, acceleration and jerk at ``rate`` [Hz], as checks that name joint and time.

    Coordinates in ``slides`` are measured in metres, the others in radians. Where there are both, each has its own checks, those
    of the slides with "of slides" in the name. Motors that move and state no range or velocity have a check of their own, which
    says that they were not judged.
    """
    excess = limits.excess(values, rate)
    moves = np.ptp(values, axis=0) > 0.0 if len(values) else np.zeros(values.shape[1], dtype=bool)
    checks = []
    for suffix, unit, columns in by_unit(limits.names, slides):
        for kind, per in KINDS.items():
            has = stated(limits, kind)
            silent = [limits.names[j] for j in columns if moves[j] and not has[j]]
            judged = columns[has[columns]]
            name = f"{kind} excess{suffix}"
            if len(judged):
                checks.append(_excess_check(name, getattr(excess, kind), judged, limits.names, unit + per, rate))
            if silent and kind in NEEDED:
                checks.append(Check.not_checked(f"{name} of motors without a limit" if len(judged) else name, ask(kind, silent)))
            elif not len(judged):
                why = "no motor states a limit: nothing was promised" if kind not in NEEDED else "no motor moves"
                checks.append(Check.not_applicable(name, why))
    if any(stated(limits, kind).any() for kind in KINDS):
        checks.append(Check("worst limit violation", excess.relative, "relative", LIMIT_TOLERANCE))
    else:
        checks.append(Check.not_checked("worst limit violation", "add range and velocity of the motors to the character"))
    return tuple(checks), excess


def stated(limits: MotionLimits, kind: str) -> NDArray[np.bool_]:
    """Which motors (k,) state a limit of that kind; a range that depends on another coordinate is one."""
    if kind != "range":
        return np.isfinite(np.asarray(getattr(limits, kind), dtype=np.float64))
    has = np.isfinite(limits.upper - limits.lower)
    for index, *_ in limits.dependents:
        has[index] = True
    return has


def ask(kind: str, names: Sequence[str]) -> str:
    """What to add so that motors can be held to a limit of that kind."""
    listed = ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
    whose = f"the {'joint' if kind == 'range' else 'motor'}{'s' if len(names) > 1 else ''}"
    return f"add the {kind} of {whose} {listed} to the character"


def by_unit(names: Sequence[str], slides: Collection[str]) -> list[tuple[str, str, NDArray[np.int64]]]:
    """Columns that share a unit, with it and what sets their checks apart: ("", "rad", hinges), (" of slides", "m", slides)."""
    sliding = np.array([name in slides for name in names], dtype=bool)
    groups = [("", "rad", np.flatnonzero(~sliding)), (" of slides", "m", np.flatnonzero(sliding))]
    if sliding.all() and len(names):
        return [("", "m", groups[1][2])]
    return groups if sliding.any() else groups[:1]


def _excess_check(name: str, over: Array, columns: NDArray[np.int64], names: Sequence[str], unit: str, rate: float) -> Check:
    over = over[:, columns]
    worst, note = float(over.max(initial=0.0)), ""
    if worst > LIMIT_TOLERANCE:
        k, j = np.unravel_index(int(np.argmax(over)), over.shape)
        note = f"{names[columns[j]]} at {k / rate:.3f} s"
    return Check(name, worst, unit, LIMIT_TOLERANCE, note=note)
