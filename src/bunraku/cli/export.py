"""``bunraku export``: a performance in the format a controller takes, or a character in one that another program reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bunraku.cli.console import say
from bunraku.cli.files import character_from, check_target, named_after
from bunraku.cli.options import parse_keywords
from bunraku.errors import BadInput
from bunraku.formats.places import known_names

if TYPE_CHECKING:
    from bunraku.motion import Performance


def export(
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="A .performance.npz, or a character: built-in name, .urdf, .xml or .yaml")] = "",
    form: Annotated[str, typer.Option("-f", "--format", help="Of a performance: csv (default), or another that --list names")] = "",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write; a character as .urdf, .xml (MJCF) or .character.yaml")
    ] = None,
    overlay: Annotated[Path | None, typer.Option(help="YAML with limits, feet and groups for a URDF or MJCF character")] = None,
    formats: Annotated[bool, typer.Option("--list", help="List the formats and stop")] = False,
) -> int:
    """Write a performance for a controller or another program (--list), or a character (URDF, MJCF, YAML).

    Options of a format are given as flags too, for example --rate 50 or --servos calibration.yaml; --list names them.
    """
    from bunraku.stage.registry import exporters

    if formats:
        for name, exporter in exporters().items():
            flags = " ".join("--" + option.replace("_", "-") for option in exporter.options)
            say(f"{name:17} {exporter.suffix:12} {exporter.meaning}{'; ' + flags if flags else ''}")
        say(f"a character is written by the suffix of -o: {', '.join(_suffixes())}")
        return 0
    if not source:
        raise BadInput("nothing to export; give a performance or a character: bunraku export FILE --format csv")
    if source.lower().endswith(".npz") and (form or output is None or not output.name.lower().endswith(_suffixes())):
        return _performance(Path(source), form, output, overlay, context.args)
    if form or output is None:
        wrong = f"--format {form} is for a performance, which ends in .npz" if form else "where to is missing"
        raise BadInput(f"{wrong}; a character is written by the suffix of -o ({', '.join(_suffixes())})", file=source)
    if context.args:
        raise BadInput(f"{context.args[0]!r} is no option of a character's export; it has -o and --overlay")
    check_target(output, *_suffixes())
    return _character(source, output, overlay)


def _suffixes() -> tuple[str, ...]:
    """The suffixes under which characters are written."""
    from bunraku.formats.registry import formats

    return tuple(suffix for entry in formats() if entry.kind == "character" and entry.writer for suffix in entry.suffixes)


def _performance(source: Path, form: str, output: Path | None, overlay: Path | None, words: list[str]) -> int:
    from bunraku.formats.registry import read_performance
    from bunraku.stage.registry import export as write
    from bunraku.stage.registry import exporters, format_of

    form = form or (format_of(output) if output is not None else "csv")
    if form not in exporters():
        raise BadInput(f"there is no export format {form!r}; there are {', '.join(exporters())}")
    if overlay is not None:
        raise BadInput("a performance carries its character; --overlay is for exporting a character")
    target = output or named_after(source, exporters()[form].suffix)
    check_target(target)
    options = parse_keywords(exporters()[form].function, words, f"the {form} format")
    given = read_performance(source)
    if "servos" in options:
        _check_servos(given, options["servos"], words)
    write(given, form, target, **options)
    say(f"wrote {target}")
    return 0


def _check_servos(performance: Performance, servos: Any, words: list[str]) -> None:
    """Refuse a file of calibrations that names what is no channel; the file is the value of --servos among the words."""
    from bunraku.stage.servos import servos_of

    names = {channel.name for channel in performance.channels}
    given = servos_of(servos)
    stray = next((str(name) for name in given if name not in names), None) if isinstance(given, dict) else None
    if stray is not None:
        place = next(k for k, word in enumerate(words) if word.partition("=")[0] == "--servos")
        file = words[place].partition("=")[2] or words[place + 1]
        raise BadInput(f"{stray[:60]!r} is no channel of the performance; {known_names(stray, names)}", file=file)


def _character(source: str, output: Path, overlay: Path | None) -> int:
    """Write a character, or the one that a performance carries, and say what the reader and the writer left out."""
    from bunraku.formats.registry import read_performance, write_character

    carried = source.lower().endswith(".npz")
    if carried and overlay is not None:
        raise BadInput("a performance carries its character as it was performed; --overlay cannot change it", file=source)
    who = read_performance(source).character if carried else character_from(source, overlay)
    for note in write_character(output, who):
        say(f"{output}: {note}")
    say(f"wrote {output}")
    return 0
