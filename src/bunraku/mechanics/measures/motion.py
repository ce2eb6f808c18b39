"""The common measures of a motion, each a check against its threshold: performers certify with them, verifiers recompute them.

Everything is computed from the character, the wish and the positions sent to the motors; nothing is taken from a solver. What
cannot be judged because the character does not say enough is a check that was not checked, and says what to add.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character, free_base
from bunraku.errors import BadInput
from bunraku.mechanics.measures.balance import balance_margins
from bunraku.mechanics.measures.followed import followed_checks
from bunraku.mechanics.measures.limits import ask, by_unit, limit_checks, stated
from bunraku.mechanics.measures.prediction import predicted_motion
from bunraku.mechanics.measures.self_collision import self_collision_checks
from bunraku.mechanics.measures.shaking import shaking_checks
from bunraku.mechanics.measures.travel import travel_checks
from bunraku.mechanics.servos.torques import gesture_torques
from bunraku.mechanics.tree import Tree, compile_tree
from bunraku.motion import Check, Excess, JointCurves, MotionLimits

_LISTED = 6


@dataclass(frozen=True)
class Measures:
    """Checks with their thresholds, notes a reader must see, and the same as flat figures."""

    checks: tuple[Check, ...]
    notes: tuple[str, ...]
    figures: dict[str, float]


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


def measure_motion(character: Character, wish: JointCurves | None, positions: JointCurves, tree: Tree | None = None) -> Measures:
    """Measure what is sent to the motors (``positions``) against the character's limits and against the ``wish``, if there is one.

    Checks with a threshold: excess over range, velocity, acceleration, jerk at the rate of ``positions``, coordinates without
    positions standing at home; how much of the wish is followed, and whether it shakes; the least balance margin (feet planted);
    self-collision, where no two bodies may overlap by more than ``COLLISION_SLACK``, whoever wished it.
    Information: violations before and after, deviation from the wish, and the largest static torque against stall torque. Radians
    and metres are never mixed; see :func:`limit_checks`.
    """
    limits = MotionLimits.of(character)
    unknown = [name for name in positions.names if name not in limits.names]
    if unknown:
        raise BadInput(f"{unknown[0]!r} is driven by no motor of {character.name!r}; motors drive {', '.join(limits.names[:12])}")
    tree = tree or compile_tree(character)
    slides = {axis.name for axis in character.axes if axis.kind == "slide"}
    wished = None if wish is None else wish_at(character, wish, positions)
    checks, excess = limit_checks(limits, limits.completed(positions.names, positions.values), positions.rate, slides)
    figures = {} if np.isnan(_worst(checks)) else {"worst_limit_violation": excess.relative}
    checks += _violation_checks(limits, positions, wished, excess, figures)
    home = np.array([character.home.get(name, 0.0) for name in positions.names])
    checks += _wish_checks(positions, wished, home, slides, figures, lively=bool(character.end_effectors or character.flexibles))
    if wished is not None and positions.names:
        checks += travel_checks(positions, wished, limits.chosen(positions.names), figures)
    notes: list[str] = []
    q = predicted_motion(character, positions, tree).values
    checks += _balance_checks(character, tree, q, positions.rate, figures)
    wished_q = (
        None if wished is None else predicted_motion(character, JointCurves(positions.names, positions.rate, wished), tree).values
    )
    checks += self_collision_checks(character, tree, q, wished_q, positions.rate, notes, figures)
    checks += _torque_checks(character, tree, q, positions.rate, figures)
    return Measures(checks, tuple(notes), figures)


def _worst(checks: tuple[Check, ...]) -> float:
    return next(check.value for check in checks if check.name == "worst limit violation")


def _violation_checks(
    limits: MotionLimits, positions: JointCurves, wished: Array | None, excess: Excess, figures: dict[str, float]
) -> tuple[Check, ...]:
    """How many samples exceed a velocity or a range, after performing and in the wish itself."""
    before = None if wished is None else limits.excess(limits.completed(positions.names, wished), positions.rate)
    checks = []
    for kind in ("velocity", "range"):
        figures[f"{kind}_violations_after"] = float(excess.count(kind))
        if before is not None:
            figures[f"{kind}_violations_before"] = float(before.count(kind))
            checks.append(Check(f"{kind} violations of the wish", before.count(kind), "samples"))
        if stated(limits, kind).any():
            checks.append(Check(f"{kind} violations", excess.count(kind), "samples", 0))
        elif positions.names:
            checks.append(Check.not_checked(f"{kind} violations", ask(kind, limits.names)))
        elif len(limits.names):
            checks.append(Check.not_applicable(f"{kind} violations", "no joint is sent a place"))
    return tuple(checks)


def _wish_checks(
    positions: JointCurves, wished: Array | None, home: Array, slides: set[str], figures: dict[str, float], *, lively: bool
) -> tuple[Check, ...]:
    """Deviation from the wish, how much of it is followed, and shaking, radians and metres apart.

    Shaking is information for the ``lively``: legs that walk, and motors that move against the vibration of what they carry.
    """
    checks: list[Check] = []
    why = "nothing was wished of single joints" if positions.names else "no joint is sent a place"
    if wished is None or not positions.names:
        checks += [Check.not_applicable(name, why) for name in ("largest deviation from the wish", "motion followed")]
    for suffix, unit, columns in by_unit(positions.names, slides):
        if not positions.values[:, columns].size:
            continue
        names, values = [positions.names[j] for j in columns], positions.values[:, columns]
        own = None if wished is None else wished[:, columns]
        if own is not None:
            checks += _deviation_checks(names, values, own, positions.rate, (suffix, unit), figures)
            checks += followed_checks(names, values, own, home[columns], suffix)
        shaking = shaking_checks(JointCurves(tuple(names), positions.rate, values), own, suffix, unit)
        checks += (replace(check, threshold=None) if lively and check.applies else check for check in shaking)
    return tuple(checks)


def _deviation_checks(
    names: list[str], values: Array, wished: Array, rate: float, kind: tuple[str, str], figures: dict[str, float]
) -> list[Check]:
    """RMS and largest deviation from the wish."""
    deviation, (suffix, unit) = np.abs(values - wished), kind
    rms, most = float(np.sqrt(np.mean(deviation**2))), float(deviation.max())
    k, j = np.unravel_index(int(np.argmax(deviation)), deviation.shape)
    where = f"{names[j]} at {k / rate:.3f} s" if most > 0.0 else ""
    figures |= {f"rms_deviation_{unit}": rms, f"max_deviation_{unit}": most}
    return [
        Check(f"rms deviation from the wish{suffix}", rms, unit),
        Check(f"largest deviation from the wish{suffix}", most, unit, note=where),
    ]


def _balance_checks(character: Character, tree: Tree, q: Array, rate: float, figures: dict[str, float]) -> tuple[Check, ...]:
    """The least balance margin, where there are feet to stand on and something that weighs."""
    name = "balance margin"
    if free_base(character) is None and not character.feet:
        return (Check.not_applicable(name, "it is bolted to the ground"),)
    if not character.feet:
        if character.end_effectors:
            return (Check.not_applicable(name, "it goes over the ground; replays tell whether it falls"),)
        return (Check.not_checked(name, "describe its feet (feet:)"),)
    if not tree.mass.sum() > 0.0:
        return (Check.not_checked(name, "add the masses of its bodies to the character"),)
    margins = balance_margins(character, tree, q)
    at = int(np.argmin(margins))
    figures["balance_margin_m"] = float(margins[at])
    return (Check(name, float(margins[at]), "m", 0.0, at_least=True, note=f"nearest to tipping at {at / rate:.3f} s"),)


def _torque_checks(character: Character, tree: Tree, q: Array, rate: float, figures: dict[str, float]) -> tuple[Check, ...]:
    """The largest torque against gravity and the joints' losses as a share of what the motor gives at rest; information."""
    name, motors = "static torque share", character.motors
    if not motors:
        return (Check.not_applicable(name, "it has no motor"),)
    if not tree.mass.sum() > 0.0:
        return (Check.not_checked(name, "add the masses of its bodies to the character"),)
    has = [motor for motor in motors if motor.stall_torque is not None]
    silent = [motor.name for motor in motors if motor.stall_torque is None]
    checks = []
    if has:
        torque = np.abs(gesture_torques(character, JointCurves(tree.names, rate, q), tree)).max(axis=0)
        share, who = max((float(torque[k] / m.available_torque(0.0)), m.name) for k, m in enumerate(motors) if m in has)
        figures["static_torque_share"] = share
        checks.append(Check(name, share, "of stall", note=f"motor {who}; gravity and losses of the joints, accelerations left out"))
    if silent:
        checks.append(Check.not_checked(f"{name} of motors without stall torque" if has else name, ask("stall_torque", silent)))
    light = [body.name for body in character.bodies if body.mass == 0.0 and body.shapes and body.name in tree.nodes]
    if light:
        listed = ", ".join(light[:_LISTED]) + (" and others" if len(light) > _LISTED else "")
        checks.append(Check.not_checked(f"{name} with bodies that weigh nothing", f"add the mass of {listed} to the character"))
    return tuple(checks)
