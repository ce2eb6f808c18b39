"""Pictures of a performance that physics carries out: tensions, carriages against their limits, points against wish and replay."""

from __future__ import annotations

from typing import Any

import numpy as np

from bunraku.mechanics.measures.driven_motion import replayed
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.motion import Performance
from bunraku.verification.plots.figure import DONE, LIMIT, WISH, new_figure
from bunraku.verification.strings.plan import StringPlan, plan_of
from bunraku.verification.strings.replay import StringReplay

COLORS = ("#c1272d", "#2b5c8a", "#d99a2b", "#4a8f5a", "#7a4a8f", "#3a8f8f", "#8f5a3a", "#5a5f68")


def draw_dynamic(performance: Performance) -> Any:
    """Tensions of the strings, carriages and winches with their limits, torques, points off the wish, paths from above."""
    plan = plan_of(performance)
    rows = [_points]
    if plan.system.nu:
        rows.insert(0, _torques)
    if plan.character.strings:
        rows = [_tensions, _carriages, _winches, *rows, _paths]
    figure, axes = new_figure(len(rows), height=2.3, share=False)
    for axis, draw in zip(axes[:, 0], rows, strict=True):
        draw(axis, plan, performance)
    timed = [axis for axis, draw in zip(axes[:, 0], rows, strict=True) if draw is not _paths]
    for axis in timed:
        axis.set_xlim(0.0, performance.duration)
    timed[-1].set_xlabel("time [s]", fontsize=8)
    return figure


def draw_replay(replay: StringReplay, rate: float) -> Any:
    """How far the points are from the plan in MuJoCo, RMS and worst, open loop and with feedback; tensions there."""
    runs = [("open loop", replay.open_loop, WISH)]
    runs += [("with feedback", replay.closed_loop, DONE)] if replay.closed_loop is not None else []
    figure, axes = new_figure(2 if replay.strings else 1, height=2.3)
    for name, run, color in runs:
        times = np.arange(len(run.errors)) / rate
        axes[0, 0].plot(times, 1e3 * np.sqrt(np.mean(run.errors**2, axis=1)), color=color, lw=1.3, label=f"{name}, RMS")
        axes[0, 0].plot(times, 1e3 * run.errors.max(axis=1), ":", color=color, lw=1.0, label=f"{name}, worst point")
    axes[0, 0].set_ylabel("points off plan\n[mm]", fontsize=8)
    _legend(axes[0, 0])
    if replay.strings:
        for i, name in enumerate(replay.strings):
            pull = replay.best.tensions[:, i]
            axes[1, 0].plot((np.arange(len(pull)) + 0.5) / rate, pull, lw=1.0, color=COLORS[i % len(COLORS)], label=name)
        axes[1, 0].axhline(0.0, ls="--", color=LIMIT, lw=0.9)
        axes[1, 0].set_ylabel("tension in MuJoCo\n[N]", fontsize=8)
        _legend(axes[1, 0])
    axes[-1, 0].set_xlabel("time [s]", fontsize=8)
    axes[-1, 0].set_xlim(0.0, max(len(run.errors) - 1 for _, run, _ in runs) / rate)
    return figure


def _tensions(axis: Any, plan: StringPlan, performance: Performance) -> None:
    pull = replayed(plan.system, plan.q, performance.rate, plan.u).tensions
    for i, string in enumerate(plan.character.strings):
        axis.plot((np.arange(len(pull)) + 0.5) * plan.dt, pull[:, i], lw=1.1, color=COLORS[i % len(COLORS)], label=string.name)
    axis.axhline(0.0, ls="--", color=LIMIT, lw=0.9)
    axis.set_ylabel("tension [N]", fontsize=8)
    _legend(axis)


def _carriages(axis: Any, plan: StringPlan, performance: Performance) -> None:
    limits = CarriageLimits.of(plan.character)
    motion = limits.motion(plan.k, plan.dt)
    _shares(axis, plan, motion.speed, limits.speed, limits.carriages, "carriage speed\n[m/s]")


def _winches(axis: Any, plan: StringPlan, performance: Performance) -> None:
    limits = CarriageLimits.of(plan.character)
    motion = limits.motion(plan.k, plan.dt)
    _shares(axis, plan, motion.winch_speed, limits.winch_speed, limits.strings, "winch speed\n[m/s]")


