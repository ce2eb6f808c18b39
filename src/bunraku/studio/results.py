"""What was computed for a document: its performance, how it is judged, and what is drawn of it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from bunraku.character import Character
from bunraku.motion import Performance
from bunraku.stage.figure.motion import DrawnMotion

KEPT = 8
"""Performances held in memory; older ones are read from the project again when they are needed."""

Value = TypeVar("Value")


class Recent(OrderedDict[str, Value]):
    """A dictionary of the few entries that were set last; beyond ``most``, the oldest goes."""

    def __init__(self, most: int = KEPT) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: str, value: Value) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > self._most:
            self.popitem(last=False)


@dataclass(frozen=True)
class Result:
    """A performance with its file and the key of the document it belongs to.

    ``verdict``: what the replay in foreign physics said, as plain facts, once it was asked for.
    """

    key: str
    path: Path
    performance: Performance
    facts: dict[str, Any]
    verdict: dict[str, Any] | None = None

    def judged(self, verdict: dict[str, Any]) -> Result:
        """The same with a verdict."""
        return replace(self, verdict=verdict)


@dataclass(frozen=True)
class ShownMotion:
    """What the scene shows. ``key``: of the document that the motion belongs to; ``live``: it follows a hand that drags.

    ``motion`` is solid, ``wish`` the green ghost, ``before`` the grey one (the performance before this), ``replay`` the foreign
    physics. All None before anything moves: then the character stands at home.
    """

    key: str = ""
    motion: DrawnMotion | None = None
    wish: DrawnMotion | None = None
    before: DrawnMotion | None = None
    replay: DrawnMotion | None = None
    live: bool = False

    def shows(self, character: Character | None) -> bool:
        """Whether all that is drawn is this character, though other dimensions or another motor may have been given to it since."""
        drawn = [one for one in (self.motion, self.wish, self.before, self.replay) if one is not None]
        return not drawn or (character is not None and all(_who(one.figure.character) == _who(character) for one in drawn))


def _who(character: Character) -> tuple[object, ...]:
    """What makes a character another one to the eye: its name, its bodies, its skin."""
    skin = None if character.skin is None else character.skin.digest
    return character.name, tuple(body.name for body in character.bodies), skin
