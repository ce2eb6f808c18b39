"""Timing: the best switching times of a choreography, as ``bunraku choreograph`` finds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bunraku.formats.registry import read_clip, write_clip
from bunraku.optimization.monitor import Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.choreography.choreographer import Choreographer, Timing
from bunraku.studio.jobs.exchange import read_who
from bunraku.studio.jobs.verbs.arguments import Arguments


def timing(arguments: dict[str, Any], folder: Path, monitor: Monitor) -> tuple[dict[str, Any], bool]:
    """{character, clip, fade, least, iterations} -> the timed clip's file, costs and times before (equal spacing) and after."""
    given = Arguments(arguments, "timing")
    who, wish = read_who(given.text("character"), folder), read_clip(given.text("clip"))
    artist = Choreographer(
        fade=given.number("fade", 0.6), least=given.number("least", 0.6), max_iterations=given.count("iterations", 20)
    )
    target = given.path("target", folder / "result.clip.yaml")
    given.finish()
    monitor.report(Event("timing", None, wish.name))
    show = artist.choreograph(who, wish, monitor=monitor)
    write_clip(target, show.clip)
    facts: dict[str, Any] = {
        "path": str(target),
        "status": show.status.value,
        "sentence": show.status.sentence,
        "saving": show.saving,
    }
    facts |= {"before": _facts(show.equal), "after": _facts(show.best)}
    return facts, show.status is Status.CANCELLED


def _facts(timing: Timing) -> dict[str, Any]:
    return {
        "times": list(timing.times),
        "cost": timing.cost,
        "score": timing.score,
        "effort": timing.effort,
        "slack": timing.slack,
        "least_tension": timing.least_tension,
        "limits_kept": timing.excess.kept,
    }
