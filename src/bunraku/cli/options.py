"""Options on the command line, generated from the dataclass or function that takes them: never retyped."""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand

from bunraku.errors import BadInput


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
        if ctx.args:
            raise BadInput(f"{ctx.args[0]!r} has no place here; bunraku {self.name} --help says what is taken")
        ctx.args = aside
        return result


def parse_options(performer: str, words: list[str]) -> dict[str, Any]:
    """Options from words such as ``--compress-beyond 0.2 --held legs,head``, converted to the types of the dataclass."""
    from bunraku.performers.performer import performer_class

    return parse_fields(performer_class(performer), words, f"the performer {performer!r}")


def parse_fields(kind: Any, words: list[str], who: str) -> dict[str, Any]:
    """The same for any dataclass whose fields are options."""
    hints = typing.get_type_hints(kind)
    return _parse(words, {field.name: hints[field.name] for field in dataclasses.fields(kind)}, who)


def parse_keywords(function: Callable[..., Any], words: list[str], who: str) -> dict[str, Any]:
    """Keyword-only arguments of ``function`` from words, converted to their types; a mapping is read from a YAML file."""
    hints = typing.get_type_hints(function)
    parameters = inspect.signature(function).parameters.values()
    kinds = {one.name: hints[one.name] for one in parameters if one.kind is one.KEYWORD_ONLY}
    return _parse(words, kinds, who)


def _parse(words: list[str], kinds: dict[str, Any], who: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, _, value = word.removeprefix("--").partition("=")
        key = name.replace("-", "_")
        if not word.startswith("--") or key not in kinds:
            known = ", ".join("--" + known.replace("_", "-") for known in kinds) or "no option of its own"
            raise BadInput(f"{word!r} is no option of {who}; it has {known}")
        if not value:
            if not rest:
                raise BadInput(f"--{name} needs a value")
            value = rest.pop(0)
        options[key] = _convert(value, kinds[key], name)
    return options


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
        return _convert(text, typing.get_args(kind)[0], name)
    if origin is collections.abc.Mapping:
        return _mapping(text)
    if kind is bool:
        if text.lower() not in ("true", "false", "yes", "no", "1", "0"):
            raise BadInput(f"--{name} is yes or no; {text!r} arrived")
        return text.lower() in ("true", "yes", "1")
    try:
        return kind(text)
    except ValueError:
        raise BadInput(f"--{name} takes a number; {text!r} arrived") from None


def _mapping(path: str) -> Any:
    from bunraku.formats.files import read_bytes
    from bunraku.formats.yaml_file import load_yaml

    content, _ = load_yaml(read_bytes(path), file=path)
    if not isinstance(content, dict):
        raise BadInput("a mapping of names to settings is needed", file=path)
    return content


def describe_options(performer: str) -> list[str]:
    """One line an option of a performer: flag, default, unit, range, meaning."""
    from bunraku.performers.performer import performer_class

    return describe_fields(performer_class(performer))


def describe_fields(kind: Any) -> list[str]:
    """The same for any dataclass whose fields are options."""
    lines = []
    for field in dataclasses.fields(kind):
        meta = field.metadata
        default = ",".join(field.default) if isinstance(field.default, tuple) else field.default
        unit = f" {meta['unit']}" if meta.get("unit") else ""
        span = _span(meta.get("low"), meta.get("high"))
        shown = "none" if default in ("", ()) else f"{default}"
        lines.append(f"--{field.name.replace('_', '-'):18} {meta.get('meaning', '')} (default {shown}{unit}{span})")
    return lines


def _span(low: float | None, high: float | None) -> str:
    """The accepted range of an option, in words; empty when there is none."""
    if low is None and high is None:
        return ""
    if high is None:
        return f", at least {low}"
    return f", at most {high}" if low is None else f", {low} to {high}"
