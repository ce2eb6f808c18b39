"""The journal: every step of the history as a line on disk, so that a crash loses nothing."""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from bunraku.errors import BadInput, BunrakuError
from bunraku.formats.atomic import write_atomically
from bunraku.formats.files import read_bytes, refuse_link
from bunraku.studio.document import Document
from bunraku.studio.edits.registry import Edit, apply
from bunraku.studio.history import History
from bunraku.studio.trail import COPY, read_copy
from bunraku.system.files import open_plain, replace

UNDO, REDO, BASE = "-", "+", "#"
MAX_JOURNAL_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Recovered:
    """The history of a journal, how many of its steps could be done again, and what stopped it, if something did."""

    history: History
    steps: int
    trouble: str = ""


class Journal:
    """Lines appended to a file, each flushed to disk.

    ``#`` with the hash of the document it starts from, an edit as
    JSON, ``-`` for undo, ``+`` for redo, ``@k`` for a jump, ``=`` for a copy of a document to begin at.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.base = ""
        """The content hash of the document that was saved last: the journal begins with it, and is of no use to another."""
        self._begun = False

    @property
    def lost(self) -> bool:
        """Whether the lines written so far are gone: somebody has removed the file, or the folder."""
        return self._begun and not self.waiting

    def append(self, line: str) -> None:
        """Add a line; raises BadInput when the disk refuses, with what was there before left whole."""
        refuse_link(self.path.parent)
        refuse_link(self.path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = open_plain(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                before = os.fstat(handle).st_size
                data = (f"{BASE}{self.base}\n" if self.base and not before else "").encode() + line.encode() + b"\n"
                try:
                    written = os.write(handle, data)
                    if written < len(data):
                        raise OSError(28, "No space left on device")
                    os.fsync(handle)
                except OSError:
                    with contextlib.suppress(OSError):
                        os.ftruncate(handle, before)
                    raise
            finally:
                os.close(handle)
        except OSError as error:
            raise BadInput(f"the journal cannot be written ({error.strerror or error})", file=str(self.path)) from error
        self._begun = True

    def restart(self, line: str) -> None:
        """Put one line in place of all; raises BadInput when the disk refuses, with what was there before left whole."""
        write_atomically(self.path, line.encode() + b"\n")
        self._begun = True

    def clear(self) -> None:
        """Forget everything: the project was saved."""
        with contextlib.suppress(OSError):
            self.path.unlink()
        self._begun = False

    @property
    def waiting(self) -> bool:
        """Whether there are steps that were never saved."""
        with contextlib.suppress(OSError):
            return self.path.lstat().st_size > 0
        return False

    def replay(self, document: Document, folder: Path) -> Recovered:
        """Do all lines again, from ``document`` on. A last line cut in half, or an edit that is refused, ends the replay there.

        What could not be followed is set aside in a file beside, so that new lines go on from what could. BadInput when the journal
        is a link, a folder or a pipe, as one from a stranger may be: nothing is followed, nobody waits.
        """
        if os.path.lexists(self.path) and not stat.S_ISREG(self.path.lstat().st_mode):
            raise BadInput("this is no plain file, but a link, a folder or a pipe; remove it", file=str(self.path))
        try:
            return self._replayed(document, folder)
        finally:
            self._begun = self.waiting

    def _replayed(self, document: Document, folder: Path) -> Recovered:
        history, steps = History.begin(document), 0
        if not self.waiting:
            return Recovered(history, 0)
        try:
            text = read_bytes(self.path, limit=MAX_JOURNAL_BYTES, follow=False).decode("utf-8", "replace")
        except BunrakuError as error:
            with contextlib.suppress(OSError):  # new edits start afresh, and what could not be read is kept
                replace(self.path, self.path.with_suffix(".lost"))
            return Recovered(history, 0, str(error))
        lines = [line for line in text.split("\n") if line]
        head: list[str] = []
        if lines and lines[0].startswith(BASE):
            if lines[0][len(BASE) :] != document.content:  # saved, but this was not cleared any more; or changed by hand
                self._set_aside([], lines)
                many = "its step begins" if len(lines) == 2 else f"its {len(lines) - 1} steps begin"
                kept = self.path.with_suffix(".lost").name
                return Recovered(history, 0, f"{many} at another document than the one saved here; what it says is kept in {kept}")
            head, lines = lines[:1], lines[1:]
        for number, line in enumerate(lines):
            try:
                history = _stepped(history, line, folder, self.path.parent)
            except BunrakuError as error:
                self._set_aside([*head, *lines[:number]], lines[number:])
                return Recovered(history, steps, f"step {number + 1}: {error}")
            steps += 1
        return Recovered(history, steps)

    def _set_aside(self, kept: list[str], lost: list[str]) -> None:
        with contextlib.suppress(BunrakuError):
            write_atomically(self.path.with_suffix(".lost"), "".join(f"{line}\n" for line in lost).encode())
            write_atomically(self.path, "".join(f"{line}\n" for line in kept).encode())


def _stepped(history: History, line: str, folder: Path, own: Path) -> History:
    if line.startswith(COPY):
        return History.begin(read_copy(line, own, folder))
    if line == UNDO:
        return history.undone()
    if line == REDO:
        return history.redone()
    if line.startswith("@") and line[1:].isdigit() and len(line) < 12:
        return history.jumped(int(line[1:]))
    one = Edit.read(line)
    return history.done(one, apply(history.document, one, folder=folder))
