"""Promises of a performance that physics carries out, recomputed: limits of carriages, winches and motors, strings, dynamics."""

from __future__ import annotations

import math

import numpy as np

from bunraku.mechanics.measures.driven_motion import measure_driven
from bunraku.mechanics.measures.motion import Measures
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.motion import Check, Performance
from bunraku.verification.agreement import AGREEMENT, certificate_differences
from bunraku.verification.strings.plan import StringPlan
from bunraku.verification.strings.replay import SLACK, StringReplay

REPLAY_RMS = 0.02
"""A replay follows the performance when the RMS error [m] of its points is at most this."""

_SAME = 1e-9

_MOMENTA = 1e-6
"""Momenta are differences of the coordinates times inertia over dt: rounding and the integrator's tolerance grow with it."""


def dynamic_checks(performance: Performance, plan: StringPlan) -> tuple[Check, ...]:
    """The measures of `mechanics.measures.driven_motion` computed again and compared, and the certificate with it.

    Which points an imitation is judged by and what every string must carry is what the certificate says (at least 0 N).
    """
    system, measured = plan.system, _measured(performance, plan)
    checks = list(measured.checks)
    if system.nk:
        off = float(np.abs(plan.q[:, system.kinematic] - plan.k).max())
        checks.append(Check("motion against channels", off, "m", _SAME, note="places and lengths of the predicted motion"))
    checks += _tendon_checks(plan)
    if plan.gains is not None:
        parts = (plan.states[:, : system.nq] - plan.q, plan.commands - np.hstack([plan.u, plan.k[1:]]))
        off = max(float(np.abs(part).max(initial=0.0)) for part in parts)
        checks.append(Check("feedback against motion", off, bar=_SAME, note="its states and commands are motion and channels"))
        checks.append(_momenta(plan))
    return (*checks, *_agreement(performance, measured))


def _momenta(plan: StringPlan) -> Check:
    """The momenta of the feedback against those of the integrator's steps through the motion; at the first node those of rest."""
    q, nq = plan.q, plan.system.nq
    p = np.array([plan.integrator.momentum(q[max(j - 1, 0)], q[j]) for j in range(len(q))])
    off = np.abs(plan.states[:, nq:] - p).max(initial=0.0) / max(1.0, float(np.abs(p).max(initial=0.0)))
    return Check("feedback momenta against motion", float(off), bar=_MOMENTA, note="its momenta are those of the motion's steps")


def _measured(performance: Performance, plan: StringPlan) -> Measures:
    carried = {check.name: check for check in performance.certificate.checks}
    known = {frame.name for frame in performance.character.frames} | {body.name for body in performance.character.bodies}
    prefix = "imitation error "
    frames = [name.removeprefix(prefix) for name in carried if name.startswith(prefix)]
    bar = carried["least tension"].bar if "least tension" in carried else None
    drives = {motor.name: motor.coordinate for motor in plan.character.motors}
    held = np.vstack([plan.u, plan.u[-1:]])
    return measure_driven(
        performance.character,
        performance.wish,
        performance.motion,
        {drives.get(name, name): held[:, i] for i, name in enumerate(plan.system.inputs)},
        tension_margin=max(0.0, bar or 0.0),
        system=plan.system,
        frames=[name for name in frames if name in known],
    )


def _tendon_checks(plan: StringPlan) -> list[Check]:
    """Tendons pull, and no more than they bear: the least tension, and the worst excess over what they bear."""
    tendons = plan.character.tendons
    if not tendons:
        return []
    pull = plan.u[:, : len(tendons)]
    over = pull - np.array([tendon.max_tension for tendon in tendons])
    return [
        Check("least tendon tension", float(pull.min()), "N", 0.0, at_least=True, note=tendons[pull.min(axis=0).argmin()].name),
        Check("tendon tension excess", max(0.0, float(over.max())), "N", _SAME, note=f"of {len(tendons)} tendons"),
    ]


