"""Keys that a hand has placed on joint curves: handles beside those that the curves suggest, no part of the clip."""

from __future__ import annotations

from dataclasses import replace

from bunraku.editing.keys import Keys, keys_of, moved_keys
from bunraku.motion import Clip, JointCurves

MOST = 24
"""The most keys that are placed on a curve; the oldest gives way."""


class PlacedKeys:
    """The samples at which keys were placed, by joint; forgotten when curves of another clip, length or rate are open."""

    def __init__(self) -> None:
        self._samples: dict[str, list[int]] = {}
        self._of: tuple[str, float, int] | None = None

    def follow(self, clip: Clip) -> None:
        """The clip whose curves are shown."""
        of = None if clip.joints is None else (clip.name, clip.joints.rate, len(clip.joints.values))
        if of != self._of:
            self._of, self._samples = of, {}

    def on(self, curves: JointCurves, joint: str) -> Keys:
        """The keys of a joint: those that its curve suggests, and those placed."""
        keys = keys_of(curves, joint)
        last = keys.samples[-1]
        placed = {k for k in self._samples.get(joint, ()) if 0 <= k <= last}
        return replace(keys, samples=tuple(sorted({*keys.samples, *placed})))

    def place(self, joint: str, sample: int) -> None:
        """One more key."""
        kept = [k for k in self._samples.get(joint, ()) if k != sample]
        self._samples[joint] = [*kept, sample][-MOST:]

    def move(self, joint: str, keys: Keys, index: int, time: float) -> None:
        """A key that was dragged to a time [s] stays where the hand has put it."""
        self.remove(joint, keys.samples[index])
        self.place(joint, moved_keys(keys, index, time).samples[index])

    def remove(self, joint: str, sample: int) -> None:
        """No key is placed here any more."""
        self._samples[joint] = [k for k in self._samples.get(joint, ()) if k != sample]
