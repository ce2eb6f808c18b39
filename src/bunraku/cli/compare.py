"""``bunraku compare``: the same wish through several performers, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bunraku.cli.console import emit_json, exit_code, say, watching
from bunraku.cli.files import PICTURES, check_target
from bunraku.errors import BadInput

if TYPE_CHECKING:
    from bunraku.flow.perform import Performed

COLUMNS = {
    "duration_s": "duration s",
    "velocity_violations": "too fast",
    "range_violations": "out of range",
    "rms_deviation": "rms dev rad",
    "max_deviation": "max dev rad",
    "lag_ms": "lag ms",
    "worst_lag_ms": "worst 3 s ms",
}


def compare(
    character: Annotated[str, typer.Argument(help="Built-in name or file")],
    clip: Annotated[str, typer.Argument(help="Built-in name or file")],
    performers: Annotated[str, typer.Option(help="Comma-separated")] = "reference,stretch,clamp,speech",
    rate: Annotated[float, typer.Option(help="Motor rate [Hz]; 0 takes the motors' own")] = 0.0,
    overlay: Annotated[Path | None, typer.Option(help="YAML with limits, feet and groups for a URDF or MJCF character")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Also draw the joints that differ most to this picture")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON on stdout")] = False,
) -> int:
    """Reference, control and optimized (and more) on one wish: violations, deviation, lag."""
    check_target(output, *PICTURES)
    from bunraku.flow.perform import perform
    from bunraku.formats.registry import read_character, read_clip
    from bunraku.verification.comparison import comparison_row
    from bunraku.verification.plots.figure import save_figure
    from bunraku.verification.plots.joints import draw_comparison

    names = [part.strip() for part in performers.split(",") if part.strip()]
    if not names:
        raise BadInput("no performer is named; give for example --performers reference,speech")
    who, wish = read_character(character, overlay=overlay), read_clip(clip)
    performed: list[Performed] = []
    with watching() as monitor:
        for name in names:
            performed.append(perform(who, wish, name, options={"rate": rate} if rate else {}, monitor=monitor))
            wish = performed[0].prepared.clip  # a captured skeleton is retargeted once
    results = [performed[0].prepared.marked(one.performance) for one in performed]
    rows: list[dict[str, Any]] = [
        {"performer": name, **comparison_row(result)} for name, result in zip(names, results, strict=True)
    ]
    say(f"{'performer':>12}" + "".join(f"{title:>14}" for title in COLUMNS.values()))
    for row in rows:
        say(f"{row['performer']:>12}" + "".join(f"{_figure(row[key]):>14}" for key in COLUMNS))
    if output is not None:
        save_figure(draw_comparison(results), output)
        say(f"wrote {output}")
    if json:
        emit_json(rows)
    return max((exit_code(result.certificate.status, result.certificate.holds or None) for result in results), default=0)


def _figure(value: float) -> str:
    """A figure for people: what is left of rounding is none."""
    return f"{value if abs(value) >= 1e-9 else 0:.4g}"
