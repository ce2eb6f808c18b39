"""The measures of a motion that physics makes: performers certify puppets with them, verifiers recompute them.

Everything is computed from the character, the wish, the predicted motion and the torques; nothing is taken from a solver. Each
step of the motion is solved anew by the variational integrator from the two configurations before it: how far it arrives from where
the motion says is the dynamics residual, and its multipliers give the tensions of the strings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.collision import self_collisions
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.measures.imitation import point_checks
from bunraku.mechanics.measures.limits import LIMIT_TOLERANCE
from bunraku.mechanics.measures.motion import Measures
from bunraku.mechanics.measures.self_collision import unwatched_check
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.mechanics.systems.character_system import character_system
from bunraku.mechanics.systems.marionette import string_rows
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Check, JointCurves

DYNAMICS_THRESHOLD = 1e-6
"""A motion is one of the system when no step of it arrives further than this [m, rad] from where it says."""

STRING_THRESHOLD = 1e-8
"""Strings have their length when none is further off than this [m]."""

ROLES = ("l_hand", "r_hand", "l_knee", "r_knee", "head")


def tracked_frames(character: Character) -> tuple[str, ...]:
    """The points by which an imitation is judged: hands, knees and head where the character has them, else its hooks or frames.

    A character with none of these is judged by the centres of mass of its bodies, called ``BODY.center``.
    """
    known = tuple(frame.name for frame in character.frames)
    roles = tuple(name for name in ROLES if name in known)
    hooks = tuple(dict.fromkeys(string.hook for string in character.strings))
    return roles or hooks or known or tuple(f"{body.name}.center" for body in character.bodies)


def _points(character: Character, system: System, names: Sequence[str]) -> Points:
    """The points of those names; see :func:`tracked_frames`."""
    centers = (
        {} if character.frames else {f"{body.name}.center": Place(body.name, body.center_of_mass) for body in character.bodies}
    )
    return Points(system, [centers.get(name, name) for name in names])


@dataclass(frozen=True)
class Replayed:
    """A motion solved again step by step: ``residual`` (N,) [rad or m], ``tensions`` (N, strings) [N], NaN where a step failed."""

    residual: Array
    tensions: Array


def replayed(system: System, q: Array, rate: float, torques: Array) -> Replayed:
    """Solve each step of the motion ``q`` (N + 1, nq), which starts at rest, with inputs ``torques`` (N, nu)."""
    integrator = VariationalIntegrator(system, 1.0 / rate)
    rows, lengths = string_rows(system)
    N = len(q) - 1
    residual, pull = np.full(N, np.nan), np.full((N, len(rows)), np.nan)
    state = integrator.initial(q[0], q[0])
    before = q[0]
    lam = np.zeros(system.nc)
    for k in range(N):
        p = state.p if k == 0 else integrator.momentum(before, q[k])
        step = integrator.step(q[k], p, torques[k], q[k + 1, system.kinematic], guess=(q[k + 1], lam))
        if step.status.good:
            residual[k], lam = float(np.abs(step.q2 - q[k + 1]).max()), step.lam
            pull[k] = 2.0 * q[k, lengths] * step.lam[rows] * rate
        before = q[k]
    return Replayed(residual, pull)


def measure_driven(
    character: Character,
    wish: JointCurves | None,
    motion: JointCurves,
    torques: Mapping[str, Array],
    *,
    tension_margin: float = 0.0,
    system: System | None = None,
    frames: Sequence[str] = (),
) -> Measures:
    """The checks of a motion of every coordinate and prescribed one, with ``torques`` (N + 1,) by coordinate [N·m or N].

    ``tension_margin`` [N]: what every string must carry. ``frames``: by which points the imitation is judged (see
    :func:`tracked_frames`). ``system`` spares making it again.
    """
    system = character_system(character, torques=True) if system is None else system
    q = _configurations(system, motion)
    drives = {motor.name: motor.coordinate for motor in character.motors}
    u = np.column_stack([torques[drives.get(name, name)] for name in system.inputs]) if system.nu else np.zeros((len(q), 0))
    seen = replayed(system, q, motion.rate, u[:-1])
    checks = [Check("dynamics residual", _worst(seen.residual), "m or rad", threshold=DYNAMICS_THRESHOLD)]
    figures: dict[str, float] = {}
    if character.strings:
        rows, lengths = string_rows(system)
        h = np.array([system.constraint_values(one)[rows] for one in q])
        off = np.abs(np.sqrt(np.maximum(h + q[:, lengths] ** 2, 0.0)) - q[:, lengths])
        checks.append(Check("string length residual", float(off.max()), "m", threshold=STRING_THRESHOLD))
        least = float(seen.tensions.min()) if np.isfinite(seen.tensions).all() else float("nan")
        where = "" if np.isnan(least) else _where(seen.tensions, [s.name for s in character.strings], motion.rate)
        checks.append(Check("least tension", least, "N", threshold=tension_margin, at_least=True, note=where))
        checks += _carriage_checks(character, motion, figures)
    checks += _range_checks(character, motion)
    checks += _torque_checks(character, motion, torques)
    if wish is not None:
        checks += _imitation_checks(character, system, wish, motion, q, frames)
        checks += point_checks(character, wish, motion)
    else:
        checks.append(Check.not_applicable("imitation error", "no pose was wished"))
    checks += _collision_checks(character, motion, figures)
    return Measures(tuple(checks), (), figures)


def _configurations(system: System, motion: JointCurves) -> Array:
    column = {name: i for i, name in enumerate(motion.names)}
    missing = [name for name in system.names if name not in column]
    if missing:
        raise BadInput(f"the motion has no curve for {missing[0]!r}; every coordinate and prescribed one is needed")
    return np.ascontiguousarray(motion.values[:, [column[name] for name in system.names]])


def _carriage_checks(character: Character, motion: JointCurves, figures: dict[str, float]) -> list[Check]:
    limits = CarriageLimits.of(character)
    k = motion.values[:, [motion.names.index(name) for name in limits.names]]
    excess = limits.excess(k, 1.0 / motion.rate)
    moved = limits.motion(k, 1.0 / motion.rate)
    figures |= {
        "carriage speed [m/s]": float(moved.speed.max()),
        "carriage acceleration [m/s^2]": float(moved.acceleration.max()),
        "winch speed [m/s]": float(moved.winch_speed.max()),
        "least gap [m]": float(moved.gap.min(initial=np.inf)),
    }
    parts = [
        ("range", excess.range, "m"),
        ("speed", excess.speed, "m/s"),
        ("acceleration", excess.acceleration, "m/s^2"),
        ("winch speed", excess.winch_speed, "m/s"),
        ("winch acceleration", excess.winch_acceleration, "m/s^2"),
        ("separation", excess.separation, "m"),
    ]
    last = np.abs(np.diff(k[-2:], axis=0)).max() * motion.rate
    checks = [
        Check("speed at the end", float(last), "m/s", note="of the fastest carriage or winch; --settle brings the puppet to rest")
    ]
    return checks + [
        Check(f"carriage {what} excess", over, unit, threshold=LIMIT_TOLERANCE, note=excess.worst if over > LIMIT_TOLERANCE else "")
        for what, over, unit in parts
    ]


def _range_checks(character: Character, motion: JointCurves) -> list[Check]:
    """The worst excess over the range of a joint, if any states one."""
    over = {}
    for axis in character.axes:
        if axis.range is not None and axis.name in motion.names:
            values = motion.column(axis.name)
            over[axis.name] = np.maximum(values - axis.range[1], axis.range[0] - values)
    return _excess_check("joint range excess", "rad or m", over, motion.rate)


def _torque_checks(character: Character, motion: JointCurves, torques: Mapping[str, Array]) -> list[Check]:
    """The worst excess over a motor's torque-speed line."""
    over = {}
    for motor in character.motors:
        if motor.coordinate in torques and motor.stall_torque is not None:
            speed = np.diff(motion.column(motor.coordinate)) * motion.rate
            line = np.array([motor.available_torque(float(v)) for v in speed])
            over[motor.name] = np.abs(torques[motor.coordinate][: len(speed)]) - line
    return _excess_check("motor torque excess", "N·m or N", over, motion.rate)


