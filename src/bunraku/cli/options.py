"""Performer options on the command line, generated from the performer's own dataclass: never retyped."""

from __future__ import annotations

import types
import typing
from typing import Any

from typer.core import TyperCommand

from bunraku.errors import BadInput

__all__ = ["OpenCommand", "describe_options", "parse_options"]


class OpenCommand(TyperCommand):
    """A command whose undeclared flags, with their values, are set aside in ``context.args`` wherever they stand."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Part the declared words from the others, parse the first, keep the second."""
        declared = {name for parameter in self.get_params(ctx) for name in (*parameter.opts, *parameter.secondary_opts)}
        own, aside, rest = [], [], list(args)
        while rest:
            word = rest.pop(0)
            if word == "--" or not word.startswith("--") or word.partition("=")[0] in declared:
                own.append(word)
                continue
            aside.append(word)
            if "=" not in word and rest and not rest[0].startswith("--"):
                aside.append(rest.pop(0))
        result = super().parse_args(ctx, own)
        ctx.args = aside
        return result


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
