"""A strip of poses: the character as sticks at a few moments, what was wished behind it in grey, its strings above it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.character import WORLD, Character
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.points import Points
from bunraku.motion import Performance
from bunraku.verification.plots.figure import DONE, LIMIT, new_figure
from bunraku.verification.strings.plan import StringPlan, plan_of

Stick = tuple[Place, Place]

BEHIND = "#c4c8ce"


def draw_poses(performance: Performance, count: int = 9) -> Any:
    """``count`` poses from the start to the end, side by side in the order of time, seen from the front or from the side.

    The view is that in which the character and its motion are wider. Coordinates that the wish leaves open are taken as they are.
    """
    plan = plan_of(performance)
    chosen = np.linspace(0, plan.steps, count).round().astype(np.int64)
    wished = plan.q.copy()
    wish = performance.wish_or_plan()
    for name in wish.names:
        if name in plan.system.names:
            wished[:, plan.system.names.index(name)] = wish.column(name)
    bones = _ends(plan, _sticks(plan.character))
    done, asked = bones.positions(plan.q[chosen]), bones.positions(wished[chosen])
    both = np.stack([done, asked])
    side = 0 if np.ptp(both[..., 0]) > np.ptp(both[..., 1]) else 1
    view = np.array([[0.0, -1.0, 0.0] if side == 1 else [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    threads = _threads(plan, plan.q[chosen], 0.5 * float(np.ptp(both[..., 2])))
    flat = both @ view.T
    low, high = float(flat[..., 1].min()), max(float(flat[..., 1].max()), float(threads[..., 2].max(initial=-np.inf)))
    width = max(1.15 * float(np.ptp(flat[..., 0])), 0.5 * (high - low))
    height = min(4.0, 0.4 + 9.0 * (high - low) / (count * width))
    figure, axes = new_figure(1, height=height, share=False)
    axis = axes[0, 0]
    for i, k in enumerate(chosen):
        for points, color, thick in ((asked[i], BEHIND, 3.6), (threads[i], LIMIT, 0.5), (done[i], DONE, 1.6)):
            ends = points.reshape(-1, 2, 3) @ view.T + [i * width, 0.0]
            axis.plot(ends[..., 0].T, ends[..., 1].T, color=color, lw=thick, solid_capstyle="round")
        middle = i * width + float(flat[..., 0].mean())
        axis.annotate(f"{k * plan.dt:.2f} s", (middle, low), (0, -6), textcoords="offset points", ha="center", va="top", fontsize=8)
    axis.set_aspect("equal")
    axis.set_axis_off()
    return figure


def _threads(plan: StringPlan, q: Array, most: float) -> Array:
    """The lower ends of the strings (m, 2 strings, 3), from the hook on and at most ``most`` [m] long."""
    strings = [(Place(string.hook, string.point), Place(string.carriage)) for string in plan.character.strings]
    ends = _ends(plan, strings).positions(q).reshape(len(q), -1, 2, 3)
    along = ends[:, :, 1] - ends[:, :, 0]
    length = np.linalg.norm(along, axis=2, keepdims=True)
    ends[:, :, 1] = ends[:, :, 0] + along * np.minimum(1.0, most / np.maximum(length, 1e-9))
    return ends.reshape(len(q), -1, 3)


def _ends(plan: StringPlan, sticks: list[Stick]) -> Points:
    """Both ends of every stick, one after the other."""
    return Points(plan.system, [end for stick in sticks for end in stick])


def _sticks(character: Character) -> list[Stick]:
    """From every body's origin to those of its children; from a body at the end of a chain to its farthest frame or its middle."""
    sticks: list[Stick] = []
    for joint in character.joints:
        if joint.parent != WORLD:
            sticks.append((Place(joint.parent), Place(joint.child)))
    parents = {joint.parent for joint in character.joints}
    for body in character.bodies:
        if body.name not in parents:
            tips = [frame.pose.position for frame in character.frames if frame.body == body.name] or [body.center_of_mass]
            sticks.append((Place(body.name), Place(body.name, max(tips, key=lambda tip: float(np.linalg.norm(tip))))))
    return sticks