def _agreement(performance: Performance, measured: Measures) -> list[Check]:
    """Whether the certificate's numbers are those recomputed; others are the performer's own word."""
    worst, note = certificate_differences(performance.certificate, measured.checks, measured.figures)
    known = {check.name for check in measured.checks}
    others = [check.name for check in performance.certificate.checks if check.name not in known]
    others += [name for name in performance.certificate.figures if name not in measured.figures]
    return [
        Check("certificate against recomputation", worst if not math.isnan(worst) else math.inf, "relative", AGREEMENT, note=note),
        Check("numbers not recomputed", len(others), note=", ".join(others) and f"the performer's own word: {', '.join(others)}"),
    ]


def worst_violation(plan: StringPlan) -> float:
    """The largest excess over any limit of joints, carriages, winches, motors and tendons as a part of it; a range by its width."""
    shares, speed = [0.0], np.diff(plan.q, axis=0) / plan.dt
    for i, name in enumerate(plan.system.inputs):
        motor = next((motor for motor in plan.character.motors if motor.name == name), None)
        if motor is not None and motor.stall_torque is not None:
            line = np.array([motor.available_torque(float(v)) for v in speed[:, plan.system.index(motor.coordinate)]])
            shares.append(float(((np.abs(plan.u[:, i]) - line) / motor.available_torque(0.0)).max()))
    for axis in plan.character.axes:
        if axis.range is not None and axis.name in plan.system.names:
            values, span = plan.q[:, plan.system.index(axis.name)], max(axis.range[1] - axis.range[0], 1e-3)
            shares.append(float((np.maximum(values - axis.range[1], axis.range[0] - values) / span).max()))
    for i, tendon in enumerate(plan.character.tendons):
        shares.append(float(np.maximum(plan.u[:, i] / tendon.max_tension - 1.0, -plan.u[:, i] / tendon.max_tension).max()))
    if not plan.system.nk:
        return max(shares)
    limits = CarriageLimits.of(plan.character)
    motion = limits.motion(plan.k, plan.dt)
    pairs = [(motion.speed, limits.speed), (motion.acceleration, limits.acceleration)]
    pairs += [(motion.winch_speed, limits.winch_speed), (motion.winch_acceleration, limits.winch_acceleration)]
    shares += [float((values / limit - 1.0).max(initial=0.0)) for values, limit in pairs]
    width = np.where(np.isfinite(limits.upper - limits.lower), np.maximum(limits.upper - limits.lower, 1e-3), 1.0)
    shares.append(float((np.maximum(plan.k - limits.upper, limits.lower - plan.k) / width).max(initial=0.0)))
    apart = limits.separation > 0.0
    shares.append(float((1.0 - motion.gap[:, apart] / limits.separation[apart]).max(initial=0.0)))
    return max(shares)


def replay_checks(result: StringReplay) -> tuple[Check, ...]:
    """What the replay in MuJoCo must show: it kept to the plan, within `REPLAY_RMS`; the rest is information."""
    run, how = result.best, "with feedback" if result.closed_loop is not None else "open loop"
    checks = [
        Check("replay completed", float(result.complete), bar=1.0, at_least=True, note="" if result.complete else "cancelled"),
        Check("fell", float(result.fell), bar=0.0, note=result.reason or "it kept to the plan"),
        Check("replay rms", run.rms, "m", REPLAY_RMS, note=f"{how}; worst: {run.worst}; {len(result.points)} points"),
        Check("largest replay error", run.largest, "m"),
        Check("open-loop replay rms", result.open_loop.rms, "m", note=result.open_loop.lost or f"worst: {result.open_loop.worst}"),
        Check("settling", result.settling, "m", note="while coming to rest in MuJoCo before the start"),
        Check("commands cut to limits", run.clamped, "steps", note="of corrections by the feedback"),
    ]
    if result.strings:
        checks += [
            Check("least tension in replay", run.least_tension, "N", note="mean over a sample"),
            Check(
                "slack", run.slack, "of the time", note=f"a string's ends closer than its length by more than {1e3 * SLACK:g} mm"
            ),
            Check("string stretch", run.stretch, "m", note="MuJoCo's strings are stiff, not rigid"),
        ]
    return tuple(checks)
