"""The gains of a character's servos: as its motors state them, or of a scale with the robot.

One law serves every replay: a servo that is sent c gives

    tau = kp (c - q) + kv (w - v),

with q, v the joint's angle and speed, and w the rate of its commands where its derivative acts on the error (``derivative`` of
the motor, as in the usual firmware), zero where it acts on the joint's own speed (as in MuJoCo's position actuators). The motor of
a wheel is sent a speed c and gives kv (c - v), kv its ``speed_gain``.

Unstated gains scale with the robot: kp = tau_0 / `FULL_TORQUE_AT` with the stall torque tau_0, or `UPRIGHT` M g h without one, M
the mass and h the height of the centre of mass; kv = 2 `DAMPED` sqrt(kp I), I the inertia that the motor moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import WORLD, Character, Motor, free_base
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.mechanics.tree import Tree, compile_tree

FULL_TORQUE_AT = 0.185
"""A servo whose gains nobody states gives all of its stall torque when it is this far [rad] from where it should be."""

UPRIGHT = 9.0
"""One whose stall torque nobody states either has a stiffness of this many M g h: the least that keeps the robot upright is 1."""

DAMPED = 0.4
"""Unstated damping over critical damping."""

WHEEL_GAIN = 0.1
"""Gain [N·m·s/rad] of the servo of a wheel that states no speed gain."""


@dataclass(frozen=True)
class ServoGains:
    """The k servos in the order of the character's motors: ``stiffness`` kp and ``damping`` kv (k,), whether ``stated`` or a guess.

    ``on_error``: the derivative acts on the error; ``wheel``: it is sent a speed, and has no stiffness.
    """

    names: tuple[str, ...]
    coordinates: tuple[str, ...]
    stiffness: Array
    damping: Array
    stated: NDArray[np.bool_]
    on_error: NDArray[np.bool_]
    wheel: NDArray[np.bool_]

    def scaled(self, gain: float | Array) -> ServoGains:
        """``gain`` times as stiff, and damped in proportion to the root of that; wheels in proportion to ``gain``."""
        share = np.broadcast_to(np.asarray(gain, dtype=np.float64), self.stiffness.shape)
        return replace(self, stiffness=share * self.stiffness, damping=np.where(self.wheel, share, np.sqrt(share)) * self.damping)


def servo_gains(character: Character, tree: Tree | None = None) -> ServoGains:
    """The gains of a character's motors. ``tree`` spares compiling it again."""
    motors, tree = character.motors, tree or compile_tree(character)
    wheel = np.array([motor.coordinate in character.wheel_axles for motor in motors], dtype=bool)
    upright = UPRIGHT * GRAVITY * float(np.prod(mass_and_height(character, tree)))
    stiffness = np.array([_stiffness(motor, upright) for motor in motors], dtype=np.float64)
    kv = 2.0 * DAMPED * np.sqrt(stiffness * moved_inertia(character, tree))
    position = np.array([kv[k] if motor.damping is None else motor.damping for k, motor in enumerate(motors)], dtype=np.float64)
    speed = np.array([motor.speed_gain or WHEEL_GAIN for motor in motors], dtype=np.float64)
    return ServoGains(
        tuple(motor.name for motor in motors),
        tuple(motor.coordinate for motor in motors),
        np.where(wheel, 0.0, stiffness),
        np.where(wheel, speed, position),
        np.array(
            [(motor.speed_gain if rolls else motor.stiffness) is not None for motor, rolls in zip(motors, wheel, strict=True)],
            dtype=bool,
        ),
        np.array([motor.derivative == "error" for motor in motors], dtype=bool),
        wheel,
    )


def _stiffness(motor: Motor, upright: float) -> float:
    """The stiffness of one motor: stated, or from its stall torque, or ``upright`` [N·m/rad]."""
    if motor.stiffness is not None:
        return motor.stiffness
    return upright if motor.stall_torque is None else motor.torque_fraction * motor.stall_torque / FULL_TORQUE_AT


