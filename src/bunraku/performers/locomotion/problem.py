"""The motion problem of going: unknowns, rows and weights of one plan, as data for the kernels.

Unknowns z: for each of T samples the coordinates q and the ground's force on every end effector, then the shift D = (dx, dy, dyaw)
that carries the start of a cycle to its end, or the wanted last pose to where it is reached. docs/theory/locomotion has the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.mechanics.centroidal.cycle_kernels import OPEN, PERIODIC
from bunraku.mechanics.centroidal.kinematics import center_of_mass, contact_points, ground_arrays, working_arrays
from bunraku.mechanics.centroidal.model import CentroidalModel
from bunraku.mechanics.centroidal.spots import NO_SPOTS, Spots
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.motion import HeightField
from bunraku.optimization.blocks.sampled import SampledProblem
from bunraku.performers.locomotion import energy_kernels as kernels
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

Array: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.int64]

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
class Aim:
    """A target between samples: ``sample`` and ``share`` of the interval after it; ``what``: -1 COM, -2 base, else end effector."""

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
class MotionProblem(SampledProblem):
    """One plan to be found. ``contacts`` and ``heights`` (T, n_e), ``step`` h [s], ``goal`` (x, y [m], yaw [rad]), NaN where free.

    ``friction`` (n_e,) that the plan counts on, ``least_force`` [N] on every foot that stands, ``spots`` that stay off the ground.
    The goal of a mirrored half cycle is that of the whole cycle.
    """

    model: CentroidalModel
    contacts: Flags
    heights: Array
    step: float
    periodic: bool
    goal: tuple[float, float, float]
    ends: Ends = Ends()
    weights: Weights = Weights()
    friction: Array = field(default_factory=lambda: np.zeros(0))
    least_force: float = 0.5
    aims: tuple[Aim, ...] = ()
    terrain: HeightField | None = None
    torque_limits: bool = True
    spots: Spots = NO_SPOTS

    def __post_init__(self) -> None:
        if self.samples < 5:
            raise BadInput(f"a plan of {self.samples} samples arrived; at least 5 are needed")
        if len(self.friction) == 0:
            object.__setattr__(self, "friction", self.model.friction)

    @property
    def samples(self) -> int:
        """Number of samples T."""
        return len(self.contacts)

    @property
    def intervals(self) -> int:
        """Number of steps, T of a cycle, T - 1 of a motion that happens once; of a mirrored half cycle those of the whole."""
        if not self.periodic:
            return self.samples - 1
        return self.samples * (2 if self.ends.mirror is not None else 1)

    @property
    def cyclic(self) -> bool:
        """Whether the last sample is coupled with the first."""
        return self.periodic

    @property
    def shape(self) -> tuple[int, int, int]:
        """The blocks T, the unknowns nv of each, the three unknowns of the shift."""
        return self.samples, self.model.nv, 3

    @property
    def end_rows(self) -> int:
        """Rows of pins (2 nq), gauge and goal (3 each)."""
        return 2 * self.model.nq + 6

    @cached_property
    def rows(self) -> tuple[Array, Flags]:
        """Scale and kind (1: inequality) of the m rows of a sample."""
        model = self.model
        n_e, joints, pairs = model.n_tips, model.nq - 6, len(self.pairs[0]) + len(self.spots[0])
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
        model, radius = self.model, self.model.tips[4]
        e = contact_points(model, model.home, self.terrain)
        found, least = [], []
        for j in range(model.n_tips):
            for k in range(j + 1, model.n_tips):
                if model.lumps[j] != model.lumps[k]:
                    found.append((j, k))
                    least.append(min(radius[j] + radius[k] + GAP, 0.95 * float(np.linalg.norm(e[j] - e[k]))))
        return np.array(found, dtype=np.int64).reshape(-1, 2), np.array(least, dtype=np.float64)

    @cached_property
    def _data(self) -> tuple[Any, ...]:
        """What the kernel takes after the unknowns: numbers, home, model, limits, plan, ends, bounds, targets."""
        model, ends = self.model, self.ends
        nq, nv, n_e = model.nq, model.nv, model.n_tips
        numbers = np.array(
            [self.step, model.mass, GRAVITY, self.least_force, float(self.torque_limits), *self.weights.at(self.intervals)]
        )
        limits = (
            model.middle, model.half, model.speed, model.stall, model.no_load,
            model.spin_speed, model.spin_stall, model.spin_no_load,
        )  # fmt: skip
        touching = np.ones((self.samples + 2, n_e), dtype=np.int64)
        touching[1:-1] = self.contacts
        tip_of = np.arange(n_e)
        permutation, sign = np.arange(nv), np.ones(nv)
        if self.periodic:
            if ends.mirror is not None:
                permutation, sign = ends.mirror
                tip_of = (permutation[nq::3] - nq) // 3
            touching[0], touching[-1] = self.contacts[-1][tip_of], self.contacts[0][tip_of]
        else:
            touching[0] = self.contacts[0] if ends.contacts_before is None else ends.contacts_before
            touching[-1] = self.contacts[-1] if ends.contacts_after is None else ends.contacts_after
        pairs, least = self.pairs
        plan = (
            touching,
            self.heights,
            pairs,
            least,
            ground_arrays(self.terrain),
            _moves(model),
            self.friction,
            model.drag,
            self.spots,
        )
        nothing, none = np.zeros(nv), np.zeros(nq)
        kind = PERIODIC if self.periodic else OPEN
        ended = (
            kind, permutation, sign,
            int(ends.before is not None), nothing if ends.before is None else ends.before,
            int(ends.after is not None), nothing if ends.after is None else ends.after,
        )  # fmt: skip
        goal = np.array(self.goal, dtype=np.float64)
        wanted = np.isfinite(goal).astype(np.float64)
        origin = np.zeros(3)
        reference = model.home if ends.start is None else ends.start
        origin[:2], origin[2] = center_of_mass(model, reference)[:2], reference[3]
        bounds = (
            BOUNDARY_SCALE,
            int(not self.periodic and ends.start is not None), none if ends.start is None else ends.start,
            int(not self.periodic and ends.end is not None), none if ends.end is None else ends.end,
            int(self.periodic or ends.start is None), np.nan_to_num(goal), wanted, int(ends.mirror is not None), origin,
        )  # fmt: skip
        targets = (
            np.array([aim.sample for aim in self.aims], dtype=np.int64),
            np.array([aim.share for aim in self.aims], dtype=np.float64),
            np.array([aim.what for aim in self.aims], dtype=np.int64),
            np.array([aim.place for aim in self.aims], dtype=np.float64).reshape(-1, 3),
            np.array([aim.weight for aim in self.aims], dtype=np.float64).reshape(-1, 3),
        )
        arrays = (model.tree, model.nodes, model.points, model.tips)
        return numbers, model.home, arrays, limits, plan, ended, bounds, targets

    @cached_property
    def _room(self) -> tuple[Any, ...]:
        """Working arrays: kinematics of all samples, extended unknowns."""
        return working_arrays(self.model, self.samples + 2), np.zeros((self.samples + 2, self.model.nv))

    def _evaluate(self, z: Array, weight: float, shifts: Array, jacobian: bool) -> tuple[float, float]:
        T, nv, _ = self.shape
        v, D = z[: T * nv].reshape(T, nv), z[T * nv :]
        total, objective = kernels.energy(
            v, D, *self._data, *self._room, weight, self.rows, self.split(shifts), self._values, jacobian, *self._blocks
        )  # fmt: skip
        return float(total), float(objective)

    def violations(self, z: Array) -> dict[str, float]:
        """The largest violation of each kind of row, in its own unit."""
        samples, ends = self.values(z)
        worst = np.where(self.rows[1].astype(bool), np.maximum(samples, 0.0), np.abs(samples)).max(axis=0)
        n_e, joints, nq = self.model.n_tips, self.model.nq - 6, self.model.nq
        tips = worst[6 : 6 + TIP_ROWS * n_e].reshape(n_e, TIP_ROWS)
        o = 6 + TIP_ROWS * n_e
        limits = worst[o : o + 3 * joints].reshape(joints, 3)

        def most(part: Array) -> float:
            return float(part.max(initial=0.0))

        return {
            "newton [N]": most(worst[:3]),
            "euler [N·m]": most(worst[3:6]),
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
            "distance of end effectors [m]": most(worst[o + 3 * joints : o + 3 * joints + len(self.pairs[0])]),
            "limb in the ground [m]": most(worst[o + 3 * joints + len(self.pairs[0]) :]),
            "start pose": most(np.abs(ends[:nq])),
            "end pose": most(np.abs(ends[nq : 2 * nq])),
            "gauge": most(np.abs(ends[2 * nq : 2 * nq + 3])),
            "goal distance [m]": most(np.abs(ends[2 * nq + 3 : 2 * nq + 5])),
            "goal turn [rad]": float(abs(ends[2 * nq + 5])),
        }

    def still(self) -> Array:
        """The first guess: home at every sample, the weight shared by what stands, the shift of the goal at yaw zero."""
        T, nv, _ = self.shape
        nq = self.model.nq
        z = np.zeros(self.size)
        v = z[: T * nv].reshape(T, nv)
        v[:, :nq] = self.model.home if self.ends.start is None else self.ends.start
        standing = self.contacts.sum(axis=1, keepdims=True)
        v[:, nq + 2 :: 3] = self.contacts * (self.model.mass * GRAVITY / np.maximum(standing, 1))
        return z


def _moves(model: CentroidalModel) -> Flags:
    """(nq, nodes): whether a coordinate moves a node."""
    parent, coordinate = model.tree[0], model.tree[2]
    found = np.zeros((model.nq, len(parent)), dtype=np.int64)
    for b in range(len(parent)):
        if parent[b] >= 0:
            found[:, b] = found[:, parent[b]]
        if coordinate[b] >= 0:
            found[coordinate[b], b] = 1
    return found
