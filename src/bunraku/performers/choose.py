"""Choosing a performer by what the character is made of and what tracks the clip has, and saying why."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.motion import Clip
from bunraku.performers.performer import CHAINED, REGISTRY, make_performer


@dataclass(frozen=True)
class Choice:
    """The performer chosen, and the reason in a sentence."""

    name: str
    reason: str


SPOKEN_AND_BENT = CHAINED.join(("speech", "vibration"))
"""For a clip with a voice on a character that bends: in time within the limits first, then without vibration."""


def choose_performer(character: Character, clip: Clip, wanted: str = "") -> Choice:
    """The performer that suits best, or the one ``wanted``; an error that says what is missing when none can.

    Several names with "+" or commas between them are a chain; one is chosen where a voice meets a character that bends.
    """
    if wanted:
        return Choice(make_performer(wanted).name, "as asked")
    found = {name: make_performer(name).suits(character, clip) for name in REGISTRY}
    if clip.words and clip.audio is None and not found["speech"].missing:
        found["speech"] = replace(
            found["speech"], reason="the clip moves joints and has words, without sound, to stay in time with"
        )
    best = max(found, key=lambda name: found[name].score)
    if (clip.audio is not None or clip.words) and min(found["speech"].score, found["vibration"].score) >= found[best].score > 0.2:
        return Choice(SPOKEN_AND_BENT, f"{found['speech'].reason}, and {found['vibration'].reason}")
    if found[best].score < 0.1:
        reasons = "; ".join(f"{name}: {fit.reason}" for name, fit in found.items() if fit.reason != "a baseline to compare with")
        raise BadInput(
            f"no performer can perform {clip.name!r} with {character.name!r} ({reasons}); bunraku inspect says what is missing"
        )
    return Choice(best, found[best].reason)
