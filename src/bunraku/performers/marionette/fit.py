"""What the performer of characters that physics moves is for: puppets, and machines with fewer motors than coordinates."""

from __future__ import annotations

from bunraku.character import Character, free_base
from bunraku.motion import Clip
from bunraku.performers.fit import Fit, Suitability, without_curves


def suits(character: Character, clip: Clip) -> Suitability:
    """Made for characters on strings; also for those with fewer motors than coordinates."""
    passive = bool(character.motors) and len(character.driven) < len(character.coordinates) - len(character.couplings)
    if not character.strings and not passive:
        has = "every coordinate has a motor" if character.motors else "no motor moves it"
        return Suitability(0.0, f"the character has no strings, and {has}", ("strings",))
    if not character.strings and character.feet:
        reason = "the character stands on feet, and contact with the ground is not part of this physics"
        return Suitability(0.0, reason, ("strings",))
    if not character.strings and (base := _floating(character)):
        reason = f"no string holds the base {base!r}, which is free: it stands or goes, and is no puppet"
        return Suitability(0.0, reason, ("strings",))
    if clip.joints is None and clip.modes is not None:
        reason = "the clip is a choreography; time it first: bunraku choreograph CLIP"
        return Suitability(0.2 if clip.skeleton else 0.0, reason, ("joints",))
    if clip.joints is None:
        return without_curves(clip)
    if count := len(character.strings):
        return Suitability(1.0, f"the character hangs on {count} string{'s' if count > 1 else ''}")
    return Suitability(0.3 if clip.audio else 0.9, "some coordinates have no motor: physics moves them")


def _floating(character: Character) -> str:
    """The free base that carries motors, or nothing: a ball that a fixed hand holds is free too, and carries none."""
    base = free_base(character)
    if base is None:
        return ""
    above, driven = {joint.child: joint for joint in character.joints}, set(character.driven)
    for joint in character.joints:
        if driven.isdisjoint(axis.name for axis in joint.axes):
            continue
        body = joint.parent
        while body != base.child and body in above:
            body = above[body].parent
        if body == base.child:
            return base.child
    return ""


def _kernels(character: Character) -> tuple[str, ...]:
    """Strings are followed without second derivatives of the dynamics."""
    return ("control", "collisions", "steps") if character.strings else ("control", "collisions", "steps", "curvature")


MARIONETTE = Fit(
    "marionette",
    "bunraku.performers.marionette.performer:MarionettePerformer",
    suits,
    _kernels,
    needs=("clip.joints",),
    uses=("character.strings", "character.carriages", "character.motors", "character.frames"),
    remedies="bunraku.performers.marionette.remedies:REMEDIES",
)


def _holds(character: Character, clip: Clip) -> Suitability:
    """Made for characters with tendons."""
    fits = bool(character.tendons)
    return Suitability(float(fits), "tendons hold the character" if fits else "the character has no tendons")


HOLD = Fit("hold", "bunraku.performers.marionette.hold:HoldPerformer", _holds, _kernels)
"""It takes no wish but to stay at home, so it is not among those to choose from."""
