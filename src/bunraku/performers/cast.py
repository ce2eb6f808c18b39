"""Casting: a performer with its options for a character and a clip, refused where it cannot, with what must be said beforehand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bunraku.character import Character
from bunraku.motion import Clip, Performance
from bunraku.performers.choose import Choice, choose_performer
from bunraku.performers.fit import fit_of
from bunraku.performers.performer import Performer, make_performer


@dataclass(frozen=True)
class Cast:
    """The performer, why it was chosen, and notes that its certificate must carry."""

    performer: Performer[Any, Any]
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
    fit_of(choice.name).refuse(character, clip)
    return Cast(make_performer(choice.name, options), choice, _taken_as_rigid(character, choice.name))


def _taken_as_rigid(character: Character, performer: str) -> tuple[str, ...]:
    """What to say when a performer that knows nothing of flexible parts performs with a character that has some."""
    fit = fit_of(performer)
    if not character.flexibles or "character.flexibles" in (*fit.needs, *fit.uses):
        return ()
    from bunraku.mechanics.flexible.rigid import rigid_note

    return (f"{rigid_note(character)}; nothing is done against their vibration",)
