"""Casting: a performer with its options for a character and a clip, refused where it cannot, with what must be said beforehand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.flexible.rigid import rigid_note
from bunraku.motion import Clip, Performance
from bunraku.performers.choose import Choice, choose_performer
from bunraku.performers.performer import Performer, make_performer, performer_class

STRICT = ("locomotion", "marionette", "skin", "vibration")
"""Performers that refuse what does not suit them; they are asked before anything is compiled."""


@dataclass(frozen=True)
class Cast:
    """The performer, why it was chosen, and notes that its certificate must carry."""

    performer: Performer
    choice: Choice
    notes: tuple[str, ...] = ()

    def noted(self, result: Performance) -> Performance:
        """The performance with these notes in its certificate."""
        if not self.notes:
            return result
        certificate = result.certificate
        return replace(result, certificate=replace(certificate, notes=(*certificate.notes, *self.notes)))


def cast(character: Character, clip: Clip, choice: Choice | None = None, options: dict[str, Any] | None = None) -> Cast:
    """The performer of a ``choice``, or the one that suits best, with its options; BadInput when it cannot perform this."""
    choice = choice or choose_performer(character, clip)
    performer = make_performer(choice.name, options)
    why = refusal(performer, character, clip)
    if why and choice.name in STRICT:
        raise BadInput(f"the performer {choice.name} cannot move {character.name!r}: {why}")
    return Cast(performer, choice, _taken_as_rigid(character, choice.name))


def refusal(performer: Performer | str, character: Character, clip: Clip) -> str:
    """Why a performer, or the one of that name as it is by default, cannot perform this; empty when it can."""
    fit = (make_performer(performer) if isinstance(performer, str) else performer).suits(character, clip)
    return fit.reason if fit.score <= 0.0 else ""


def _taken_as_rigid(character: Character, performer: str) -> tuple[str, ...]:
    """What to say when a performer that knows nothing of flexible parts performs with a character that has some."""
    kind = performer_class(performer)
    if not character.flexibles or "character.flexibles" in (*kind.needs, *kind.uses) or ".vibration." in kind.__module__:
        return ()
    return (f"{rigid_note(character)}; nothing is done against their vibration",)
