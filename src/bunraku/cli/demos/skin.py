"""The demos of skinned characters: planned with the skin, proved frame by frame, replayed in MuJoCo, drawn as in the paper."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.assets.examples import Demo
from bunraku.cli.demos.runner import Addition, DemoTake, Figures, Kind
from bunraku.flow.ahead import compile_for
from bunraku.formats.registry import read_character, read_clip
from bunraku.motion import Check, Clip, Performance
from bunraku.optimization.monitor import Monitor
from bunraku.performers.skin.alternate import Alternated
from bunraku.performers.skin.certificate import solve_times
from bunraku.performers.skin.measures import steady_speed
from bunraku.performers.skin.performer import SkinPerformer

SPEEDS = {"monster-walk": 0.11, "monster-walk-high": 0.06, "monster-trot": 0.45}
"""The paper's speeds [m/s], to be reached in the steady part of the motion within `SPEED_TOLERANCE`."""

SPEED_TOLERANCE = 0.15

COMPARED = ("beetle-walk",)
"""Demos that are also planned without dynamics, to see how much more that rolls (Fig. 12)."""

ROLLS = 1.5
"""How many times more the body must roll after kinematic planning than after ours."""

QUICK: dict[str, Any] = {"frame": 0.01, "passes": 2, "collisions": False}
"""Options of the quick variants, which take the coarse skin and the short clip of the same names with "-quick"."""

KEYS = (
    "skin_vertices", "glue_vertices", "joints", "mass_kg", "frames", "frame_s", "spacetime_s", "max_torque_nm", "torque_limit_nm",
    "cop_violation_m", "complementarity_residual", "speed_m_s", "foot_clearance_m", "slip_per_step_m", "alternations",
    "support_force_error", "distance_m", "agreement_deg", "contact_s",
)  # fmt: skip
WHOLE = ("skin_vertices", "glue_vertices", "joints", "frames", "alternations")


@dataclass(frozen=True)
class Alternation:
    """What the pictures show besides the performance: the passes, and what they were made with."""

    performer: SkinPerformer
    clip: Clip
    passes: Alternated


def alternated(example: Demo, quick: bool, monitor: Monitor) -> tuple[Performance, Alternation]:
    """The performance with its passes; quickly with the coarse skin and a shorter clip."""
    ending = "-quick" if quick else ""
    character, clip = read_character(example.character + ending), read_clip(example.clip + ending)
    performer = SkinPerformer(**(example.options | (QUICK if quick else {})))
    compile_for("skin", character, monitor)
    task, passes = performer.solved(character, clip, monitor=monitor)
    return performer.performance(task, passes), Alternation(performer, clip, passes)


def add(take: DemoTake) -> Addition:
    """What the frames measured, and the pictures of the paper."""
    from bunraku.cli.demos.skin_pictures import compare_kinematic, draw_all

    figures = _figures(take)
    speed = SPEEDS.get(take.name)
    off = abs(figures["speed_m_s"] / speed - 1.0) if speed else 0.0
    promises = [Check(f"speed against {speed:g} m/s", off, "", SPEED_TOLERANCE)] if speed and not take.quick else []

    def files(folder: Path) -> tuple[Figures, list[Check]]:
        drawn = draw_all(folder, take.extra.passes, take.performance)
        if take.name not in COMPARED:
            return drawn, []
        ratio = compare_kinematic(folder, take.extra)
        rolled = Check("roll of kinematic planning against ours", ratio, "times", ROLLS, at_least=True)
        return drawn | {"kinematic_roll_ratio": ratio}, [rolled]

    return Addition(figures, _sentence(take.performance.clip_name, figures), promises, files)


def _figures(take: DemoTake) -> Figures:
    """What the demos of skins add to the figures of all demos."""
    seen, passes = take.verdict.figures, take.extra.passes
    certified = take.performance.certificate.figures | solve_times(passes)
    figures: Figures = {key: int(certified[key]) if key in WHOLE else certified[key] for key in KEYS}
    last = passes.passes[-1].tracked
    figures["speed_m_s"] = steady_speed(last.com, last.stands, passes.puppet.h)
    if np.isnan(figures["foot_clearance_m"]):
        figures["foot_clearance_m"] = None
    figures["replay_distance_error"] = seen.get("replay_distance_error")
    figures["fell"] = bool(seen["fell"]) if "fell" in seen else None
    return figures


def _sentence(name: str, figures: Figures) -> str:
    words = (
        f"{name}: {figures['distance_m']:.3f} m, {figures['speed_m_s']:.3f} m/s in the middle, "
        f"{figures['frames']} frames of {figures['frame_s']:.3f} s after a plan of {figures['spacetime_s']:.2f} s; "
        f"torques up to {figures['max_torque_nm']:.2f} of {figures['torque_limit_nm']:.2f} N·m; "
        f"{figures['alternations']} pass{'es' if figures['alternations'] > 1 else ''}"
    )
    if figures["fell"] is None:
        return words
    return f"{words}; in the replay {'it fell' if figures['fell'] else 'it did not fall'}"


KIND = Kind(add, alternated)
