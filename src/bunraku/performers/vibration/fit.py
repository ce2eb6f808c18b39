"""What the performer of flexible characters is for, and the baselines it is compared with."""

from __future__ import annotations

from bunraku.character import Character
from bunraku.motion import Clip
from bunraku.performers.fit import Fit, Suitability, without_curves


def suits(character: Character, clip: Clip) -> Suitability:
    """Made for characters with flexible parts, all of whose wished coordinates have motors."""
    if not character.flexibles:
        return Suitability(0.0, "no part of the character bends", ("flexibles",))
    if not character.motors:
        return Suitability(0.0, "no motor moves the character", ("motors",))
    if clip.joints is None:
        return without_curves(clip)
    count = len(character.flexibles)
    return Suitability(1.0, f"{count} part{'s' if count > 1 else ''} of the character bend{'' if count > 1 else 's'}")


VIBRATION = Fit(
    "vibration",
    "bunraku.performers.vibration.performer:VibrationPerformer",
    suits,
    kernels=lambda character: ("measures", "bending"),
    needs=("clip.joints", "character.flexibles"),
    uses=("clip.emphasis", "clip.phrases", "character.motors", "character.frames"),
    chainable=True,
    remedies="bunraku.performers.vibration.remedies:REMEDIES",
)

_BASELINES = "bunraku.performers.vibration.compared"
ZV = VIBRATION.as_baseline("zv", f"{_BASELINES}:ZvPerformer", chainable=True)
ZV_ADVANCED = VIBRATION.as_baseline("zv-advanced", f"{_BASELINES}:AdvancedZvPerformer", chainable=True)
ZVD = VIBRATION.as_baseline("zvd", f"{_BASELINES}:ZvdPerformer", chainable=True)
ZVD_ADVANCED = VIBRATION.as_baseline("zvd-advanced", f"{_BASELINES}:AdvancedZvdPerformer", chainable=True)
LOW_PASS = VIBRATION.as_baseline("lowpass", f"{_BASELINES}:LowPassPerformer", chainable=True)
