"""XML out: elements with escaped attributes, numbers that read back as the same double."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import quoteattr


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