def mass_and_height(character: Character, tree: Tree) -> tuple[float, float]:
    """Mass [kg], and height [m] of the centre of mass at home above the lowest point of feet and tips, or else of bodies.

    Neither is less than 1 g or 1 mm.
    """
    rotation, position = (part[0] for part in tree.poses(tree.home[None]))
    mass = float(tree.mass.sum())
    touching = [(foot.body, point, 0.0) for foot in character.feet if foot.body != WORLD for point in foot.points]
    touching += [(tip.body, tip.center, tip.radius) for tip in character.end_effectors]
    lows = [
        float(position[node, 2] + rotation[node, 2] @ np.array(point)) - radius
        for body, point, radius in touching
        for node in (tree.nodes[body],)
    ]
    low = min(lows, default=float(position[:, 2].min(initial=0.0)))
    places = position + np.einsum("ijk,ik->ij", rotation, tree.center_of_mass)
    return max(mass, 1e-3), max(float(tree.mass @ places[:, 2]) / max(mass, 1e-9) - low, 1e-3)


def moved_inertia(character: Character, tree: Tree) -> Array:
    """The inertia (k,) [kg·m² or kg] that each motor moves at home.

    That of all bodies beyond the motor's joint about its axis, with the joint's armature; for a motor between a floating base and
    what stands on the ground rather the whole character's mass at its distance from the axis, shared by all that stand.
    """
    at = tree.configuration(tree.home)
    centers = at.position + np.einsum("ijk,ik->ij", at.rotation, tree.center_of_mass)
    turned = at.rotation @ tree.inertia @ np.swapaxes(at.rotation, 1, 2)
    mass = float(tree.mass.sum())
    com = tree.mass @ centers / max(mass, 1e-9)
    standing, bearing = _bearing(character, tree)
    armature = {axis.name: joint.armature for joint in character.joints for axis in joint.axes}
    slides = {axis.name for axis in character.axes if axis.kind == "slide"}
    node_of = {int(c): i for i, c in enumerate(tree.coordinate) if c >= 0}
    out = np.empty(len(character.motors))
    for k, motor in enumerate(character.motors):
        node = node_of[tree.index(motor.coordinate)]
        beyond, axis = _beyond(tree, node), at.world_axis[node]
        if motor.coordinate in slides:
            inertia, whole = float(tree.mass[beyond].sum()), 1.0
        else:
            arms, arm = np.cross(axis, centers[beyond] - at.position[node]), np.cross(axis, com - at.position[node])
            inertia = float(tree.mass[beyond] @ np.sum(arms**2, axis=1) + np.einsum("a,nab,b->", axis, turned[beyond], axis))
            whole = float(arm @ arm)
        if node in bearing:
            inertia = max(inertia, mass / standing * whole)
        out[k] = max(inertia + armature.get(motor.coordinate, 0.0), 1e-9)
    return out


def _bearing(character: Character, tree: Tree) -> tuple[int, frozenset[int]]:
    """How many bodies stand on the ground, and the nodes between them and a floating base; none when the base is fixed."""
    standing = {foot.body for foot in character.feet if foot.body != WORLD} | {tip.body for tip in character.end_effectors}
    nodes: set[int] = set()
    if free_base(character) is not None:
        for body in standing:
            node = tree.nodes[body]
            while node >= 0:
                nodes.add(node)
                node = int(tree.parent[node])
    return len(standing), frozenset(nodes)


def _beyond(tree: Tree, node: int) -> NDArray[np.bool_]:
    """Which nodes (n,) hang on ``node``, itself among them."""
    out = np.zeros(len(tree.parent), dtype=bool)
    for i in range(node, len(tree.parent)):
        out[i] = i == node or (tree.parent[i] >= 0 and bool(out[tree.parent[i]]))
    return out
