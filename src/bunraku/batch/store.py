"""Results by content: one folder a run, which appears whole by one renaming. Who is first is kept."""

from __future__ import annotations

import contextlib
import json
import secrets
import shutil
import time
from pathlib import Path
from typing import Any

from bunraku.errors import BadInput
from bunraku.formats.atomic import refusal_of, write_atomically
from bunraku.formats.files import read_bytes
from bunraku.system.files import replace

FIGURES, TIMING, PERFORMANCE = "figures.json", "timing.json", "result.performance.npz"
MAX_FIGURES = 16 * 1024 * 1024


class Store:
    """The folder of a batch: ``runs/KEY/`` for what is done or refused, ``failed/KEY.json`` for what may be tried again.

    ``reading``: nothing is to be kept, so no folder is made.
    """

    def __init__(self, folder: Path, *, reading: bool = False) -> None:
        self.folder = folder
        self.runs, self.failures = folder / "runs", folder / "failed"
        if folder.exists() and not folder.is_dir():
            raise BadInput("this is a file; give a folder for the results", file=str(folder))
        for path in () if reading else (self.runs, self.failures):
            with refusal_of(path, "this folder cannot be made"):
                path.mkdir(parents=True, exist_ok=True)

    def done(self, key: str) -> dict[str, Any] | None:
        """The result of a run, None if it is not done."""
        path = self.runs / key / FIGURES
        return _json(path) if path.is_file() else None

    def failure(self, key: str) -> dict[str, Any] | None:
        """How a run failed, None if it did not."""
        path = self.failures / f"{key}.json"
        return _json(path) if path.is_file() else None

    def timing(self, key: str) -> dict[str, Any]:
        """How long a run that is done took, and where."""
        path = self.runs / key / TIMING
        return _json(path) if path.is_file() else {}

    def keep(self, key: str, settings: dict[str, Any], result: dict[str, Any], attempts: int) -> bool:
        """Keep what a worker returned; False if another was first, whose result stays."""
        figures = {"key": key, "settings": settings, **{name: result[name] for name in ("status", "reason", "figures")}}
        if result["status"] not in ("done", "refused"):
            said = {"attempts": attempts} | ({"report": result["report"]} if result.get("report") else {})
            write_atomically(self.failures / f"{key}.json", _bytes(figures | said))
            return True
        timing = {"seconds": result["seconds"], "worker": result["worker"], "attempts": attempts}
        files = {FIGURES: _bytes(figures), TIMING: _bytes(timing)}
        if result["performance"] is not None:
            files[PERFORMANCE] = result["performance"]
        first = self._put(key, files)
        with contextlib.suppress(OSError):  # what is done counts, whether or not it failed before
            (self.failures / f"{key}.json").unlink()
        return first

    def _put(self, key: str, files: dict[str, bytes]) -> bool:
        """All files of a run at once: a folder beside, renamed. That fails where a full folder is: then we were second."""
        beside = self.runs / f".{key[:32]}.{secrets.token_hex(6)}.part"
        with refusal_of(beside, "this folder cannot be made"):
            beside.mkdir()
        try:
            for name, data in files.items():
                write_atomically(beside / name, data)
            with refusal_of(self.runs / key):
                try:
                    replace(beside, self.runs / key)
                except OSError:
                    if not (self.runs / key / FIGURES).is_file():
                        raise
                    return False
            return True
        finally:
            if beside.exists():
                shutil.rmtree(beside, ignore_errors=True)

    def sweep(self, older: float = 3600.0) -> None:
        """Remove what killed processes left behind of runs that were not kept, if it is ``older`` [s]: others may work here too."""
        for path in self.runs.glob(".*.part"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > older:
                    shutil.rmtree(path, ignore_errors=True)


def _bytes(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_bytes(path, limit=MAX_FIGURES))
    except ValueError as error:
        raise BadInput(f"is no JSON ({error}); remove its folder, and the run is done again", file=str(path)) from error
    if not isinstance(content, dict):
        raise BadInput("holds no result of a run; remove its folder, and the run is done again", file=str(path))
    return content
