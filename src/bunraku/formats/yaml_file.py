"""YAML files of ours: a header, plain data, and the line each entry stands on.

The YAML accepted is a safe, bounded part of YAML 1.2: mappings with text keys, lists, texts, numbers, true / false, null. So
``No`` is a text and ``1e-3`` a number. No tags but ``!!str``, one document, keys once each, nesting and total size bounded
(aliases count in full, so a small file cannot unfold into a huge one). Built from parser events without recursion, so depth
cannot exhaust a stack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from bunraku.errors import BadInput
from bunraku.formats.files import check_size, decoded
from bunraku.formats.places import Steps, Where

Migration = Callable[[dict[str, Any]], dict[str, Any]]

CURRENT: dict[str, int] = {
    "batch": 1,
    "character": 1,
    "clip": 1,
    "device": 1,
    "overlay": 1,
    "performance": 1,
    "project": 1,
    "rig": 1,
    "study": 1,
}
MIGRATIONS: dict[tuple[str, int], Migration] = {}


def migrate(kind: str, version: int, data: dict[str, Any], *, file: str, place: str | None = None) -> dict[str, Any]:
    """``data`` in today's version of ``kind``. Kinds not listed in ``CURRENT`` are at version 1."""
    current = CURRENT.get(kind, 1)
    if version > current:
        raise BadInput(
            f"is {kind}/{version}, made by a newer Bunraku; this one reads {kind}/{current}: upgrade (pip install -U bunraku)",
            file=file,
            place=place,
        )
    while version < current:
        if (kind, version) not in MIGRATIONS:
            raise BadInput(f"is {kind}/{version}, which no Bunraku can read; {kind}/{current} is current", file=file, place=place)
        data = MIGRATIONS[kind, version](data)
        version += 1
    return data


MAX_YAML_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 40
MAX_ENTRIES = 1_000_000
MAX_LINES = 200_000

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_INT = re.compile(r"[-+]?[0-9]{1,18}\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,6})?\Z")
_HEADER = re.compile(r"([a-z][a-z-]{0,40})/([0-9]{1,6})")
_SPECIAL: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}


@dataclass(frozen=True)
class YamlFile:
    """The contents of one of our YAML files, header removed and migrated to the current version."""

    kind: str
    data: dict[str, Any]
    file: str
    lines: Mapping[Steps, int] = field(default_factory=dict)

    @property
    def where(self) -> Where:
        """The top of the file, for errors."""
        return Where(self.file, (), self.lines)


def read_yaml(data: bytes, *, file: str, kind: str | None = None) -> YamlFile:
    """Read a file that starts with ``bunraku: KIND/VERSION``; with ``kind`` None any kind of ours is accepted."""
    content, lines = load_yaml(data, file=file)
    top = Where(file, (), lines)
    expected = f"bunraku: {kind}/{CURRENT.get(kind, 1)}" if kind else "bunraku: KIND/VERSION, for example bunraku: clip/1"
    if not isinstance(content, dict):
        raise BadInput(f"holds no mapping; the first line must be {expected!r}", file=file, place="line 1")
    if "bunraku" not in content:
        raise BadInput(f"has no header; the first line must be {expected!r}", file=file, place="line 1")
    header = content.pop("bunraku")
    match = _HEADER.fullmatch(header) if isinstance(header, str) else None
    if match is None:
        raise top.at("bunraku").wrong(f"the header {str(header)[:60]!r} is not understood; {expected!r} is meant")
    if kind is not None and match[1] != kind:
        raise top.at("bunraku").wrong(f"this is a {match[1]} file; a {kind} file is needed (header {expected!r})")
    place = top.at("bunraku").place
    return YamlFile(match[1], migrate(match[1], int(match[2]), content, file=file, place=place), file, lines)


def kind_of_yaml(data: bytes, *, file: str) -> str:
    """The KIND of a file that starts with ``bunraku: KIND/VERSION``; only as much is parsed as it takes to find that entry."""
    check_size(data, file=file, limit=MAX_YAML_BYTES)
    builder = _Builder(file)
    header: Any = None
    try:
        for event in yaml.parse(decoded(data, file=file), Loader=_LOADER):
            builder.take(event)
            if len(builder.levels) == 1 and isinstance(builder.levels[0].value, dict):
                header = builder.levels[0].value.get("bunraku")
                if header is not None:
                    break
    except (yaml.YAMLError, ValueError, RecursionError):
        header = None
    match = _HEADER.fullmatch(header) if isinstance(header, str) else None
    return match[1] if match is not None else read_yaml(data, file=file).kind


