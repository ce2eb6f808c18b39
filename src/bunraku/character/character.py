"""The character: bodies, joints, motors and what relates them. A description only; `mechanics` computes with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Annotated

from pydantic import Field, model_validator

from bunraku.character.body import Body, Foot, Frame
from bunraku.character.description import Description, Name, quantity
from bunraku.character.joint import Axis, Coupling, DependentRange, Joint
from bunraku.character.motor import Motor
from bunraku.character.string import Carriage, String, check_strings
from bunraku.errors import BadInput

__all__ = ["WORLD", "Character"]

WORLD = "world"


class Character(Description):
    """A physical robotic character. Every body but the implicit ``world`` is the child of exactly one joint."""

    name: Name
    bodies: Annotated[tuple[Body, ...], Field(min_length=1, max_length=10_000)]
    joints: tuple[Joint, ...]
    motors: tuple[Motor, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    dependent_ranges: tuple[DependentRange, ...] = ()
    frames: tuple[Frame, ...] = ()
    feet: tuple[Foot, ...] = ()
    carriages: tuple[Carriage, ...] = ()
    strings: tuple[String, ...] = ()
    groups: dict[str, tuple[Name, ...]] = Field(default_factory=dict)
    home: dict[str, float] = quantity("coordinate", default_factory=dict)
    may_touch: tuple[tuple[Name, Name], ...] = ()
    source: str = ""

    @model_validator(mode="after")
    def _check(self) -> Character:
        bodies = [body.name for body in self.bodies]
        for kind, names in (
            ("bodies", bodies),
            ("joints", [joint.name for joint in self.joints]),
            ("coordinates", [axis.name for axis in self.axes]),
            ("motors", [motor.name for motor in self.motors]),
            ("frames", [frame.name for frame in self.frames]),
            ("feet", [foot.name for foot in self.feet]),
            ("carriages", [carriage.name for carriage in self.carriages]),
            ("strings", [string.name for string in self.strings]),
        ):
            twice = [name for name, count in Counter(names).items() if count > 1]
            if twice:
                raise ValueError(f"two {kind} share the name {twice[0]!r}; names must differ")
        if WORLD in bodies:
            raise ValueError("a body cannot be called 'world': that is the ground; rename it")
        self._check_tree(set(bodies))
        known = {axis.name for axis in self.axes}
        for coordinate, where in self._mentions():
            if coordinate not in known:
                raise ValueError(f"{where} names the coordinate {coordinate!r}, which no joint has; known: {_some(known)}")
        for name, body in [(part.name, part.body) for part in self.frames] + [(part.name, part.body) for part in self.feet]:
            if body not in bodies and body != WORLD:
                raise ValueError(f"{name!r} is fixed to {body!r}, which is no body; known: {_some(bodies)}")
        frames = {frame.name: frame.body for frame in self.frames}
        check_strings(self.strings, self.carriages, bodies, frames, known)
        driven = Counter(motor.coordinate for motor in self.motors)
        followers = {coupling.follower for coupling in self.couplings}
        if len(followers) < len(self.couplings):
            raise ValueError("two couplings drive the same follower; a coordinate follows one driver")
        for coupling in self.couplings:
            if coupling.driver in followers:
                raise ValueError(f"{coupling.driver!r} both drives and follows; couple followers to the motor directly")
            if coupling.ratio == 0.0:
                raise ValueError(f"the coupling of {coupling.follower!r} has ratio 0; fix the joint instead")
        for motor in self.motors:
            if driven[motor.coordinate] > 1 or motor.coordinate in followers:
                raise ValueError(f"the coordinate {motor.coordinate!r} is driven twice; one motor or one coupling drives it")
        return self

    def _mentions(self) -> list[tuple[str, str]]:
        found = [(motor.coordinate, f"motor {motor.name!r}") for motor in self.motors]
        for coupling in self.couplings:
            found += [(coupling.driver, "a coupling"), (coupling.follower, "a coupling")]
        for dependent in self.dependent_ranges:
            found += [(dependent.coordinate, "a dependent range"), (dependent.on, "a dependent range")]
        found += [(name, "home") for name in self.home]
        found += [(name, f"group {group!r}") for group, names in self.groups.items() for name in names]
        return found

    def _check_tree(self, bodies: set[str]) -> None:
        parent: dict[str, str] = {}
        for joint in self.joints:
            for end in (joint.parent, joint.child):
                if end not in bodies and end != WORLD:
                    raise ValueError(f"joint {joint.name!r} names the body {end!r}, which is not described; known: {_some(bodies)}")
            if joint.child == WORLD or joint.child in parent:
                raise ValueError(f"joint {joint.name!r} gives {joint.child!r} a second parent; a body hangs on one joint")
            parent[joint.child] = joint.parent
        loose = bodies - set(parent)
        if loose:
            raise ValueError(f"the body {sorted(loose)[0]!r} hangs on no joint; connect it, or fix it to 'world'")
        rooted = {WORLD}
        for start in parent:
            path: list[str] = []
            at = start
            while at not in rooted:
                if at in path:
                    raise ValueError(f"the bodies {' - '.join(path[path.index(at) :])} form a loop; a tree is needed")
                path.append(at)
                at = parent[at]
            rooted.update(path)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """All coordinates, in the order of the joints."""
        return tuple(axis for joint in self.joints for axis in joint.axes)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of all coordinates, in the order of the joints."""
        return tuple(axis.name for axis in self.axes)

    @property
    def prescribed(self) -> tuple[str, ...]:
        """The kinematic coordinates of a marionette: x and y of each carriage, then the length of each string."""
        places = [name for carriage in self.carriages for name in carriage.coordinates]
        return (*places, *(string.coordinate for string in self.strings))

    @property
    def driven(self) -> tuple[str, ...]:
        """The coordinates that motors drive, in the order of the motors: the channels of a performance."""
        return tuple(motor.coordinate for motor in self.motors)

    def expand(self, names: Iterable[str]) -> tuple[str, ...]:
        """The coordinates that ``names`` stand for, each a coordinate or a group of them, in the order of the joints."""
        found: set[str] = set()
        for name in names:
            if name in self.groups:
                found.update(self.groups[name])
            elif name in self.coordinates:
                found.add(name)
            else:
                known = ", ".join([*self.groups, *self.coordinates][:12])
                raise BadInput(f"{name!r} is neither a group nor a coordinate of {self.name!r}; known: {known}")
        return tuple(name for name in self.coordinates if name in found)

    def motor_of(self, coordinate: str) -> Motor:
        """The motor that drives ``coordinate``."""
        return next(motor for motor in self.motors if motor.coordinate == coordinate)


def _some(names: set[str] | list[str]) -> str:
    listed = sorted(names)
    return ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "")
