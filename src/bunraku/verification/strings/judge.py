"""Puppets and machines that forces move: limits, strings, dynamics, and the replay with feedback."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from bunraku.mechanics.measures.coverage import coverage_checks, limbs_in
from bunraku.mechanics.measures.driven_motion import measure_driven
from bunraku.mechanics.measures.motion import Measures
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.motion import Check, Performance
from bunraku.optimization.monitor import Monitor
from bunraku.verification.agreement import agreement
from bunraku.verification.replay_checks import completed
from bunraku.verification.strings.plan import StringPlan, plan_of
from bunraku.verification.strings.replay import SLACK, StringPlayer, StringReplay, play, player_of
from bunraku.verification.verifier import Findings, Judge, Picture, Replay

REPLAY_RMS = 0.02
"""A replay follows the performance when the RMS error [m] of its points is at most this."""

MOST_SLACK = 0.05
"""No more than this share of the time may a string of the replay hang slack: the plan counts on every string all the time."""

_SAME = 1e-9

_MOMENTA = 1e-6
"""Momenta are differences of the coordinates times inertia over dt: rounding and the integrator's tolerance grow with it."""

_FIGURES = {
    "minimum_tension_n": "least tension",
    "constraint_residual_m": "string length residual",
    "imitation_rms_m": "imitation error",
}


class StringJudge(Judge[StringPlayer, StringReplay]):
    """Open loop and, where the performance has feedback, with it."""

    recomputed = (
        "Limits of carriages, winches and motors were recomputed from the channels, and each step of the predicted motion was "
        "solved again, with its tensions."
    )
    replayed = "The channels were replayed in MuJoCo with its own tendons, open loop and with the feedback."

    @cached_property
    def plan(self) -> StringPlan:
        """The performance as arrays."""
        return plan_of(self.performance)

    def recompute(self, monitor: Monitor) -> Findings:
        """The measures of `mechanics.measures.driven_motion` computed again and compared, and the certificate with it.

        Which points an imitation is judged by and what every string must carry is what the certificate says (at least 0 N).
        """
        performance, plan = self.performance, self.plan
        system, measured = plan.system, _measured(performance, plan)
        checks = list(measured.checks)
        if system.nk:
            off = float(np.abs(plan.q[:, system.kinematic] - plan.k).max())
            checks.append(Check("motion against channels", off, "m", _SAME, note="places and lengths of the predicted motion"))
        checks += _tendon_checks(plan)
        if plan.gains is not None:
            parts = (plan.states[:, : system.nq] - plan.q, plan.commands - np.hstack([plan.u, plan.k[1:]]))
            off = max(float(np.abs(part).max(initial=0.0)) for part in parts)
            checks.append(
                Check("feedback against motion", off, threshold=_SAME, note="its states and commands are motion and channels")
            )
            checks.append(_momenta(plan))
        covered = coverage_checks(performance, limbs_in(performance.certificate.figures))
        checks += [*covered, *agreement(performance.certificate, (*measured.checks, *covered), measured.figures)]
        values = {check.name: check.value for check in checks}
        figures = {key: values[name] for key, name in _FIGURES.items() if name in values}
        return checks, {"worst_limit_violation": worst_violation(plan), **figures}

    def build(self) -> StringPlayer:
        """Carriages and winches that move as they are sent, and strings that MuJoCo knows."""
        return player_of(self.plan)

    def replay(self, foreign: StringPlayer, monitor: Monitor) -> StringReplay:
        """From rest, open loop and then with feedback."""
        return play(foreign, monitor)

    def judge(self, replay: StringReplay) -> Findings:
        """It kept to the plan, within `REPLAY_RMS`; the rest is information."""
        run, how = replay.best, "with feedback" if replay.closed_loop is not None else "open loop"
        open_loop = replay.open_loop
        checks = [
            completed(replay.complete),
            Check("replay lost the plan", float(replay.fell), "", 0.0, note=replay.reason),
            Check("replay rms", run.rms, "m", REPLAY_RMS, note=f"{how}; worst: {run.worst}; {len(replay.points)} points"),
            Check("largest replay error", run.largest, "m"),
            Check("open-loop replay rms", open_loop.rms, "m", note=open_loop.lost or f"worst: {open_loop.worst}"),
            Check("settling", replay.settling, "m", note="while coming to rest in MuJoCo before the start"),
            Check("commands cut to limits", run.clamped, "steps", note="of corrections by the feedback"),
        ]
        if replay.strings:
            apart = f"a string's ends closer than its length by more than {1e3 * SLACK:g} mm"
            checks += [
                Check("least tension in replay", run.least_tension, "N", note="mean over a sample"),
                Check("slack", run.slack, "of the time", MOST_SLACK, note=apart),
                Check("string stretch", run.stretch, "m", note="MuJoCo's strings are stiff, not rigid"),
            ]
        return checks, replay.figures

    def pictures(self, replay: Replay | None) -> Iterator[Picture]:
        """Poses, strings, carriages and points; the replay against the plan; joints."""
        from bunraku.verification.plots.joints import draw_joints
        from bunraku.verification.plots.poses import draw_poses
        from bunraku.verification.plots.strings import draw_dynamic, draw_replay

        performance = self.performance
        yield Picture("poses", draw_poses(performance), "Wish (grey) and performance")
        words = "What strings, carriages, motors and points do; dashed: limits"
        yield Picture("overview", draw_dynamic(performance), words)
        if isinstance(replay, StringReplay):
            yield Picture("replay", draw_replay(replay, performance.rate), "The replay in MuJoCo against the plan", last=True)
        yield Picture("joints", draw_joints(performance), "Wish and performance", last=True)


def _momenta(plan: StringPlan) -> Check:
    """The momenta of the feedback against those of the integrator's steps through the motion; at the first node those of rest."""
    q, nq = plan.q, plan.system.nq
    p = np.array([plan.integrator.momentum(q[max(j - 1, 0)], q[j]) for j in range(len(q))])
    off = np.abs(plan.states[:, nq:] - p).max(initial=0.0) / max(1.0, float(np.abs(p).max(initial=0.0)))
    return Check(
        "feedback momenta against motion", float(off), threshold=_MOMENTA, note="its momenta are those of the motion's steps"
    )


def _measured(performance: Performance, plan: StringPlan) -> Measures:
    carried = {check.name: check for check in performance.certificate.checks}
    known = {frame.name for frame in performance.character.frames} | {body.name for body in performance.character.bodies}
    prefix = "imitation error "
    frames = [name.removeprefix(prefix) for name in carried if name.startswith(prefix)]
    margin = carried["least tension"].threshold if "least tension" in carried else None
    drives = {motor.name: motor.coordinate for motor in plan.character.motors}
    held = np.vstack([plan.u, plan.u[-1:]])
    return measure_driven(
        performance.character,
        performance.wish_or_plan(),
        performance.motion,
        {drives.get(name, name): held[:, i] for i, name in enumerate(plan.system.inputs)},
        tension_margin=max(0.0, margin or 0.0),
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
