"""``bunraku schema``: the JSON Schema of Bunraku's files."""

from __future__ import annotations

from typing import Annotated

import typer

from bunraku.cli.console import emit_json


def schema(
    kind: Annotated[
        str, typer.Argument(help="batch, character, clip, device, overlay, performance, project, rig, study")
    ] = "character",
) -> int:
    """Print the JSON Schema of a kind of file, for editors that complete and check as you type."""
    from bunraku.formats.schema import json_schema

    emit_json(json_schema(kind))
    return 0
