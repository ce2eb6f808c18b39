"""The motion problem of locomotion: unknowns, constraints and weights of one plan, as data for the kernels.

Unknowns of a sample: the coordinates q and the ground's force on every end effector. docs/theory/locomotion has the constraints.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.centroidal.arrays import BlockArrays, Regularizers
from bunraku.mechanics.centroidal.kinematics import center_of_mass, contact_points, ground_grid, working_arrays
from bunraku.mechanics.centroidal.problem import GroundProblem, most
from bunraku.mechanics.centroidal.spots import NO_SPOTS, Spots
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.motion import HeightField
from bunraku.performers.locomotion import energy_kernels as kernels
from bunraku.performers.locomotion.arrays import Flags, MotionArrays, MotionFacts, MotionWork, Waypoints
from bunraku.performers.locomotion.constraint_kernels import (
    FRICTION,
    HEIGHT,
    LIFT,
    NORMAL,
    RESIST,
    SLIP,
    SPIN,
    SPIN_TORQUE,
    TIP_ROWS,
)

BOUNDARY_SCALE = 10.0
GAP = 0.02
"""End effectors of different limbs keep the sum of their radii and this [m] apart (or what they have at home, if less)."""


@dataclass(frozen=True)
class Weights:
    """Weights of the objective, for a cycle of 12 samples; finer plans scale them to keep their integrals.

    ``smooth`` of second differences of q, ``posture`` of the distance from home, ``force`` and ``force_rate`` of forces [1/N²].
    """

    smooth: float = 0.1
    posture: float = 1e-3
    force: float = 1e-4
    force_rate: float = 1e-3

    def at(self, intervals: int) -> tuple[float, float, float, float]:
        """The weights of a plan with that many intervals."""
        n = intervals / 12.0
        return self.smooth * n**3, self.posture / n, self.force / n, self.force_rate * n

    def paced(self, intervals: int, cycle: float) -> Weights:
        """Weights that in a motion of ``intervals`` count per sample as these do in a cycle of ``cycle`` intervals."""
        n = cycle / intervals
        return Weights(self.smooth * n**3, self.posture / n, self.force / n, self.force_rate * n)


@dataclass(frozen=True)
class Waypoint:
    """A place wished between samples: ``sample``, ``share`` of the interval after it; ``what``: -1 COM, -2 base, else a tip."""

    sample: int
    share: float
    what: int
    place: tuple[float, float, float]
    weight: tuple[float, float, float]


@dataclass(frozen=True)
class Ends:
    """What holds at the ends of a motion that happens once, or the mirror of a cycle whose second half mirrors its first.

    ``start``: the first pose (nq,); ``before``: the sample before it (nv,); ``end``: the last pose, up to the shift D; ``after``:
    the sample after it, shifted too. Any may be None. ``mirror``: permutation and sign (nv,) of a cycle.
    """

    start: Array | None = None
    before: Array | None = None
    end: Array | None = None
    after: Array | None = None
    contacts_before: Flags | None = None
    contacts_after: Flags | None = None
    mirror: tuple[Flags, Array] | None = None


@dataclass(frozen=True)
class MotionProblem(GroundProblem):
    """One plan to be found.

    ``friction`` (n_e,) that the plan counts on, ``least_force`` [N] on every foot that stands, ``spots`` that stay off the ground.
    The travel of a mirrored half cycle is that of the whole cycle.
    """

    ends: Ends = Ends()
    weights: Weights = Weights()
    friction: Array = field(default_factory=lambda: np.zeros(0))
    least_force: float = 0.5
    waypoints: tuple[Waypoint, ...] = ()
    terrain: HeightField | None = None
    torque_limits: bool = True
    spots: Spots = NO_SPOTS

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.friction) == 0:
            object.__setattr__(self, "friction", self.model.friction)

    @property
    def intervals(self) -> int:
        """Number of steps; of a mirrored half cycle those of the whole."""
        return super().intervals * (2 if self.periodic and self.ends.mirror is not None else 1)

    @property
    def mirror(self) -> tuple[Flags, Array]:
        """Permutation and sign (nv,) of what half a cycle does to the unknowns of a sample."""
        return super().mirror if self.ends.mirror is None else self.ends.mirror

    @cached_property
    def rows(self) -> tuple[Array, Flags]:
        """Scale and kind (1: inequality) of the m rows of a sample."""
        model = self.model
        n_e, joints, pairs = model.n_tips, model.nq - 6, len(self.pairs[0]) + len(self.spots.node)
        F0 = 0.1 * model.mass * GRAVITY
        m = 6 + TIP_ROWS * n_e + 3 * joints + pairs
        scale, inequality = np.empty(m), np.zeros(m, dtype=np.int64)
        scale[:3], scale[3:6] = 1.0 / F0, 10.0 / F0
        for j in range(n_e):
            o = 6 + TIP_ROWS * j
            scale[o : o + TIP_ROWS] = 1.0 / F0
            scale[o + HEIGHT], scale[o + SLIP : o + SLIP + 2] = 100.0, 10.0
            scale[o + SPIN], scale[o + SPIN_TORQUE] = 1.0, 1.0
            inequality[[o + FRICTION, o + NORMAL, o + SPIN, o + SPIN_TORQUE]] = 1
        o = 6 + TIP_ROWS * n_e
        for c in range(joints):
            scale[o + 3 * c : o + 3 * c + 3] = 10.0, 1.0, 1.0
            inequality[o + 3 * c : o + 3 * c + 3] = int(model.half[6 + c] > 0.0), 1, 1
        scale[o + 3 * joints :], inequality[o + 3 * joints :] = 300.0, 1
        return scale, inequality

    @cached_property
    def pairs(self) -> tuple[Flags, Array]:
        """Pairs (k, 2) of end effectors on different limbs and the least distance [m] of their contact points."""
        model, radius = self.model, self.model.tips.radius
        e = contact_points(model, model.home, self.terrain)
        pairs, least = [], []
        for j in range(model.n_tips):
            for k in range(j + 1, model.n_tips):
                if model.lumps[j] != model.lumps[k]:
                    pairs.append((j, k))
                    least.append(min(radius[j] + radius[k] + GAP, 0.95 * float(np.linalg.norm(e[j] - e[k]))))
        return np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(least, dtype=np.float64)

    @cached_property
    def _arrays(self) -> MotionArrays:
        """What the kernel takes besides the unknowns."""
        model, ends = self.model, self.ends
        n, first, last = self.model.nq, self.contacts[0], self.contacts[-1]
        if self.periodic:
            tip_of = (self.mirror[0][n::3] - n) // 3
            before, after = last[tip_of], first[tip_of]
        else:
            before = first if ends.contacts_before is None else ends.contacts_before
            after = last if ends.contacts_after is None else ends.contacts_after
        pairs, least = self.pairs
        plan = MotionFacts(
            self.step, model.mass, GRAVITY, self.least_force, bool(self.torque_limits), self.extended(before, after), self.heights,
            self.friction, model.drag, model.points.place[None], model.tips.center[None], pairs, least, ground_grid(self.terrain),
            self.spots,
        )  # fmt: skip
        smooth, posture, force, force_rate = self.weights.at(self.intervals)
        size, rate, rest = np.full(self.nv, force), np.full(self.nv, force_rate), np.zeros(self.nv)
        size[:n], rate[:n], rest[:n] = posture, 0.0, model.home
        size[[0, 1, 3]] = 0.0
        waypoints = Waypoints(
            np.array([one.sample for one in self.waypoints], dtype=np.int64),
            np.array([one.share for one in self.waypoints], dtype=np.float64),
            np.array([one.what for one in self.waypoints], dtype=np.int64),
            np.array([one.place for one in self.waypoints], dtype=np.float64).reshape(-1, 3),
            np.array([one.weight for one in self.waypoints], dtype=np.float64).reshape(-1, 3),
        )
        pose = model.home if ends.start is None else ends.start
        start, end = (None, None) if self.periodic else (ends.start, ends.end)
        origin = np.append(center_of_mass(model, pose)[:2], pose[3])
        return MotionArrays(
            model.arrays, model.limits, model.wheel_limits, plan, Regularizers(smooth, size, rate, rest), waypoints,
            self.neighbours(ends.before, ends.after),
            self.ended(BOUNDARY_SCALE, start, end, start is None, ends.mirror is not None, origin), *self.rows,
        )  # fmt: skip

    @cached_property
    def _work(self) -> MotionWork:
        """Working arrays."""
        held = np.zeros((self.samples, len(self.rows[0])), dtype=np.int64)
        return MotionWork(working_arrays(self.model, self.samples + 2), np.zeros((self.samples + 2, self.nv)), held)

    def _evaluate(self, z: Array, weight: float, shifts: Array, jacobian: bool) -> tuple[float, float]:
        T, nv, _ = self.shape
        v, D, blocks = z[: T * nv].reshape(T, nv), z[T * nv :], BlockArrays(*self._blocks)
        total, objective = kernels.energy(
            v, D, self._arrays, self._work, weight, self.split(shifts), self._values, jacobian, blocks
        )
        return float(total), float(objective)

    def _worst(self, worst: Array) -> dict[str, float]:
        n_e, joints, pairs = self.model.n_tips, self.model.nq - 6, len(self.pairs[0])
        tips = worst[: TIP_ROWS * n_e].reshape(n_e, TIP_ROWS)
        limits, rest = np.split(worst[TIP_ROWS * n_e :], [3 * joints])
        limits = limits.reshape(joints, 3)
        return {
            "height over ground [m]": most(tips[:, HEIGHT]),
            "slip [m]": most(tips[:, SLIP : SLIP + 2]),
            "rolling resistance [N]": most(tips[:, RESIST]),
            "force in the air [N]": most(tips[:, LIFT : LIFT + 3]),
            "friction cone [N]": most(tips[:, FRICTION]),
            "normal force [N]": most(tips[:, NORMAL]),
            "wheel speed [rad/s]": most(tips[:, SPIN]),
            "wheel torque [of stall]": most(tips[:, SPIN_TORQUE]),
            "joint range [rad]": most(limits[:, 0]),
            "joint speed [rad/s]": most(limits[:, 1]),
            "joint torque [of the motor's line]": most(limits[:, 2]),
            "distance of end effectors [m]": most(rest[:pairs]),
            "limb in the ground [m]": most(rest[pairs:]),
        }

    def still(self) -> Array:
        """The first guess: home at every sample, the weight shared by what stands, the shift of the travel at yaw zero."""
        T, nv, _ = self.shape
        nq = self.model.nq
        z = np.zeros(self.size)
        v = z[: T * nv].reshape(T, nv)
        v[:, :nq] = self.model.home if self.ends.start is None else self.ends.start
        standing = self.contacts.sum(axis=1, keepdims=True)
        v[:, nq + 2 :: 3] = self.contacts * (self.model.mass * GRAVITY / np.maximum(standing, 1))
        return z
