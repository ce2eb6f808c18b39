"""Names of files that every system takes, and takes for different ones.

Windows keeps names such as CON, NUL and COM1 for devices, whatever ending they have; it drops dots and spaces at the end, refuses
some signs, and paths of more than 259 letters unless it was asked otherwise. Windows and macOS know no difference between
``Arm.stl`` and ``arm.stl``: the second would replace the first.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from bunraku.errors import BadInput

LONGEST = 120
"""Letters of a name that is made from another; with a folder they stay below what Windows takes."""
LONGEST_PATH = 259
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\..*)?", re.IGNORECASE | re.DOTALL)
_REFUSED = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')


def name_trouble(name: str) -> str:
    """Why a name of one file cannot be used on every system, in words; empty when it can."""
    if _RESERVED.fullmatch(name):
        return "Windows keeps this name for a device"
    if name != name.rstrip(". "):
        return "it ends in a dot or a space, which Windows drops"
    if sign := _REFUSED.search(name):
        return f"Windows takes no {sign.group()!r} in a name"
    return ""


def path_trouble(path: Path) -> str:
    """Why the system that runs cannot write to a path, in words; empty when it can, and always on Linux and macOS."""
    if sys.platform != "win32":
        return ""
    if trouble := name_trouble(path.name):
        return trouble
    length = len(str(path.absolute()))
    return f"its path has {length} letters, and Windows takes {LONGEST_PATH} unless long paths are turned on" * (
        length > LONGEST_PATH
    )


def safe_name(name: str) -> str:
    """A name that every system takes, as much like this one as that can be; a dash stands for each sign that is not taken."""
    stem, dot, ending = name.rpartition(".")
    if not stem or len(ending) > 12:
        stem, dot, ending = name, "", ""
    safe = _REFUSED.sub("-", stem[: LONGEST - len(dot + ending)] + dot + ending).rstrip(". ") or "unnamed"
    return f"_{safe}" if _RESERVED.fullmatch(safe) else safe


def refuse_same_file(names: Iterable[str], what: str) -> None:
    """Refuse names of files to be written of which two are one file on Windows and macOS; ``what`` they are files of."""
    if pair := same_file(names):
        raise BadInput(f"the {what} {pair[0]!r} and {pair[1]!r} are one file on Windows and macOS; rename one of them")


def same_file(names: Iterable[str]) -> tuple[str, str] | None:
    """Two of the names that are one file where letters count whatever their case and however their accents are written, if any."""
    known: dict[str, str] = {}
    for name in names:
        folded = unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
        if folded in known:
            return known[folded], name
        known[folded] = name
    return None
