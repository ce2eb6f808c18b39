"""The character: bodies, joints, motors and what relates them. A description only; `mechanics` computes with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field, model_validator

from bunraku.character.body import Body, Foot, Frame
from bunraku.character.description import Description, Misfit, Name, quantity, some
from bunraku.character.end_effector import EndEffector, check_end_effectors
from bunraku.character.flexible import ElasticMaterial, FlexiblePart, check_flexibles
from bunraku.character.joint import Axis, Coupling, DependentRange, Joint
from bunraku.character.loop import check_loops, cut_loops
from bunraku.character.motor import Motor
from bunraku.character.notebook import html_table
from bunraku.character.skin import Skin, check_skin
from bunraku.character.string import Carriage, String, check_strings
from bunraku.character.tendon import Tendon, check_tendons
from bunraku.errors import BadInput

WORLD = "world"


class Character(Description):
    """A physical robotic character. Every body but the implicit ``world`` is the child of exactly one of its ``joints``.

    Joints that make cycles may be given all the same: enough of them are moved to ``loops`` to leave a tree (`character.loop` says
    which), and home values of their coordinates, which are now a matter of the others, are left out.
    """

    name: Name
    bodies: Annotated[tuple[Body, ...], Field(min_length=1, max_length=10_000)]
    joints: tuple[Joint, ...]
    loops: tuple[Joint, ...] = ()
    motors: tuple[Motor, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    dependent_ranges: tuple[DependentRange, ...] = ()
    frames: tuple[Frame, ...] = ()
    feet: tuple[Foot, ...] = ()
    end_effectors: tuple[EndEffector, ...] = ()
    carriages: tuple[Carriage, ...] = ()
    strings: tuple[String, ...] = ()
    tendons: tuple[Tendon, ...] = ()
    materials: tuple[ElasticMaterial, ...] = ()
    flexibles: tuple[FlexiblePart, ...] = ()
    skin: Skin | None = None
    groups: dict[str, tuple[Name, ...]] = Field(default_factory=dict)
    home: dict[str, float] = quantity("coordinate", default_factory=dict)
    may_touch: tuple[tuple[Name, Name], ...] = ()
    source: str = ""

    def __repr__(self) -> str:
        return f"Character {self.name!r}: " + ", ".join(f"{count} {what}" for what, count in self._counts().items())

    def _repr_html_(self) -> str:
        return html_table(f"Character {self.name!r}", self._counts().items())

    def _counts(self) -> dict[str, int]:
        """How many there are of each kind of part that it has."""
        parts: dict[str, tuple[Any, ...]] = {"bodies": self.bodies, "joints": self.joints, "motors": self.motors}
        parts |= {"strings": self.strings, "flexible parts": self.flexibles, "feet": self.feet, "end effectors": self.end_effectors}
        return {what: len(some) for what, some in parts.items() if some}

    @model_validator(mode="after")
    def _check(self) -> Character:
        for kind, field, names in (
            ("bodies", "bodies", [body.name for body in self.bodies]),
            ("joints", "joints", [joint.name for joint in (*self.joints, *self.loops)]),
            ("coordinates", "", [axis.name for axis in self.axes]),
            ("motors", "motors", [motor.name for motor in self.motors]),
            ("frames", "frames", [frame.name for frame in self.frames]),
            ("feet", "feet", [foot.name for foot in self.feet]),
            ("end effectors", "end_effectors", [tip.name for tip in self.end_effectors]),
            ("carriages", "carriages", [carriage.name for carriage in self.carriages]),
            ("strings", "strings", [string.name for string in self.strings]),
            ("tendons", "tendons", [tendon.name for tendon in self.tendons]),
            ("materials", "materials", [material.name for material in self.materials]),
            ("flexible parts", "flexibles", [part.name for part in self.flexibles]),
        ):
            twice = next((k for k, name in enumerate(names) if name in names[:k]), None) if len(set(names)) < len(names) else None
            if twice is not None:
                count = len(getattr(self, field)) if field else 0
                place = (field, twice, "name") if twice < count else ()
                raise Misfit(f"two {kind} share the name {names[twice]!r}; names must differ", *place)
        self._check_ends()
        self._cut()
        bodies = [body.name for body in self.bodies]
        check_loops(self.loops, {*bodies, WORLD})
        known = {axis.name for axis in self.axes}
        for coordinate, where, steps in self._mentions():
            if coordinate not in known:
                listed = some(sorted(known))
                raise Misfit(f"{where} names the coordinate {coordinate!r}, which no joint has; known: {listed}", *steps)
        for field in ("frames", "feet"):
            for k, part in enumerate(getattr(self, field)):
                if part.body not in bodies and part.body != WORLD:
                    listed = some(sorted(bodies))
                    raise Misfit(f"{part.name!r} is fixed to {part.body!r}, which is no body; known: {listed}", field, k, "body")
        frames = {frame.name: frame.body for frame in self.frames}
        check_strings(self.strings, self.carriages, bodies, frames, known)
        check_tendons(self.tendons, {axis.name for axis in self.axes if axis.kind == "hinge"}, known)
        check_end_effectors(self.end_effectors, self.joints, self.motors, bodies)
        check_flexibles(self.flexibles, self.materials, self.joints, bodies)
        check_skin(self.skin, [material.name for material in self.materials], self.end_effectors)
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

    def _mentions(self) -> list[tuple[str, str, tuple[str | int, ...]]]:
        """Each coordinate that something refers to, what refers to it in words, and the steps that lead there."""
        mentions: list[tuple[str, str, tuple[str | int, ...]]] = []
        for k, motor in enumerate(self.motors):
            mentions.append((motor.coordinate, f"motor {motor.name!r}", ("motors", k, "coordinate")))
        for k, coupling in enumerate(self.couplings):
            mentions.append((coupling.driver, "a coupling", ("couplings", k, "driver")))
            mentions.append((coupling.follower, "a coupling", ("couplings", k, "follower")))
        for k, dependent in enumerate(self.dependent_ranges):
            mentions.append((dependent.coordinate, "a dependent range", ("dependent_ranges", k, "coordinate")))
            mentions.append((dependent.on, "a dependent range", ("dependent_ranges", k, "on")))
        for k, tendon in enumerate(self.tendons):
            mentions += [(name, f"tendon {tendon.name!r}", ("tendons", k)) for name in tendon.moment_arms]
        mentions += [(name, "home", ("home", name)) for name in self.home]
        for group, names in self.groups.items():
            mentions += [(name, f"group {group!r}", ("groups", group, k)) for k, name in enumerate(names)]
        return mentions

    def _check_ends(self) -> None:
        bodies = {body.name for body in self.bodies}
        if WORLD in bodies:
            raise ValueError("a body cannot be called 'world': that is the ground; rename it")
        for k, joint in enumerate(self.joints):
            for field, end in (("parent", joint.parent), ("child", joint.child)):
                if end not in bodies and end != WORLD:
                    listed = some(sorted(bodies))
                    message = f"joint {joint.name!r} names the body {end!r}, which is not described; known: {listed}"
                    raise Misfit(message, "joints", k, field)

    def _cut(self) -> None:
        """Leave a tree of joints, the others to loops; a description is frozen once this is done."""
        needed = {name for name, where, _ in self._mentions() if where != "home" and not where.startswith("group ")}
        bending = {(part.base, child.body) for part in self.flexibles for child in part.children}
        tree, cut, bodies = cut_loops(self.joints, self.bodies, WORLD, needed, bending)
        if tree != self.joints:
            self.__dict__.update(joints=tree, bodies=bodies, loops=(*self.loops, *cut))
            self.__dict__.pop("axes", None)
        gone = {axis.name for loop in self.loops for axis in loop.axes}
        if gone & {*self.home, *(name for names in self.groups.values() for name in names)}:
            kept = {group: tuple(name for name in names if name not in gone) for group, names in self.groups.items()}
            home = {name: value for name, value in self.home.items() if name not in gone}
            self.__dict__.update(home=home, groups={group: names for group, names in kept.items() if names})

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

    @property
    def wheel_axles(self) -> frozenset[str]:
        """The coordinates of driven wheels: the axles of active end effectors, whose motors are sent speeds."""
        wheels = {tip.body for tip in self.end_effectors if tip.kind == "active"}
        return frozenset(joint.name for joint in self.joints if joint.child in wheels)

    def expand(self, names: Iterable[str]) -> tuple[str, ...]:
        """The coordinates that ``names`` stand for, each a coordinate or a group of them, in the order of the joints."""
        chosen: set[str] = set()
        for name in names:
            if name in self.groups:
                chosen.update(self.groups[name])
            elif name in self.coordinates:
                chosen.add(name)
            else:
                known = some([*self.groups, *self.coordinates], limit=12)
                raise BadInput(f"{name!r} is neither a group nor a coordinate of {self.name!r}; known: {known}")
        return tuple(name for name in self.coordinates if name in chosen)

    def motor_of(self, coordinate: str) -> Motor:
        """The motor that drives ``coordinate``."""
        return next(motor for motor in self.motors if motor.coordinate == coordinate)


def free_base(character: Character) -> Joint | None:
    """The free joint between the world and the character, or None when the character is fixed to the world."""
    return next((joint for joint in character.joints if joint.kind == "free" and joint.parent == WORLD), None)
