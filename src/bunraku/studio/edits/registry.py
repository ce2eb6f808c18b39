"""Edits: a name and plain arguments. So they can be written to a journal, read back, and done again.

To add one: a pure function from a document and keyword arguments (numbers, texts, lists, mappings) to a document, with
``@edit("name", "What it did, {argument}")``, in a module that `MODULES` names.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bunraku.errors import BadInput
from bunraku.studio.document import Document

MODULES = ("opening", "designing", "components", "going", "curves", "marks", "modes", "solving", "skins", "reaching")
MAX_EDIT_BYTES = 1_000_000
_EDITS: dict[str, tuple[Callable[..., Document], str]] = {}


@dataclass(frozen=True)
class Edit:
    """One change: its name and its arguments, which are plain data."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        text = self.text
        if len(text) > MAX_EDIT_BYTES:
            raise BadInput(f"the edit {self.name[:60]!r} holds {len(text)} bytes; at most {MAX_EDIT_BYTES} are kept in the journal")
        object.__setattr__(self, "arguments", MappingProxyType(json.loads(text)["arguments"]))

    @property
    def text(self) -> str:
        """The edit as one line of JSON."""
        try:
            return json.dumps({"name": self.name, "arguments": dict(self.arguments)}, allow_nan=False, separators=(",", ":"))
        except (TypeError, ValueError) as error:
            raise BadInput(f"the edit {self.name[:60]!r} has arguments that are not plain finite data ({error})") from error

    @classmethod
    def read(cls, text: str) -> Edit:
        """The edit of a line of JSON."""
        try:
            content = json.loads(text, parse_constant=_refuse)
            return cls(str(content["name"]), dict(content["arguments"]))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadInput(f"{text[:60]!r} is no edit; a line holds a name and arguments") from error


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number of ours")


def edit(name: str, words: str) -> Callable[[Callable[..., Document]], Callable[..., Document]]:
    """Register a function as the edit ``name``; ``words`` say what it did, with its arguments in braces."""

    def register(function: Callable[..., Document]) -> Callable[..., Document]:
        _EDITS[name] = (function, words)
        return function

    return register


def known_edits() -> dict[str, tuple[Callable[..., Document], str]]:
    """All edits by name: the function and what it says."""
    for module in MODULES:
        importlib.import_module(f"bunraku.studio.edits.{module}")
    return _EDITS


def apply(document: Document, one: Edit, *, folder: Path | None = None) -> Document:
    """The document after an edit. ``folder`` is the project's: files that an edit names are read from there and nowhere else."""
    if one.name not in known_edits():
        raise BadInput(f"there is no edit {one.name[:60]!r}; there are {', '.join(sorted(known_edits()))}")
    function, _ = _EDITS[one.name]
    taken = inspect.signature(function).parameters
    arguments = dict(one.arguments)
    if "folder" in taken:
        arguments["folder"] = folder
    try:
        inspect.signature(function).bind(document, **arguments)
    except TypeError as error:
        accepted = ", ".join(name for name in taken if name not in ("document", "folder"))
        raise BadInput(f"the edit {one.name!r} does not take {sorted(one.arguments)} ({error}); it takes {accepted}") from error
    try:
        return function(document, **arguments)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        raise BadInput(f"the edit {one.name!r} cannot use {one.text[:200]} ({type(error).__name__}: {error})") from error


def words_of(one: Edit) -> str:
    """What an edit did, in words."""
    known = known_edits().get(one.name)
    if known is None:
        return one.name
    shown = {key: _short(value) for key, value in one.arguments.items()}
    defaults = {
        key: _short(parameter.default)
        for key, parameter in inspect.signature(known[0]).parameters.items()
        if parameter.default is not parameter.empty
    }
    return known[1].format_map(_Missing(defaults | shown))


class _Missing(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return ""


def _short(value: Any) -> str:
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.3g}"
    return str(value)[:40]
