"""The trail: keeps the journal such that doing it again, from what was saved, arrives at the document of the history.

The journal begins at the document that was saved; the history may reach further back, and what was undone before saving lies ahead
of it. A step to a document that the journal cannot reach is therefore written as a copy of that document, and the journal begins
there; so is the first step after one that the disk refused, or after the journal was removed under the studio. A copy holds what
has no source; the rest lies in the project.
"""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import shutil
from pathlib import Path
from typing import Any

from bunraku.errors import BadInput, BunrakuError
from bunraku.studio.document import Document
from bunraku.studio.history import History
from bunraku.studio.project import Project
from bunraku.studio.skinning import recipe_trouble
from bunraku.system.files import is_link

COPY = "="
"""A line of the journal that begins so names a copy of a document to begin at."""

_NAME = re.compile(r"copy-[0-9a-f]{16}")
_NOUNS = {"character": "base", "clip": "clip"}
"""The kinds of sources, and the fields of a document that come from them."""


class Trail:
    """Writes the journal of a history.

    Args:
        journal: Where lines go: ``append``, ``restart`` and ``clear``.
        history: As the journal leads to it now: it begins at its first document.
    """

    def __init__(self, journal: Any, history: History) -> None:
        self._journal = journal
        self._first, self._last = 0, len(history.edits)
        self._broken = False

    def did(self, line: str, before: History, after: History) -> None:
        """An edit was made: ``line`` leads from one history to the other."""
        self._first = max(0, self._first - (after.dropped - before.dropped))
        self._last = after.at
        self._write(line, after)

    def stepped(self, history: History) -> None:
        """The history is at another of its documents."""
        if self._first <= history.at <= self._last:
            self._write(f"@{history.at - self._first}", history)
        else:
            self._copy(history)

    def saved(self, history: History) -> None:
        """The present document was saved: the journal starts afresh."""
        self._journal.clear()
        self._first = self._last = history.at
        self._broken = False
        remove_copies(self._journal.path.parent)

    def _write(self, line: str, history: History) -> None:
        if self._broken or self._journal.lost:
            self._copy(history)
            return
        try:
            self._journal.append(line)
        except BunrakuError:
            self._broken = True
            raise

    def _copy(self, history: History) -> None:
        self._broken = True
        name = f"copy-{secrets.token_hex(8)}"
        document = history.document
        lacking = {noun: None for kind, noun in _NOUNS.items() if document.sources.get(kind)}
        try:
            Project(self._journal.path.parent / name).save(document.changed(sources={}, **lacking))
            self._journal.restart(COPY + json.dumps({"folder": name, "sources": dict(document.sources)}))
        except BunrakuError:
            remove_copies(self._journal.path.parent, only=name)
            raise
        self._first = self._last = history.at
        self._broken = False
        remove_copies(self._journal.path.parent, but=name)


def read_copy(line: str, own: Path, folder: Path) -> Document:
    """The document that a line of the journal in the folder ``own`` names; what it has from sources is read in the project."""
    try:
        content = json.loads(line.removeprefix(COPY))
        name, sources = content["folder"], dict(content["sources"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(f"{line[:60]!r} names no copy of a document") from error
    texts = all(key in _NOUNS and isinstance(value, str) for key, value in sources.items())
    if not isinstance(name, str) or not _NAME.fullmatch(name) or not texts or not (own / name).is_dir() or is_link(own / name):
        raise BadInput(f"{line[:60]!r} names no copy of a document")
    copy, project = Project(own / name).load(), Project(folder)
    if trouble := recipe_trouble(project, copy):
        raise BadInput(trouble)
    nouns: dict[str, Any] = {}
    if copy.base is None and sources.get("character"):
        nouns["base"] = project.read_character(sources["character"])
    if copy.clip is None and sources.get("clip"):
        nouns["clip"] = project.read_clip(sources["clip"])
    return copy.changed(sources=sources, **nouns)


def remove_copies(own: Path, *, but: str = "", only: str = "") -> None:
    """Remove copies that no journal names: all, all but one, or only one."""
    with contextlib.suppress(OSError):
        for one in own.iterdir():
            if _NAME.fullmatch(one.name) and one.name != but and only in ("", one.name) and not is_link(one):
                shutil.rmtree(one, ignore_errors=True)
