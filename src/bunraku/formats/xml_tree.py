"""XML in: elements with the line they stand on, from a parser that refuses document types, entities and unbounded input.

Only elements and attributes are kept, and the text inside tags that the caller names; comments and processing instructions are not.
XML out: elements with escaped attributes, numbers that read back as the same double.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.formats.files import check_size

MAX_XML_BYTES = 64 * 1024 * 1024
MAX_ELEMENTS = 500_000
MAX_DEPTH = 300


@dataclass
class Element:
    """One element: its tag, its attributes, its children in order, and where it stands."""

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    @property
    def place(self) -> str:
        """The place in words: ``line 12, joint HeadYaw``."""
        name = self.attributes.get("name", "")[:80]
        return f"line {self.line}, {self.tag[:80]}{' ' + name if name else ''}"

    def wrong(self, message: str) -> BadInput:
        """An error at this element."""
        return BadInput(message, file=self.file, place=self.place)

    def all(self, tag: str) -> list[Element]:
        """The children with a tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """The first child with a tag, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def walk(self) -> Iterator[Element]:
        """The element itself and everything below it, in the order of the file."""
        waiting = [self]
        while waiting:
            here = waiting.pop()
            yield here
            waiting.extend(reversed(here.children))

    def get(self, key: str, default: str = "") -> str:
        """An attribute, without blanks around it."""
        return self.attributes.get(key, default).strip()

    def need(self, key: str) -> str:
        """An attribute that must be there and not be empty."""
        value = self.get(key)
        if not value:
            raise self.wrong(f'the attribute {key!r} is missing; write {key}="..."')
        return value

    def numbers(self, key: str, count: int | tuple[int, int]) -> NDArray[np.float64] | None:
        """The numbers of an attribute, or None when it is not there; ``count`` of them, or within (least, most)."""
        if key not in self.attributes:
            return None
        least, most = (count, count) if isinstance(count, int) else count
        words = self.attributes[key].split(maxsplit=most + 1)
        try:
            values = np.array([float(word) for word in words])
        except ValueError as error:
            raise self.wrong(f"{key}={self.attributes[key][:60]!r} holds something that is no number") from error
        if not least <= len(values) <= most:
            expected = str(least) if least == most else f"{least} to {most}"
            raise self.wrong(f"{key} takes {expected} numbers, {self.attributes[key][:60]!r} holds {len(values)}")
        if not np.all(np.isfinite(values)) or np.any(np.abs(values) > 1e30):
            raise self.wrong(f"{key}={self.attributes[key][:60]!r} is not finite (or beyond 1e30)")
        return values

    def number(self, key: str, default: float) -> float:
        """One number, or the default."""
        values = self.numbers(key, 1)
        return default if values is None else float(values[0])


class Notes:
    """What was dropped or changed while reading, each thing once, with how often it occurred."""

    def __init__(self) -> None:
        self._count: Counter[str] = Counter()

    def add(self, text: str) -> None:
        """Note something; the same text is counted."""
        self._count[text] += 1

    def listed(self) -> tuple[str, ...]:
        """The notes in the order in which they first came up, at most 500 of them."""
        lines = [text if count == 1 else f"{text} ({count} times)" for text, count in self._count.items()]
        return tuple(lines[:500] + ([f"and {len(lines) - 500} more"] if len(lines) > 500 else []))


def read_xml(data: bytes, *, file: str, root: tuple[str, ...], with_text: tuple[str, ...] = ()) -> Element:
    """The root element of an XML file, whose tag must be one of ``root``; the text of the tags ``with_text`` is kept."""
    check_size(data, file=file, limit=MAX_XML_BYTES)
    parser = expat.ParserCreate()
    stack: list[Element] = []
    roots: list[Element] = []
    pieces: list[str] = []
    total = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal total
        total += 1
        here = Element(tag, attributes, file, parser.CurrentLineNumber)
        if total > MAX_ELEMENTS:
            raise here.wrong(f"more than {MAX_ELEMENTS} elements; such a file is not read")
        if len(stack) >= MAX_DEPTH:
            raise here.wrong(f"nested deeper than {MAX_DEPTH} elements; such a file is not read")
        (stack[-1].children if stack else roots).append(here)
        stack.append(here)

    def end(tag: str) -> None:
        here = stack.pop()
        if tag in with_text:
            here.text = "".join(pieces)
            pieces.clear()

    def text(piece: str) -> None:
        if stack and stack[-1].tag in with_text:
            pieces.append(piece)

    def forbidden(*_arguments: Any) -> Any:
        message = "holds a document type or an entity, which could unfold without end or read other files; remove <!DOCTYPE ...>"
        raise BadInput(message, file=file, place=f"line {parser.CurrentLineNumber}")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    if with_text:
        parser.buffer_text = True
        parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = forbidden
    parser.EntityDeclHandler = forbidden
    parser.UnparsedEntityDeclHandler = forbidden
    parser.ExternalEntityRefHandler = forbidden
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise BadInput(
            f"is not well-formed XML: {expat.ErrorString(error.code)}", file=file, place=f"line {error.lineno}"
        ) from error
    except (ValueError, LookupError) as error:
        raise BadInput(f"is not readable XML: {error}", file=file, place=f"line {parser.CurrentLineNumber}") from error
    if roots[0].tag not in root:
        raise roots[0].wrong(f"the file starts with <{roots[0].tag[:40]}>; <{root[0]}> is needed here")
    return roots[0]


def element(depth: int, tag: str, /, **attributes: str) -> str:
    """One self-closing element on a line, indented by ``depth`` steps of two blanks."""
    text = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    return f"{'  ' * depth}<{tag}{text}/>"


def numbers(values: Iterable[float]) -> str:
    """Numbers with blanks between, the shortest text that reads back exactly (whole numbers without a point)."""
    return " ".join(_number(float(value)) for value in values)


def _number(value: float) -> str:
    if value == 0.0:
        return "0"
    text = repr(value)
    return text.removesuffix(".0")
