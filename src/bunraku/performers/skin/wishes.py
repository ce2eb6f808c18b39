"""What a frame should do, as squares of functions linear in its torques and forces: the cost of the frame-by-frame step.

With dq the skeleton's step of the frame,

    follow        |dq - dq*|²                    back to the plan, smoothly
    torque        |tau - tau_before|²            steady torques
    effort        |tau - tau_planned|²           the plan's torques: feet that stand do not work against each other
    ground        |force on sole - planned|²     and share the load as planned
    orientation   |d(R a) - d*|²                 soles that stand lie flat
    support       |d(sole) - d*|²                and stay where they came down, on the plan's height
    swing         |d(sole) - d*|²                soles in the air go as planned over the ground, wherever the body is

The paper asks for the plan's pose and steady velocities at once (its equation 14): a return within one frame of 5 ms, which rocks a
body that stands on soft soles. Here the wished step is that of a critically damped return of rate w,
dq* = h v + h² (a_p + 2 w (v_p - v) + w² (q_p - q)), with q_p, v_p, a_p of the plan; both of the paper's terms are in it. The wished
steps d* of soles are of the same form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import PATCHES
from bunraku.mechanics.coupled.frame import CoupledFrame
from bunraku.mechanics.coupled.skinned import SkinnedModel
from bunraku.mechanics.tree import tree_kernels

NEAR_SPEED, SPEED = 0.7, 0.999
"""A motor's speed, had or wished, is a limit of the next frame from this share of its highest on; it may reach the other share."""


@dataclass(frozen=True)
class FrameWeights:
    """Weights of the terms, and the ``rate`` [1/s] at which the character comes back to its plan.

    ``place`` [1/m²] and ``turn`` of the base, ``joint`` [1/rad²]; ``torque`` and ``effort`` [1/(N·m)²]; ``ground`` [1/N²];
    ``orientation`` and ``support`` [1/m²] of soles that stand, ``swing`` [1/m²] of those in the air.
    """

    place: float = 10.0
    turn: float = 10.0
    joint: float = 1.0
    torque: float = 1e-9
    effort: float = 1e-8
    ground: float = 0.0
    orientation: float = 0.01
    support: float = 1.0
    swing: float = 50.0
    rate: float = 45.0


@dataclass(frozen=True)
class SoleMotion:
    """Centres (s, 3) and normals (s, 3) of the soles at a pose, and their Jacobians (s, 3, nq)."""

    center: Array
    normal: Array
    center_by_q: Array
    normal_by_q: Array


def sole_motion(model: SkinnedModel, q: Array) -> SoleMotion:
    """Where the soles are as parts of their rigid feet."""
    tree, at = model.tree, model.tree.configuration(q)
    tips = model.character.end_effectors
    n = len(tips)
    center, normal = np.empty((n, 3)), np.empty((n, 3))
    Jc, Jn = np.empty((n, 3, tree.nq)), np.empty((n, 3, tree.nq))
    angular = np.empty((3, tree.nq))
    for j, tip in enumerate(tips):
        b = tree.nodes[tip.body]
        center[j] = at.position[b] + at.rotation[b] @ np.array(tip.center)
        axis = np.array(tip.axis)
        normal[j] = at.rotation[b] @ (axis / np.linalg.norm(axis))
        tree_kernels.point_jacobian(tree.arrays, at.position, at.world_axis, b, center[j], Jc[j], angular)
        Jn[j] = np.cross(angular.T, normal[j]).T
    return SoleMotion(center, normal, Jc, Jn)


