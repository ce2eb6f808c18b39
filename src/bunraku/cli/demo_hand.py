"""The demo of the hand: tendons hold a ball, reach every motion the grip leaves, and bring it back from a nudge."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

from bunraku.assets.examples import Demo
from bunraku.cli.demo_tail import finish, leading


def run(name: str, example: Demo, folder: Path | None) -> tuple[dict[str, Any], int]:
    """Hold, nudge with and without feedback, verify."""
    from bunraku.cli.console import say, watching
    from bunraku.formats.registry import read_character
    from bunraku.motion import Clip
    from bunraku.performers.marionette.hold import HoldPerformer, find_hold
    from bunraku.verification.promises import hold_promises
    from bunraku.verification.verify import verify

    character, artist = read_character(example.character), HoldPerformer(**example.options)
    with watching() as monitor:
        dataclasses.replace(artist, duration=0.05).recover(find_hold(character, rate=artist.rate), Clip(example.clip))
        clock = time.thread_time()
        hold = find_hold(character, rate=artist.rate)
        solve_s = time.thread_time() - clock
        result = artist.recover(hold, Clip(example.clip))
        aided, alone = (hold.returned(angle=artist.nudge, feedback=feedback, monitor=monitor) for feedback in (True, False))
        verdict = verify(result, monitor=monitor)
    seen, nudged = verdict.figures, hold.away(result.motion.values)
    figures = leading(name, result, solve_s, verdict) | {
        "dynamic_coordinates": len(character.coordinates),
        "loops": len(character.loops),
        "tendons": len(character.tendons),
        "mobility": hold.mobility,
        "reachable_dimension": hold.reached,
        "holding_tension_min_n": float(hold.u.min()),
        "holding_tension_max_n": float(hold.u.max()),
        "minimum_tension_n": next(check.value for check in verdict.checks if check.name == "least tendon tension"),
        "nudge_rad": float(nudged[0]),
        "nudge_at_end_rad": float(nudged[-1]),
        "returned_fraction": aided,
        "returned_without_feedback": alone,
        "replay_rms_m": seen.get("replay_rms_m"),
        "open_loop_replay_rms_m": seen.get("open_loop_replay_rms_m"),
    }
    say(
        f"{len(character.tendons)} tendons hold with {hold.u.min():.1f} to {hold.u.max():.1f} N and reach {hold.reached} of "
        f"{2 * hold.mobility} dimensions; nudged by {artist.nudge:g} rad {100 * aided:.0f} % come back, without feedback "
        f"{100 * alone:.0f} %"
    )
    return figures, finish(result, verdict, hold_promises(hold.reached, hold.mobility, aided, alone), folder)
