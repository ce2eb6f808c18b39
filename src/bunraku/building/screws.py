"""Hole patterns: where the screws go that hold a printed part to a servo."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class HolePattern:
    """``count`` clearance holes of ``hole_diameter`` [m]: on a circle of ``radius`` [m], or at the corners of a rectangle.

    On a circle the first hole stands at ``phase`` [rad] from the pattern's first direction. A rectangle of ``spacing`` (along the
    first and the second direction) has four holes, and ``radius`` is half its diagonal. ``screw`` names the thread, ``source``
    where the figures come from.
    """

    radius: float
    hole_diameter: float
    count: int
    screw: str
    source: str
    phase: float = 0.0
    spacing: tuple[float, float] | None = None

    def places(self) -> NDArray[np.float64]:
        """The holes' centres (count, 2) [m] in the plane of the pattern."""
        if self.spacing is not None:
            u, v = self.spacing[0] / 2.0, self.spacing[1] / 2.0
            return np.array([[u, v], [-u, v], [-u, -v], [u, -v]])
        angles = self.phase + 2.0 * np.pi * np.arange(self.count) / self.count
        return self.radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def rectangle(along: float, across: float, hole_diameter: float, screw: str, source: str) -> HolePattern:
    """Four holes at the corners of a rectangle of these spacings [m]."""
    return HolePattern(float(np.hypot(along, across)) / 2.0, hole_diameter, 4, screw, source, spacing=(along, across))
