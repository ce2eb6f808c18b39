"""What all demos do alike: time the solve, head the figures, show the promises, leave the results in a folder."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.optimization.monitor import Event, Monitor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bunraku.character import Character
    from bunraku.motion import Check, Clip, Performance
    from bunraku.performers.performer import Performer
    from bunraku.verification.verify import Verdict


class Stopwatch(Monitor):
    """A monitor that passes everything on and keeps the solve time that the performer reports."""

    def __init__(self, inner: Monitor) -> None:
        self._inner = inner
        self.seconds = float("nan")

    def report(self, event: Event) -> None:
        """Keep the solve time, pass on."""
        self.seconds = event.figures.get("solve_s", self.seconds)
        self._inner.report(event)

    @property
    def cancelled(self) -> bool:
        """As the other monitor says."""
        return self._inner.cancelled


def timed(artist: Performer, character: Character, clip: Clip, monitor: Monitor) -> tuple[Performance, float]:
    """The performance and its solve time [s of CPU], after a fifth of a second of the same has compiled what it needs."""
    hurried = {"duration": 0.2, "max_iterations": 2}
    known = {field.name for field in dataclasses.fields(artist)}
    brief = dataclasses.replace(artist, **{key: value for key, value in hurried.items() if key in known})
    brief.perform(character, clip)
    watch = Stopwatch(monitor)
    return artist.perform(character, clip, monitor=watch), watch.seconds


def leading(name: str, result: Performance, solve_s: float, verdict: Verdict) -> dict[str, Any]:
    """The figures every demo starts with."""
    return {
        "demo": name,
        "performer": result.provenance.performer,
        "status": result.certificate.status.value,
        "duration_s": result.duration,
        "solve_s": solve_s,
        "worst_limit_violation": verdict.figures["worst_limit_violation"],
        "verified": verdict.holds,
    }


def finish(result: Performance, verdict: Verdict, promises: Sequence[Check], folder: Path | None) -> int:
    """Show verdict and promises, leave the results, say whether all is proved; the exit code."""
    from bunraku.cli.console import exit_code, say, show_checks

    whole = dataclasses.replace(
        verdict, holds=verdict.holds and all(check.holds for check in promises), checks=(*verdict.checks, *promises)
    )
    show_checks(whole.checks)
    if folder is not None:
        leave(folder, result, whole)
    say("proved: every promise holds" if whole.holds else f"NOT PROVED: {whole.sentence}")
    return exit_code(result.certificate.status, whole.holds)


def leave(folder: Path, result: Performance, verdict: Verdict, others: Sequence[Performance] = ()) -> None:
    """Performance, pictures and report in a folder."""
    from bunraku.cli.console import say
    from bunraku.formats.atomic import write_atomically
    from bunraku.formats.registry import write_performance
    from bunraku.verification.flexible.judge import FlexibleVerdict
    from bunraku.verification.ground.judge import goes_over_ground
    from bunraku.verification.ground.perturbations import GroundVerdict
    from bunraku.verification.plots.figure import save_figure
    from bunraku.verification.plots.film import draw_strip, write_film
    from bunraku.verification.plots.flexible import cost_history, draw_cost, draw_errors, draw_frames, draw_profiles
    from bunraku.verification.plots.ground import draw_footfalls, draw_motors, draw_way
    from bunraku.verification.plots.joints import draw_comparison, draw_joints, draw_overview
    from bunraku.verification.plots.poses import draw_poses
    from bunraku.verification.plots.strings import draw_dynamic, draw_replay
    from bunraku.verification.report.html import make_report
    from bunraku.verification.strings.replay import StringReplay

    folder.mkdir(parents=True, exist_ok=True)
    write_performance(folder / f"{result.clip_name}.performance.npz", result)
    if not result.character.flexibles and not goes_over_ground(result):
        save_figure(draw_dynamic(result) if result.dynamic else draw_overview(result), folder / "overview.png")
        save_figure(draw_joints(result), folder / "joints.png")
    if result.dynamic:
        save_figure(draw_poses(result), folder / "poses.png")
    if isinstance(verdict.replay, StringReplay):
        save_figure(draw_replay(verdict.replay, result.rate), folder / "replay.png")
    if isinstance(verdict.replay, GroundVerdict):
        save_figure(draw_way(verdict.replay), folder / "way.png")
        save_figure(draw_footfalls(verdict.replay.usual), folder / "footfalls.png")
        save_figure(draw_motors(verdict.replay.usual), folder / "motors.png")
        save_figure(draw_strip(verdict.replay.usual), folder / "strip.png")
        write_film(verdict.replay.usual, folder / "film.gif")
    if isinstance(verdict.replay, FlexibleVerdict):
        save_figure(draw_frames(verdict.replay.judged), folder / "frames.png")
        save_figure(draw_errors(verdict.replay.judged), folder / "errors.png")
        save_figure(draw_profiles(result), folder / "motors.png")
        if costs := cost_history(result):
            save_figure(draw_cost(costs), folder / "objective.png")
    if others:
        save_figure(draw_comparison([*others, result]), folder / "comparison.png")
    write_atomically(folder / "report.html", make_report(result, verdict, others).encode())
    say(f"report, plots and performance are in {folder}/ (open {folder / 'report.html'})")
