"""The space-time problem of a character on soles: unknowns, terms, constraints and weights of one plan, as data for the kernels.

Unknowns of a sample: the coordinates q (nq), the forces (3 n_e) of the ground on the soles and its torques (3 n_e) about their
centres.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.centroidal.arrays import BlockArrays, Regularizers
from bunraku.mechanics.centroidal.kinematics import Kinematics, center_of_mass, ground_grid, kinematics, working_arrays
from bunraku.mechanics.centroidal.problem import GroundProblem, most
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.optimization.blocks.descent import Blocks
from bunraku.performers.skin.spacetime import energy_kernels as kernels
from bunraku.performers.skin.spacetime.arrays import Flags, SkinTorques, SolePlan, SpacetimeArrays, SpacetimeWork, TrackArrays
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

BOUNDARY_SCALE = 300.0


@dataclass(frozen=True)
class SpacetimeProblem(GroundProblem):
    """One plan to be found.

    ``radius`` (n_e,) [m] of the soles within which the pressure stays, ``friction`` (n_e,) that the plan counts on, ``least_force``
    [N] on every sole that stands, ``near`` [s] of touch-down and lift-off within which soles are drawn to be flat. ``rest``:
    whether a motion that happens once begins and ends at home at rest. ``dynamic``: False drops accelerations, friction and
    torques, so that the centre of mass stays over the soles that stand (kinematic planning). The model's home is the pose that the
    plan stands in; ``skin_home`` (nq,) is that of the skin at rest, if another.
    """

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
        super().__post_init__()
        if not (self.radius > 0.0).all():
            raise BadInput(f"the pressure may move within {self.radius.min():g} m of a sole's middle; leave more than zero")
        object.__setattr__(self, "tracks", self.tracks.checked(self.model, self.samples))

    @property
    def nv(self) -> int:
        """Unknowns of a sample: coordinates, then six numbers a sole."""
        return self.model.nq + 6 * self.model.n_tips

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
        flat = self.contacts.astype(np.float64)
        reach = int(self.near / self.step)
        for d in range(1, reach + 1):
            share = 1.0 - d * self.step / max(self.near, 1e-12)
            for sign in (-d, d):
                other = np.roll(self.contacts, sign, axis=0).astype(np.float64)
                if not self.periodic:
                    other[slice(0, sign) if sign > 0 else slice(T + sign, T)] = 0.0
                flat = np.maximum(flat, share * other)
        return np.ascontiguousarray(flat)

    @cached_property
    def _tracks(self) -> TrackArrays:
        """The tracks with their weights, zero where nothing is tracked."""
        T, model, weights, tracks = self.samples, self.model, self.weights.at(self.intervals), self.tracks
        com = np.full((T, 3), np.nan) if tracks.com is None else tracks.com
        feet = np.full((T, model.n_tips, 3), np.nan) if tracks.feet is None else tracks.feet
        joints = np.full((T, model.nq), np.nan) if tracks.joints is None else tracks.joints
        flat = np.isfinite(com[:, :2]).all(axis=1)
        known = np.column_stack([flat, flat, np.isfinite(com[:, 2])])
        yaw = headings(model, tracks, T)[:, 2]
        feet_weight = weights.feet * np.isfinite(feet)
        feet_weight[:, :, 2] = 0.0
        return TrackArrays(
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
        places = self.model.points.place + np.repeat(shift, 4, axis=1)[order]
        return (np.ascontiguousarray(places), np.ascontiguousarray(self.model.tips.center + sole[order])), (stiffness, torque)

    @cached_property
    def _pinned(self) -> tuple[bool, bool]:
        """Whether the first and the last pose are home."""
        return not self.periodic and self.rest[0], not self.periodic and self.rest[1]

    @cached_property
    def _rest(self) -> tuple[Kinematics, Kinematics]:
        """Home at the first and at the last sample, with what the skin does then."""
        (places, centers), _ = self._shapes
        model = self.model

        def home(i: int) -> Kinematics:
            shaped = replace(model, points=model.points._replace(place=places[i]), tips=model.tips._replace(center=centers[i]))
            return kinematics(shaped, model.home[None])

        return home(1), home(-2)

    @cached_property
    def _heights(self) -> Array:
        """Heights (T, n_e) of the soles: zero where they stand, but as they are at home where that is pinned."""
        heights = np.where(self.contacts == 0, self.heights, 0.0)
        for i, pinned, home in zip((0, -1), self._pinned, self._rest, strict=True):
            if pinned:
                heights[i] = home.contact[0, :, 2]
        return np.ascontiguousarray(heights)

    @cached_property
    def _arrays(self) -> SpacetimeArrays:
        """What the kernel takes besides the unknowns."""
        model, weights = self.model, self.weights.at(self.intervals)
        nq, nv, n_e = model.nq, self.nv, model.n_tips
        weight = model.mass * GRAVITY
        highest = weight * center_of_mass(model, model.home)[2]
        first, last = self.contacts[0], self.contacts[-1]
        touching = self.extended(*((last, first) if self.periodic else (first, last)))
        (places, centers), (stiffness, torque) = self._shapes
        plan = SolePlan(
            self.step, model.mass, GRAVITY, self.least_force, bool(self.dynamic), touching, self._heights, self.friction,
            self.radius, places, centers, ground_grid(None),
        )  # fmt: skip
        size, rate = np.zeros(nv), np.zeros(nv)
        for j in range(n_e):
            for first_of, share in ((nq + 3 * j, weight**-2), (nq + 3 * (n_e + j), (weight * self.radius[j]) ** -2)):
                size[first_of : first_of + 3], rate[first_of : first_of + 3] = weights.force * share, weights.force_rate * share
        home = model.home if self.skin_home is None else np.ascontiguousarray(self.skin_home, dtype=np.float64)
        still = np.concatenate([model.home, np.zeros(nv - nq)])
        start, end = self._pinned
        gauge = not start and not self.placed
        origin = np.append(self._rest[1].com[0, :2], model.home[3])
        pinned = model.home if start else None, model.home if end else None
        return SpacetimeArrays(
            model.arrays,
            model.limits,
            plan,
            SkinTorques(stiffness, home, torque, weights.torque / highest**2),
            Regularizers(weights.smooth, size, rate, np.zeros(nv)),
            self._tracks,
            self.neighbours(still if start else None, still if end else None),
            self.ended(BOUNDARY_SCALE, *pinned, gauge, False, origin),
            *self.rows,
        )

    @cached_property
    def work(self) -> SpacetimeWork:
        """Working arrays, as the last evaluation left them."""
        model, T = self.model, self.samples
        return SpacetimeWork(working_arrays(model, T + 2), np.zeros((T + 2, self.nv)), np.zeros((T, model.nq)))

    def _evaluate(
        self, z: Array, weight: float, shifts: Array, jacobian: bool, held: Flags | None = None, curved: bool = True
    ) -> tuple[float, float]:
        T, nv, _ = self.shape
        v, D, blocks = z[: T * nv].reshape(T, nv), z[T * nv :], BlockArrays(*self._blocks)
        total, objective = kernels.energy(
            v, D, self._arrays, self.work, weight, self.split(shifts), self._free if held is None else held,
            self._values, jacobian, curved, blocks,
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
        return np.array(self.work.tau)

    def _worst(self, worst: Array) -> dict[str, float]:
        n_e, joints = self.model.n_tips, self.model.nq - 6
        soles = worst[: SOLE_ROWS * n_e].reshape(n_e, SOLE_ROWS)
        limits = worst[SOLE_ROWS * n_e :].reshape(joints, JOINT_ROWS)
        return {
            "height over ground [m]": most(soles[:, HEIGHT]),
            "slip [m]": most(soles[:, SLIP : SLIP + 2]),
            "force in the air [N]": most(soles[:, AIR : AIR + 3]),
            "torque in the air [N·m]": most(soles[:, AIR + 3 : AIR + 6]),
            "friction cone [N]": most(soles[:, FRICTION]),
            "normal force [N]": most(soles[:, NORMAL]),
            "pressure outside the sole [N·m]": most(soles[:, PRESSURE]),
            "twist [N·m]": most(soles[:, TWIST]),
            "joint range [rad]": most(limits[:, 0]),
            "joint speed [rad/s]": most(limits[:, 1]),
            "joint torque [of the motor's line]": most(limits[:, 2:]),
        }

    def still(self) -> Array:
        """The first guess: home carried over the feet of the track, the weight shared by what stands, the shift of the travel."""
        T, nv, _ = self.shape
        model = self.model
        nq, n_e = model.nq, model.n_tips
        z = np.zeros(self.size)
        v = z[: T * nv].reshape(T, nv)
        course = headings(model, self.tracks, T)
        v[:, :nq] = model.home
        c, s = np.cos(course[:, 2]), np.sin(course[:, 2])
        v[:, 0] = course[:, 0] + c * model.home[0] - s * model.home[1]
        v[:, 1] = course[:, 1] + s * model.home[0] + c * model.home[1]
        v[:, 3] += course[:, 2]
        standing = self.contacts.sum(axis=1, keepdims=True)
        v[:, nq + 2 : nq + 3 * n_e : 3] = self.contacts * (model.mass * GRAVITY / np.maximum(standing, 1))
        z[-3:] = np.nan_to_num(np.array(self.travel))
        return z
