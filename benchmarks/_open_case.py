"""A case of the open world: who is asked to perform what, drawn by a seed, as files that a user brings. No question of its own."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bunraku.character import Character
from bunraku.formats.registry import write_character

JUDGING = range(9000, 10000)
"""Seeds for judging: nobody looks at their cases. All others are for development."""


@dataclass(frozen=True)
class OpenCase:
    """``character`` performs the clip with the bytes ``clip`` and that ``ending``; ``who`` and ``what`` say it in words."""

    who: str
    what: str
    character: str | Path | Character
    clip: bytes
    ending: str

    def write(self, folder: Path) -> tuple[str, Path]:
        """Put it into a folder; the character and the clip as the command line takes them."""
        clip = folder / f"wish{self.ending}"
        clip.write_bytes(self.clip)
        if isinstance(self.character, Character):
            file = folder / f"{self.character.name}.character.yaml"
            write_character(file, self.character)
            return str(file), clip
        return str(self.character), clip


def generator(kind: str, seed: int, number: int) -> np.random.Generator:
    """The random numbers of one case: the same whichever other cases are drawn."""
    return np.random.default_rng([seed, number, zlib.crc32(kind.encode())])
