"""``bunraku demo``: a built-in example end to end: perform, verify, plots, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bunraku.assets.examples import DEMOS
from bunraku.cli.console import emit_json, say
from bunraku.errors import BadInput
from bunraku.formats.atomic import check_folder


def demo(
    name: Annotated[str, typer.Argument(help="Which example; --list names them")] = "speech",
    listing: Annotated[bool, typer.Option("--list", help="List the examples and stop")] = False,
    quick: Annotated[bool, typer.Option(help="No report, no plots")] = False,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for report, plots and performance")] = Path("demo-output"),
    json: Annotated[bool, typer.Option("--json", help="Measured figures as one flat JSON object on stdout")] = False,
) -> int:
    """Perform a built-in example end to end and say what was proved."""
    if listing:
        for key, example in DEMOS.items():
            say(f"{key:20} {example.meaning}")
        return 0
    if name not in DEMOS:
        raise BadInput(f"there is no demo {name!r}; there are {', '.join(DEMOS)}")
    if not quick:
        check_folder(output)
    example = DEMOS[name]
    say(f"{name}: {example.meaning}")
    from bunraku.cli.demos.runner import kind_of

    figures, code = kind_of(example).run(name, example, None if quick else output)
    if json:
        emit_json(figures)
    return int(code)
