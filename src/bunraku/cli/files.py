"""Files that commands read and write: characters with what was left out of them, names of outputs and their endings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.cli.console import say
from bunraku.errors import BadInput
from bunraku.formats.atomic import check_output

if TYPE_CHECKING:
    from bunraku.character import Character
    from bunraku.motion import Clip, Performance
    from bunraku.verification.verifier import Verdict

PERFORMANCE = ".performance.npz"

PICTURES = (".png", ".svg", ".pdf")
"""Of drawings."""

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


def to_judge(source: Path, **options: Any) -> tuple[Performance, Callable[..., Verdict]]:
    """The performance of a file, and the function that judges it; ``options`` are for an exported file, see `flow.exported`."""
    from bunraku.flow.exported import file_commands, is_exported
    from bunraku.formats.registry import read_performance
    from bunraku.verification.verify import verify

    if is_exported(source):
        commands = file_commands(source, **options)
        return commands.performance, commands.verify
    performance = read_performance(source)
    said = next((name for name, value in options.items() if value is not None), None)
    if said is not None:
        raise BadInput(f"a performance says everything itself; --{said} is for an exported file", file=str(source))
    return performance, partial(verify, performance)


def cancelled_name(target: Path) -> Path:
    """Where a result goes that was cancelled, beside where the whole one would: NAME.cancelled.ENDING, which says so."""
    known = (PERFORMANCE, ".clip.yaml", ".character.yaml")
    ending = next((ending for ending in known if target.name.lower().endswith(ending)), target.suffix)
    stem = target.name[: len(target.name) - len(ending)]
    other = target.with_name(f"{stem}.cancelled{ending}")
    say(f"cancelled: the best so far goes to {other}; {target} stays as it is")
    return other


def named(words: str, ending: str) -> Path:
    """A file of the present folder that is called by ``words``."""
    return Path(f"{words}{ending}".replace(" ", "-").replace("/", "-"))


def named_after(performance: str | Path, ending: str) -> Path:
    """A file of the present folder that is called as a performance is, but for its ending."""
    return Path(Path(performance).name.removesuffix(PERFORMANCE) + ending)


def check_target(path: Path | None, *endings: str, advice: str = "") -> None:
    """Refuse the name of an output that does not end as it should, or under which nothing can be written; None is none.

    To be asked first of all, before anything is imported, read or computed.
    """
    if path is None:
        return
    if endings and not path.name.lower().endswith(endings):
        raise BadInput(f"the name should end in {' or '.join(endings)}{advice}", file=str(path))
    check_output(path)
