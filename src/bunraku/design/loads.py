"""What a character carries at home, standing still: masses of its limbs, the torque of each motor, its balance.

It stands with the points of its feet and the lowest points of its wheels; the ground's forces are vertical, of least sum of
squares (`mechanics.measures.statics`). Flexible parts count as stiff, with the mass of rods and tubes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np

from bunraku.arrays import Array
from bunraku.building.components.placing import numbers
from bunraku.building.solids import Solid, cylinder, joined
from bunraku.character import WORLD, Body, Character, FlexiblePart, Foot, free_base
from bunraku.formats.poses import of_pose
from bunraku.mechanics.measures.balance import balance_margins
from bunraku.mechanics.measures.statics import static_torques
from bunraku.mechanics.tree import Tree, compile_tree

_RIM = 8


@dataclass(frozen=True)
class MotorLoad:
    """What a motor holds at home [N·m, or N where it slides], and what it can: for long, and at stall; None where not stated."""

    motor: str
    torque: float
    continuous: float | None
    stall: float | None


@dataclass(frozen=True)
class Balance:
    """The signed distance [m] of the centre of mass from the edge of what it stands on, and its height [m] over the ground."""

    margin: float
    height: float


def standing(character: Character) -> tuple[Character, Tree]:
    """The character as statics see it, and its tree: its wheels and feet as points on the ground, rods as masses of their base."""
    extra: dict[str, list[Solid]] = {part.base: [] for part in character.flexibles}
    for part in character.flexibles:
        if part.shape.kind in ("rod", "tube"):
            extra[part.base].append(_rod(part, character))
    bodies = tuple(_with(body, extra[body.name]) if extra.get(body.name) else body for body in character.bodies)
    bare = character.changed(bodies=bodies, flexibles=(), skin=None) if extra else character
    tree = compile_tree(bare)
    at = tree.configuration(tree.home)
    feet = list(bare.feet)
    for tip in bare.end_effectors:
        R, p = at.pose(tip.body)
        axis = R @ (np.array(tip.axis) / np.linalg.norm(tip.axis))
        center = p + R @ np.array(tip.center)
        down = np.array([0.0, 0.0, -1.0])
        if tip.kind == "sole":
            points = [
                center + tip.radius * (np.cos(a) * _across(axis) + np.sin(a) * np.cross(axis, _across(axis)))
                for a in np.linspace(0.0, 2.0 * np.pi, _RIM, endpoint=False)
            ]
        elif tip.kind == "ball":
            points = [center + tip.radius * down]
        else:
            rim = down - axis * float(down @ axis)
            length = float(np.linalg.norm(rim))
            points = [center + tip.radius * rim / length if length > 1e-9 else center]
        local = tuple(numbers(R.T @ (point - p)) for point in points)
        feet.append(Foot(name=f"{tip.name} on the ground", body=tip.body, points=local))
    return bare.changed(feet=tuple(feet)) if bare.end_effectors else bare, tree


def motor_loads(character: Character, stand: tuple[Character, Tree] | None = None) -> tuple[MotorLoad, ...]:
    """The torque of each motor at home. None are known where loops share the load or strings hold it: then there are none."""
    if character.loops or character.strings or not character.motors:
        return ()
    seen, tree = stand or standing(character)
    torques = static_torques(seen, tree, tree.home)[0]
    return tuple(
        MotorLoad(
            motor.name,
            float(torques[tree.index(motor.coordinate)]),
            motor.continuous_torque,
            None if motor.stall_torque is None else motor.torque_fraction * motor.stall_torque,
        )
        for motor in character.motors
    )


def balance(character: Character, stand: tuple[Character, Tree] | None = None) -> Balance | None:
    """How it stands at home; None for what is fixed, hangs on strings, has nothing to stand on or no mass."""
    if free_base(character) is None or character.strings:
        return None
    seen, tree = stand or standing(character)
    if not seen.feet or not tree.mass.sum() > 0.0:
        return None
    at = tree.configuration(tree.home)
    places = np.array([at.pose(body.name)[1] + at.pose(body.name)[0] @ np.array(body.center_of_mass) for body in seen.bodies])
    masses = np.array([body.mass for body in seen.bodies])
    ground = min(float((at.pose(foot.body)[1] + at.pose(foot.body)[0] @ np.array(p))[2]) for foot in seen.feet for p in foot.points)
    height = float(masses @ places[:, 2] / masses.sum()) - ground
    return Balance(float(balance_margins(seen, tree, tree.home)[0]), height)


def limb_masses(character: Character) -> dict[str, float]:
    """The mass [kg] of every limb: of what hangs on the base by one joint, named after it, and of the base itself; rods included.

    A part fixed to the base belongs to the limb it carries; one that carries nothing that moves belongs to the base.
    """
    mass = {body.name: body.mass for body in character.bodies}
    for part in character.flexibles:
        if part.children:
            mass[part.children[0].body] = mass.get(part.children[0].body, 0.0) + part_mass(part, character)
    above = {joint.child: joint for joint in character.joints}
    moving = {joint.parent for joint in character.joints if joint.kind != "fixed"}
    limbs: dict[str, float] = {}
    for body in character.bodies:
        path = [body.name]
        while above[path[-1]].parent != WORLD:
            path.append(above[path[-1]].parent)
        limb = next((above[one].name for one in path[-2::-1] if above[one].kind != "fixed" or one in moving), path[-1])
        limb = limb.removesuffix(" case")
        limbs[limb] = limbs.get(limb, 0.0) + mass[body.name]
    return limbs


def part_mass(part: FlexiblePart, character: Character) -> float:
    """The mass [kg] of a flexible rod, tube or box; that of other shapes needs their mesh and counts as 0 here."""
    density = next(material.density for material in character.materials if material.name == part.material)
    shape = part.shape
    if shape.size is not None:
        return density * float(np.prod(shape.size))
    if shape.length is None or shape.diameter is None:
        return 0.0
    return density * pi / 4.0 * (shape.diameter**2 - _hole(part) ** 2) * shape.length


def bending_inertia(part: FlexiblePart) -> float | None:
    """The second moment of area [m⁴] of a rod or tube, π (d⁴ - h⁴) / 64; None for other shapes."""
    shape = part.shape
    if shape.diameter is None:
        return None
    return pi / 64.0 * (shape.diameter**4 - _hole(part) ** 4)


def _hole(part: FlexiblePart) -> float:
    """The inner diameter [m] of a tube, 0 of a rod."""
    shape = part.shape
    return max(shape.diameter - 2.0 * shape.wall, 0.0) if shape.diameter and shape.wall else 0.0


def _rod(part: FlexiblePart, character: Character) -> Solid:
    R, p = of_pose(part.pose)
    length, diameter = float(part.shape.length or 0.0), float(part.shape.diameter or 0.0)
    return cylinder(part_mass(part, character), p + R[:, 2] * length / 2.0, R[:, 2], diameter / 2.0, length)


def _with(body: Body, solids: list[Solid]) -> Body:
    xx, yy, zz, xy, xz, yz = body.inertia
    own = Solid(body.mass, np.array(body.center_of_mass), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    whole = joined([own, *solids])
    return body.changed(mass=whole.mass, center_of_mass=numbers(whole.center))


def _across(axis: Array) -> Array:
    """A unit vector across ``axis``."""
    other = np.array([1.0, 0.0, 0.0]) if abs(axis[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    across: Array = np.cross(axis, other).astype(np.float64)
    return across / float(np.linalg.norm(across))
