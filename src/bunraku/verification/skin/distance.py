"""How far a skinned character went beside how far it should: along the planned way, or away from the spot where it should stay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array

DISTANCE_ERROR = 0.15
"""A walk keeps its promise when it goes the stated distance within this share; one in place when it ends within this share of the
spacing of its soles from where it should."""

STAYS = 0.01
"""A motion whose ends are planned to be nearer than this [m] stays in place."""


@dataclass(frozen=True)
class Walk:
    """``distance`` [m] gone along the planned way, ``planned`` [m], ``apart`` [m] how far the end is from the planned end.

    ``stays``: it should stay in place; then ``error`` is ``apart`` over the ``spacing`` [m] of the soles, else |distance - planned|
    over the planned distance.
    """

    distance: float
    planned: float
    apart: float
    spacing: float

    @property
    def stays(self) -> bool:
        """Whether the motion should end about where it begins."""
        return self.planned < STAYS

    @property
    def error(self) -> float:
        """Share by which it went wrong."""
        return self.apart / self.spacing if self.stays else abs(self.distance - self.planned) / self.planned

    @property
    def unit(self) -> str:
        """What the error is a share of."""
        return "of the soles' spacing" if self.stays else "of the distance"


def walk_between(done: Array, planned: Array, spacing: float) -> Walk:
    """From displacements (2,) [m] done and planned; the distance is counted along the planned one, or as it is in place."""
    length = float(np.linalg.norm(planned))
    along = float(done @ planned) / length if length >= STAYS else float(np.linalg.norm(done))
    return Walk(along, length, float(np.linalg.norm(done - planned)), spacing)


def spacing_of(centers: Array) -> float:
    """The least distance [m] between two soles with these centres (e, 3), seen from above."""
    apart = np.linalg.norm(centers[:, None, :2] - centers[None, :, :2], axis=2)[np.triu_indices(len(centers), 1)]
    return float(apart.min(initial=np.inf))
