"""Errors that nobody foresaw: one line for the person, and a report with the traceback in a file that can be sent in."""

from __future__ import annotations

import os
import platform
import tempfile
import traceback
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bunraku import __version__

PACKAGES = ("numpy", "scipy", "numba", "mujoco")
"""Packages whose versions a report gives."""
SECRETS = ("--token",)
"""Options whose values a report leaves out."""
LONGEST = 300
"""Characters of a line, about."""

_REPORTS: dict[str, str] = {}
"""Where the report of a fault is, by its text: one that comes again is not written again."""


def in_words(error: BaseException) -> str:
    """What an error is and where it arose, in one line."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else "nowhere"
    what = " ".join(f"unexpected {type(error).__name__}: {error}".split())
    return f"{what[:LONGEST]} ({place})"


def report_text(error: BaseException, doing: str) -> str:
    """The report: what was done, where, with which versions, and the traceback. No environment, no contents of files."""
    installed = []
    for package in PACKAGES:
        try:
            installed.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            installed.append(f"no {package}")
    head = [
        f"bunraku {__version__}: {in_words(error)}",
        f"while: {doing}",
        f"Python {platform.python_version()} on {platform.platform()}; {', '.join(installed)}",
    ]
    return "\n".join([*head, "", "".join(traceback.format_exception(error))])


def reported(error: BaseException, doing: str) -> str:
    """One line about an error, with the name of the report that was written about it in the folder for temporary files."""
    said, text = in_words(error), report_text(error, doing)
    if text not in _REPORTS:
        try:
            handle, name = tempfile.mkstemp(prefix="bunraku-report-", suffix=".txt")
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
                file.write(text)
        except OSError as reason:
            return f"{said}; a fault of Bunraku, and no report could be written ({reason.strerror or reason})"
        _REPORTS[text] = name
    return f"{said}; a fault of Bunraku: please send in {_REPORTS[text]}"


def command(words: Sequence[str]) -> str:
    """A command as it was given, without its secrets."""
    shown = []
    for before, word in zip(["", *words], words, strict=False):
        secret = next((name for name in SECRETS if word.startswith(f"{name}=")), "")
        shown.append(f"{secret}=..." if secret else "..." if before in SECRETS else word)
    return " ".join(["bunraku", *shown])
