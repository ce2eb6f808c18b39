"""Files that commands read and write: characters with what was left out of them, names of outputs and their endings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bunraku.cli.console import say
from bunraku.errors import BadInput

if TYPE_CHECKING:
    from bunraku.character import Character
    from bunraku.motion import Clip

PERFORMANCE = ".performance.npz"

ONLY = "Follow these limbs of a captured skeleton and no other: arms, legs, upper, head, left arm, ..., comma-separated"


def character_from(source: str, overlay: Path | None) -> Character:
    """The character of a name or file; what its reader left out is said."""
    from bunraku.formats.registry import read_character_with_notes

    character, notes = read_character_with_notes(source, overlay=overlay)
    for note in notes:
        say(f"{source}: {note}")
    return character


def asked_of(clip: Clip, only: str) -> Clip:
    """The clip, of which only some limbs are wished where ``only`` names them."""
    limbs = tuple(word.strip() for word in only.split(",") if word.strip())
    if limbs and clip.skeleton is None:
        raise BadInput(f"the clip {clip.name!r} has no captured skeleton, of which --only could take {only}; leave it out")
    return clip.changed(only=limbs) if limbs else clip


def named(words: str, ending: str) -> Path:
    """A file of the present folder that is called by ``words``."""
    return Path(f"{words}{ending}".replace(" ", "-").replace("/", "-"))


def named_after(performance: str | Path, ending: str) -> Path:
    """A file of the present folder that is called as a performance is, but for its ending."""
    return Path(Path(performance).name.removesuffix(PERFORMANCE) + ending)


def check_ending(path: Path | None, *endings: str, advice: str = "") -> None:
    """Refuse the name of an output that does not end as it should."""
    if path is not None and not path.name.endswith(endings):
        raise BadInput(f"the name should end in {' or '.join(endings)}{advice}", file=str(path))
