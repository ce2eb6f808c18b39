"""Pictures of a performance: angle and velocity of a joint, wish against performance, limits drawn (the paper's Fig. 2 and 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bunraku.errors import BadInput
from bunraku.motion import JointCurves, MotionLimits, Performance
from bunraku.verification.plots.figure import DONE, KNOWN, LIMIT, OTHERS, SOUND, WISH, new_figure


def most_affected(performance: Performance, count: int = 2) -> tuple[str, ...]:
    """The joints whose wish breaks its limits the most, then those that deviate the most; without a wish those of the plan."""
    positions = performance.followed()
    wish = performance.wish_or_plan()
    speed = np.zeros(len(wish.names))
    if not performance.dynamic:
        limits = MotionLimits.of(performance.character).chosen(positions.names)
        speed = np.abs(np.diff(wish.values, axis=0)).max(axis=0, initial=0.0) * wish.rate / limits.velocity
    gap = np.abs(positions.values - wish.values).max(axis=0) + 1e-9 * np.ptp(positions.values, axis=0)
    order = np.lexsort((-gap, -speed))
    return tuple(positions.names[j] for j in order[:count])


def draw_joints(performance: Performance, joints: Sequence[str] = (), *, start: float = 0.0, end: float | None = None) -> Any:
    """For each joint: the angle above, the velocity below, wish and performance, limits of motors dashed, phrases shaded."""
    positions, wish = performance.followed(), performance.wish
    joints = tuple(joints) or most_affected(performance)
    limits = None if performance.dynamic else MotionLimits.of(performance.character).chosen(positions.names)
    end = positions.duration if end is None else end
    if not 0.0 <= start < end:
        raise BadInput(f"cannot draw from {start} to {end} s; the performance runs from 0 to {positions.duration:.2f} s")
    figure, axes = new_figure(2 * len(joints))
    for i, name in enumerate(joints):
        positions.column(name)
        j = positions.names.index(name)
        angle, speed = axes[2 * i, 0], axes[2 * i + 1, 0]
        _lines(angle, wish, positions, j)
        for curves, color, width in ((wish, WISH, 1.4), (positions, DONE, 1.2)):
            if curves is None:
                continue
            speed.plot(curves.times[1:], np.diff(curves.values[:, j]) * curves.rate, color=color, lw=width)
        if limits is not None:
            lower, upper = limits.bounds(positions.values)
            angle.plot(positions.times, lower[:, j], "--", color=LIMIT, lw=0.9)
            angle.plot(positions.times, upper[:, j], "--", color=LIMIT, lw=0.9, label="limit")
            for sign in (-1, 1):
                speed.axhline(sign * limits.velocity[j], ls="--", color=LIMIT, lw=0.9)
        angle.set_ylim(*_frame((positions if wish is None else wish).values[:, j], positions.values[:, j]))
        angle.set_ylabel(f"{name}\n[{_unit(performance, name)}]", fontsize=8)
        speed.set_ylabel(f"velocity\n[{_unit(performance, name)}/s]", fontsize=8)
        for axis in (angle, speed):
            _phrases(axis, performance)
        if i == 0:
            angle.legend(loc="upper right", ncols=3, fontsize=8, frameon=False, bbox_to_anchor=(1.0, 1.25))
    axes[-1, 0].set_xlabel("time [s]", fontsize=8)
    axes[-1, 0].set_xlim(start, end)
    return figure


def _lines(axis: Any, wish: JointCurves | None, positions: JointCurves, j: int) -> None:
    if wish is not None:
        axis.plot(wish.times, wish.values[:, j], color=WISH, lw=1.4, label="wish")
    axis.plot(positions.times, positions.values[:, j], color=DONE, lw=1.2, label="performance")


def _frame(*curves: Any) -> tuple[float, float]:
    low, high = min(float(c.min()) for c in curves), max(float(c.max()) for c in curves)
    room = 0.12 * (high - low) + 0.02
    return low - room, high + room


def _unit(performance: Performance, name: str) -> str:
    if performance.dynamic:
        return performance.unit_of(name)
    return next(channel.unit for channel in performance.channels if channel.name == name and channel.kind == "position")


def _phrases(axis: Any, performance: Performance) -> None:
    for phrase in performance.phrases:
        axis.axvspan(phrase.start, phrase.end, color=SOUND, alpha=0.35, lw=0)


def draw_overview(performance: Performance, count: int = 5) -> Any:
    """The voice with its words above, the most affected joints below."""
    joints = most_affected(performance, count)
    positions, wish = performance.followed(), performance.wish
    figure, axes = new_figure(1 + len(joints), height=1.3)
    top = axes[0, 0]
    if performance.audio is not None:
        samples, rate = performance.audio.samples, performance.audio.rate
        block = max(1, int(rate / 200))
        peaks = np.abs(samples[: len(samples) // block * block]).reshape(-1, block).max(axis=1)
        top.fill_between(np.arange(len(peaks)) * block / rate, -peaks, peaks, color="#b89b5e", lw=0)
        top.set_ylim(-1.1, 1.6)
    top.set_yticks([])
    top.set_ylabel("voice", fontsize=8)
    for word in performance.words:
        top.text(word.start, 1.15, word.text, fontsize=6.5, rotation=28, ha="left", va="bottom", clip_on=False)
    for axis, name in zip(axes[1:, 0], joints, strict=True):
        _lines(axis, wish, positions, positions.names.index(name))
        axis.set_ylabel(f"{name}\n[{_unit(performance, name)}]", fontsize=8, rotation=0, ha="right", va="center")
        _phrases(axis, performance)
    _phrases(top, performance)
    top.legend(*axes[1, 0].get_legend_handles_labels(), loc="lower right", ncols=2, fontsize=7, frameon=False)
    axes[-1, 0].set_xlabel("time [s]", fontsize=8)
    axes[-1, 0].set_xlim(0, positions.duration)
    return figure


def draw_comparison(results: Sequence[Performance], count: int = 3) -> Any:
    """The same joints by several performers, one line each."""
    joints = most_affected(results[-1], count)
    figure, axes = new_figure(len(joints), height=2.2)
    for axis, name in zip(axes[:, 0], joints, strict=True):
        for i, result in enumerate(results):
            positions, who = result.followed(), result.provenance.performer
            color = KNOWN.get(who, OTHERS[i % len(OTHERS)])
            axis.plot(positions.times, positions.column(name), lw=1.2, color=color, label=who)
        axis.set_ylabel(f"{name} [{_unit(results[-1], name)}]", fontsize=8)
        _phrases(axis, results[-1])
    axes[0, 0].legend(loc="lower right", ncols=len(results), fontsize=8, frameon=False, bbox_to_anchor=(1.0, 1.0))
    axes[-1, 0].set_xlabel("time [s]", fontsize=8)
    return figure
