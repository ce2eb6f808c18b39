"""What the performer of speech and gestures is for, and the baselines it is compared with."""

from __future__ import annotations

from bunraku.character import Character
from bunraku.motion import Clip
from bunraku.performers.fit import Fit, Suitability, without_curves


def suits(character: Character, clip: Clip) -> Suitability:
    """Made for joint curves with a voice on a character with motors; a voice is not required."""
    if not character.motors:
        return Suitability(0.0, "the character has no motors (add some to its file)", ("motors",))
    if clip.joints is None:
        return without_curves(clip)
    if clip.audio is not None:
        return Suitability(1.0, "the clip moves joints and has a voice to stay in time with")
    if clip.words:
        return Suitability(1.0, "the clip moves joints and has words, without sound, to stay in time with")
    return Suitability(0.6, "the clip moves joints; there is no voice, so time is kept against the wish itself")


def kernels(character: Character) -> tuple[str, ...]:
    """The chain of samples, which also compresses gestures; the smooth one where a motor has a limit of acceleration or jerk."""
    smooth = any(motor.acceleration is not None or motor.jerk is not None for motor in character.motors)
    return ("chain", *(("smooth chain",) if smooth else ()), "measures")


SPEECH = Fit(
    "speech",
    "bunraku.performers.speech.performer:SpeechPerformer",
    suits,
    kernels=kernels,
    needs=("clip.joints", "character.motors"),
    uses=("clip.audio", "clip.words", "clip.phrases", "character.velocity limits", "character.feet", "character.home"),
    chainable=True,
    remedies="bunraku.performers.speech.remedies:REMEDIES",
    option_kernels=dict.fromkeys(("acceleration", "jerk", "torque_share"), ("smooth chain",)),
)

_BASELINES = "bunraku.performers.speech.baselines"
REFERENCE = SPEECH.as_baseline("reference", f"{_BASELINES}:ReferencePerformer", kernels=("measures",))
CLAMP = SPEECH.as_baseline("clamp", f"{_BASELINES}:ClampPerformer", chainable=True, kernels=("measures",))
STRETCH = SPEECH.as_baseline("stretch", f"{_BASELINES}:StretchPerformer", kernels=("measures",))
RUCKIG = SPEECH.as_baseline("ruckig", f"{_BASELINES}:RuckigPerformer", kernels=("measures",))
TOPPRA = SPEECH.as_baseline("toppra", f"{_BASELINES}:ToppraPerformer", kernels=("measures",))
