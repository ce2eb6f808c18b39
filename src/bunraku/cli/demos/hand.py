"""The demo of the hand: tendons hold a ball, reach every motion the grip leaves, and bring it back from a nudge."""

from __future__ import annotations

import dataclasses
import time

from bunraku.assets.examples import Demo
from bunraku.cli.demos.runner import Addition, DemoTake, Kind, picked
from bunraku.flow.ahead import compile_for
from bunraku.formats.registry import read_character
from bunraku.motion import Clip, Performance
from bunraku.optimization.monitor import Event, Monitor
from bunraku.performers.marionette.hold import Hold, HoldPerformer
from bunraku.performers.performer import Memory
from bunraku.verification.promises import hold_promises


def held(example: Demo, quick: bool, monitor: Monitor) -> tuple[Performance, Hold]:
    """The hold, nudged and brought back; a twentieth of a second before compiles what that needs."""
    character, clip, artist = read_character(example.character), Clip(example.clip), HoldPerformer(**example.options)
    compile_for("marionette", character, monitor)
    dataclasses.replace(artist, duration=0.05).perform(character, clip)
    clock = time.thread_time()
    task = artist.state(character, clip, monitor)
    monitor.report(Event("hold", 1.0, "", {"solve_s": time.thread_time() - clock}))
    return artist.performance(task, artist.solve(task, monitor, Memory())), task.problem


def add(take: DemoTake) -> Addition:
    """What the tendons reach, and nudges with and without feedback."""
    result, seen, hold = take.performance, take.verdict.figures, take.extra
    character, nudge = result.character, HoldPerformer(**take.example.options).nudge
    nudged = hold.away(result.motion.values)
    aided, alone = (hold.returned(angle=nudge, feedback=feedback, monitor=take.monitor) for feedback in (True, False))
    figures = {
        "dynamic_coordinates": len(character.coordinates),
        "loops": len(character.loops),
        "tendons": len(character.tendons),
        "mobility": hold.mobility,
        "reachable_dimension": hold.reached,
        "holding_tension_min_n": float(hold.u.min()),
        "holding_tension_max_n": float(hold.u.max()),
        "minimum_tension_n": next(check.value for check in take.verdict.checks if check.name == "least tendon tension"),
        "nudge_rad": float(nudged[0]),
        "nudge_at_end_rad": float(nudged[-1]),
        "returned_fraction": aided,
        "returned_without_feedback": alone,
        **picked(seen, "replay_rms_m", "open_loop_replay_rms_m"),
    }
    sentence = (
        f"{len(character.tendons)} tendons hold with {hold.u.min():.1f} to {hold.u.max():.1f} N and reach {hold.reached} of "
        f"{2 * hold.mobility} dimensions; nudged by {nudge:g} rad {100 * aided:.0f} % come back, without feedback "
        f"{100 * alone:.0f} %"
    )
    return Addition(figures, sentence, hold_promises(hold.reached, hold.mobility, aided, alone))


KIND = Kind(add, held)
