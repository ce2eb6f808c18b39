"""The clip: what is wanted, as tracks. A performer that misses a track says which."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bunraku.character import html_table
from bunraku.errors import BadInput
from bunraku.motion.choreography import Choreography
from bunraku.motion.curves import JointCurves, SkeletonMotion
from bunraku.motion.emphasis import Emphasis
from bunraku.motion.gait import Gait
from bunraku.motion.sound import Audio, Mark


@dataclass(frozen=True)
class Clip:
    """What is wanted of a character. Tracks not given are None or empty.

    ``joints``: curves of the character's own coordinates; ``skeleton``: a captured skeleton, to be retargeted;
    ``audio``, ``words``, ``phrases``: the voice; ``held``: coordinates or groups that stay at their home value;
    ``modes``: a choreography, primitives with their switching times and a score; ``emphasis``: which bodies matter more, and when;
    ``gait``: how to go; ``only``: the limbs of the skeleton that are to be followed, if not all.
    """

    name: str
    joints: JointCurves | None = None
    skeleton: SkeletonMotion | None = None
    audio: Audio | None = None
    words: tuple[Mark, ...] = ()
    phrases: tuple[Mark, ...] = ()
    held: tuple[str, ...] = ()
    mood: str = ""
    source: str = ""
    modes: Choreography | None = None
    emphasis: tuple[Emphasis, ...] = ()
    gait: Gait | None = None
    only: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Clip {self.name!r}: {', '.join(self.tracks) or 'no tracks'}; {self.duration:.3g} s"

    def _repr_html_(self) -> str:
        rows = [("tracks", ", ".join(self.tracks) or "none"), ("length", f"{self.duration:.3g} s")]
        return html_table(f"Clip {self.name!r}", rows)

    @property
    def tracks(self) -> tuple[str, ...]:
        """The names of the tracks that this clip has."""
        present = {
            "joints": self.joints is not None,
            "skeleton": self.skeleton is not None,
            "audio": self.audio is not None,
            "words": bool(self.words),
            "phrases": bool(self.phrases),
            "modes": self.modes is not None,
            "emphasis": bool(self.emphasis),
            "gait": self.gait is not None,
        }
        return tuple(name for name, given in present.items() if given)

    @property
    def duration(self) -> float:
        """Length [s] of the motion, or of the sound when there is no motion."""
        for track in (self.joints, self.skeleton, self.audio, self.modes, self.gait):
            if track is not None:
                return track.duration
        return 0.0

    def changed(self, **fields: Any) -> Clip:
        """The same clip with some tracks replaced."""
        return replace(self, **fields)

    def need_joints(self, who: str) -> JointCurves:
        """The joint curves, or an error that says what to do."""
        if self.joints is None:
            hint = "retarget its skeleton first: bunraku retarget CLIP CHARACTER" if self.skeleton else "add a joints track"
            if self.modes is not None:
                hint = "make them from its modes first: bunraku choreograph CLIP -o OUT.clip.yaml"
            has = ", ".join(self.tracks) or "nothing"
            raise BadInput(f"the clip {self.name!r} has no joint curves (it has: {has}); {who} needs them: {hint}")
        if len(self.joints.values) < 2:
            raise BadInput(f"the joint curves of the clip {self.name!r} are a single sample, a pose; a motion has at least two")
        return self.joints

    def need_gait(self, who: str) -> Gait:
        """The gait, or an error that says who needs it."""
        if self.gait is None:
            raise BadInput(f"the clip {self.name!r} has no gait; {who} needs one")
        return self.gait