def load_yaml(data: bytes, *, file: str) -> tuple[Any, dict[Steps, int]]:
    """Plain YAML data and the line (from 1) of every entry, by the steps that lead to it."""
    check_size(data, file=file, limit=MAX_YAML_BYTES)
    builder = _Builder(file)
    try:
        for event in yaml.parse(decoded(data, file=file), Loader=_LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadInput(f"is not valid YAML: {error.problem or error}"[:300], file=file, place=f"line {line}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"is not valid YAML: {error}"[:300], file=file, place=f"line {builder.line}") from error
    return builder.root, builder.lines


def dump_yaml(kind: str, data: Mapping[str, Any]) -> bytes:
    """The bytes of one of our files: header first, then ``data`` in its order; numbers so that they read back exactly."""
    content = {"bunraku": f"{kind}/{CURRENT.get(kind, 1)}", **data}
    flow = None if any(isinstance(value, dict | list) for value in data.values()) else False
    text: str = yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=130, default_flow_style=flow)
    return text.encode()


class _Dumper(_DUMPER):  # type: ignore[misc]
    """Safe dumper without aliases, numbers in a spelling that YAML 1.1 and 1.2 both read as numbers."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_float(dumper: Any, value: float) -> Any:
    text = {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}.get(repr(value), repr(value))
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    return dumper.represent_scalar("tag:yaml.org,2002:float", text)


def _represent_text(dumper: Any, value: str) -> Any:
    """Texts that would read as something else are quoted."""
    style = None if isinstance(_plain(value), str) else "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(float, _represent_float)
_Dumper.add_representer(str, _represent_text)


@dataclass
class _Level:
    """A mapping or list under construction."""

    value: dict[str, Any] | list[Any]
    steps: Steps
    anchor: str | None
    entries: int = 1
    height: int = 1
    key: str | None = None


class _Builder:
    """Builds plain data from YAML events."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.root: Any = None
        self.lines: dict[Steps, int] = {}
        self.line = 1
        self.levels: list[_Level] = []
        self.anchors: dict[str, tuple[Any, int, int]] = {}
        self.documents = 0

    def wrong(self, message: str) -> BadInput:
        return BadInput(message, file=self.file, place=f"line {self.line}")

    def take(self, event: Any) -> None:
        if event.start_mark is not None:
            self.line = event.start_mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._tag(event, "map" if isinstance(event, yaml.MappingStartEvent) else "seq")
            if len(self.levels) >= MAX_DEPTH:
                raise self.wrong(f"is nested deeper than {MAX_DEPTH} levels; such a file is not ours")
            if self._expects_key():
                raise self.wrong("a key must be a plain text, not a list or a mapping")
            empty: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
            self.levels.append(_Level(empty, self._steps(), event.anchor))
            self.lines.setdefault(self.levels[-1].steps, self.line)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            level = self.levels.pop()
            self._put(level.value, level.entries, level.anchor, level.height)
        elif isinstance(event, yaml.AliasEvent):
            if self._expects_key():
                raise self.wrong("a key must be a plain text, not an alias")
            if event.anchor not in self.anchors:
                raise self.wrong(f"the alias *{str(event.anchor)[:40]} stands before its anchor, or inside it")
            value, entries, height = self.anchors[event.anchor]
            if len(self.levels) + height > MAX_DEPTH:
                raise self.wrong(f"is nested deeper than {MAX_DEPTH} levels; such a file is not ours")
            self.lines.setdefault(self._steps(), self.line)
            self._put(value, entries, None, height)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise self.wrong("holds a second document ('---'); one is read")

    def _scalar(self, event: Any) -> None:
        if self._expects_key():
            level = self.levels[-1]
            if event.value in level.value:
                raise self.wrong(f"the key {event.value[:60]!r} stands twice in the same place; keep one")
            level.key = event.value
            self.lines[self._steps()] = self.line
            return
        if event.tag not in (None, "!", "tag:yaml.org,2002:str"):
            raise self.wrong(f"the tag {event.tag[:60]!r} is not accepted; write plain texts and numbers")
        plain = event.style in (None, "") and event.tag is None
        if self.levels and isinstance(self.levels[-1].value, list) and len(self.lines) < MAX_LINES:
            self.lines[self._steps()] = self.line
        self._put(_plain(event.value) if plain else event.value, 1, event.anchor, 0)

    def _tag(self, event: Any, kind: str) -> None:
        if event.tag not in (None, "!", f"tag:yaml.org,2002:{kind}"):
            raise self.wrong(f"the tag {event.tag[:60]!r} is not accepted; write plain lists and mappings")

    def _expects_key(self) -> bool:
        return bool(self.levels) and isinstance(self.levels[-1].value, dict) and self.levels[-1].key is None

    def _steps(self) -> Steps:
        if not self.levels:
            return ()
        level = self.levels[-1]
        return (*level.steps, level.key if level.key is not None else len(level.value))

    def _put(self, value: Any, entries: int, anchor: str | None, height: int) -> None:
        """Add a finished value to the level it stands in; ``entries`` counts it with all that is in it, ``height`` its levels."""
        if anchor is not None:
            self.anchors[anchor] = (value, entries, height)
        if not self.levels:
            self.root = value
            return
        level = self.levels[-1]
        level.entries += entries
        level.height = max(level.height, height + 1)
        if level.entries > MAX_ENTRIES:
            raise self.wrong(f"unfolds to more than {MAX_ENTRIES} entries; such a file is not read")
        if isinstance(level.value, dict):
            assert level.key is not None  # noqa: S101
            level.value[level.key] = value
            level.key = None
        else:
            level.value.append(value)


def _plain(text: str) -> Any:
    """The value of an unquoted scalar, by the YAML 1.2 core schema (without octal and hexadecimal)."""
    if text in _SPECIAL:
        return _SPECIAL[text]
    if _INT.match(text):
        return int(text)
    if len(text) <= 400 and _FLOAT.match(text):
        return float(text)
    return text
