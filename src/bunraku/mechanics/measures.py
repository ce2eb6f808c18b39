"""The common measures of a motion, each a check against its bar: performers certify with them, verifiers recompute them.

Everything is computed from the character, the wish and the positions sent to the motors; nothing is taken from a solver.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.balance import balance_margins, planted
from bunraku.mechanics.collision import CollisionReport, self_collisions
from bunraku.mechanics.statics import static_torques
from bunraku.mechanics.tree import Tree, compile_tree
from bunraku.motion import Check, Excess, JointCurves, MotionLimits

__all__ = ["COLLISION_SLACK", "LIMIT_TOLERANCE", "Measures", "limit_checks", "measure_motion", "wish_at"]

Array = NDArray[np.float64]

LIMIT_TOLERANCE = 1e-9
"""Limits hold when no excess is above this, in the units of the quantity (rad, rad/s, ...) and relative alike."""

COLLISION_SLACK = 1e-3
"""A performance may come this much [m] nearer to (or deeper into) a collision than a colliding wish does."""


@dataclass(frozen=True)
class Measures:
    """Checks with their bars, notes a reader must see, and the same as flat figures."""

    checks: tuple[Check, ...]
    notes: tuple[str, ...]
    figures: dict[str, float]


def limit_checks(limits: MotionLimits, values: Array, rate: float) -> tuple[tuple[Check, ...], Excess]:
    """The worst excess over range, velocity, acceleration and jerk at ``rate`` [Hz], as checks that name joint and time."""
    excess = limits.excess(values, rate)
    unit = {"range": "rad", "velocity": "rad/s", "acceleration": "rad/s^2", "jerk": "rad/s^3"}
    checks = []
    for kind, words in unit.items():
        over = getattr(excess, kind)
        worst, note = float(over.max(initial=0.0)), ""
        if kind != "range" and not np.isfinite(getattr(limits, kind)).any():
            note = "no motor states a limit"
        elif worst > LIMIT_TOLERANCE:
            k, j = np.unravel_index(int(np.argmax(over)), over.shape)
            note = f"{limits.names[j]} at {k / rate:.3f} s"
        checks.append(Check(f"{kind} excess", worst, words, LIMIT_TOLERANCE, note=note))
    checks.append(Check("worst limit violation", excess.relative, "relative", LIMIT_TOLERANCE))
    return tuple(checks), excess


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

    Checks with a bar: excess over range, velocity, acceleration, jerk at the rate of ``positions``; the least balance margin (feet
    planted) if there are feet; self-collision, which must not be worse than the wish's own by more than ``COLLISION_SLACK``.
    Information: violations before and after, deviation from the wish, and the largest static torque against stall torque.
    """
    limits = MotionLimits.of(character)
    unknown = [name for name in positions.names if name not in limits.names]
    if unknown:
        raise BadInput(f"{unknown[0]!r} is driven by no motor of {character.name!r}; motors drive {', '.join(limits.names[:12])}")
    tree = tree or compile_tree(character)
    limits = limits.chosen(positions.names)
    wanted = wish_at(character, wish, positions)
    checks, excess = limit_checks(limits, positions.values, positions.rate)
    before = limits.excess(wanted, positions.rate)
    deviation = positions.values - wanted
    rms, most = float(np.sqrt(np.mean(deviation**2))), float(np.abs(deviation).max(initial=0.0))
    k, j = np.unravel_index(int(np.argmax(np.abs(deviation))), deviation.shape)
    counts = {
        "velocity_violations_before": before.count("velocity"),
        "velocity_violations_after": excess.count("velocity"),
        "range_violations_before": before.count("range"),
        "range_violations_after": excess.count("range"),
    }
    figures = {"worst_limit_violation": excess.relative, **{name: float(count) for name, count in counts.items()}}
    figures |= {"rms_deviation_rad": rms, "max_deviation_rad": most}
    where = f"{positions.names[j]} at {k / positions.rate:.3f} s" if most > 0.0 else ""
    checks += (
        Check("velocity violations of the wish", counts["velocity_violations_before"], "samples"),
        Check("velocity violations", counts["velocity_violations_after"], "samples", 0),
        Check("range violations", counts["range_violations_after"], "samples", 0),
        Check("rms deviation from the wish", rms, "rad"),
        Check("largest deviation from the wish", most, "rad", note=where),
    )
    notes: list[str] = []
    q = planted(character, tree, tree.expand(positions.names, positions.values))
    if character.feet and tree.mass.sum() > 0.0:
        margins = balance_margins(character, tree, q)
        at = int(np.argmin(margins))
        place = f"nearest to tipping at {at / positions.rate:.3f} s"
        checks += (Check("balance margin", float(margins[at]), "m", 0.0, at_least=True, note=place),)
        figures["balance_margin_m"] = float(margins[at])
    collision = self_collisions(character, tree, q)
    if collision.nearest:
        wanted_q = planted(character, tree, tree.expand(positions.names, wanted))
        checks += (_collision_check(collision, self_collisions(character, tree, wanted_q), positions.rate, notes),)
        figures["self_collision_clearance_m"] = collision.least_distance
    notes += collision.notes
    checks += _torque_check(character, tree, q, figures)
    return Measures(checks, tuple(notes), figures)


def _collision_check(report: CollisionReport, of_wish: CollisionReport, rate: float, notes: list[str]) -> Check:
    """Least clearance; the bar is zero, or the wish's own depth when the wish collides, less the slack."""
    nearest = report.nearest[0]
    where = f"{nearest.body_a} and {nearest.body_b} at {nearest.index / rate:.3f} s"
    bar = 0.0
    if of_wish.least_distance < 0.0:
        own = of_wish.nearest[0]
        bar = of_wish.least_distance - COLLISION_SLACK
        notes.append(f"the wish itself lets {own.body_a} and {own.body_b} collide, {-1e3 * own.distance:.1f} mm deep")
        where += "; no worse than the wish is asked"
    for contact in report.pairs[:5]:
        pair, depth = f"{contact.body_a} and {contact.body_b}", -1e3 * contact.distance
        notes.append(f"the shapes of {pair} overlap by {depth:.1f} mm at {contact.index / rate:.3f} s")
    return Check("self-collision clearance", nearest.distance, "m", bar, at_least=True, note=where)


def _torque_check(character: Character, tree: Tree, q: Array, figures: dict[str, float]) -> tuple[Check, ...]:
    """The largest static torque as a share of what the motor gives at rest; information, dynamics not included."""
    stated = [motor for motor in character.motors if motor.stall_torque is not None]
    if not stated or not tree.mass.sum() > 0.0:
        return ()
    torque = np.abs(static_torques(character, tree, q)).max(axis=0)
    share, name = max((float(torque[tree.index(m.coordinate)] / m.available_torque(0.0)), m.name) for m in stated)
    figures["static_torque_share"] = share
    return (Check("static torque share", share, "of stall", note=f"motor {name}; gravity at rest, dynamics not included"),)
