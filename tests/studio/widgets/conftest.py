"""Widgets read back: parsed as XML, their elements by what they send."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest

Parsed = ET.Element


class Reader:
    """One widget, parsed: elements by the event they send."""

    def __init__(self, text: str) -> None:
        assert len(text.encode()) <= 60_000
        self.text = text
        self.root = ET.fromstring(text)

    def sending(self, event: str, **fields: object) -> list[Parsed]:
        """The elements that send an event by click or drag, with those data fields."""
        wanted = {f"data-{name}": str(value) for name, value in fields.items()}
        return [
            one
            for one in self.root.iter()
            if event in (one.get("data-click"), one.get("data-drag")) and all(one.get(k) == v for k, v in wanted.items())
        ]

    def named(self, tag: str, class_: str = "") -> list[Parsed]:
        """The elements of a tag, and class."""
        return [one for one in self.root.iter() if one.tag.rpartition("}")[2] == tag and (not class_ or one.get("class") == class_)]

    @property
    def words(self) -> str:
        """All text."""
        return " ".join(part.strip() for part in self.root.itertext() if part.strip())


@pytest.fixture
def read() -> Callable[[str], Reader]:
    """Parse a widget; it must be XML and at most 60 kB."""
    return Reader


@pytest.fixture(params=["<script>alert(1)</script>", '"><img src=x onerror=y>', "a&b;' \x00\x1b\ud800", "]]>" + "x" * 3000])
def hostile(request: pytest.FixtureRequest) -> str:
    """A name that tries to become markup."""
    return str(request.param)
