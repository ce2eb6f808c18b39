"""What goes wrong, in words a person can act on.

Every error that Bunraku raises on purpose is a :class:`BunrakuError`. Its message is one line that says what
arrived, where, what would be accepted and what to do. Failure to converge is no error: it is a result with a status.
"""

from __future__ import annotations


class BunrakuError(Exception):
    """Base of all errors raised by Bunraku; the message is one line."""

    exit_code = 2


class BadInput(BunrakuError):
    """The input cannot be used: what arrived, where, what is accepted, what to do."""

    def __init__(self, message: str, *, file: str | None = None, place: str | None = None) -> None:
        where = ", ".join(part for part in (file, place) if part)
        super().__init__(" ".join(f"{where}: {message}".split()) if where else " ".join(message.split()))
        self.file = file
        self.place = place


class MissingExtra(BunrakuError):
    """An optional dependency is not installed; the message carries the pip command that installs it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f'{purpose} needs the package {package}; install it with: pip install "bunraku[{extra}]"')


class Cancelled(BunrakuError):
    """The user cancelled before there was any result worth keeping."""

    exit_code = 130