def _shares(axis: Any, plan: StringPlan, values: Any, limit: Any, names: tuple[str, ...], label: str) -> None:
    for i, name in enumerate(names):
        axis.plot((np.arange(len(values)) + 0.5) * plan.dt, values[:, i], lw=1.1, color=COLORS[i % len(COLORS)], label=name)
    for value in sorted({float(one) for one in limit if np.isfinite(one)}):
        axis.axhline(value, ls="--", color=LIMIT, lw=0.9)
    axis.set_ylabel(label, fontsize=8)
    _legend(axis)


def _torques(axis: Any, plan: StringPlan, performance: Performance) -> None:
    """Torques, forces and tensions of tendons; of many the ones that change most in color, the others grey."""
    times, tendons = np.arange(plan.steps) * plan.dt, {tendon.name for tendon in plan.character.tendons}
    order = np.argsort(-np.ptp(plan.u, axis=0), kind="stable")
    chosen = sorted(order[: len(COLORS) if plan.system.nu <= len(COLORS) else 6].tolist())
    for count, i in enumerate(order[len(chosen) :]):
        label = f"{len(order) - len(chosen)} others" if count == 0 else None
        axis.step(times, plan.u[:, i], where="post", lw=0.7, color="#c4c8ce", label=label)
    for color, i in zip(COLORS, chosen, strict=False):
        axis.step(times, plan.u[:, i], where="post", lw=1.1, color=color, label=plan.system.inputs[i])
    motors = {motor.name: motor for motor in plan.character.motors if motor.stall_torque is not None}
    if plan.system.nu <= 2:
        for most in {motors[name].available_torque(0.0) for name in plan.system.inputs if name in motors}:
            axis.axhline(most, ls="--", color=LIMIT, lw=0.9)
            axis.axhline(-most, ls="--", color=LIMIT, lw=0.9)
    if set(plan.system.inputs) <= tendons:
        axis.axhline(0.0, ls="--", color=LIMIT, lw=0.9)
    axis.set_ylabel(_force_label(plan, tendons), fontsize=8)
    _legend(axis)


def _force_label(plan: StringPlan, tendons: set[str]) -> str:
    if set(plan.system.inputs) <= tendons:
        return "tendon tension\n[N]"
    kinds = {axis.name: axis.kind for axis in plan.character.axes}
    seen = {kinds[motor.coordinate] for motor in plan.character.motors if motor.name in plan.system.inputs}
    if tendons or len(seen) > 1:
        return "torque or force\n[N·m or N]"
    return "torque\n[N·m]" if seen == {"hinge"} else "force\n[N]"


def _points(axis: Any, plan: StringPlan, performance: Performance) -> None:
    """Distance of the points from where the wish would have them: those that imitate one by one, the others together.

    Coordinates that the wish leaves open are taken as they are.
    """
    wished = plan.q.copy()
    wish = performance.wish_or_plan()
    for name in wish.names:
        if name in plan.system.names:
            wished[:, plan.system.names.index(name)] = wish.column(name)
    away = 1e2 * np.linalg.norm(plan.points.positions(wished) - plan.predicted, axis=2)
    judged = {check.name.removeprefix("imitation error ") for check in performance.certificate.checks}
    tracked = [j for j, name in enumerate(plan.points.names) if name in judged][: len(COLORS)]
    others = [j for j in range(away.shape[1]) if j not in tracked]
    times = np.arange(len(away)) * plan.dt
    for color, j in zip(COLORS, tracked, strict=False):
        axis.plot(times, away[:, j], lw=1.1, color=color, label=plan.points.names[j])
    if others:
        axis.plot(
            times, np.sqrt(np.mean(away[:, others] ** 2, axis=1)), ":", lw=1.1, color=WISH, label=f"{len(others)} others, RMS"
        )
    axis.set_ylim(bottom=0.0)
    axis.set_ylabel("points off wish\n[cm]", fontsize=8)
    _legend(axis)


def _paths(axis: Any, plan: StringPlan, performance: Performance) -> None:
    for i, carriage in enumerate(plan.character.carriages):
        x, y = plan.k[:, 2 * i], plan.k[:, 2 * i + 1]
        axis.plot(y, x, lw=1.2, color=COLORS[i % len(COLORS)], label=carriage.name)
        axis.plot(y[0], x[0], "o", ms=3.5, color=COLORS[i % len(COLORS)])
    axis.set_aspect("equal", adjustable="box", anchor="W")
    axis.invert_xaxis()
    axis.set_xlabel("y, left [m]", fontsize=8)
    axis.set_ylabel("x, forward [m]\nfrom above", fontsize=8)
    _legend(axis)


def _legend(axis: Any) -> None:
    axis.legend(loc="center left", fontsize=7, frameon=False, bbox_to_anchor=(1.0, 0.5))
