"""Names of new parts: short, readable, each once; left and right told apart."""

from __future__ import annotations

import re
from collections.abc import Callable

from bunraku.character import WORLD, Character

_WORDS = {"left": "right", "right": "left", "Left": "Right", "Right": "Left", "LEFT": "RIGHT", "RIGHT": "LEFT"}


def all_names(character: Character) -> set[str]:
    """Every name that is taken: of bodies, joints, coordinates, motors, frames, feet, tips, carriages, strings, flexible parts."""
    kinds = (
        character.bodies,
        (*character.joints, *character.loops),
        character.axes,
        character.motors,
        character.frames,
        character.feet,
        character.end_effectors,
        character.carriages,
        character.strings,
        character.tendons,
        character.flexibles,
    )
    return {part.name for kind in kinds for part in kind} | {WORLD} | set(character.prescribed) | set(character.groups)


def free_name(wanted: str, taken: set[str]) -> str:
    """The first of "wanted 1", "wanted 2", ... with which no taken name begins."""
    number = 1
    while any(name == f"{wanted} {number}" or name.startswith((f"{wanted} {number} ", f"{wanted} {number}.")) for name in taken):
        number += 1
    return f"{wanted} {number}"


def mirrored_name(name: str) -> str:
    """The name of the other side: left and right exchanged, or a leading L and R before a capital, a dot, an underscore or the end.

    A name that says no side comes back as it is.
    """
    found = re.sub(r"left|right|Left|Right|LEFT|RIGHT", lambda word: _WORDS[word.group()], name)
    if found != name:
        return found
    head = re.match(r"([LR])(?=[A-Z0-9._ ]|$)|([lr])(?=[._ ])", name)
    if head is None:
        return name
    return {"L": "R", "R": "L", "l": "r", "r": "l"}[name[0]] + name[1:]


def renamed_all(character: Character, new: Callable[[str], str]) -> Character:
    """The character with every name that something in it bears put through ``new``; groups and materials keep theirs."""
    c = character
    coordinate = {axis.name: new(joint.name) + axis.name.removeprefix(joint.name) for joint in c.joints for axis in joint.axes}
    return c.changed(
        bodies=tuple(body.changed(name=new(body.name)) for body in c.bodies),
        joints=tuple(j.changed(name=new(j.name), parent=new(j.parent), child=new(j.child)) for j in c.joints),
        loops=tuple(j.changed(name=new(j.name), parent=new(j.parent), child=new(j.child)) for j in c.loops),
        motors=tuple(m.changed(name=new(m.name), coordinate=coordinate[m.coordinate]) for m in c.motors),
        couplings=tuple(k.changed(driver=coordinate[k.driver], follower=coordinate[k.follower]) for k in c.couplings),
        dependent_ranges=tuple(r.changed(coordinate=coordinate[r.coordinate], on=coordinate[r.on]) for r in c.dependent_ranges),
        frames=tuple(f.changed(name=new(f.name), body=new(f.body)) for f in c.frames),
        feet=tuple(f.changed(name=new(f.name), body=new(f.body)) for f in c.feet),
        end_effectors=tuple(e.changed(name=new(e.name), body=new(e.body)) for e in c.end_effectors),
        carriages=tuple(k.changed(name=new(k.name)) for k in c.carriages),
        strings=tuple(s.changed(name=new(s.name), carriage=new(s.carriage), hook=new(s.hook)) for s in c.strings),
        tendons=tuple(
            t.changed(name=new(t.name), moment_arms={coordinate[name]: arm for name, arm in t.moment_arms.items()})
            for t in c.tendons
        ),
        flexibles=tuple(
            f.changed(
                name=new(f.name), base=new(f.base), children=tuple(child.changed(body=new(child.body)) for child in f.children)
            )
            for f in c.flexibles
        ),
        groups={group: tuple(coordinate[name] for name in names) for group, names in c.groups.items()},
        home={coordinate[name]: value for name, value in c.home.items()},
        may_touch=tuple((new(a), new(b)) for a, b in c.may_touch),
    )
