"""Pictures of a replay on the ground: where it went, how fast, which feet carried what, and torques against the motors' line."""

from __future__ import annotations

from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.verification.ground.measures import window_of, window_velocity
from bunraku.verification.ground.replay import GroundReplay
from bunraku.verification.ground.replays import GroundReplays
from bunraku.verification.plots.figure import DONE, LIMIT, WISH, new_figure

_OTHERS = "#e0a5a7"
_BUSIEST = 3


def draw_way(replays: GroundReplays) -> Any:
    """The centre of mass from above, its speed ahead and sideways, the heading: plan grey, usual replay red, others pale."""
    usual = replays.usual
    plan, window = usual.plan, window_of(usual.plan)
    figure, axes = new_figure(4, height=1.8, share=False)
    path, ahead, aside, heading = axes[:, 0]
    runs = [(replay, _OTHERS, 0.7) for replay in replays.replays[1:]] + [(usual, DONE, 1.4)]
    moments = plan.times[: len(window_velocity(plan.com, plan.rate, window))] + 0.5 * window
    planned = _along(window_velocity(plan.com[:, :2], plan.rate, window), plan.yaw)
    path.plot(plan.com[:, 0], plan.com[:, 1], color=WISH, lw=3.0, label="plan")
    for axis, j in ((ahead, 0), (aside, 1)):
        axis.plot(moments, planned[:, j], color=WISH, lw=3.0, label="plan")
    heading.plot(plan.times, np.degrees(plan.yaw), color=WISH, lw=3.0)
    for replay, color, width in runs:
        record = replay.record
        label = f"replay, {replay.described}" if replay is usual else None
        went = _along(window_velocity(record.com[:, :2], plan.rate, window), record.yaw)
        path.plot(record.com[:, 0], record.com[:, 1], color=color, lw=width)
        ahead.plot(moments[: len(went)], went[:, 0], color=color, lw=width, label=label)
        aside.plot(moments[: len(went)], went[:, 1], color=color, lw=width)
        turned = np.unwrap(np.concatenate([plan.yaw[:1], record.yaw]))[1:]
        heading.plot(record.times, np.degrees(turned), color=color, lw=width)
    path.set_aspect("equal", adjustable="datalim")
    _labels(path, "centre of mass\nfrom above [m]")
    _labels(ahead, "speed ahead\n[m/s]")
    _labels(aside, "speed sideways\n[m/s]")
    _labels(heading, "heading [deg]")
    ahead.legend(loc="upper right", ncols=2, fontsize=7, frameon=False, bbox_to_anchor=(1.0, 1.25))
    for axis, least in ((ahead, 0.02), (aside, 0.02), (heading, 2.0)):
        axis.set_xlim(0.0, plan.duration)
        _at_least(axis, least)
    heading.set_xlabel("time [s]", fontsize=8)
    return figure


def draw_footfalls(replay: GroundReplay) -> Any:
    """For each end effector: when it is planned to be on the ground (grey bar) and the force that the ground bore it with (red)."""
    plan, record = replay.plan, replay.record
    tips = plan.character.end_effectors
    weight = 9.81 * float(plan.tree.mass.sum())
    figure, axes = new_figure(1, height=0.7 + 0.42 * len(tips))
    axis = axes[0, 0]
    tall = max(float(record.force[..., 3].max()), 0.5 * weight)
    for j, tip in enumerate(tips):
        base = float(len(tips) - 1 - j)
        axis.fill_between(plan.times, base - 0.12, base, where=plan.standing[:, j], color=WISH, lw=0)
        axis.fill_between(record.times, base, base + 0.8 * record.force[:, j, 3] / tall, color=DONE, lw=0, alpha=0.8)
        axis.text(-0.01, base + 0.2, tip.name, ha="right", va="center", fontsize=8, transform=axis.get_yaxis_transform())
    axis.set_yticks([])
    axis.spines["left"].set_visible(False)
    axis.set_ylim(-0.2, len(tips))
    axis.set_xlim(0.0, plan.duration)
    axis.set_xlabel(f"time [s]; the tallest force is {tall:.1f} N, the weight {weight:.1f} N", fontsize=8)
    return figure


def draw_motors(replay: GroundReplay) -> Any:
    """Torque over speed of every motor against its line, both in parts of stall and no-load; torques of the busiest over time."""
    plan, record, measures, bank = replay.plan, replay.record, replay.measures, replay.ground.servos
    stall = np.where(np.isfinite(bank.stall), bank.stall, np.abs(record.torque).max(axis=0) + 1e-12)
    fastest = np.where(np.isfinite(bank.no_load_speed), bank.no_load_speed, np.abs(record.torque_speed).max(axis=0) + 1e-12)
    busiest = np.argsort(-measures.peak_utilisation)[:_BUSIEST]
    figure, axes = new_figure(1 + len(busiest), height=1.9, share=False)
    plane = axes[0, 0]
    plane.plot(record.torque_speed / fastest, record.torque / stall, ".", ms=0.8, color=DONE, alpha=0.25, rasterized=True)
    plane.plot(plan.speed / fastest, plan.torque / stall, ".", ms=1.2, color=WISH, alpha=0.5, rasterized=True)
    plane.plot([-1, 0, 1], [1, 1, 0], "--", color=LIMIT, lw=1.0)
    plane.plot([-1, 0, 1], [0, -1, -1], "--", color=LIMIT, lw=1.0)
    plane.set_xlabel("speed, of no-load", fontsize=8)
    _labels(plane, "torque, of stall")
    times = np.arange(len(record.torque)) * (record.times[-1] / max(len(record.torque) - 1, 1))
    for axis, j in zip(axes[1:, 0], busiest, strict=True):
        speed = record.torque_speed[:, j]
        axis.plot(times, np.minimum(stall[j], stall[j] - bank.back_emf[j] * speed), "--", color=LIMIT, lw=0.7)
        axis.plot(times, np.maximum(-stall[j], -stall[j] - bank.back_emf[j] * speed), "--", color=LIMIT, lw=0.7)
        axis.plot(times, record.torque[:, j], color=DONE, lw=0.8, label="replay")
        axis.plot(plan.times, plan.torque[:, j], color=WISH, lw=1.6, label="plan")
        _labels(axis, f"{bank.names[j]}\n[N·m]")
        axis.set_xlim(0.0, plan.duration)
    if len(busiest):
        axes[1, 0].legend(loc="upper right", ncols=2, fontsize=7, frameon=False)
        axes[-1, 0].set_xlabel("time [s]", fontsize=8)
    return figure


def _along(velocity: Array, yaw: Array) -> Array:
    """Velocities (m, 2) in the axes of the heading at the same time: ahead and sideways."""
    heading = yaw[: len(velocity)]
    c, s = np.cos(heading), np.sin(heading)
    return np.column_stack([c * velocity[:, 0] + s * velocity[:, 1], -s * velocity[:, 0] + c * velocity[:, 1]])


def _at_least(axis: Any, span: float) -> None:
    """Widen the vertical limits to a span, so that rounding does not fill the picture."""
    low, high = axis.get_ylim()
    if high - low < span:
        axis.set_ylim(0.5 * (low + high - span), 0.5 * (low + high + span))


def _labels(axis: Any, words: str) -> None:
    axis.set_ylabel(words, fontsize=8)
