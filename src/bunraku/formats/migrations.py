"""Versions of our files and the way from older ones to today's.

A file starts with ``bunraku: KIND/VERSION``. When a format changes, its number in ``CURRENT`` rises by one and a function
that turns the old data into the new is registered for the old number; files are led through them, one version at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bunraku.errors import BadInput

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