def frame_cost(
    model: SkinnedModel,
    frame: CoupledFrame,
    q: Array,
    v: Array,
    step: Array,
    torques: tuple[Array, Array],
    forces: Array,
    stands: NDArray[np.bool_],
    places: Array,
    h: float,
    weights: FrameWeights,
) -> tuple[Array, Array, float]:
    """H (n, n), g (n,) and the constant of z'Hz/2 + g'z + const, z = (tau, F).

    ``step`` dq* (nq,) wished; ``torques`` of the frame before and of the plan (na,); ``forces`` (s, 3) of the plan on soles;
    ``stands`` (s,) the soles that should; ``places`` (3, s, 3) where the soles should be in the frames before, now and next.
    """
    na = len(model.driven)
    Q = np.hstack([frame.Qt, frame.Qf])
    follow = np.full(model.nq, weights.joint)
    follow[:3], follow[3:6] = weights.place, weights.turn
    soles = sole_motion(model, q)
    D, e, const = np.diag(follow), -follow * step, float(follow @ step**2)
    flat = np.zeros((3, 2))
    for j, standing in enumerate(stands):
        parts = [(weights.support if standing else weights.swing, soles.center_by_q[j], soles.center[j], places[:, j])]
        if standing:
            parts.append((weights.orientation, soles.normal_by_q[j][:2], soles.normal[j][:2], flat))
        for weight, J, at, planned in parts:
            back = wished_step(at, J @ v, planned, h, weights.rate)
            D += weight * J.T @ J
            e -= weight * J.T @ back
            const += weight * float(back @ back)
    H = 2.0 * Q.T @ D @ Q
    g = 2.0 * Q.T @ (D @ frame.q0 + e)
    const += float(frame.q0 @ D @ frame.q0 + 2.0 * e @ frame.q0)
    for weight, target in zip((weights.torque, weights.effort), torques, strict=True):
        H[:na, :na] += 2.0 * weight * np.eye(na)
        g[:na] -= 2.0 * weight * target
        const += weight * float(target @ target)
    S = np.kron(np.eye(len(stands)), np.tile(np.eye(3), PATCHES))
    H[na:, na:] += 2.0 * weights.ground * S.T @ S
    g[na:] -= 2.0 * weights.ground * S.T @ forces.ravel()
    return H, g, const + weights.ground * float((forces**2).sum())


def sole_paths(model: SkinnedModel, path: Array) -> Array:
    """Centres (N, s, 3) of the soles in the poses (N, nq) of a plan, as parts of rigid feet."""
    tree, tips = model.tree, model.character.end_effectors
    rotation, position = tree.poses(path)
    feet = [tree.nodes[tip.body] for tip in tips]
    centers = np.array([tip.center for tip in tips])
    return np.asarray(position[:, feet] + np.einsum("nsab,sb->nsa", rotation[:, feet], centers))


def wished_step(q: Array, v: Array, planned: Array, h: float, rate: float) -> Array:
    """The step dq* (n,) of a critically damped return to ``planned`` (3, n): where q should be before, now and next.

    ``q`` (n,) coordinates or places, ``v`` their rates.
    """
    before, now, after = planned
    speed, acceleration = (after - now) / h, (after - 2.0 * now + before) / h**2
    return np.asarray(h * v + h**2 * (acceleration + 2.0 * rate * (speed - v) + rate**2 * (now - q)))


def standing_rows(model: SkinnedModel, stands: NDArray[np.bool_], places: Array) -> tuple[Array, Array]:
    """Rows C z <= 0 that keep the centre of pressure inside the polygon of the patches of soles that stand.

    For an edge with outward normal m through the point p: sum over patches F_n m·(x - p) <= 0. ``places`` (P, 2).
    """
    from scipy.spatial import ConvexHull

    mine = np.repeat(stands, PATCHES)
    na, P = len(model.driven), len(places)
    if mine.sum() < 3:
        return np.zeros((0, na + 3 * P)), np.zeros(0)
    hull = ConvexHull(places[mine])
    C = np.zeros((len(hull.equations), na + 3 * P))
    for k, (a, b, c) in enumerate(hull.equations):
        C[k, na + 2 :: 3] = places @ np.array([a, b]) + c
    return C, np.zeros(len(C))


def speed_rows(model: SkinnedModel, frame: CoupledFrame, v: Array, h: float, step: Array | None = None) -> tuple[Array, Array]:
    """Rows C z <= d that keep motors below their highest speeds: those that are near it, or that the wished step brings there.

    ``v`` (nq,) speeds of the joints now, ``step`` dq* (nq,) wished (none: as now). A joint may leave rest and pass its limit within
    one long frame, so what it does now is not enough to know.
    """
    Q = np.hstack([frame.Qt, frame.Qf])
    wished = v if step is None else step / h
    rows, most = list[Array](), list[float]()
    for motor, c in zip(model.character.motors, model.driven, strict=True):
        for sign in (1.0, -1.0):
            if motor.velocity is not None and max(sign * v[c], sign * wished[c]) > NEAR_SPEED * motor.velocity:
                rows.append(sign * Q[c])
                most.append(SPEED * h * motor.velocity - sign * float(frame.q0[c]))
    return np.array(rows).reshape(-1, Q.shape[1]), np.array(most)
