"""``bunraku export``: a performance in the format a controller or program takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bunraku.cli.options import OpenCommand

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export", cls=OpenCommand, context_settings={"allow_extra_args": True})(export)


def export(
    context: typer.Context,
    performance: Annotated[Path | None, typer.Argument(help="A .performance.npz")] = None,
    form: Annotated[str, typer.Option("-f", "--format", help="csv, json, blender-servo, ros or arduino; --list says more")] = "csv",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write")] = None,
    formats: Annotated[bool, typer.Option("--list", help="List the formats and stop")] = False,
) -> int:
    """Write a performance as CSV, JSON, blender-servo-animation JSON, ROS JointTrajectory JSON or an Arduino header.

    Options of a format are given as flags too, for example --rate 50 or --servos calibration.yaml; --list names them.
    """
    from bunraku.cli.console import say
    from bunraku.cli.options import parse_keywords
    from bunraku.errors import BadInput
    from bunraku.formats.registry import read_performance
    from bunraku.stage.registry import export as write
    from bunraku.stage.registry import exporters

    if formats:
        for name, exporter in exporters().items():
            flags = " ".join("--" + option.replace("_", "-") for option in exporter.options)
            say(f"{name:14} {exporter.suffix:12} {exporter.meaning}{'; ' + flags if flags else ''}")
        return 0
    if performance is None:
        raise BadInput("a performance is missing; say which file is to be exported: bunraku export FILE --format csv")
    if form not in exporters():
        raise BadInput(f"there is no export format {form!r}; there are {', '.join(exporters())}")
    target = output or Path(performance.name.removesuffix(".performance.npz") + exporters()[form].suffix)
    options = parse_keywords(exporters()[form].function, context.args, f"the {form} format")
    write(read_performance(performance), form, target, **options)
    say(f"wrote {target}")
    return 0
