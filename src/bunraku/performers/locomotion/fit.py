"""What the performer of walking, rolling and skating is for."""

from __future__ import annotations

from bunraku.character import Character, free_base
from bunraku.motion import Clip
from bunraku.performers.fit import Fit, Suitability


def suits(character: Character, clip: Clip) -> Suitability:
    """Made for floating characters with end effectors, and clips that say how to go."""
    if not character.end_effectors or free_base(character) is None:
        return Suitability(0.0, "the character has no wheels or feet to go on (end_effectors, a free base)", ("end_effectors",))
    if not character.motors:
        return Suitability(0.0, "no motor moves the character", ("motors",))
    if clip.gait is None:
        return Suitability(0.0, "the clip has no gait", ("gait",))
    if character.skin is not None:
        return Suitability(0.2, "the character has a skin, which a plan of rigid bodies leaves out; use skin")
    return Suitability(1.0, f"the clip says how to go, and {len(character.end_effectors)} end effectors carry the character")


LOCOMOTION = Fit(
    "locomotion",
    "bunraku.performers.locomotion.performer:LocomotionPerformer",
    suits,
    kernels=lambda character: ("locomotion", "measures"),
    needs=("clip.gait", "character.end_effectors", "character.motors"),
    uses=("character.velocity limits",),
    remedies="bunraku.performers.locomotion.remedies:REMEDIES",
)
