"""Where something stands in a file, so that an error can name file, line and field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches

from bunraku.errors import BadInput

Steps = tuple[str | int, ...]


@contextmanager
def located(file: str | None, place: str | None = None) -> Iterator[None]:
    """Errors raised inside that name no file are about this one, and this place in it."""
    try:
        yield
    except BadInput as error:
        if error.file is not None:
            raise
        raise BadInput(str(error), file=file, place=place) from error


@dataclass(frozen=True)
class Where:
    """A place within a structured file: the steps from its top (``("motors", 3, "rate_hz")``) and the lines they stand on."""

    file: str
    steps: Steps = ()
    lines: Mapping[Steps, int] = field(default_factory=dict)
    prefix: str = ""

    def at(self, *steps: str | int) -> Where:
        """A place further inside."""
        return Where(self.file, (*self.steps, *steps), self.lines, self.prefix)

    @property
    def line(self) -> int | None:
        """The line of this place, or of the nearest one around it that is known (1 is the first)."""
        for length in range(len(self.steps), -1, -1):
            if self.steps[:length] in self.lines:
                return self.lines[self.steps[:length]]
        return None

    @property
    def place(self) -> str:
        """The place in words: ``line 12, motors[3].rate_hz``."""
        path = self.prefix
        for step in self.steps:
            path += f"[{step}]" if isinstance(step, int) else (f".{step}" if path else step)
        line = self.line
        return ", ".join(part for part in (f"line {line}" if line else "", path[:200]) if part)

    def wrong(self, message: str) -> BadInput:
        """An error at this place."""
        return BadInput(message, file=self.file, place=self.place or None)


def known_names(name: str, known: Iterable[str], limit: int = 12) -> str:
    """Near matches of ``name`` and the names that are known, as the end of an error message."""
    listed = sorted(known)
    close = get_close_matches(name[:100], listed, n=2, cutoff=0.6)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    more = f" and {len(listed) - limit} more" if len(listed) > limit else ""
    return f"{hint}known: {', '.join(listed[:limit])}{more}" if listed else "none is known"
