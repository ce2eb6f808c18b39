"""``bunraku demo``: a built-in example end to end: perform, verify, plots, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bunraku.assets.examples import DEMOS

_SPOKEN, _MOVED = ("measures", "solvers"), ("retargeting", "control", "collisions", "steps", "curvature")
"""The groups of kernels to compile ahead: for demos of speech, and for those of characters that physics moves."""

_BENDING = ("bending", "measures")
"""The same for flexible characters."""

_GOING = ("going", "measures")
"""The same for characters that go over the ground."""


_SKINNED = ("skin", "measures")
"""The same for skinned characters."""


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
    from importlib import import_module

    from bunraku.cli.console import emit_json, say
    from bunraku.errors import BadInput
    from bunraku.flow.compiling import compile_ahead
    from bunraku.formats.atomic import check_folder

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
    groups = {"speech": _SPOKEN, "vibration": _BENDING, "locomotion": _GOING, "skin": _SKINNED, "": ()}
    members = example.performer.split("+")
    compile_ahead(*dict.fromkeys(group for member in members for group in groups.get(member, _MOVED)))
    door = import_module(f"bunraku.cli.{example.module}")
    figures, code = door.run(name, example, None if quick else output)
    if json:
        emit_json(figures)
    return int(code)
