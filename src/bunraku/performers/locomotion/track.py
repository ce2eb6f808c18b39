"""A track: samples of a motion in a row, whatever they come from, one plan or many put together, ready to be played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.mechanics.centroidal import torque_kernels
from bunraku.mechanics.centroidal.kinematics import Kinematics
from bunraku.mechanics.centroidal.model import CentroidalModel
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.motion import HeightField
from bunraku.performers.locomotion.plan import MotionPlan

End: TypeAlias = Literal["through", "rest", "speed", "free"]

MARGIN = 4
"""Samples of an endless motion taken beyond each end of what is played, so that splines do not see an end."""


@dataclass(frozen=True)
class Track:
    """Samples (n, nv) of coordinates and forces, ``step`` [s] apart, and which end effectors are on the ground at them (n, n_e).

    Played are the samples from ``margin`` to n - 1 - margin. ``ends``: how the curve treats each end of that part: it goes
    "through" to the samples beyond, or stops there at "rest", with the "speed" of the central difference, or "free".
    """

    model: CentroidalModel
    step: float
    samples: Array
    contacts: Indices
    margin: int = MARGIN
    ends: tuple[End, End] = ("through", "through")
    terrain: HeightField | None = None

    @property
    def q(self) -> Array:
        """Coordinates (n, nq)."""
        return self.samples[:, : self.model.nq]

    @property
    def forces(self) -> Array:
        """Forces (n, n_e, 3) of the ground on the end effectors [N]."""
        return self.samples[:, self.model.nq :].reshape(len(self.samples), -1, 3)

    @property
    def times(self) -> Array:
        """Times (n,) [s], zero at the first sample that is played."""
        return self.step * np.arange(-self.margin, len(self.samples) - self.margin, dtype=np.float64)

    @property
    def duration(self) -> float:
        """Time [s] from the first sample played to the last."""
        return self.step * (len(self.samples) - 1 - 2 * self.margin)


PINNED = 1e-5
"""Two samples of a plan nearer than this [rad, m] stand still: pins are met to a solver's tolerance, and no motion is this slow."""


def track_of(plan: MotionPlan, cycles: int = 1) -> Track:
    """The track of a plan: ``cycles`` of a cycle, or a motion that happens once."""
    problem = plan.problem
    if problem.periodic:
        last = cycles * plan.cycle
        margin = MARGIN
        ends: tuple[End, End] = ("through", "through")
    else:
        last, margin = problem.samples - 1, 1
        ends = (_end(problem.ends.before, plan.q[0]), _end(problem.ends.after, plan.q[-1]))
    numbers = range(-margin, last + margin + 1)
    contacts = np.array([plan.touching(k) for k in numbers], dtype=np.int64)
    return Track(
        problem.model, problem.step, plan.samples(numbers[0], numbers[-1]), contacts, margin, ends, problem.terrain
    )  # fmt: skip


def _end(ghost: Array | None, pose: Array) -> End:
    """Rest is rest wherever it stands: place and heading of the ghost sample do not matter."""
    if ghost is None:
        return "free"
    other = np.array(ghost[: len(pose)])
    other[[0, 1, 3]] = pose[[0, 1, 3]]
    return "rest" if float(np.abs(other - pose).max()) < PINNED else "speed"


def track_torques(track: Track, seen: Kinematics) -> Array:
    """Torques (n - 2, nq) at the inner samples, by the plan's own inverse dynamics; ``seen``: kinematics of all samples."""
    model = track.model
    torque = np.zeros((max(len(track.samples) - 2, 0), model.nq))
    load = np.empty((len(model.points.node), 3))
    for i in range(1, len(track.samples) - 1):
        forces = np.ascontiguousarray(track.samples[i, model.nq :])
        torque_kernels.torques(i, model.arrays, seen.arrays, forces, track.step, GRAVITY, load, torque[i - 1])
    return torque
