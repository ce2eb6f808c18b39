"""Adding, removing and exchanging components of a character."""

from __future__ import annotations

from bunraku.building.components.attach import attached
from bunraku.building.components.remove import removed, replaced_servo
from bunraku.character import Character
from bunraku.studio.document import Document
from bunraku.studio.edits.registry import edit


@edit("component.add", "Added {component} at {socket}")
def add_component(document: Document, socket: str, component: str, dimensions: dict[str, float | str], name: str = "") -> Document:
    """A component of the library at a socket, and its mirror image where the design is mirrored."""
    character = attached(document.need_character(), socket, component, dimensions, mirror=document.mirror, name=name)
    return _rebuilt(document, character)


@edit("component.remove", "Removed {body}")
def remove_component(document: Document, body: str) -> Document:
    """A body with all beyond it, and its mirror image where the design is mirrored."""
    return _rebuilt(document, removed(document.need_character(), body, mirror=document.mirror))


@edit("component.servo", "{motor} is now a {servo}")
def change_servo(document: Document, motor: str, servo: str) -> Document:
    """Another servo of the library for a motor, and for its mirror image where the design is mirrored."""
    return _rebuilt(document, replaced_servo(document.need_character(), motor, servo, mirror=document.mirror))


def _rebuilt(document: Document, character: Character) -> Document:
    known = set(character.coordinates)
    sources = {key: value for key, value in document.sources.items() if key != "character"}
    muted = tuple(name for name in document.muted if name in known)
    return document.changed(base=character, dimensions={}, free=(), muted=muted, sources=sources)
