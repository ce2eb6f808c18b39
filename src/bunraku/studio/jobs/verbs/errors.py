"""Errors of tracked bodies before and after, as arrays: of flexible characters this takes two simulations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bunraku.errors import BadInput
from bunraku.formats.registry import read_performance
from bunraku.optimization.monitor import Event, Monitor
from bunraku.studio.jobs.exchange import bytes_of, read_arrays, write_arrays
from bunraku.studio.jobs.verbs.arguments import Arguments
from bunraku.verification.body_errors import BodyErrors, body_errors


def errors(arguments: dict[str, Any], folder: Path, monitor: Monitor) -> tuple[dict[str, Any], bool]:
    """{performance} -> the arrays' file: times (n,), before and after (n, k), names and a note as bytes of text."""
    given = Arguments(arguments, "errors")
    performance = read_performance(given.text("performance"))
    given.finish()
    monitor.report(Event("measuring", None, "how far bodies are from where they were wished"))
    measured = body_errors(performance)
    text = bytes_of((measured.note.replace("\n", " "), *measured.names))
    arrays: dict[str, Any] = {"times": measured.times, "after": measured.after, "text": text}
    if measured.before is not None:
        arrays["before"] = measured.before
    path = folder / "errors.npz"
    write_arrays(path, arrays)
    return {"path": str(path)}, False


def read_errors(path: Path) -> BodyErrors:
    """What was written."""
    arrays: dict[str, Any] = dict(read_arrays(path))
    try:
        note, *names = arrays["text"].tobytes().decode(errors="replace").split("\n")
        return BodyErrors(arrays["times"], tuple(names), arrays.get("before"), arrays["after"], note)
    except KeyError as error:
        raise BadInput(f"holds no errors: {error} is missing", file=str(path)) from error
