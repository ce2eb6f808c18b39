"""The pictures of a demo of a skinned character: Fig. 4, 10, 12, 15 and 16 of the paper for our own motion, and the skin itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull

from bunraku.character import PATCHES
from bunraku.cli.demos.runner import Figures
from bunraku.cli.demos.skin import Alternation
from bunraku.motion import Performance
from bunraku.performers.skin.alternate import Alternated
from bunraku.performers.skin.kinematic import ROLL, drive, kinematic_plan, roll_ratio
from bunraku.performers.skin.learned import learned_effect, learned_plan, needed_pressure, pressure_margin
from bunraku.performers.skin.measures import pressure
from bunraku.verification.plots.figure import save_figure
from bunraku.verification.plots.skin import draw_angles, draw_convergence, draw_pressure, draw_roll, draw_skin, draw_torques

SHOWN = 8
"""Pictures of the skin."""


def draw_all(folder: Path, skinned: Alternated, performance: Performance) -> Figures:
    """Draw into a folder; the figures that the pictures add."""
    if (skin := performance.surface) is not None:
        chosen = np.unique(np.linspace(0, len(skin.points) - 1, SHOWN).round().astype(int))
        figure = draw_skin(skin.faces, [skin.points[k] for k in chosen], [k / skin.rate for k in chosen])
        save_figure(figure, folder / "skin.png")
    records = skinned.passes[-1].tracked.records
    frames = [(title, records[k].costs) for title, k in shown_frames(skinned)]
    if frames:
        save_figure(draw_convergence(frames), folder / "convergence.png")
    _torques(folder, skinned)
    return _plans(folder, skinned)


def shown_frames(skinned: Alternated) -> list[tuple[str, int]]:
    """Three frames of the first swing with a title each: a foot leaves, is in the air, comes down again.

    Of the frames near each moment the one whose search was longest: most searches begin where the last ended, and end at once.
    """
    tracked = skinned.passes[-1].tracked
    stands = tracked.stands
    names = [tip.name for tip in skinned.puppet.model.character.end_effectors]
    air = ~stands
    if not air.any():
        return []
    first = int(np.flatnonzero(air.any(axis=1))[0])
    foot = int(np.flatnonzero(air[first])[0])
    down = first + int(np.argmax(stands[first:, foot])) if stands[first:, foot].any() else len(stands) - 1
    wide = max(1, (down - first) // 5)

    def near(k: int) -> int:
        span = range(max(0, k - wide), min(len(stands), k + wide + 1))
        return max(span, key=lambda i: (len(tracked.records[i].costs), -abs(i - k)))

    return [
        (f"{names[foot]} leaves the ground", near(first)),
        (f"{names[foot]} in the air", near((first + down) // 2)),
        (f"{names[foot]} comes down", near(down)),
    ]


def _torques(folder: Path, skinned: Alternated) -> None:
    """Fig. 10: the busiest motor and the busiest of another stage of a leg, among motors of the same strength."""
    motors, tracked = skinned.puppet.model.character.motors, skinned.passes[-1].tracked
    tau = tracked.torques
    busy = np.argsort(-np.abs(tau).max(axis=0))
    first = int(busy[0])
    stage = motors[first].name.rpartition(".")[2]
    limit = motors[first].stall_torque or float(np.abs(tau).max())
    alike = [int(k) for k in busy if motors[k].stall_torque == motors[first].stall_torque]
    second = next((k for k in alike if motors[k].name.rpartition(".")[2] != stage), first)
    times = skinned.puppet.h * np.arange(1.0, len(tau) + 1.0)
    save_figure(
        draw_torques(times, {motors[k].name: tau[:, k] for k in dict.fromkeys((first, second))}, limit), folder / "torques.png"
    )


def _plans(folder: Path, skinned: Alternated) -> Figures:
    """Fig. 15 and 16: the plan that knew the skin's weight alone beside the one that knew its deformation."""
    h, tracked = skinned.puppet.h, skinned.passes[-1].tracked
    before, after, effect = skinned.passes[0].plan, learned_plan(skinned), learned_effect(skinned)
    names = before.problem.model.names
    most = 6 + np.argsort(-np.ptp(before.q[:, 6:], axis=0))[:2]
    save_figure(
        draw_angles(
            before.times, before.q[:, most], after.q[:, most], [names[k] for k in most],
            (before.seen.com[:, 1], after.seen.com[:, 1]),
        ),
        folder / "angles.png",
    )  # fmt: skip
    at = np.clip((before.times / h).round().astype(int), 0, len(tracked.patches) - 1)
    stands = before.problem.contacts.astype(bool)
    needed = {name: needed_pressure(plan, effect) for name, plan in (("skin not in the plan", before), ("skin in the plan", after))}
    margins = {name: pressure_margin(points, stands, tracked.patches[at]) for name, points in needed.items()}
    framed = pressure_margin(pressure(tracked), tracked.stands, tracked.patches[:-1])
    times = h * np.arange(1.0, len(framed) + 1.0)
    worst = np.where(np.isfinite(margins["skin not in the plan"]), margins["skin not in the plan"], np.inf)
    shown = list(np.argsort(worst)[:2])
    moments = []
    for k in sorted(shown):
        if not stands[k].any():
            continue
        spots = tracked.patches[at[k]][np.repeat(stands[k], PATCHES), :2]
        points = {name: one[k] for name, one in needed.items() if np.isfinite(one[k]).all()}
        moments.append((float(before.times[k]), spots[ConvexHull(spots).vertices], points))
    drawn = {name: (before.times, inside) for name, inside in margins.items()} | {"frames": (times, framed)}
    save_figure(draw_pressure(drawn, moments), folder / "pressure.png")
    return {
        "cop_margin_without_skin_m": float(np.nanmin(margins["skin not in the plan"])),
        "cop_margin_with_skin_m": float(np.nanmin(margins["skin in the plan"])),
        "cop_margin_frames_m": float(np.nanmin(framed)),
    }


def compare_kinematic(folder: Path, alternation: Alternation) -> float:
    """Fig. 12: the same wish planned without dynamics and driven by servos; how many times more it rolls."""
    skinned = alternation.passes
    puppet, first = skinned.puppet, skinned.passes[0].plan.problem
    gait = alternation.clip.gait
    if gait is None:
        return float("nan")
    plan = kinematic_plan(
        puppet, gait, first.tracks, weights=first.weights, margin=alternation.performer.margin, stance=first.model.home
    )
    planned = plan.frames(puppet.h).q
    driven = drive(puppet, skinned.settled, planned[1:])
    names = puppet.model.tree.names
    joint = int(np.argmax(np.ptp(planned[:, 6:], axis=0))) + 6
    curves = {"ours": skinned.passes[-1].tracked.q, "kinematic plan on servos": driven.q, "kinematic plan": planned}
    times = puppet.h * np.arange(float(len(planned)))
    rolls = {name: q[:, ROLL] for name, q in curves.items()}
    angles = {name: q[:, joint] for name, q in curves.items()}
    save_figure(draw_roll(times, rolls, names[joint], angles), folder / "roll.png")
    return roll_ratio(skinned, driven)