def _excess_check(name: str, unit: str, over: dict[str, Array], rate: float) -> list[Check]:
    """The worst of what exceeds a limit, 0 where it is kept, with who and when; nothing where no limit is stated."""
    if not over:
        return []
    who = max(over, key=lambda one: float(over[one].max()))
    worst = max(float(over[who].max()), 0.0)
    note = f"{who} at {int(over[who].argmax()) / rate:.2f} s" if worst > 0.0 else ""
    return [Check(name, worst, unit, threshold=LIMIT_TOLERANCE, note=note)]


def _collision_checks(character: Character, motion: JointCurves, figures: dict[str, float]) -> list[Check]:
    """The least clearance between limbs, as information: a plan over strings does not keep limbs apart."""
    tree = compile_tree(character)
    report = self_collisions(character, tree, tree.expand(character.coordinates, motion.values[:, : len(character.coordinates)]))
    if not report.nearest:
        return list(unwatched_check(report))
    worst = min(report.nearest, key=lambda contact: contact.distance)
    figures["self_collision_clearance_m"] = worst.distance
    where = f"{worst.body_a} and {worst.body_b} at {worst.index / motion.rate:.2f} s; limbs are not kept apart by the plan"
    return [Check("self-collision clearance", worst.distance, "m", note=where), *unwatched_check(report)]


def _imitation_checks(
    character: Character, system: System, wish: JointCurves, motion: JointCurves, q: Array, frames: Sequence[str]
) -> list[Check]:
    chosen = tuple(frames) or tracked_frames(character)
    wished = q.copy()
    for j, name in enumerate(wish.names):
        if name in system.names:
            wished[:, system.index(name)] = wish.values[:, j]
    points = _points(character, system, chosen)
    apart = np.linalg.norm(points.positions(q) - points.positions(wished), axis=2)
    checks = [Check("imitation error", float(np.sqrt((apart**2).mean())), "m RMS", note=f"of {', '.join(chosen)}")]
    for name, column in zip(chosen, apart.T, strict=True):
        worst = f"at worst {100 * column.max():.1f} cm at {column.argmax() / motion.rate:.2f} s"
        checks.append(Check(f"imitation error {name}", float(np.sqrt((column**2).mean())), "m RMS", note=worst))
    return checks


def _worst(values: Array) -> float:
    return float(values.max()) if np.isfinite(values).all() else float("nan")


def _where(values: Array, names: Sequence[str], rate: float) -> str:
    k, j = np.unravel_index(int(np.argmin(values)), values.shape)
    return f"{names[int(j)]} at {k / rate:.2f} s"
