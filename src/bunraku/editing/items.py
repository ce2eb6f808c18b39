"""One item of a tuple, by its place: checked, exchanged, left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from bunraku.errors import BadInput

T = TypeVar("T")


def at(items: Sequence[T], index: int, what: str) -> T:
    """The item at a place; ``what`` they are, for the error."""
    if not 0 <= index < len(items):
        raise BadInput(f"{what} {index} of {len(items)} arrived; they count from 0")
    return items[index]


def exchanged(items: Sequence[T], index: int, new: T) -> tuple[T, ...]:
    """The items with a new one at a place."""
    return (*items[:index], new, *items[index + 1 :])


def without(items: Sequence[T], index: int, what: str) -> tuple[T, ...]:
    """The items without the one at a place."""
    at(items, index, what)
    return (*items[:index], *items[index + 1 :])
