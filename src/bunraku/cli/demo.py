"""``bunraku demo``: a built-in example end to end: perform, verify, plots, report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from bunraku.optimization.monitor import Event, Monitor

__all__ = ["DEMOS", "register"]


@dataclass(frozen=True)
class Demo:
    """A built-in example: which character performs which clip, with which performer and options."""

    performer: str
    character: str
    clip: str
    options: dict[str, Any]
    meaning: str


DEMOS = {
    "speech": Demo(
        "speech",
        "nao",
        "not-done-yet",
        {"acceleration": 80.0},
        "NAO speaks and gestures faster than its motors can follow, and stays in time",
    ),
}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    name: Annotated[str, typer.Argument(help="Which example; --list names them")] = "speech",
    listing: Annotated[bool, typer.Option("--list", help="List the examples and stop")] = False,
    quick: Annotated[bool, typer.Option(help="No report, no plots")] = False,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for report, plots and performance")] = Path("demo-output"),
    json: Annotated[bool, typer.Option("--json", help="Measured figures as one flat JSON object on stdout")] = False,
) -> int:
    """Perform a built-in example end to end and say what was proved."""
    from bunraku.cli.console import emit_json, say
    from bunraku.errors import BadInput

    if listing:
        for key, example in DEMOS.items():
            say(f"{key:16} {example.meaning}")
        return 0
    if name not in DEMOS:
        raise BadInput(f"there is no demo {name!r}; there are {', '.join(DEMOS)}")
    if not quick and output.exists() and not output.is_dir():
        raise BadInput("this is a file; give a folder", file=str(output))
    figures, code = _speech(name, DEMOS[name], None if quick else output)
    if json:
        emit_json(figures)
    return code


def _speech(name: str, example: Demo, folder: Path | None) -> tuple[dict[str, Any], int]:
    from bunraku.cli.console import exit_code, say, show_checks, watching
    from bunraku.formats.registry import read_character, read_clip
    from bunraku.motion import MotionLimits
    from bunraku.performers.performer import make_performer
    from bunraku.verification.comparison import comparison_row
    from bunraku.verification.verify import verify

    say(f"{name}: {example.meaning}")
    _compile()
    character, clip = read_character(example.character), read_clip(example.clip)
    with watching() as monitor:
        artist = make_performer(example.performer, example.options)
        artist.perform(character, clip, monitor=monitor)
        timing = _Stopwatch(monitor)
        result = artist.perform(character, clip, monitor=timing)
        reference = make_performer("reference").perform(character, clip, monitor=monitor)
        control = make_performer("stretch").perform(character, clip, monitor=monitor)
        verdict = verify(result, monitor=monitor)
    before, after, slowed = comparison_row(reference), comparison_row(result), comparison_row(control)
    limits = MotionLimits.of(character)
    figures = {
        "demo": name,
        "performer": example.performer,
        "status": result.certificate.status.value,
        "duration_s": result.duration,
        "solve_s": timing.seconds,
        "worst_limit_violation": limits.excess(result.positions().values, result.rate).relative,
        "verified": verdict.holds,
        "velocity_violations_before": int(before["velocity_violations"]),
        "velocity_violations_after": int(after["velocity_violations"]),
        "range_violations_after": int(after["range_violations"]),
        "rms_deviation_rad": after["rms_deviation"],
        "max_deviation_rad": after["max_deviation"],
        "lag_ms": after["lag_ms"],
        "control_lag_ms": slowed["lag_ms"],
        "balance_margin_m": result.certificate.check("balance margin").value,
        "fell": bool(verdict.replay.fell) if verdict.replay is not None else None,
    }
    say(
        f"{clip.name}: {figures['velocity_violations_before']} samples were too fast, "
        f"{figures['velocity_violations_after']} are now; "
        f"lag {figures['lag_ms']:.1f} ms (stretched control: {figures['control_lag_ms']:.0f} ms); "
        f"solved {figures['duration_s']:.1f} s of motion in {1e3 * timing.seconds:.1f} ms"
    )
    show_checks(verdict.checks)
    if folder is not None:
        _leave(folder, result, verdict, (reference, control))
    say("proved: every promise holds" if verdict.holds else "NOT PROVED: a promise does not hold")
    return figures, exit_code(result.certificate.status, verdict.holds)


def _compile() -> None:
    """Compile what the demo needs, on two cores: half here, half in a process that leaves it in the cache on disk."""
    import subprocess
    import sys
    import time

    from bunraku.cli.console import say

    say("compiling the kernels, unless they are in the cache (under a minute, once)")
    clock = time.monotonic()
    half = [sys.executable, "-c", "from bunraku.performers.warm import warm_measures; warm_measures()"]
    other = subprocess.Popen(half, stdin=subprocess.DEVNULL)  # noqa: S603 (our own interpreter and words)
    try:
        from bunraku.performers.warm import warm_solvers

        warm_solvers()
        other.wait(timeout=120)
    finally:
        if other.poll() is None:
            other.kill()
    say(f"kernels ready after {time.monotonic() - clock:.0f} s")


def _leave(folder: Path, result: Any, verdict: Any, others: tuple[Any, ...]) -> None:
    from bunraku.cli.console import say
    from bunraku.formats.atomic import write_atomically
    from bunraku.formats.registry import write_performance
    from bunraku.verification.plots import draw_comparison, draw_joints, draw_overview, save_figure
    from bunraku.verification.report import make_report

    folder.mkdir(parents=True, exist_ok=True)
    write_performance(folder / f"{result.clip_name}.performance.npz", result)
    save_figure(draw_overview(result), folder / "overview.png")
    save_figure(draw_joints(result), folder / "joints.png")
    save_figure(draw_comparison([*others, result]), folder / "comparison.png")
    write_atomically(folder / "report.html", make_report(result, verdict, others).encode())
    say(f"report, plots and performance are in {folder}/ (open {folder / 'report.html'})")


class _Stopwatch(Monitor):
    """A monitor that passes everything on and keeps the solve time that the performer reports."""

    def __init__(self, inner: Monitor) -> None:
        self._inner = inner
        self.seconds = float("nan")

    def report(self, event: Event) -> None:
        self.seconds = event.figures.get("solve_s", self.seconds)
        self._inner.report(event)

    @property
    def cancelled(self) -> bool:
        return self._inner.cancelled
