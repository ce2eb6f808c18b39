"""Names of new parts: short, readable, each once; left and right told apart."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from bunraku.character import WORLD, Character

BODY_FIELDS = {
    "joints": ("parent", "child"),
    "loops": ("parent", "child"),
    "frames": ("body",),
    "feet": ("body",),
    "end_effectors": ("body",),
}
"""By the section of a character, the fields that name bodies."""
COORDINATE_FIELDS = {"motors": ("coordinate",), "couplings": ("driver", "follower"), "dependent_ranges": ("coordinate", "on")}
"""By the section of a character, the fields that name coordinates."""
_NAMED = (
    *("bodies", "joints", "loops", "motors", "frames", "feet", "end_effectors", "carriages", "strings"),
    "tendons",
    "flexibles",
)
_WORDS = {"left": "right", "right": "left", "Left": "Right", "Right": "Left", "LEFT": "RIGHT", "RIGHT": "LEFT"}


def all_names(character: Character) -> set[str]:
    """Every name that is taken: of bodies, joints, coordinates, motors, frames, feet, tips, carriages, strings, flexible parts."""
    named = {part.name for kind in (*_NAMED, "axes") for part in getattr(character, kind)}
    return named | {WORLD} | set(character.prescribed) | set(character.groups)


def free_name(base: str, taken: set[str]) -> str:
    """The first of "base 1", "base 2", ... with which no taken name begins."""
    number = 1
    while any(name == f"{base} {number}" or name.startswith((f"{base} {number} ", f"{base} {number}.")) for name in taken):
        number += 1
    return f"{base} {number}"


def mirrored_name(name: str) -> str:
    """The name of the other side: left and right exchanged, or a leading L and R before a capital, a dot, an underscore or the end.

    A name that says no side comes back as it is.
    """
    mirrored = re.sub(r"left|right|Left|Right|LEFT|RIGHT", lambda word: _WORDS[word.group()], name)
    if mirrored != name:
        return mirrored
    head = re.match(r"([LR])(?=[A-Z0-9._ ]|$)|([lr])(?=[._ ])", name)
    if head is None:
        return name
    return {"L": "R", "R": "L", "l": "r", "r": "l"}[name[0]] + name[1:]


def renamed_all(character: Character, new: Callable[[str], str]) -> Character:
    """The character with every name that something in it bears put through ``new``; groups and materials keep theirs."""
    c = character
    coordinate = {axis.name: new(joint.name) + axis.name.removeprefix(joint.name) for joint in c.joints for axis in joint.axes}
    more = {"strings": ("carriage", "hook"), "flexibles": ("base",)}

    def renamed(kind: str, part: Any) -> Any:
        fields = (*(("name",) if kind in _NAMED else ()), *BODY_FIELDS.get(kind, ()), *more.get(kind, ()))
        names: dict[str, Any] = {name: new(getattr(part, name)) for name in fields}
        names |= {name: coordinate[getattr(part, name)] for name in COORDINATE_FIELDS.get(kind, ())}
        if kind == "tendons":
            names["moment_arms"] = {coordinate[name]: arm for name, arm in part.moment_arms.items()}
        if kind == "flexibles":
            names["children"] = tuple(child.changed(body=new(child.body)) for child in part.children)
        return part.changed(**names)

    return c.changed(
        **{kind: tuple(renamed(kind, part) for part in getattr(c, kind)) for kind in {*_NAMED, *COORDINATE_FIELDS}},
        groups={group: tuple(coordinate[name] for name in names) for group, names in c.groups.items()},
        home={coordinate[name]: value for name, value in c.home.items()},
        may_touch=tuple((new(a), new(b)) for a, b in c.may_touch),
    )
