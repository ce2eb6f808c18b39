"""Checkpoints of long runs: arrays under a key that names the problem they belong to."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.formats.archive import pack, unpack
from bunraku.formats.atomic import write_atomically
from bunraku.formats.files import read_bytes

_KEY = "__key__"


@dataclass(frozen=True)
class Checkpoint:
    """A file that keeps arrays between runs. ``key`` (a hash of inputs and options) tells whether they still fit the problem."""

    path: Path
    key: str

    def load(self) -> dict[str, NDArray[np.generic]] | None:
        """The arrays saved last, or None when there are none, they belong to another key, or the file is damaged."""
        try:
            arrays = unpack(read_bytes(self.path), file=str(self.path))
        except BadInput:
            return None
        key = arrays.pop(_KEY, None)
        if key is None or key.dtype != np.uint8 or key.tobytes() != self.key.encode():
            return None
        return arrays

    def save(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Keep ``arrays``, replacing what was kept before, all at once."""
        if _KEY in arrays:
            raise BadInput(f"an array cannot be called {_KEY!r}")
        write_atomically(self.path, pack({**arrays, _KEY: np.frombuffer(self.key.encode(), np.uint8)}))

    def discard(self) -> None:
        """Remove the file, if there is one."""
        with contextlib.suppress(OSError):
            self.path.unlink()
