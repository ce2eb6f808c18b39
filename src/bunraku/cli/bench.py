"""``bunraku bench``: run the questions in ``benchmarks/`` and print their tables."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from bunraku.cli.console import say
from bunraku.errors import BadInput

EXHAUSTIVE = "\nEXHAUSTIVE = True"
"""How a benchmark says that it takes many minutes."""
NOT_MEASURED = 77
"""Exit code of a benchmark whose data is not there."""


def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Which questions; all quick ones if not given")] = None,
    folder: Annotated[Path, typer.Option(help="Where the benchmarks are")] = Path("benchmarks"),
    exhaustive: Annotated[bool, typer.Option("--exhaustive", help="Also those that take many minutes")] = False,
    listing: Annotated[bool, typer.Option("--list", help="List the questions and stop")] = False,
) -> int:
    """Answer questions about speed and robustness, each a file in benchmarks/, each in a process of its own."""
    questions = {path.stem: path for path in sorted(folder.glob("*.py")) if not path.stem.startswith("_")}
    if not questions:
        raise BadInput(f"there are no benchmarks in {folder}; run this from a checkout of the repository or give --folder")
    long = {name for name, path in questions.items() if EXHAUSTIVE in path.read_text(encoding="utf-8")}
    if listing:
        for name in questions:
            say(name.replace("_", " ") + ("?  (exhaustive)" if name in long else "?"))
        return 0
    unknown = [name for name in names or [] if name not in questions]
    if unknown:
        raise BadInput(f"there is no benchmark {unknown[0]!r}; there are {', '.join(questions)}")
    chosen = names or [name for name in questions if exhaustive or name not in long]
    failed: list[str] = []
    skipped: list[str] = []
    for name in chosen:
        say(f"\n{name.replace('_', ' ')}?")
        code = subprocess.run([sys.executable, str(questions[name])], check=False).returncode  # noqa: S603 (our own files)
        if code:
            (skipped if code == NOT_MEASURED else failed).append(name)
    if skipped:
        say(f"\nnot measured, for want of data: {', '.join(skipped)}")
    if failed:
        say(f"\nbelow their thresholds: {', '.join(failed)}")
    return 1 if failed else 0
