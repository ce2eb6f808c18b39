"""Which coordinates a wish for a character is about, and within which limits.

Motors follow a wish joint by joint, so a wish for a character with motors names the coordinates they drive. A puppet on strings,
or a character without any motor, is wished as a whole: all its coordinates, where it is and how it is turned included; that it
cannot be pulled into every pose is the performer's matter.
"""

from __future__ import annotations

from bunraku.character import Character, Motor
from bunraku.motion import MotionLimits


def is_wished_whole(character: Character) -> bool:
    """Whether a wish names all coordinates: the character hangs on strings, or has no motors."""
    return bool(character.strings) or not character.motors


def wished_coordinates(character: Character) -> tuple[str, ...]:
    """The coordinates of a wish, in the order of its curves: all of them, or those that motors drive."""
    return character.coordinates if is_wished_whole(character) else character.driven


def wish_limits(character: Character) -> MotionLimits:
    """The limits of the coordinates that a wish can choose: the wished ones but for followers of couplings.

    Those without a motor have their joint's range and no other limit.
    """
    if not is_wished_whole(character):
        return MotionLimits.of(character)
    followers = {coupling.follower for coupling in character.couplings}
    own = {motor.coordinate: motor for motor in character.motors}
    chosen = [name for name in character.coordinates if name not in followers]
    motors = tuple(own.get(name, Motor(name=f"wish of {name}", coordinate=name)) for name in chosen)
    return MotionLimits.of(character.changed(motors=motors))


def middle_angles(character: Character) -> tuple[str, ...]:
    """The middle ones of the three turns of ball and free joints: at a right angle the outer two turn about the same axis."""
    middles = []
    for joint in character.joints:
        if joint.kind in ("ball", "free"):
            middles.append([axis.name for axis in joint.axes if axis.kind == "hinge"][1])
    return tuple(middles)
