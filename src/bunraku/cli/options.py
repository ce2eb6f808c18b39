"""Performer options on the command line, generated from the performer's own dataclass: never retyped."""

from __future__ import annotations

import types
import typing
from typing import Any

from bunraku.errors import BadInput

__all__ = ["describe_options", "parse_options"]


def parse_options(performer: str, words: list[str]) -> dict[str, Any]:
    """Options from words such as ``--compress-beyond 0.2 --held legs,head``, converted to the types of the dataclass."""
    from bunraku.performers.performer import options_of, performer_class

    fields = {field.name: field for field in options_of(performer)}
    hints = typing.get_type_hints(performer_class(performer))
    found: dict[str, Any] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, _, value = word.removeprefix("--").partition("=")
        key = name.replace("-", "_")
        if not word.startswith("--") or key not in fields:
            known = ", ".join("--" + known.replace("_", "-") for known in fields)
            raise BadInput(f"{word!r} is no option of the performer {performer!r}; it has {known}")
        if not value:
            if not rest:
                raise BadInput(f"--{name} needs a value: {fields[key].metadata.get('meaning', '')}")
            value = rest.pop(0)
        found[key] = _convert(value, hints[key], name)
    return found


def _convert(text: str, kind: Any, name: str) -> Any:
    origin = typing.get_origin(kind)
    if origin is typing.Literal:
        choices = typing.get_args(kind)
        if text not in choices:
            raise BadInput(f"--{name} is one of {', '.join(choices)}; {text!r} arrived")
        return text
    if origin is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if origin is types.UnionType:
        kind = typing.get_args(kind)[0]
    if kind is bool:
        if text.lower() not in ("true", "false", "yes", "no", "1", "0"):
            raise BadInput(f"--{name} is yes or no; {text!r} arrived")
        return text.lower() in ("true", "yes", "1")
    try:
        return kind(text)
    except ValueError:
        raise BadInput(f"--{name} takes a number; {text!r} arrived") from None


def describe_options(performer: str) -> list[str]:
    """One line an option: flag, default, unit, range, meaning."""
    from bunraku.performers.performer import options_of

    lines = []
    for field in options_of(performer):
        meta = field.metadata
        default = ",".join(field.default) if isinstance(field.default, tuple) else field.default
        unit = f" {meta['unit']}" if meta.get("unit") else ""
        span = "" if meta.get("low") is None and meta.get("high") is None else f", {meta.get('low')} to {meta.get('high')}"
        shown = "none" if default == "" else f"{default}"
        lines.append(f"--{field.name.replace('_', '-'):18} {meta.get('meaning', '')} (default {shown}{unit}{span})")
    return lines
