"""Characters for formats that know rigid bodies only: flexible parts unbent, with their mass, and a sentence that says so."""

from __future__ import annotations

from bunraku.character import Character


def unbent(character: Character) -> Character:
    """The character with every flexible part as a rigid body; itself when it has none."""
    if not character.flexibles:
        return character
    from bunraku.mechanics.flexible.rigid import with_rigid_parts

    return with_rigid_parts(character)


def unbent_note(character: Character) -> str:
    """One line on what was done."""
    from bunraku.mechanics.flexible.rigid import rigid_note

    return rigid_note(character)
