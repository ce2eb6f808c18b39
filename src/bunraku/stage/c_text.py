"""Foreign names and numbers as text that a C++ compiler takes: comments, strings, identifiers, arrays."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable


def plain(text: str) -> str:
    """Text safe in any comment and in a string: printable ASCII without quotes, backslashes, trigraphs and comment marks."""
    return re.sub(r"[^ !#-\[\]-~]|\?\?|\*/|/\*", "_", " ".join(text.split())) or "_"


def identifier(prefix: str, text: str, taken: set[str]) -> str:
    """A C++ name made from ``text``, different from those taken, to which it is added."""
    name = f"{prefix}_{re.sub(r'[^0-9A-Za-z]+', '_', text).strip('_')}"
    chosen, number = name, 2
    while chosen.lower() in taken:
        chosen, number = f"{name}_{number}", number + 1
    taken.add(chosen.lower())
    return chosen


def float_text(number: float) -> str:
    """A float literal of nine digits, which is all that 32 bits hold."""
    text = f"{number:.9g}"
    return f"{text}f" if any(mark in text for mark in ".e") else f"{text}.0f"


def array_lines(numbers: Iterable[float], indent: int = 4) -> str:
    """Numbers between the braces of an array, in lines of up to 118 characters."""
    return textwrap.fill(", ".join(map(str, numbers)), 118, initial_indent=" " * indent, subsequent_indent=" " * indent)
