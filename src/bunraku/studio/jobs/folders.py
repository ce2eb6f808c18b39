"""The private folder of one session's jobs: made for this process alone, removed at the end; what the dead left is removed too."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from pathlib import Path

from bunraku.formats.atomic import refusal_of
from bunraku.system.files import is_link
from bunraku.system.processes import alive

_OWNED = re.compile(r"jobs-(\d+)-\w+")


def private_folder(parent: Path) -> Path:
    """A new folder in ``parent``, for this user alone; those of processes that are gone are removed from there."""
    with refusal_of(parent, "cannot be written to"):
        parent.mkdir(parents=True, exist_ok=True)
        for old in parent.iterdir():
            owner = _OWNED.fullmatch(old.name)
            if owner is not None and not is_link(old) and not alive(int(owner.group(1))):
                remove_folder(old)
        return Path(tempfile.mkdtemp(prefix=f"jobs-{os.getpid()}-", dir=parent)).resolve()


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, as far as that is possible."""
    with contextlib.suppress(OSError):
        shutil.rmtree(folder, ignore_errors=True)
