"""From an exported file to its verdict: which character or performance it is of, and what is said beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.files import read_bytes
from bunraku.formats.places import located
from bunraku.formats.registry import read_character, read_performance
from bunraku.formats.yaml_file import load_yaml
from bunraku.motion import Performance
from bunraku.stage.readers.exported import Reading
from bunraku.stage.registry import exporters, read_exported
from bunraku.verification.exported import FileCommands, alone, in_place_of

Given = str | Path | Mapping[str, Any] | None


def is_exported(source: object) -> bool:
    """Whether a name is that of an exported file."""
    endings = tuple(exporter.suffix for exporter in exporters().values())
    return isinstance(source, (str, Path)) and Path(source).name.lower().endswith(endings)


def file_commands(
    source: str | Path,
    *,
    character: str | Path | Character | None = None,
    overlay: str | Path | None = None,
    against: str | Path | Performance | None = None,
    servos: Given = None,
    patch: Given = None,
    rate: float | None = None,
) -> FileCommands:
    """The commands of an exported file: of a ``character``, or in the place of those of the performance ``against``.

    ``servos``, ``patch``: the calibrations and the DMX patch that it was exported with, where the file does not say them; ``rate``
    [Hz] likewise.
    """
    if (character is None) == (against is None):
        raise BadInput("say whose commands these are: --character, or --against with the .performance.npz", file=str(source))
    if against is not None and overlay is not None:
        raise BadInput("a performance carries its character; --overlay goes with --character", file=str(source))
    original = against if isinstance(against, Performance) or against is None else read_performance(against)
    if original is not None:
        who = original.character
    else:
        who = character if isinstance(character, Character) else read_character(str(character), overlay=overlay)
    channels = original.channels if original is not None else ()
    reading = Reading(who, channels, _settings(servos), _settings(patch), rate)
    exported = read_exported(source, reading)
    with located(str(source)):
        own = exported.channels[0].rate if exported.channels else rate
        if rate is not None and own is not None and not abs(own - rate) <= max(exported.rate_error, 1e-6) * rate:
            raise BadInput(f"is at {own:g} Hz, and a rate of {rate:g} Hz was given; leave out --rate, or correct it")
        if original is not None:
            return in_place_of(original, exported.channels, exported.steps, rate_error=exported.rate_error)
        return alone(who, exported.channels, exported.steps, name=Path(source).name.partition(".")[0])


def _settings(given: Given) -> Mapping[str, Any] | None:
    """Settings by channel name, from a YAML file or as they are."""
    if given is None or isinstance(given, Mapping):
        return given
    content, _ = load_yaml(read_bytes(given), file=str(given))
    if not isinstance(content, dict):
        raise BadInput("a mapping of names to settings is needed", file=str(given))
    return content
