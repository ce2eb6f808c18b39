"""The dances of the benchmarks about the marionette: which part of which clip, at which tempo. No question of its own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bunraku.character import Character
from bunraku.formats.registry import read_character, read_clip
from bunraku.motion import Clip
from bunraku.performers.marionette.performer import MarionettePerformer
from bunraku.performers.marionette.problem import PuppetProblem, cut_wish, state_puppet_problem
from bunraku.retargeting.retarget import retarget

DATA = Path(os.environ.get("BUNRAKU_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"
RATE = 100.0
"""Steps a second [Hz]."""

BLEND = 1.2
"""Time [s] to come from hanging into the clip at full speed; at half speed twice that."""


@dataclass(frozen=True)
class Dance:
    """``duration`` seconds of the clip ``name`` from ``start`` on, ``tempo`` times as fast; ``bound``: whether bars apply."""

    name: str
    start: float
    duration: float
    tempo: float = 1.0
    bound: bool = True

    @property
    def there(self) -> bool:
        """Whether its clip is: recordings lie in the data folder beside the repository."""
        return not self.name.startswith("cmu_") or (DATA / f"{self.name}.bvh").is_file()

    @property
    def label(self) -> str:
        """Name and part of the clip."""
        return f"{self.name} {self.start:g}-{self.start + self.duration:g} s"

    @property
    def performer(self) -> MarionettePerformer:
        """The performer with its own defaults, told what part to perform."""
        return MarionettePerformer(rate=RATE, start=self.start, duration=self.duration, tempo=self.tempo, blend=BLEND / self.tempo)

    @property
    def clip(self) -> Clip:
        """The clip in the puppet's joints."""
        return _retargeted(self.name)

    @property
    def problem(self) -> PuppetProblem:
        """What the performer states: the same wish, limits and weights."""
        assert self.clip.joints is not None
        wish = cut_wish(self.clip.joints, rate=RATE, start=self.start, duration=self.duration, tempo=self.tempo)
        return state_puppet_problem(puppet(), wish, rate=RATE, blend=BLEND / self.tempo)


@cache
def puppet() -> Character:
    """The marionette."""
    return read_character("marionette")


@cache
def _retargeted(name: str) -> Clip:
    source = DATA / f"{name}.bvh" if name.startswith("cmu_") else name
    return retarget(read_clip(str(source)), puppet(), rate=RATE).clip
