"""The baselines as performers, to be compared with: the same options, judged and certified alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from bunraku.character import Character
from bunraku.motion import Clip
from bunraku.performers.performer import Suitability, option
from bunraku.performers.vibration.performer import VibrationPerformer


@dataclass(frozen=True, kw_only=True)
class _Baseline(VibrationPerformer):
    """What the baselines have in common: nobody chooses them by themselves."""

    needs: ClassVar[tuple[str, ...]] = ()

    def suits(self, character: Character, clip: Clip) -> Suitability:
        """Only when asked for by name."""
        fit = super().suits(character, clip)
        return Suitability(min(fit.score, 0.05), "a baseline to compare with", fit.missing)


@dataclass(frozen=True, kw_only=True)
class ZvPerformer(_Baseline):
    """Zero vibration: two copies of the command, half a period apart."""

    name: ClassVar[str] = "zv"
    method: Literal["zv"] = option("zv", "how: fixed for this baseline")


@dataclass(frozen=True, kw_only=True)
class AdvancedZvPerformer(_Baseline):
    """Zero vibration, started a quarter of a period early."""

    name: ClassVar[str] = "zv-advanced"
    method: Literal["zv-advanced"] = option("zv-advanced", "how: fixed for this baseline")


@dataclass(frozen=True, kw_only=True)
class ZvdPerformer(_Baseline):
    """Zero vibration and zero derivative: three copies over a period."""

    name: ClassVar[str] = "zvd"
    method: Literal["zvd"] = option("zvd", "how: fixed for this baseline")


@dataclass(frozen=True, kw_only=True)
class AdvancedZvdPerformer(_Baseline):
    """Zero vibration and zero derivative, started half a period early."""

    name: ClassVar[str] = "zvd-advanced"
    method: Literal["zvd-advanced"] = option("zvd-advanced", "how: fixed for this baseline")


@dataclass(frozen=True, kw_only=True)
class LowPassPerformer(_Baseline):
    """A low-pass filter without phase."""

    name: ClassVar[str] = "lowpass"
    method: Literal["lowpass"] = option("lowpass", "how: fixed for this baseline")
