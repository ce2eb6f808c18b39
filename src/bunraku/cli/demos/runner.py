"""The runner of demos: perform through the flow, verify, say what this demo shows beyond that, leave a folder of results.

A kind of demo is a module of this folder with a ``KIND``. It adds figures, promises, a sentence and files; some have a way of their
own to a performance.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from bunraku.assets.examples import Demo
from bunraku.cli.console import exit_code, say, show_checks, watching
from bunraku.flow.perform import perform
from bunraku.formats.registry import read_character, read_clip
from bunraku.motion import Check, Performance
from bunraku.optimization.monitor import Event, Monitor
from bunraku.optimization.solution import Status, worst
from bunraku.verification.kept import with_verdict
from bunraku.verification.verifier import Verdict
from bunraku.verification.verify import verify

Figures = dict[str, Any]


@dataclass(frozen=True)
class DemoTake:
    """A demo as performed and judged; ``extra``: what its own way of performing leaves besides the performance."""

    name: str
    example: Demo
    performance: Performance
    verdict: Verdict
    solve_s: float
    monitor: Monitor
    quick: bool
    extra: Any = None


@dataclass(frozen=True)
class Addition:
    """What a demo adds: figures, promises, a sentence, files (with figures and promises of their own), ``others`` to compare with.

    ``status``: how what came before the performance ended.
    """

    figures: Figures
    sentence: str
    promises: Sequence[Check] = ()
    files: Callable[[Path], tuple[Figures, Sequence[Check]]] | None = None
    others: Sequence[Performance] = ()
    status: Status = Status.CONVERGED


def perform_example(example: Demo, quick: bool, monitor: Monitor) -> tuple[Performance, Any]:
    """The wish of an example through the flow."""
    character, clip = read_character(example.character), read_clip(example.clip)
    return perform(character, clip, example.performer, options=example.options, monitor=monitor).performance, None


@dataclass(frozen=True)
class Kind:
    """What demos of a kind add, and how they come to a performance; ``warm``: options of a first run that is not measured.

    ``perform`` reports the time of its solution to the monitor as ``solve_s`` when it does not go through the flow.
    """

    add: Callable[[DemoTake], Addition]
    perform: Callable[[Demo, bool, Monitor], tuple[Performance, Any]] = perform_example
    warm: Mapping[str, Any] | None = None

    def run(self, name: str, example: Demo, folder: Path | None) -> tuple[Figures, int]:
        """Perform, verify, add, and leave the results in ``folder``; without one quickly. The figures and the exit code."""
        quick = folder is None
        with watching() as monitor:
            if self.warm is not None:
                self.perform(dataclasses.replace(example, options={**example.options, **self.warm}), quick, Warming(monitor))
            watch = Stopwatch(monitor)
            performance, extra = self.perform(example, quick, watch)
            verdict = verify(performance, monitor=monitor)
            performance = with_verdict(performance, verdict)
            take = DemoTake(name, example, performance, verdict, watch.seconds, monitor, quick, extra)
            addition = self.add(take)
            figures = _leading(take) | addition.figures
            say(addition.sentence)
            promises = [*addition.promises]
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
                more, kept = addition.files(folder) if addition.files else ({}, ())
                figures |= more
                promises += kept
        holds = verdict.holds and not any(check.stands_against for check in promises)
        whole = dataclasses.replace(verdict, holds=holds, checks=(*verdict.checks, *promises))
        show_checks(whole.checks)
        if folder is not None:
            _leave(folder, performance, whole, addition.others)
        say(whole.sentence)
        return figures, exit_code(worst((performance.certificate.status, addition.status)), holds)


def kind_of(example: Demo) -> Kind:
    """The kind of a demo; anything with ``run`` and ``perform`` will do."""
    kind: Kind = import_module(f"bunraku.cli.demos.{example.kind}").KIND
    return kind


@dataclass
class Warming(Monitor):
    """A monitor of a run that is not measured: passes on only how far compiling is."""

    inner: Monitor

    def report(self, event: Event) -> None:
        """Pass on what is said of compiling."""
        if event.stage == "compiling":
            self.inner.report(event)

    @property
    def cancelled(self) -> bool:
        """Never: what is measured comes after it."""
        return False


@dataclass
class Stopwatch(Monitor):
    """A monitor that passes everything on and keeps the solve time [s of thread CPU] that the performer reports."""

    inner: Monitor
    seconds: float = field(default=float("nan"), init=False)

    def report(self, event: Event) -> None:
        """Keep the solve time, pass on."""
        self.seconds = event.figures.get("solve_s", self.seconds)
        self.inner.report(event)

    @property
    def cancelled(self) -> bool:
        """As the other monitor says."""
        return self.inner.cancelled


def picked(source: Mapping[str, Any], *names: str) -> Figures:
    """Figures of these names, None for those that were not measured."""
    return {name: source.get(name) for name in names}


def _leading(take: DemoTake) -> Figures:
    """The figures every demo starts with."""
    return {
        "demo": take.name,
        "performer": take.performance.provenance.performer,
        "status": take.performance.certificate.status.value,
        "duration_s": take.performance.duration,
        "solve_s": take.solve_s,
        "worst_limit_violation": take.verdict.figures["worst_limit_violation"],
        "verified": take.verdict.holds,
    }


def _leave(folder: Path, performance: Performance, verdict: Verdict, others: Sequence[Performance]) -> None:
    """Performance, pictures and report in a folder."""
    from bunraku.formats.atomic import write_atomically
    from bunraku.formats.registry import write_performance
    from bunraku.verification.plots.figure import save_figure
    from bunraku.verification.plots.joints import draw_comparison
    from bunraku.verification.report.html import make_report

    write_performance(folder / f"{performance.clip_name}.performance.npz", performance)
    for picture in verdict.pictures():
        save_figure(picture.figure, folder / f"{picture.name}.png")
    if others:
        save_figure(draw_comparison([*others, performance]), folder / "comparison.png")
    _leave_film(folder, verdict)
    write_atomically(folder / "report.html", make_report(performance, verdict, others).encode())
    say(f"report, plots and performance are in {folder}/ (open {folder / 'report.html'})")


def _leave_film(folder: Path, verdict: Verdict) -> None:
    """A film of the replay over the ground, where there is one."""
    from bunraku.verification.ground.replays import GroundReplays
    from bunraku.verification.plots.film import write_film

    if isinstance(verdict.replay, GroundReplays):
        write_film(verdict.replay.usual, folder / "film.gif")
