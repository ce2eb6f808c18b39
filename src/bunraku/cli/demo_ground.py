"""The demos of characters that go over the ground: planned from the rest pose, replayed over servos, floors and command rates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.assets.examples import Demo
from bunraku.cli.demo_tail import Stopwatch, finish, leading

if TYPE_CHECKING:
    from bunraku.motion import Performance
    from bunraku.verification.verify import Verdict

VELOCITY_BARS = {"slalom": 0.02, "swizzle": 0.04, "brain": 0.04, "start-stop": 0.05}
"""Largest velocity error in the replays by what the clip's name starts with; 6 % for the others."""


def run(name: str, example: Demo, folder: Path | None) -> tuple[dict[str, Any], int]:
    """Perform, verify, and say how far it went in the plan and in the replays."""
    from bunraku.cli.console import say, watching
    from bunraku.formats.registry import read_character, read_clip
    from bunraku.performers.performer import make_performer
    from bunraku.verification.verify import verify

    character, clip = read_character(example.character), read_clip(example.clip)
    artist = make_performer(example.performer, example.options)
    with watching() as monitor:
        watch = Stopwatch(monitor)
        result = artist.perform(character, clip, monitor=watch)
        verdict = verify(result, monitor=monitor)
    figures = leading(name, result, watch.seconds, verdict) | ground_figures(result, verdict)
    say(_words(result, figures))
    return figures, finish(result, verdict, _promises(clip.name, verdict), folder)


def ground_figures(result: Performance, verdict: Verdict) -> dict[str, Any]:
    """What the demos of going add to the figures of all demos."""
    certified, found = result.certificate.figures, verdict.figures
    return {
        "iterations": int(certified["iterations"]),
        "variables": int(certified["variables"]),
        "max_residual": certified["max_residual"],
        "distance_m": found.get("distance_m"),
        "turn_deg": found.get("turn_deg"),
        "replay_velocity_error": found.get("replay_velocity_error"),
        "replay_distance_m": found.get("replay_distance_m"),
        "fell": bool(found["fell"]) if "fell" in found else None,
        "torque_utilisation": found.get("torque_utilisation"),
    }


def _promises(clip: str, verdict: Verdict) -> tuple[Any, ...]:
    from bunraku.motion import Check

    bar = next((bar for start, bar in VELOCITY_BARS.items() if clip.startswith(start)), None)
    if bar is None or "replay_velocity_error" not in verdict.figures:
        return ()
    return (Check(f"velocity error of {clip}", verdict.figures["replay_velocity_error"], "of mean speed", bar),)


def _words(result: Performance, figures: dict[str, Any]) -> str:
    way = f"{figures['distance_m']:.3f} m and {figures['turn_deg']:.1f} deg"
    each = " a cycle" if result.certificate.figures.get("cycles", 1.0) > 1.0 else ""
    words = (
        f"{result.clip_name}: {way}{each}, {figures['variables']} unknowns, {figures['iterations']} iterations, "
        f"{figures['solve_s']:.2f} s for {result.duration:.1f} s of motion"
    )
    if figures["replay_velocity_error"] is None:
        return words
    told = "it fell" if figures["fell"] else "it never fell"
    return f"{words}; in the replays {told}, the velocity was off by {100 * figures['replay_velocity_error']:.1f} % at worst"
