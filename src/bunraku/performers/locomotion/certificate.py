"""What a plan promises, recomputed from its problem: residuals, travel, limits, torques; and what to change if it cannot be met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bunraku.character import Character, free_base
from bunraku.mechanics.centroidal.clearance import clearance_check
from bunraku.mechanics.measures.limits import ask
from bunraku.mechanics.measures.travelled import Wished, travel_checks
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Certificate, Check, Gait
from bunraku.optimization.solution import Status
from bunraku.performers.certify import certify
from bunraku.performers.locomotion.constraint_kernels import FRICTION, NORMAL, SPIN, SPIN_TORQUE, TIP_ROWS
from bunraku.performers.locomotion.plan import MotionPlan
from bunraku.performers.locomotion.played import Played
from bunraku.performers.locomotion.solve import Planned
from bunraku.performers.locomotion.stance import LOOSE

RESIDUAL = 1e-6
"""Largest violation of a row of the plan, in its own unit."""

_ADVICE = {
    "newton": "the forces the ground can give do not accelerate it as asked: more time, more friction, or less distance",
    "euler": "it would tip over: a lower centre of mass, a wider stance, joints that may move, or more time",
    "friction": "the ground is too slippery: more friction or more time",
    "normal": "a foot that stands is lifted: more time, a lower centre of mass, or another footfall pattern",
    "height": "the legs do not reach the ground or the swing height there: longer links, wider joint ranges, lower swings",
    "slip": "wheels or feet would slide: joints that turn the wheels, or more swings",
    "wheel speed": "faster wheel motors, larger wheels or more time",
    "wheel torque": "stronger wheel motors or more time",
    "joint range": "wider joint ranges or a smaller motion",
    "joint speed": "faster motors or more time",
    "joint torque": "stronger motors, lighter limbs or more time",
    "limb in": "a limb would touch the ground: lower swings, other footfalls, shorter links",
    "distance of": "limbs come too near each other: a wider stance",
    "goal": "ask for less distance or turn, or give more time",
    "rolling": "more time, or wheels that roll more easily",
}


def certificate_of(character: Character, planned: Planned, played: Played) -> Certificate:
    """The certificate: the common measures at the motor rate, then the plan's own constraints, travel and torques."""
    plan, gait = planned.plan, planned.gait
    violations = plan.problem.violations(plan.solution.z)
    worst = max(violations, key=lambda kind: violations[kind])
    checks = [Check("largest residual", violations[worst], worst.partition("[")[2].rstrip("]"), RESIDUAL, note=worst)]
    wished = Wished(*(gait.distance or (None, None)), gait.turn)
    checks += travel_checks(_displacement(character, gait, played), wished)
    use, where = torque_use(character, played)
    silent = all(motor.stall_torque is None for motor in character.motors)
    lacking = ask("stall_torque", [motor.name for motor in character.motors])
    peak = Check("peak torque", use, "of the torque-speed line", 1.0, note=where)
    checks += [
        Check.not_checked(peak.name, lacking) if silent else peak,
        Check("longest time outside the support", played.tipping.time, "sqrt(h/g)"),
        Check("farthest outside the support", played.tipping.distance, "of the height h"),
    ]
    notes = list(planned.notes)
    if played.tipping.note:
        notes.append(played.tipping.note)
    if played.residual > LOOSE:
        notes.append(
            f"between the samples stance is kept to {played.residual:.2g} m or rad from one moment to the next only, not to "
            f"{LOOSE:g}: give more samples"
        )
    if not plan.solution.status.good:
        notes.append(shortfall(plan))
    x, y, turn = _displacement(character, gait, played)
    figures = {
        "iterations": float(sum(planned.iterations)),
        "variables": float(plan.problem.size),
        "samples": float(plan.problem.samples),
        "max_residual": violations[worst],
        "objective": plan.problem.objective(plan.solution.z),
        "period_s": gait.duration,
        "friction": float(plan.problem.friction.min()),
        "distance_m": float(np.hypot(x, y)),
        "distance_x_m": x,
        "distance_y_m": y,
        "turn_deg": float(np.rad2deg(turn)),
        "torque_utilisation": use,
        "tipping_time": played.tipping.time,
        "tipping_distance": played.tipping.distance,
        "stance_residual": played.residual,
        **wished.figures(),
    }
    if gait.periodic:
        figures["cycles"] = float(gait.cycles)
    return certify_locomotion(character, played, plan.solution.status, checks, notes, figures)


def certify_locomotion(
    character: Character,
    played: Played,
    status: Status,
    checks: Sequence[Check],
    notes: Sequence[str],
    figures: dict[str, float],
) -> Certificate:
    """The common measures, with self-collision judged against the home pose: nobody wished for any other."""
    tree = compile_tree(character)
    common = certify(character, None, played.positions, status=status, checks=checks, notes=notes, figures=figures, tree=tree)
    clear = clearance_check(character, tree, played.motion.values, played.motion.rate)
    kept = tuple(clear if check.name == clear.name else check for check in common.checks)
    notes_kept = tuple(note for note in common.notes if not note.startswith("the wish itself lets"))
    return replace(common, checks=kept, notes=notes_kept)


