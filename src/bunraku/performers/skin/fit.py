"""What the performer of skinned characters is for."""

from __future__ import annotations

from bunraku.character import Character
from bunraku.motion import Clip
from bunraku.performers.fit import Fit, Suitability


def suits(character: Character, clip: Clip) -> Suitability:
    """Made for skinned characters, and clips that say how to go."""
    if character.skin is None:
        return Suitability(0.0, "the character has no skin", ("skin",))
    if not character.motors or not character.end_effectors:
        return Suitability(0.0, "the character has no motors or no soles", ("motors", "end_effectors"))
    if clip.gait is None:
        return Suitability(0.0, "the clip has no gait: which feet stand when", ("gait",))
    return Suitability(1.0, "the character has a skin that loads its motors and moves its soles, and the clip says how to go")


SKIN = Fit(
    "skin",
    "bunraku.performers.skin.performer:SkinPerformer",
    suits,
    kernels=lambda character: ("skin", "measures"),
    needs=("clip.gait", "character.skin", "character.end_effectors", "character.motors"),
    uses=("clip.joints",),
    remedies="bunraku.performers.skin.remedies:REMEDIES",
)
