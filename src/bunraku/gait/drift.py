"""What a plan's feet do between its samples: how far the curves let feet on the ground slip, sink or lift."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Character
from bunraku.gait.resample import PlanCurves
from bunraku.mechanics.tree import compile_tree
from bunraku.motion.terrain import HeightField

__all__ = ["ContactPoints", "StanceDrift", "contact_points", "stance_drift"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ContactPoints:
    """Where the end effectors touch: ``point`` (m, n_e, 3) [m], the carriers' ``rotation`` (m, n_e, 3, 3), the ground's ``normal``.

    ``forward`` (m, n_e, 3): the direction in which a wheel rolls; zero of balls.
    """

    point: Array
    rotation: Array
    normal: Array
    forward: Array


@dataclass(frozen=True)
class StanceDrift:
    """The largest drift [m] of feet on the ground between the samples of a plan, and whose it is.

    ``slip``: of balls, over what rolling allows; ``lateral``: of wheels, across their rolling direction; ``height``: off the
    ground, up or down.
    """

    slip: float
    lateral: float
    height: float
    slips: str
    drifts: str
    lifts: str


def contact_points(character: Character, names: tuple[str, ...], q: Array, terrain: HeightField | None = None) -> ContactPoints:
    """The contact points of all end effectors at configurations ``q`` (m, n) of the coordinates ``names``, the others at home.

    With the ground's unit normal n below the centre: of a ball of radius r it is centre - r n; of a wheel with the axle a it is
    centre + r a x t, where t = a x n / |a x n| is the direction in which it rolls.
    """
    tree = compile_tree(character)
    rotation, position = tree.poses(tree.expand(names, q))
    tips = character.end_effectors
    nodes = [tree.nodes[tip.body] for tip in tips]
    R = rotation[:, nodes]
    center = position[:, nodes] + np.einsum("mjab,jb->mja", R, np.array([tip.center for tip in tips]))
    axle = np.einsum("mjab,jb->mja", R, np.array([tip.axis for tip in tips], dtype=np.float64))
    axle /= np.linalg.norm(axle, axis=2, keepdims=True)
    flat = np.broadcast_to(np.array([0.0, 0.0, 1.0]), center.shape)
    n = flat if terrain is None else terrain.normal(center[..., 0], center[..., 1])
    t = np.cross(axle, n)
    t /= np.maximum(np.linalg.norm(t, axis=2, keepdims=True), 1e-12)
    radius = np.array([tip.radius for tip in tips])[None, :, None]
    ball = np.array([tip.kind == "ball" for tip in tips])[None, :, None]
    down = np.where(ball, -n, np.cross(axle, t))
    return ContactPoints(center + radius * down, R, np.array(n), np.where(ball, 0.0, t))


def stance_drift(
    character: Character, names: tuple[str, ...], curves: PlanCurves, *, between: int = 8, terrain: HeightField | None = None
) -> StanceDrift:
    """Measure the drift at ``between`` times in every interval of the plan that a foot begins and ends on the ground.

    From a sample i of the plan to a time t after it, a ball of radius r may move by its rolling r phi x n with
    phi = vee(R_t R_i^T - R_i R_t^T) / 2; a wheel along the mean of its directions at both times. What is left is drift.
    """
    T = curves.samples
    last = T if curves.shift is not None else T - 1
    steps = np.arange(last * between + 1)
    found = contact_points(character, names, curves.coordinates(curves.step * steps / between), terrain)
    stance = np.array([curves.contact[i] * curves.contact[(i + 1) % T] for i in range(last)], dtype=bool)
    tips = character.end_effectors
    index = np.repeat(np.arange(last), between)
    now, first = np.arange(1, last * between + 1), np.repeat(np.arange(last) * between, between)
    on = stance[index]
    moved = found.point[now] - found.point[first]
    spin = np.einsum("mjab,mjcb->mjac", found.rotation[now], found.rotation[first])
    phi = 0.5 * np.stack(
        [spin[..., 2, 1] - spin[..., 1, 2], spin[..., 0, 2] - spin[..., 2, 0], spin[..., 1, 0] - spin[..., 0, 1]], axis=-1
    )
    radius = np.array([tip.radius for tip in tips])[None, :, None]
    left = moved - radius * np.cross(phi, found.normal[now])
    left -= found.normal[now] * np.sum(left * found.normal[now], axis=2, keepdims=True)
    slip = np.linalg.norm(left, axis=2) * on
    along = found.forward[now] + found.forward[first]
    along /= np.maximum(np.linalg.norm(along, axis=2, keepdims=True), 1e-12)
    lateral = np.abs(np.sum(moved * np.cross(found.normal[now], along), axis=2)) * on
    ground = 0.0 if terrain is None else terrain.height(found.point[now, :, 0], found.point[now, :, 1])
    height = np.abs(found.point[now, :, 2] - ground) * on
    balls = np.array([tip.kind == "ball" for tip in tips])
    worst = [_worst(values, [tip.name for tip in tips]) for values in (slip * balls, lateral * ~balls, height)]
    return StanceDrift(worst[0][0], worst[1][0], worst[2][0], worst[0][1], worst[1][1], worst[2][1])


def _worst(values: Array, names: list[str]) -> tuple[float, str]:
    """The largest of values (m, n_e) and the name of its column, none if all are zero."""
    if not values.size or values.max() <= 0.0:
        return 0.0, ""
    return float(values.max()), names[int(np.argmax(values.max(axis=0)))]