def shortfall(plan: MotionPlan) -> str:
    """Which constraints stay violated, by how much, and what to change, in a sentence."""
    violations = plan.problem.violations(plan.solution.z)
    open_ones = sorted((kind for kind, value in violations.items() if value > RESIDUAL), key=lambda kind: -violations[kind])
    if not open_ones:
        return "every constraint is met, but the motion is not yet the best one: give it more iterations"
    sizes = ", ".join(f"{kind.partition(' [')[0]} by {violations[kind]:.3g}{_unit(kind)}" for kind in open_ones[:4])
    limits = pressing(plan)
    said = [words for kind in (*limits, open_ones[0]) for key, words in _ADVICE.items() if kind.startswith(key)]
    held = f"; what holds it back: {', '.join(limits)}" if limits else ""
    return f"this stays violated: {sizes}{held}; {said[0] if said else 'ask for less or give more time'}"


def pressing(plan: MotionPlan) -> list[str]:
    """The limits that a plan presses against, the strongest first: kinds of inequality with a multiplier, and locked joints.

    Where no motion meets all constraints, many are violated, but only limits that are pressed against can be why.
    Counted is the largest scaled shift of each kind; below a tenth of the strongest it is left out.
    """
    problem, solution = plan.problem, plan.solution
    scale, unequal = problem.rows
    m = len(scale)
    shifts = np.abs(scale * solution.shifts[: problem.samples * m].reshape(problem.samples, m)).max(axis=0)
    n_e, joints = problem.model.n_tips, problem.model.nq - 6
    tips, o = shifts[6 : 6 + TIP_ROWS * n_e].reshape(n_e, TIP_ROWS), 6 + TIP_ROWS * n_e
    limits = shifts[o : o + 3 * joints].reshape(joints, 3)
    moving = unequal[o : o + 3 * joints : 3].astype(bool)
    groups = {
        "friction": tips[:, FRICTION], "normal force": tips[:, NORMAL], "wheel speed": tips[:, SPIN],
        "wheel torque": tips[:, SPIN_TORQUE], "joint range": limits[moving, 0], "joint speed": limits[:, 1],
        "joint torque": limits[:, 2], "distance of end effectors": shifts[o + 3 * joints : o + 3 * joints + len(problem.pairs[0])],
        "limb in the ground": shifts[o + 3 * joints + len(problem.pairs[0]) :],
    }  # fmt: skip
    sizes = {kind: float(part.max(initial=0.0)) for kind, part in groups.items()}
    most = max(sizes.values())
    strongest = sorted((kind for kind, size in sizes.items() if size > max(0.1 * most, 1e-9)), key=lambda kind: -sizes[kind])
    return strongest + (["locked joints"] if strongest and not moving.all() else [])


def torque_use(character: Character, played: Played) -> tuple[float, str]:
    """The largest share (|tau| + (tau_0/v_0) max(0, sign(tau) v)) / tau_0 of a motor's torque-speed line, 1 on it, and where."""
    torque = {channel.name: channel.values for channel in played.channels if channel.kind == "torque"}
    best, where = 0.0, ""
    for motor in character.motors:
        if motor.stall_torque is None:
            continue
        stall = motor.torque_fraction * motor.stall_torque
        speed = np.gradient(played.motion.column(motor.coordinate), 1.0 / played.motion.rate)
        tau = torque[motor.coordinate]
        driving = 0.0 if motor.no_load_speed is None else np.maximum(0.0, np.sign(tau) * speed) / motor.no_load_speed
        share = np.abs(tau) / stall + driving
        k = int(np.argmax(share))
        if share[k] > best:
            best, where = float(share[k]), f"{motor.name} at {k / played.motion.rate:.3f} s"
    return best, where


def _displacement(character: Character, gait: Gait, played: Played) -> tuple[float, float, float]:
    """What the centre of mass travels (x, y) [m] and the base turns [rad] as played: of a cycle, or of all that does not repeat."""
    base = free_base(character)
    yaw = played.motion.column(base.axes[3].name) if base is not None else np.zeros(len(played.com))
    times = np.arange(len(yaw)) / played.motion.rate
    end = min(gait.duration, times[-1]) if gait.periodic else times[-1]
    x, y, turn = (float(np.interp(end, times, part) - part[0]) for part in (played.com[:, 0], played.com[:, 1], yaw))
    return x, y, turn


def _unit(kind: str) -> str:
    unit = kind.partition("[")[2].rstrip("]")
    return f" {unit}" if unit else ""
