"""The space-time problem of a character on soles: unknowns, terms, rows and weights of one plan, as data for the kernels.

Unknowns z: for each of T samples the coordinates q (nq), the forces (3 n_e) of the ground on the soles and its torques (3 n_e)
about their centres, then the shift D = (dx, dy, dyaw) that carries the start of a cycle to its end, or home to where a motion ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.mechanics.centroidal.cycle_kernels import OPEN, PERIODIC
from bunraku.mechanics.centroidal.kinematics import Kinematics, center_of_mass, ground_arrays, kinematics, working_arrays
from bunraku.mechanics.centroidal.model import CentroidalModel
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.optimization.blocks.descent import Blocks
from bunraku.optimization.blocks.sampled import SampledProblem
from bunraku.performers.skin.spacetime import energy_kernels as kernels
from bunraku.performers.skin.spacetime.constraint_kernels import (
    AIR,
    FRICTION,
    HEIGHT,
    NORMAL,
    PRESSURE,
    SLIP,
    SOLE_ROWS,
    TWIST,
)
from bunraku.performers.skin.spacetime.effect import NO_EFFECT, SkinEffect
from bunraku.performers.skin.spacetime.joint_kernels import JOINT_ROWS
from bunraku.performers.skin.spacetime.tracks import NO_TRACKS, Tracks, headings
from bunraku.performers.skin.spacetime.weights import WEIGHTS, SpacetimeWeights

Array: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.int64]

BOUNDARY_SCALE = 300.0


@dataclass(frozen=True)
class SpacetimeProblem(SampledProblem):
    """One plan to be found. ``contacts``, ``heights`` (T, n_e), ``step`` h [s], ``goal`` (x, y [m], yaw [rad]), NaN where free.

    ``radius`` (n_e,) [m] of the soles within which the pressure stays, ``friction`` (n_e,) that the plan counts on, ``least_force``
    [N] on every sole that stands, ``near`` [s] of touch-down and lift-off within which soles are drawn to be flat. ``rest``:
    whether a motion that happens once begins and ends at home at rest. ``dynamic``: False drops accelerations, friction and
    torques, so that the centre of mass stays over the soles that stand (kinematic planning). The model's home is the pose that the
    plan stands in; ``skin_home`` (nq,) is that of the skin at rest, if another.
    """

    model: CentroidalModel
    contacts: Flags
    heights: Array
    step: float
    periodic: bool
    goal: tuple[float, float, float]
    radius: Array
    friction: Array
    tracks: Tracks = NO_TRACKS
    effect: SkinEffect = NO_EFFECT
    weights: SpacetimeWeights = WEIGHTS
    least_force: float = 0.5
    near: float = 0.1
    rest: tuple[bool, bool] = (True, True)
    dynamic: bool = True
    skin_home: Array | None = None

    def __post_init__(self) -> None:
        if self.samples < 5:
            raise BadInput(f"a plan of {self.samples} samples arrived; at least 5 are needed")
        if not (self.radius > 0.0).all():
            raise BadInput(f"the pressure may move within {self.radius.min():g} m of a sole's middle; leave more than zero")
        object.__setattr__(self, "tracks", self.tracks.checked(self.model, self.samples))

    @property
    def samples(self) -> int:
        """Number of samples T."""
        return len(self.contacts)

    @property
    def intervals(self) -> int:
        """Number of steps, T of a cycle, T - 1 of a motion that happens once."""
        return self.samples if self.periodic else self.samples - 1

    @property
    def nv(self) -> int:
        """Unknowns of a sample: coordinates, then six numbers a sole."""
        return self.model.nq + 6 * self.model.n_tips

    @property
    def cyclic(self) -> bool:
        """Whether the last sample is coupled with the first."""
        return self.periodic

    @property
    def shape(self) -> tuple[int, int, int]:
        """The blocks T, the unknowns nv of each, the three unknowns of the shift."""
        return self.samples, self.nv, 3

    @property
    def end_rows(self) -> int:
        """Rows of pins (2 nq), gauge and goal (3 each)."""
        return 2 * self.model.nq + 6

    def changed(self, **fields: Any) -> SpacetimeProblem:
        """The same problem with some fields replaced."""
        return replace(self, **fields)

    @cached_property
    def rows(self) -> tuple[Array, Flags]:
        """Scale and kind (1: inequality) of the m rows of a sample."""
        model = self.model
        n_e, joints = model.n_tips, model.nq - 6
        F0 = 0.1 * model.mass * GRAVITY
        m = 6 + SOLE_ROWS * n_e + JOINT_ROWS * joints
        scale, inequality = np.empty(m), np.zeros(m, dtype=np.int64)
        scale[:3], scale[3:6] = 1.0 / F0, 10.0 / F0
        for j in range(n_e):
            o = 6 + SOLE_ROWS * j
            scale[o : o + SOLE_ROWS] = 1.0 / F0
            scale[o + HEIGHT], scale[o + SLIP : o + SLIP + 2] = 100.0, 1000.0
            scale[[o + AIR + 3, o + AIR + 4, o + AIR + 5, o + PRESSURE, o + TWIST]] = 0.5 / (F0 * self.radius[j])
            inequality[[o + FRICTION, o + NORMAL, o + PRESSURE, o + TWIST]] = 1
        o = 6 + SOLE_ROWS * n_e
        for c in range(joints):
            k = o + JOINT_ROWS * c
            scale[k : k + JOINT_ROWS] = 10.0, 1.0, 1.0, 1.0
            inequality[k : k + JOINT_ROWS] = int(model.half[6 + c] > 0.0), 1, 1, 1
        return scale, inequality

    @cached_property
    def level(self) -> Array:
        """Shares (T, n_e) of the weight of flat soles: 1 on the ground, falling to 0 within ``near`` of it in the air."""
        T = self.samples
        found = self.contacts.astype(np.float64)
        reach = int(self.near / self.step)
        for d in range(1, reach + 1):
            share = 1.0 - d * self.step / max(self.near, 1e-12)
            for sign in (-d, d):
                other = np.roll(self.contacts, sign, axis=0).astype(np.float64)
                if not self.periodic:
                    other[slice(0, sign) if sign > 0 else slice(T + sign, T)] = 0.0
                found = np.maximum(found, share * other)
        return np.ascontiguousarray(found)

    @cached_property
    def _targets(self) -> tuple[Array, ...]:
        """Goal, weight and heading of the centre of mass; goal, weight and level of soles; goal and weight of coordinates."""
        T, model, weights, tracks = self.samples, self.model, self.weights.at(self.intervals), self.tracks
        com = np.full((T, 3), np.nan) if tracks.com is None else tracks.com
        feet = np.full((T, model.n_tips, 3), np.nan) if tracks.feet is None else tracks.feet
        joints = np.full((T, model.nq), np.nan) if tracks.joints is None else tracks.joints
        flat = np.isfinite(com[:, :2]).all(axis=1)
        known = np.column_stack([flat, flat, np.isfinite(com[:, 2])])
        yaw = headings(model, tracks, T)[:, 2]
        feet_weight = weights.feet * np.isfinite(feet)
        feet_weight[:, :, 2] = 0.0
        return (
            np.nan_to_num(com), known * np.array([weights.com, weights.com_sideways, weights.com]),
            np.column_stack([np.cos(yaw), np.sin(yaw)]),
            np.nan_to_num(feet), feet_weight, weights.level * self.level,
            np.nan_to_num(joints), weights.follow * np.isfinite(joints),
        )  # fmt: skip

    @property
    def placed(self) -> bool:
        """Whether the tracks say where in the world the motion is; otherwise the first pose stands at the origin."""
        tracks = self.tracks
        parts = (tracks.com, tracks.feet, None if tracks.joints is None else tracks.joints[:, [0, 1, 3]])
        return any(part is not None and bool(np.isfinite(part).any()) for part in parts)

    @cached_property
    def _shapes(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Places (T + 2, p, 3) of the masses and centres (T + 2, n_e, 3) of the soles; stiffness and torque of the skin."""
        shift, sole, torque, stiffness = self.effect.arrays(self.model, self.samples)
        order = np.arange(-1, self.samples + 1)
        order = order % self.samples if self.periodic else np.clip(order, 0, self.samples - 1)
        places = self.model.points[1] + np.repeat(shift, 4, axis=1)[order]
        return (np.ascontiguousarray(places), np.ascontiguousarray(self.model.tips[1] + sole[order])), (stiffness, torque)

    @cached_property
    def _pinned(self) -> tuple[bool, bool]:
        """Whether the first and the last pose are home."""
        return not self.periodic and self.rest[0], not self.periodic and self.rest[1]

    @cached_property
    def _rest(self) -> tuple[Kinematics, Kinematics]:
        """Home at the first and at the last sample, with what the skin does then."""
        (places, centers), _ = self._shapes
        model = self.model
        found = []
        for i in (1, -2):
            points = (model.points[0], places[i], model.points[2])
            shaped = replace(model, points=points, tips=(model.tips[0], centers[i], *model.tips[2:]))
            found.append(kinematics(shaped, model.home[None]))
        return found[0], found[1]

    @cached_property
    def _heights(self) -> Array:
        """Heights (T, n_e) of the soles: zero where they stand, but as they are at home where that is pinned."""
        found = np.where(self.contacts == 0, self.heights, 0.0)
        for i, pinned, seen in zip((0, -1), self._pinned, self._rest, strict=True):
            if pinned:
                found[i] = seen.contact[0, :, 2]
        return np.ascontiguousarray(found)

    @cached_property
    def _data(self) -> tuple[Any, ...]:
        """What the kernel takes after the unknowns, up to the rows of the ends."""
        model, weights = self.model, self.weights.at(self.intervals)
        nq, nv, n_e = model.nq, self.nv, model.n_tips
        weight = model.mass * GRAVITY
        most = weight * center_of_mass(model, model.home)[2]
        numbers = np.array([self.step, model.mass, GRAVITY, self.least_force, float(self.dynamic), weights.torque / most**2])
        limits = (model.middle, model.half, model.speed, model.stall, model.no_load)
        touching = np.ones((self.samples + 2, n_e), dtype=np.int64)
        touching[1:-1] = self.contacts
        touching[0], touching[-1] = self.contacts[-1 if self.periodic else 0], self.contacts[0 if self.periodic else -1]
        plan = (touching, self._heights, self.friction, self.radius, _moves(model))
        size, rate = np.zeros(nv), np.zeros(nv)
        for j in range(n_e):
            for first, share in ((nq + 3 * j, weight**-2), (nq + 3 * (n_e + j), (weight * self.radius[j]) ** -2)):
                size[first : first + 3], rate[first : first + 3] = weights.force * share, weights.force_rate * share
        shapes, skin = self._shapes
        arrays = (model.tree, model.nodes, model.points, model.tips)
        smooth = (weights.smooth, size, rate)
        home = model.home if self.skin_home is None else np.ascontiguousarray(self.skin_home, dtype=np.float64)
        return numbers, home, arrays, ground_arrays(None), shapes, limits, plan, skin, smooth, self._targets, *self._ends

    @cached_property
    def _ends(self) -> tuple[Any, ...]:
        """Samples beyond the ends, and the rows of pins, gauge and goal."""
        model, nv = self.model, self.nv
        still = np.concatenate([model.home, np.zeros(nv - model.nq)])
        start, end = self._pinned
        kind = PERIODIC if self.periodic else OPEN
        ended = (kind, np.arange(nv), np.ones(nv), int(start), still, int(end), still)
        goal = np.array(self.goal, dtype=np.float64)
        wanted = np.isfinite(goal).astype(np.float64)
        origin = np.zeros(3)
        origin[:2], origin[2] = self._rest[1].com[0, :2], model.home[3]
        gauge = int(not start and not self.placed)
        bounds = (
            BOUNDARY_SCALE, int(start), model.home, int(end), model.home, gauge, np.nan_to_num(goal), wanted, 0, origin,
        )  # fmt: skip
        return ended, bounds

    @cached_property
    def _room(self) -> tuple[Any, ...]:
        """Working arrays: kinematics of all samples, extended unknowns, torques."""
        model, T = self.model, self.samples
        return working_arrays(model, T + 2), np.zeros((T + 2, self.nv)), np.zeros((T, model.nq))

    def _evaluate(
        self, z: Array, weight: float, shifts: Array, jacobian: bool, held: Flags | None = None, curved: bool = True
    ) -> tuple[float, float]:
        T, nv, _ = self.shape
        K, v_ext, tau = self._room
        v, D = z[: T * nv].reshape(T, nv), z[T * nv :]
        total, objective = kernels.energy(
            v, D, *self._data, K, v_ext, weight, self.rows, self.split(shifts), self._free if held is None else held,
            self._values, tau, jacobian, curved, *self._blocks,
        )  # fmt: skip
        return float(total), float(objective)

    @cached_property
    def _free(self) -> Flags:
        """Nothing held: the value of every inequality says whether it pushes."""
        return np.zeros((self.samples, len(self.rows[0])), dtype=np.int64)

    @cached_property
    def metric(self) -> Array:
        """Damping of the unknowns: coordinates by the radian or metre, forces by the weight, torques by that at a sole's radius."""
        model = self.model
        weight = model.mass * GRAVITY
        sample = np.concatenate(
            [np.ones(model.nq), np.full(3 * model.n_tips, weight**-2), np.repeat((weight * self.radius) ** -2, 3)]
        )
        return np.concatenate([np.tile(sample, self.samples), np.ones(3)])

    def pushing(self, z: Array, shifts: Array) -> Flags:
        """Which inequalities push at ``z`` (T, m): 1, or -1; equations 0."""
        self._evaluate(z, 0.0, shifts, False)
        return np.where(self._values[0] + self.split(shifts)[0] > 0.0, 1, -1) * self.rows[1]

    def assemble_held(self, z: Array, weight: float, shifts: Array, held: Flags, curved: bool) -> Blocks:
        """The energy at ``z``, and gradient and blocks as if the inequalities ``held`` (T, m) pushed and no others.

        Without ``curved`` the blocks have no second derivatives of places and are never indefinite.
        """
        total, _ = self._evaluate(z, weight, shifts, True, held, curved)
        return (total, *self._blocks)

    def torques(self, z: Array) -> Array:
        """Torques (T, nq) of the joints [N·m] at ``z``; those of the base are what the rows of dynamics leave over."""
        self._evaluate(z, 0.0, self.zero_shifts(), False)
        return np.array(self._room[2])

    def violations(self, z: Array) -> dict[str, float]:
        """The largest violation of each kind of row, in its own unit."""
        samples, ends = self.values(z)
        worst = np.where(self.rows[1].astype(bool), np.maximum(samples, 0.0), np.abs(samples)).max(axis=0)
        n_e, joints, nq = self.model.n_tips, self.model.nq - 6, self.model.nq
        soles = worst[6 : 6 + SOLE_ROWS * n_e].reshape(n_e, SOLE_ROWS)
        limits = worst[6 + SOLE_ROWS * n_e :].reshape(joints, JOINT_ROWS)
        return {
            "newton [N]": float(worst[:3].max()),
            "euler [N·m]": float(worst[3:6].max()),
            "height over ground [m]": float(soles[:, HEIGHT].max()),
            "slip [m]": float(soles[:, SLIP : SLIP + 2].max()),
            "force in the air [N]": float(soles[:, AIR : AIR + 3].max()),
            "torque in the air [N·m]": float(soles[:, AIR + 3 : AIR + 6].max()),
            "friction cone [N]": float(soles[:, FRICTION].max()),
            "normal force [N]": float(soles[:, NORMAL].max()),
            "pressure outside the sole [N·m]": float(soles[:, PRESSURE].max()),
            "twist [N·m]": float(soles[:, TWIST].max()),
            "joint range [rad]": float(limits[:, 0].max(initial=0.0)),
            "joint speed [rad/s]": float(limits[:, 1].max(initial=0.0)),
            "joint torque [of the motor's line]": float(limits[:, 2:].max(initial=0.0)),
            "start pose": float(np.abs(ends[:nq]).max()),
            "end pose": float(np.abs(ends[nq : 2 * nq]).max()),
            "gauge": float(np.abs(ends[2 * nq : 2 * nq + 3]).max()),
            "goal distance [m]": float(np.abs(ends[2 * nq + 3 : 2 * nq + 5]).max()),
            "goal turn [rad]": float(abs(ends[2 * nq + 5])),
        }

    def still(self) -> Array:
        """The first guess: home carried over the feet of the track, the weight shared by what stands, the shift of the goal."""
        T, nv, _ = self.shape
        model = self.model
        nq, n_e = model.nq, model.n_tips
        z = np.zeros(self.size)
        v = z[: T * nv].reshape(T, nv)
        way = headings(model, self.tracks, T)
        v[:, :nq] = model.home
        c, s = np.cos(way[:, 2]), np.sin(way[:, 2])
        v[:, 0] = way[:, 0] + c * model.home[0] - s * model.home[1]
        v[:, 1] = way[:, 1] + s * model.home[0] + c * model.home[1]
        v[:, 3] += way[:, 2]
        standing = self.contacts.sum(axis=1, keepdims=True)
        v[:, nq + 2 : nq + 3 * n_e : 3] = self.contacts * (model.mass * GRAVITY / np.maximum(standing, 1))
        z[-3:] = np.nan_to_num(np.array(self.goal))
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
