"""The pictures of a demo of a skinned character: Fig. 4, 10, 12, 15 and 16 of the paper for our own motion, and the skin itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bunraku.cli.demo_skin import Film
    from bunraku.motion import Clip
    from bunraku.performers.skin.alternate import Alternated
    from bunraku.performers.skin.performer import SkinPerformer

SHOWN = 8
"""Pictures of the skin."""


def draw_all(
    folder: Path, artist: SkinPerformer, found: Alternated, film: Film, clip: Clip, *, compare: bool
) -> tuple[dict[str, Any], float | None]:
    """Draw into a folder; the figures that the pictures add, and how much more kinematic planning rolls if it was compared."""
    from bunraku.geometry.tet_mesh import TetMesh
    from bunraku.mechanics.coupled.collisions.surface import surface_triangles
    from bunraku.verification.plots.figure import save_figure
    from bunraku.verification.plots.skin import draw_convergence, draw_skin

    folder.mkdir(parents=True, exist_ok=True)
    mesh = found.puppet.model.mesh
    times, x = film.passes[len(found.passes) - 1] if film.passes else ([], [])
    if x:
        chosen = np.unique(np.linspace(0, len(x) - 1, SHOWN).round().astype(int))
        triangles = surface_triangles(TetMesh(mesh.nodes, mesh.cells))
        save_figure(draw_skin(triangles, [x[k] for k in chosen], [times[k] for k in chosen]), folder / "skin.png")
    records = found.passes[-1].tracked.records
    frames = [(title, records[k].costs) for title, k in shown_frames(found)]
    if frames:
        save_figure(draw_convergence(frames), folder / "convergence.png")
    _torques(folder, found)
    figures = _plans(folder, found)
    ratio = None
    if compare:
        ratio = compare_kinematic(folder, artist, found, clip)
        figures["kinematic_roll_ratio"] = ratio
    return figures, ratio


def shown_frames(found: Alternated) -> list[tuple[str, int]]:
    """Three frames of the first swing with a title each: a foot leaves, is in the air, comes down again.

    Of the frames near each moment the one whose search was longest: most searches begin where the last ended, and end at once.
    """
    tracked = found.passes[-1].tracked
    stands = tracked.stands
    names = [tip.name for tip in found.puppet.model.character.end_effectors]
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


def _torques(folder: Path, found: Alternated) -> None:
    """Fig. 10: the busiest motor and the busiest of another stage of a leg, among motors of the same strength."""
    from bunraku.verification.plots.figure import save_figure
    from bunraku.verification.plots.skin import draw_torques

    motors, tracked = found.puppet.model.character.motors, found.passes[-1].tracked
    tau = tracked.torques
    busy = np.argsort(-np.abs(tau).max(axis=0))
    first = int(busy[0])
    stage = motors[first].name.rpartition(".")[2]
    limit = motors[first].stall_torque or float(np.abs(tau).max())
    alike = [int(k) for k in busy if motors[k].stall_torque == motors[first].stall_torque]
    second = next((k for k in alike if motors[k].name.rpartition(".")[2] != stage), first)
    times = found.puppet.h * np.arange(1.0, len(tau) + 1.0)
    save_figure(
        draw_torques(times, {motors[k].name: tau[:, k] for k in dict.fromkeys((first, second))}, limit), folder / "torques.png"
    )


def _plans(folder: Path, found: Alternated) -> dict[str, Any]:
    """Fig. 15 and 16: the plan that knew the skin's weight alone beside the one that knew its deformation."""
    from scipy.spatial import ConvexHull

    from bunraku.character import PATCHES
    from bunraku.performers.skin.learned import learned_effect, learned_plan, needed_pressure, pressure_margin
    from bunraku.performers.skin.measures import pressure
    from bunraku.verification.plots.figure import save_figure
    from bunraku.verification.plots.skin import draw_angles, draw_pressure

    h, tracked = found.puppet.h, found.passes[-1].tracked
    before, after, effect = found.passes[0].plan, learned_plan(found), learned_effect(found)
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


def compare_kinematic(folder: Path | None, artist: SkinPerformer, found: Alternated, clip: Clip) -> float:
    """Fig. 12: the same wish planned without dynamics and driven by servos; how many times more it rolls."""
    from bunraku.performers.skin.kinematic import ROLL, drive, kinematic_plan, roll_ratio
    from bunraku.verification.plots.figure import save_figure
    from bunraku.verification.plots.skin import draw_roll

    ours, puppet = found.passes[-1], found.puppet
    first = found.passes[0].plan.problem
    gait = clip.gait
    if gait is None:
        return float("nan")
    plan = kinematic_plan(puppet, gait, first.tracks, weights=first.weights, margin=artist.margin, stance=first.model.home)
    told = plan.frames(puppet.h).q
    driven = drive(puppet, found.settled, told[1:])
    names = puppet.model.tree.names
    joint = int(np.argmax(np.ptp(told[:, 6:], axis=0))) + 6
    curves = {"ours": ours.tracked.q, "kinematic plan on servos": driven.q, "kinematic plan": told}
    if folder is not None:
        times = puppet.h * np.arange(float(len(told)))
        rolls = {name: q[:, ROLL] for name, q in curves.items()}
        angles = {name: q[:, joint] for name, q in curves.items()}
        save_figure(draw_roll(times, rolls, names[joint], angles), folder / "roll.png")
    return roll_ratio(found, driven)
