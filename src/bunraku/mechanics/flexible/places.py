"""The places of a flexible character that an audience looks at: its frames, or the centres of mass of what its parts carry."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.places import Place


def tracked_places(character: Character, names: Sequence[str] = ()) -> tuple[str, ...]:
    """What is tracked: the frames of the character if it has any, else the bodies that its flexible parts carry."""
    if names:
        return tuple(names)
    frames = tuple(frame.name for frame in character.frames)
    return frames or tuple(dict.fromkeys(child.body for part in character.flexibles for child in part.children))


def place_of(character: Character, name: str) -> Place:
    """A tracked place: a frame, or the centre of mass of a body."""
    bodies = {body.name: body for body in character.bodies}
    frames = [frame.name for frame in character.frames]
    if name in frames:
        return Place(name)
    if name not in bodies:
        known = [*frames, *bodies]
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known[:12])}"
        raise BadInput(f"{name!r} is no frame or body of {character.name!r}; {hint}")
    return Place(name, bodies[name].center_of_mass)
