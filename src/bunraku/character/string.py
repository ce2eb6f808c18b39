"""Strings and the carriages that hold them: how a marionette is hung and moved.

A carriage slides on a plane above the character and carries a winch; a string runs from it to a hook on the character. Where a
carriage stands and how long a string is are prescribed: they are no coordinates of the character's joints, but three kinematic
coordinates of the system `bunraku.mechanics.systems.marionette` makes: ``carriage.x``, ``carriage.y`` and ``string.length``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from pydantic import model_validator

from bunraku.character.description import Description, Name, Range, Vector3, quantity, some


class Carriage(Description):
    """A carriage on a horizontal plane. ``home`` (x, y, z) is where it stands in the world; x and y move, z is the plane's height.

    ``x_range`` and ``y_range`` limit its place in the world, ``velocity`` and ``acceleration`` the length of its planar velocity
    and acceleration. Its centre keeps at least ``separation`` from every other carriage's. ``winch_range`` limits the length of
    the string it holds, ``winch_velocity`` and ``winch_acceleration`` how that length changes. None means no limit.
    """

    name: Name
    home: Vector3 = quantity("length")
    x_range: Range | None = quantity("length", None)
    y_range: Range | None = quantity("length", None)
    velocity: float | None = quantity("speed", None, gt=0.0)
    acceleration: float | None = quantity("linear_acceleration", None, gt=0.0)
    separation: float = quantity("length", 0.0, ge=0.0)
    winch_range: Range | None = quantity("length", None)
    winch_velocity: float | None = quantity("speed", None, gt=0.0)
    winch_acceleration: float | None = quantity("linear_acceleration", None, gt=0.0)

    @model_validator(mode="after")
    def _check(self) -> Carriage:
        for what, limits in (("x_range", self.x_range), ("y_range", self.y_range), ("winch_range", self.winch_range)):
            if limits is not None and limits[0] > limits[1]:
                raise ValueError(f"carriage {self.name}: {what} {list(limits)} is empty; write the lower end first")
        if self.winch_range is not None and self.winch_range[0] <= 0.0:
            raise ValueError(
                f"carriage {self.name}: winch_range starts at {self.winch_range[0]:g} m; a string has a positive length"
            )
        return self

    @property
    def coordinates(self) -> tuple[str, str]:
        """The names of its two kinematic coordinates, its place x and y [m] in the world."""
        return f"{self.name}.x", f"{self.name}.y"


class String(Description):
    """A string that never stretches and has no mass, from a carriage to a hook: ``point`` in a frame or body of the character.

    ``length`` is its length at home; None means that of the straight line between the two ends in the home pose.
    """

    name: Name
    carriage: Name
    hook: Name
    point: Vector3 = quantity("length", (0.0, 0.0, 0.0))
    length: float | None = quantity("length", None, gt=0.0)

    @property
    def coordinate(self) -> str:
        """The name of its kinematic coordinate, the length [m] its winch lets out."""
        return f"{self.name}.length"


def check_strings(
    strings: Iterable[String],
    carriages: Iterable[Carriage],
    bodies: Collection[str],
    frames: Mapping[str, str],
    taken: Collection[str],
) -> None:
    """Raise ValueError when strings and carriages do not fit a character.

    ``bodies`` are the names of its bodies, ``frames`` maps its frames to their bodies, ``taken`` are the names of its coordinates.
    """
    known = {carriage.name: carriage for carriage in carriages}
    for name in known:
        if name in bodies or name in frames or name == "world":
            raise ValueError(f"the carriage {name!r} has the name of a body or frame; rename it")
    used = set()
    names = [name for carriage in known.values() for name in carriage.coordinates]
    for string in strings:
        where = f"string {string.name!r}"
        if string.carriage not in known:
            raise ValueError(f"{where} hangs on {string.carriage!r}, which is no carriage; known: {some(sorted(known))}")
        if frames.get(string.hook, string.hook) not in bodies:
            raise ValueError(
                f"{where} is hooked to {string.hook!r}, which is no frame or body of the character; give it a frame there"
            )
        limits = known[string.carriage].winch_range
        if string.length is not None and limits is not None and not limits[0] <= string.length <= limits[1]:
            raise ValueError(f"{where} is {string.length:g} m long at home, outside its winch_range {list(limits)}")
        used.add(string.carriage)
        names.append(string.coordinate)
    idle = [name for name in known if name not in used]
    if idle:
        raise ValueError(f"the carriage {idle[0]!r} holds no string; hang one on it or leave it out")
    for name in names:
        if name in taken:
            raise ValueError(f"{name!r} is a coordinate of a joint and of a string or carriage; rename one")
