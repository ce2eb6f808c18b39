"""The demos of characters that go over the ground: planned from the rest pose, replayed over servos, floors and command rates."""

from __future__ import annotations

from bunraku.cli.demos.runner import Addition, DemoTake, Figures, Kind, picked
from bunraku.motion import Check

VELOCITY_THRESHOLDS = {"slalom": 0.02, "swizzle": 0.04, "brain": 0.04, "start-stop": 0.05}
"""Largest velocity error in the replays by what the clip's name starts with; 6 % for the others."""


def add(take: DemoTake) -> Addition:
    """How far it went in the plan and in the replays."""
    figures, name = ground_figures(take), take.performance.clip_name
    error = figures["replay_velocity_error"]
    threshold = next((most for start, most in VELOCITY_THRESHOLDS.items() if name.startswith(start)), None)
    promises = [] if threshold is None or error is None else [Check(f"velocity error of {name}", error, "of mean speed", threshold)]
    return Addition(figures, _sentence(take, figures), promises)


def ground_figures(take: DemoTake) -> Figures:
    """What the demos of locomotion add to the figures of all demos."""
    certified, seen = take.performance.certificate.figures, take.verdict.figures
    return {
        "iterations": int(certified["iterations"]),
        "variables": int(certified["variables"]),
        "max_residual": certified["max_residual"],
        **picked(seen, "distance_m", "turn_deg", "replay_velocity_error", "replay_distance_m"),
        "fell": bool(seen["fell"]) if "fell" in seen else None,
        "torque_utilisation": seen.get("torque_utilisation"),
    }


def _sentence(take: DemoTake, figures: Figures) -> str:
    result = take.performance
    each = " a cycle" if result.certificate.figures.get("cycles", 1.0) > 1.0 else ""
    words = (
        f"{result.clip_name}: {figures['distance_m']:.3f} m and {figures['turn_deg']:.1f} deg{each}, {figures['variables']} "
        f"unknowns, {figures['iterations']} iterations, {take.solve_s:.2f} s for {result.duration:.1f} s of motion"
    )
    if figures["replay_velocity_error"] is None:
        return words
    stood = "it fell" if figures["fell"] else "it never fell"
    return f"{words}; in the replays {stood}, the velocity was off by {100 * figures['replay_velocity_error']:.1f} % at worst"


KIND = Kind(add)
