"""A performance that goes over the ground, as arrays: what was planned, for the replay to start from and to be measured against."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character, EndEffector, free_base
from bunraku.errors import BadInput
from bunraku.mechanics.tree import Tree, compile_tree
from bunraku.motion import HeightField, Performance
from bunraku.verification.ground.heights import ground_height, ground_normal, terrain_of
from bunraku.verification.servos.commands import Commands

SWINGS = 0.003
"""An end effector that is planned to be higher than this [m] above the ground at some time leaves it."""


STANDS = 0.0002
"""One that is planned to be at most this [m] above the ground is on it."""


@dataclass(frozen=True)
class GroundPlan:
    """n samples at ``rate`` [Hz] of a character with k motors and e end effectors.

    ``q``, ``v`` (n, nq): coordinates and their rates in the character's order; ``torque``, ``angle``, ``speed`` (n, k): what is
    planned of the motors; ``sent``: what their channels send them, the motion's angles and speeds where there is no channel;
    ``position`` (n, 3) and ``rotation`` (n, 3, 3): the base; ``com`` (n, 3): the centre of mass; ``tip_center``, ``tip_axis``
    (n, e, 3): centres of the end effectors and their axes in the world; ``tip_rotation`` (n, e, 3, 3) of their bodies; ``period``
    [s] of a cycle, the whole duration of a motion that happens once; ``repeats``: whether the motion is a cycle, again and again;
    ``friction``: what the plan counts on, None if it does not say. ``springs`` (k, 2): stiffness [N·m/rad] and damping [N·m·s/rad]
    that a skin adds to the joint of each motor about home; None without.
    """

    character: Character
    tree: Tree = field(repr=False)
    terrain: HeightField | None
    rate: float
    period: float
    repeats: bool
    friction: float | None
    q: Array = field(repr=False)
    v: Array = field(repr=False)
    torque: Array = field(repr=False)
    angle: Array = field(repr=False)
    speed: Array = field(repr=False)
    sent: Commands = field(repr=False)
    position: Array = field(repr=False)
    rotation: Array = field(repr=False)
    com: Array = field(repr=False)
    tip_center: Array = field(repr=False)
    tip_axis: Array = field(repr=False)
    tip_rotation: Array = field(repr=False)
    springs: Array | None = field(default=None, repr=False)

    @property
    def times(self) -> Array:
        """Sample times [s]."""
        return np.arange(len(self.q)) / self.rate

    @property
    def duration(self) -> float:
        """Time of the last sample [s]."""
        return (len(self.q) - 1) / self.rate

    @property
    def yaw(self) -> Array:
        """Heading (n,) [rad] of the base, continuous."""
        return np.unwrap(np.arctan2(self.rotation[:, 1, 0], self.rotation[:, 0, 0]))

    @cached_property
    def clearance(self) -> Array:
        """Height (n, e) [m] of each end effector's lowest point above the ground."""
        lowest = contact_points(self.character, self.terrain, self.tip_center, self.tip_axis)
        return lowest[..., 2] - ground_height(self.terrain, lowest[..., 0], lowest[..., 1])

    @property
    def standing(self) -> NDArray[np.bool_]:
        """Whether each end effector is planned to be on the ground (n, e)."""
        return self.clearance <= STANDS

    @property
    def swings(self) -> bool:
        """Whether an end effector leaves the ground on purpose."""
        return bool((self.clearance > SWINGS).any())

    @cached_property
    def reach(self) -> float:
        """Root mean square distance [m] of the end effectors from the centre of mass, seen from above, over the motion."""
        return float(np.sqrt(np.mean(np.sum((self.tip_center - self.com[:, None])[..., :2] ** 2, axis=-1))))


def contact_points(character: Character, terrain: HeightField | None, center: Array, axis: Array) -> Array:
    """The points (..., e, 3) [m] where end effectors with these centres and axes (..., e, 3) would touch the ground.

    With n the ground's normal below the centre: centre - r n of a ball, centre + r a x t of a wheel or sole, a its axis,
    t = a x n / |a x n|; the centre of a sole that lies flat.
    """
    n = ground_normal(terrain, center[..., 0], center[..., 1])
    t = np.cross(axis, n)
    t /= np.maximum(np.linalg.norm(t, axis=-1, keepdims=True), 1e-12)
    ball = np.array([tip.kind == "ball" for tip in character.end_effectors])
    radius = np.array([tip.radius for tip in character.end_effectors])
    return np.asarray(center + radius[:, None] * np.where(ball[:, None], -n, np.cross(axis, t)))


def ground_plan(performance: Performance, terrain: HeightField | None = None) -> GroundPlan:
    """The plan of a performance on its own terrain or the one given; BadInput for a character that does not go over the ground."""
    character, motion = performance.character, performance.motion
    base = free_base(character)
    if base is None or not character.end_effectors:
        raise BadInput(f"{character.name!r} has no free base with wheels or feet (end_effectors); it does not go over the ground")
    if len(motion.values) < 3:
        raise BadInput(f"the performance of {performance.clip_name!r} has fewer than 3 samples; there is nothing to replay")
    tree = compile_tree(character)
    q = np.column_stack([motion.column(name) for name in tree.names])
    v = np.gradient(q, 1.0 / motion.rate, axis=0, edge_order=2)
    stated = {channel.name: channel.values for channel in performance.channels if channel.kind == "torque"}
    torque, angle, speed = (np.zeros((len(q), len(character.motors))) for _ in range(3))
    for j, name in enumerate(character.driven):
        torque[:, j] = stated.get(name, 0.0)
        angle[:, j] = q[:, tree.index(name)]
        speed[:, j] = v[:, tree.index(name)]
    rotation, position = tree.poses(q)
    com = np.einsum("i,nij->nj", tree.mass, position + np.einsum("nijk,ik->nij", rotation, tree.center_of_mass)) / tree.mass.sum()
    nodes = [tree.nodes[tip.body] for tip in character.end_effectors]
    local = np.array([tip.center for tip in character.end_effectors])
    axes = np.array([_unit_axis(tip) for tip in character.end_effectors])
    figures = performance.certificate.figures
    return GroundPlan(
        character,
        tree,
        terrain if terrain is not None else terrain_of(performance),
        motion.rate,
        float(figures.get("period_s", motion.duration)),
        figures.get("cycles", 0.0) >= 1.0,
        float(figures["friction"]) if "friction" in figures else None,
        q,
        v,
        torque,
        angle,
        speed,
        _sent(performance, angle, speed),
        position[:, tree.nodes[base.child]],
        rotation[:, tree.nodes[base.child]],
        com,
        position[:, nodes] + np.einsum("nejk,ek->nej", rotation[:, nodes], local),
        np.einsum("nejk,ek->nej", rotation[:, nodes], axes),
        rotation[:, nodes],
    )


def _sent(performance: Performance, angle: Array, speed: Array) -> Commands:
    """What the channels send the motors; the planned angle or speed to those without a channel."""
    character = performance.character
    values = np.where([name in character.wheel_axles for name in character.driven], speed, angle)
    for channel in performance.channels:
        if channel.kind in ("position", "velocity") and channel.name in character.driven:
            values[:, character.driven.index(channel.name)] = channel.values
    return Commands(values, performance.rate)


def _unit_axis(tip: EndEffector) -> Array:
    axis = np.array(tip.axis, dtype=np.float64)
    return np.asarray(axis / np.linalg.norm(axis))
