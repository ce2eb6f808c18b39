"""The pictures of a report: what of a performance and its replay is worth a look, by what kind it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bunraku.motion import Performance
from bunraku.verification.flexible.judge import FlexibleVerdict
from bunraku.verification.ground.judge import goes_over_ground
from bunraku.verification.ground.perturbations import GroundVerdict
from bunraku.verification.plots.figure import figure_bytes
from bunraku.verification.plots.film import draw_strip
from bunraku.verification.plots.flexible import cost_history, draw_cost, draw_errors, draw_frames, draw_profiles
from bunraku.verification.plots.ground import draw_footfalls, draw_motors, draw_way
from bunraku.verification.plots.joints import draw_joints, draw_overview
from bunraku.verification.plots.poses import draw_poses
from bunraku.verification.plots.strings import draw_dynamic, draw_replay
from bunraku.verification.strings.replay import StringReplay
from bunraku.verification.verify import Verdict

Picture = tuple[bytes, str]
"""A PNG and what it shows."""


def opening_pictures(performance: Performance, verdict: Verdict) -> list[Picture]:
    """The first pictures: voice and joints; or poses, strings, carriages and points; or frames, motors and the search for them."""
    return [(figure_bytes(figure), words) for figure, words in _opening(performance, verdict)]


def _opening(performance: Performance, verdict: Verdict) -> Iterator[tuple[Any, str]]:
    if isinstance(verdict.replay, GroundVerdict):
        yield draw_strip(verdict.replay.usual), "The replay in MuJoCo; lines on the ground are 5 cm apart"
        yield draw_way(verdict.replay), "Where it goes and how fast: plan (grey), usual replay (red), all others (pale)"
        yield draw_footfalls(verdict.replay.usual), "Feet and wheels on the ground: planned (grey bars), force in the replay (red)"
        yield draw_motors(verdict.replay.usual), "Torques of plan (grey) and replay (red) against the motors' line (dashed)"
    elif goes_over_ground(performance):
        return
    elif isinstance(verdict.replay, FlexibleVerdict):
        judged, costs = verdict.replay.judged, cost_history(performance)
        yield draw_frames(judged), "Where the tracked frames go: target (grey), wish played as it is (blue), performance (red)"
        yield draw_errors(judged), "How far they are from the target"
        yield draw_profiles(performance), "The motors: wish (grey) and what is played instead"
        if costs:
            yield draw_cost(costs), "The objective by iteration"
    elif performance.dynamic:
        yield draw_poses(performance), "Wish (grey) and performance"
        yield draw_dynamic(performance), "What strings, carriages, motors and points do; dashed: limits"
    else:
        yield draw_overview(performance), "The voice and the joints most affected"


def closing_pictures(performance: Performance, verdict: Verdict) -> list[Picture]:
    """The last ones: the replay of strings against the plan; angle and velocity of joints, but of those who go over the ground."""
    found = []
    if isinstance(verdict.replay, StringReplay):
        found.append((figure_bytes(draw_replay(verdict.replay, performance.rate)), "The replay in MuJoCo against the plan"))
    if not goes_over_ground(performance):
        words = "Wish and performance" + ("" if performance.dynamic else "; dashed: limits; shaded: phrases")
        found.append((figure_bytes(draw_joints(performance)), words))
    return found
