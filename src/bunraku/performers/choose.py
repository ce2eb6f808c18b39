"""Choosing a performer by what the character is made of and what tracks the clip has, and saying why."""

from __future__ import annotations

from dataclasses import dataclass

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.motion import Clip
from bunraku.performers.performer import REGISTRY, make_performer

__all__ = ["Choice", "choose_performer"]


@dataclass(frozen=True)
class Choice:
    """The performer chosen, and the reason in a sentence."""

    name: str
    reason: str


def choose_performer(character: Character, clip: Clip, wanted: str = "") -> Choice:
    """The performer that suits best, or the one ``wanted``; an error that says what is missing when none can."""
    if wanted:
        make_performer(wanted)
        return Choice(wanted, "as asked")
    found = {name: make_performer(name).suits(character, clip) for name in REGISTRY}
    best = max(found, key=lambda name: found[name].score)
    if found[best].score < 0.1:
        reasons = "; ".join(f"{name}: {fit.reason}" for name, fit in found.items() if fit.reason != "a baseline to compare with")
        raise BadInput(
            f"no performer can perform {clip.name!r} with {character.name!r} ({reasons}); bunraku inspect says what is missing"
        )
    return Choice(best, found[best].reason)
