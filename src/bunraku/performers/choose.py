"""Choosing a performer by what the character is made of and what tracks the clip has, and saying why."""

from __future__ import annotations

from dataclasses import dataclass

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.motion import Clip
from bunraku.performers.fit import CHAINED, REGISTRY, fit_of


@dataclass(frozen=True)
class Choice:
    """The performer chosen, and the reason in a sentence."""

    name: str
    reason: str


SPOKEN_AND_BENT = CHAINED.join(("speech", "vibration"))
"""For a clip with a voice on a character that bends: in time within the limits first, then without vibration."""


def choose_performer(character: Character, clip: Clip, asked: str = "") -> Choice:
    """The performer that suits best, or the one ``asked``; an error that says what is missing when none can.

    Several names with "+" or commas between them are a chain; one is chosen where a voice meets a character that bends.
    """
    if asked:
        return Choice(fit_of(asked).name, "as asked")
    fits = {name: fit_of(name).suits(character, clip) for name in REGISTRY}
    best = max(fits, key=lambda name: fits[name].score)
    if (clip.audio is not None or clip.words) and min(fits["speech"].score, fits["vibration"].score) >= fits[best].score > 0.2:
        return Choice(SPOKEN_AND_BENT, f"{fits['speech'].reason}, and {fits['vibration'].reason}")
    if fits[best].score < 0.1:
        reasons = "; ".join(f"{name}: {fit.reason}" for name, fit in fits.items() if not fit_of(name).baseline)
        raise BadInput(
            f"no performer can perform {clip.name!r} with {character.name!r} ({reasons}); bunraku inspect says what is missing"
        )
    return Choice(best, fits[best].reason)


def taken_as_rigid(character: Character, performer: str) -> tuple[str, ...]:
    """What to say when a performer that knows nothing of flexible parts performs with a character that has some."""
    fit = fit_of(performer)
    if not character.flexibles or "character.flexibles" in (*fit.needs, *fit.uses):
        return ()
    from bunraku.mechanics.flexible.rigid import rigid_note

    return (f"{rigid_note(character)}; nothing is done against their vibration",)
