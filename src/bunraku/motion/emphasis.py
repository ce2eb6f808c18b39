"""Emphasis: which bodies of a character matter more than others, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BadInput

KINDS = ("position", "orientation")


@dataclass(frozen=True)
class Emphasis:
    """How much one ``frame`` (a body or frame of the character) counts from ``start`` to ``end`` [s]; None: to the end of the clip.

    ``kind`` position: its squared distance from where it should be counts ``weight`` times as much as else (1: no difference; 0:
    not at all). ``kind`` orientation: its squared tilt [rad^2], which else does not count, is added ``weight`` [m^2] times: at 0.01
    a tilt of one radian counts as much as a distance of 0.1 m.
    """

    frame: str
    weight: float
    start: float = 0.0
    end: float | None = None
    kind: Literal["position", "orientation"] = "position"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.weight) and 0.0 <= self.weight <= 1e9):
            raise BadInput(f"the emphasis of {self.frame[:60]!r} has the weight {self.weight}; give one from 0 to 1e9")
        if not 0.0 <= self.start < np.inf or (self.end is not None and not self.end > self.start):
            raise BadInput(
                f"the emphasis of {self.frame[:60]!r} goes from {self.start} to {self.end} s; it must end after it starts"
            )
        if self.kind not in KINDS:
            raise BadInput(f"the emphasis of {self.frame[:60]!r} is of kind {self.kind!r}; choose {' or '.join(KINDS)}")

    def active(self, times: ArrayLike) -> NDArray[np.bool_]:
        """Whether it applies at each of the ``times`` [s]; ends included."""
        t = np.asarray(times, dtype=np.float64)
        return (t >= self.start - 1e-9) & (t <= (np.inf if self.end is None else self.end) + 1e-9)
