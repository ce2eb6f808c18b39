"""The common measures of a motion, each a check against its threshold: performers certify with them, verifiers recompute them.

Everything is computed from the character, the wish and the positions sent to the motors; nothing is taken from a solver.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.collision import CollisionReport, Proximity, self_collisions
from bunraku.mechanics.measures.balance import balance_margins
from bunraku.mechanics.measures.prediction import predicted_motion
from bunraku.mechanics.measures.statics import static_torques
from bunraku.mechanics.tree import Tree, compile_tree
from bunraku.motion import Check, Excess, JointCurves, MotionLimits

LIMIT_TOLERANCE = 1e-9
"""Limits hold when no excess is above this, in the units of the quantity (rad, m, rad/s, ...) and relative alike."""

COLLISION_SLACK = 1e-3
"""Two bodies that collide in the wish may come this much [m] deeper in the performance."""


@dataclass(frozen=True)
class Measures:
    """Checks with their thresholds, notes a reader must see, and the same as flat figures."""

    checks: tuple[Check, ...]
    notes: tuple[str, ...]
    figures: dict[str, float]


def limit_checks(
    limits: MotionLimits, values: Array, rate: float, slides: Collection[str] = ()
) -> tuple[tuple[Check, ...], Excess]:
    """The worst excess over range, velocity, acceleration and jerk at ``rate`` [Hz], as checks that name joint and time.

    Coordinates in ``slides`` are measured in metres, the others in radians. Where there are both, each has its own checks, those
    of the slides with "of slides" in the name.
    """
    excess = limits.excess(values, rate)
    checks = []
    for suffix, unit, columns in _by_unit(limits.names, slides):
        for kind, per in {"range": "", "velocity": "/s", "acceleration": "/s^2", "jerk": "/s^3"}.items():
            over = getattr(excess, kind)[:, columns]
            worst, note = float(over.max(initial=0.0)), ""
            if kind != "range" and not np.isfinite(getattr(limits, kind)[columns]).any():
                note = "no motor states a limit"
            elif worst > LIMIT_TOLERANCE:
                k, j = np.unravel_index(int(np.argmax(over)), over.shape)
                note = f"{limits.names[columns[j]]} at {k / rate:.3f} s"
            checks.append(Check(f"{kind} excess{suffix}", worst, unit + per, LIMIT_TOLERANCE, note=note))
    checks.append(Check("worst limit violation", excess.relative, "relative", LIMIT_TOLERANCE))
    return tuple(checks), excess


def _by_unit(names: tuple[str, ...], slides: Collection[str]) -> list[tuple[str, str, NDArray[np.int64]]]:
    """Columns that share a unit, with it and what sets their checks apart: ("", "rad", hinges), (" of slides", "m", slides)."""
    sliding = np.array([name in slides for name in names], dtype=bool)
    groups = [("", "rad", np.flatnonzero(~sliding)), (" of slides", "m", np.flatnonzero(sliding))]
    if sliding.all() and len(names):
        return [("", "m", groups[1][2])]
    return groups if sliding.any() else groups[:1]


def wish_at(character: Character, wish: JointCurves, positions: JointCurves) -> Array:
    """The wish (n, k) on the names and times of ``positions``: interpolated linearly, held after its end, home if silent."""
    times = positions.times
    out = np.empty(positions.values.shape)
    for j, name in enumerate(positions.names):
        if name not in wish.names:
            out[:, j] = character.home.get(name, 0.0)
        elif wish.rate == positions.rate and len(wish.values) >= len(times):
            out[:, j] = wish.column(name)[: len(times)]
        else:
            out[:, j] = np.interp(times, wish.times, wish.column(name))
    return out


def measure_motion(character: Character, wish: JointCurves, positions: JointCurves, tree: Tree | None = None) -> Measures:
    """Measure what is sent to the motors (``positions``) against the character's limits and against the ``wish``.

    Checks with a threshold: excess over range, velocity, acceleration, jerk at the rate of ``positions``, coordinates without
    positions standing at home; the least balance margin (feet planted) if there are feet; self-collision, where no two bodies may
    collide, or where the wish lets them, by no more than ``COLLISION_SLACK`` deeper. Information: violations before and after,
    deviation from the wish, and the largest static torque against stall torque. Radians and metres are never mixed; see
    :func:`limit_checks`.
    """
    limits = MotionLimits.of(character)
    unknown = [name for name in positions.names if name not in limits.names]
    if unknown:
        raise BadInput(f"{unknown[0]!r} is driven by no motor of {character.name!r}; motors drive {', '.join(limits.names[:12])}")
    tree = tree or compile_tree(character)
    slides = {axis.name for axis in character.axes if axis.kind == "slide"}
    wished = wish_at(character, wish, positions)
    checks, excess = limit_checks(limits, limits.completed(positions.names, positions.values), positions.rate, slides)
    before = limits.excess(limits.completed(positions.names, wished), positions.rate)
    counts = {
        "velocity_violations_before": before.count("velocity"),
        "velocity_violations_after": excess.count("velocity"),
        "range_violations_before": before.count("range"),
        "range_violations_after": excess.count("range"),
    }
    figures = {"worst_limit_violation": excess.relative, **{name: float(count) for name, count in counts.items()}}
    checks += (
        Check("velocity violations of the wish", counts["velocity_violations_before"], "samples"),
        Check("range violations of the wish", counts["range_violations_before"], "samples"),
        Check("velocity violations", counts["velocity_violations_after"], "samples", 0),
        Check("range violations", counts["range_violations_after"], "samples", 0),
        *_deviation_checks(positions, wished, slides, figures),
    )
    notes: list[str] = []
    q = predicted_motion(character, positions, tree).values
    if character.feet and tree.mass.sum() > 0.0:
        margins = balance_margins(character, tree, q)
        at = int(np.argmin(margins))
        place = f"nearest to tipping at {at / positions.rate:.3f} s"
        checks += (Check("balance margin", float(margins[at]), "m", 0.0, at_least=True, note=place),)
        figures["balance_margin_m"] = float(margins[at])
    collision = self_collisions(character, tree, q)
    if collision.nearest:
        wished_q = predicted_motion(character, JointCurves(positions.names, positions.rate, wished), tree).values
        checks += (_collision_check(collision, self_collisions(character, tree, wished_q), positions.rate, notes),)
        figures["self_collision_clearance_m"] = collision.least_distance
    notes += collision.notes
    checks += _torque_check(character, tree, q, figures)
    return Measures(checks, tuple(notes), figures)


def _deviation_checks(positions: JointCurves, wished: Array, slides: Collection[str], figures: dict[str, float]) -> list[Check]:
    """RMS and largest deviation from the wish, radians and metres apart."""
    checks = []
    for suffix, unit, columns in _by_unit(positions.names, slides):
        deviation = np.abs(positions.values - wished)[:, columns]
        if not deviation.size:
            continue
        rms, most = float(np.sqrt(np.mean(deviation**2))), float(deviation.max())
        k, j = np.unravel_index(int(np.argmax(deviation)), deviation.shape)
        where = f"{positions.names[columns[j]]} at {k / positions.rate:.3f} s" if most > 0.0 else ""
        checks.append(Check(f"rms deviation from the wish{suffix}", rms, unit))
        checks.append(Check(f"largest deviation from the wish{suffix}", most, unit, note=where))
        figures |= {f"rms_deviation_{unit}": rms, f"max_deviation_{unit}": most}
    return checks


def _collision_check(report: CollisionReport, of_wish: CollisionReport, rate: float, notes: list[str]) -> Check:
    """The clearance of the pair of bodies that is worst against its own threshold: zero, or its depth in the wish and the slack."""
    own = {(contact.body_a, contact.body_b): contact.distance for contact in of_wish.nearest}

    def threshold_of(contact: Proximity) -> float:
        distance = own.get((contact.body_a, contact.body_b), np.inf)
        return distance - COLLISION_SLACK if distance < 0.0 else 0.0

    worst = min(report.nearest, key=lambda contact: contact.distance - threshold_of(contact))
    where = f"{worst.body_a} and {worst.body_b} at {worst.index / rate:.3f} s"
    if threshold_of(worst) < 0.0:
        where += "; they collide in the wish, and no worse is asked"
    for contact in of_wish.pairs[:5]:
        pair, depth = f"{contact.body_a} and {contact.body_b}", -1e3 * contact.distance
        notes.append(f"the wish itself lets {pair} collide, {depth:.1f} mm deep")
    for contact in report.pairs[:5]:
        pair, depth = f"{contact.body_a} and {contact.body_b}", -1e3 * contact.distance
        notes.append(f"the shapes of {pair} overlap by {depth:.1f} mm at {contact.index / rate:.3f} s")
    return Check("self-collision clearance", worst.distance, "m", threshold_of(worst), at_least=True, note=where)


def _torque_check(character: Character, tree: Tree, q: Array, figures: dict[str, float]) -> tuple[Check, ...]:
    """The largest static torque as a share of what the motor gives at rest; information, dynamics not included."""
    stated = [motor for motor in character.motors if motor.stall_torque is not None]
    if not stated or not tree.mass.sum() > 0.0:
        return ()
    torque = np.abs(static_torques(character, tree, q)).max(axis=0)
    share, name = max((float(torque[tree.index(m.coordinate)] / m.available_torque(0.0)), m.name) for m in stated)
    figures["static_torque_share"] = share
    return (Check("static torque share", share, "of stall", note=f"motor {name}; gravity at rest, dynamics not included"),)
