"""From a mechanism to a character: bodies with masses and inertias from geometry, hinges with their servos, soles, shapes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.building.creatures.mechanism import LEGS, TORSO, CreatureHinge, Mechanism, Strut, servo_case
from bunraku.building.servos import servo
from bunraku.building.shapes import DARK, LIGHT, RUBBER, box_shape, capsule_shape, cylinder_shape
from bunraku.building.solids import Solid, box, box_shell, capsule_shell, cylinder, joined, solid_body, three
from bunraku.building.tips import THIN_PLA, Filament
from bunraku.character import WORLD, Character, ElasticMaterial, EndEffector, Joint, Motor, Pose, Shape, Skin
from bunraku.errors import BadInput

_SOLE_FRICTION = 0.8
YOKE, SEAT = 0.06, 0.10
"""Printed mass of the yoke on a servo's horns, and of the seat of its case, over that of the servo."""
BRACING = 0.15
"""Mass of the torso's bracing over that of the skin: 1.6 mm of plastic, a third of it holes, under half of 4 mm of rubber."""
TRAY = (0.0024, 0.75)
"""Thickness [m] of the walls of a bay, and the share of a closed box that its holes leave."""
GAINS = {"Dynamixel XM430-W210 at 14.8 V": (45.0, 0.7)}
"""Position gains [N·m/rad, N·m·s/rad] where they are not the library's: a creature's legs need stiffer servos.

45 N·m/rad are a proportional gain of 2,100 of the servo's 16,383 steps, as for the larger one: 2,100 / 128 / 885 of the stall
torque a step of 2π / 4096.
"""
_HULL: tuple[float, float, float, float] = (0.55, 0.60, 0.42, 1.0)


def tube(density: float, wall: float, start: ArrayLike, end: ArrayLike, radius: float) -> Solid:
    """An open tube of outer ``radius``: the full cylinder less the one a ``wall`` thinner; ``wall`` = radius makes a disc."""
    p, q = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length, inner = float(np.linalg.norm(q - p)), radius - wall
    whole = cylinder(density * np.pi * radius**2 * length, (p + q) / 2.0, q - p, radius, length)
    hollow = cylinder(density * np.pi * inner**2 * length, (p + q) / 2.0, q - p, inner, length)
    return Solid(whole.mass - hollow.mass, whole.center, whole.inertia - hollow.inertia)


def skeleton_character(
    mechanism: Mechanism,
    *,
    total: float | None,
    skin_mass: float,
    payload: float = 0.4,
    skin: Skin | None = None,
    materials: tuple[ElasticMaterial, ...] = (),
    material: Filament = THIN_PLA,
    source: str = "",
) -> Character:
    """The character of a mechanism whose ``total`` mass [kg], the skin's ``skin_mass`` counted in, is given, or its ``payload``.

    Servos weigh what the library says, printed parts about what `bunraku fabricate` prints; what is missing to the total is the
    payload in the bays, by their volumes: batteries, controller, cables, screws.
    """
    origins = mechanism.origins()
    solids: dict[str, list[Solid]] = defaultdict(list)
    shapes: dict[str, list[Shape]] = defaultdict(list)
    whole = sum(box_shell(1.0, material.wall, center, size).mass for _, center, size in mechanism.hulls)
    for body, center, size in mechanism.hulls:
        solids[body].append(box_shell(BRACING * skin_mass / whole, material.wall, center - origins[body], size))
        shapes[body].append(box_shape(center - origins[body], size, _HULL))
    for link in mechanism.links:
        solid, shape = _strut(link, origins[link.body], material)
        solids[link.body].append(solid)
        shapes[link.body].append(shape)
    for hinge in mechanism.hinges:
        case, o = servo_case(hinge), origins[hinge.carrier]
        solids[hinge.carrier].append(box(case.servo.mass, case.center - o, case.servo.size, case.axes))
        shapes[hinge.carrier].append(box_shape(case.center - o, case.servo.size, DARK, axes=case.axes, collides=False))
        yoke = hinge.parent if hinge.carrier == hinge.child else hinge.child
        turned = cylinder(
            YOKE * case.servo.mass, hinge.place - origins[yoke], hinge.axis, case.servo.horn_radius, case.servo.size[2]
        )
        solids[yoke].append(turned)
        solids[hinge.carrier].append(box(SEAT * case.servo.mass, case.center - o, case.servo.size, case.axes))
    for sole in mechanism.soles:
        place = sole.center + np.array([0.0, 0.0, 0.004]) - origins[sole.body]
        shapes[sole.body].append(cylinder_shape(place, (0.0, 0.0, 1.0), sole.radius, 0.008, RUBBER))
    for body, center, size in mechanism.bays:
        solids[body].append(box_shell(TRAY[1] * material.density, TRAY[0], center - origins[body], size))
    rest = payload if total is None else total - skin_mass - sum(part.mass for parts in solids.values() for part in parts)
    if rest < 0.1:
        raise BadInput(f"{mechanism.name}: {rest:.2f} kg are left for battery and controller; make the total or the skin lighter")
    volume = sum(float(np.prod(size)) for _, _, size in mechanism.bays)
    for body, center, size in mechanism.bays:
        solids[body].append(box(rest * float(np.prod(size)) / volume, center - origins[body], size))
        shapes[body].append(box_shape(center - origins[body], size, LIGHT, collides=False))
    return Character(
        name=mechanism.name,
        bodies=tuple(solid_body(name, joined(solids[name]), shapes[name]) for name in mechanism.bodies),
        joints=_joints(mechanism),
        motors=tuple(_motor(hinge) for hinge in mechanism.hinges),
        end_effectors=_soles(mechanism),
        materials=materials,
        skin=skin,
        groups=_groups(mechanism),
        home={"base.tx": float(mechanism.origin[0]), "base.tz": float(mechanism.origin[2])},
        may_touch=_neighbours(mechanism),
        source=source,
    )


def _motor(hinge: CreatureHinge) -> Motor:
    part = servo(hinge.servo)
    stiffness, damping = GAINS.get(hinge.servo, (part.stiffness, part.damping))
    return replace(part, stiffness=stiffness, damping=damping).motor(hinge.name, hinge.name, (-hinge.reach, hinge.reach))


def _strut(link: Strut, origin: Array, material: Filament) -> tuple[Solid, Shape]:
    p, q = link.start - origin, link.end - origin
    if link.wall > 0.0:
        shape = cylinder_shape((p + q) / 2.0, q - p, link.radius, float(np.linalg.norm(q - p)), LIGHT)
        return tube(material.density, link.wall, p, q, link.radius), shape
    return capsule_shell(material.density, material.wall, p, q, link.radius), capsule_shape(p, q, link.radius, LIGHT)


def _joints(mechanism: Mechanism) -> tuple[Joint, ...]:
    origins = mechanism.origins()
    joints = [Joint(name="base", kind="free", parent=WORLD, child=TORSO, sequence="zyx")]
    for hinge in mechanism.hinges:
        place = {"parent": hinge.parent, "pose": Pose(position=three(hinge.place - origins[hinge.parent]))}
        turn = {"axis": three(hinge.axis), "range": (-hinge.reach, hinge.reach)}
        joints.append(Joint(name=hinge.name, kind="hinge", child=hinge.child, **place, **turn))
    return tuple(joints)


def _soles(mechanism: Mechanism) -> tuple[EndEffector, ...]:
    origins = mechanism.origins()
    return tuple(
        EndEffector(
            name=sole.name,
            kind="sole",
            body=sole.body,
            center=three(sole.center - origins[sole.body]),
            axis=(0.0, 0.0, 1.0),
            radius=sole.radius,
            width=0.008,
            friction=_SOLE_FRICTION,
        )
        for sole in mechanism.soles
    )


def _groups(mechanism: Mechanism) -> dict[str, tuple[str, ...]]:
    legs = {leg: tuple(hinge.name for hinge in mechanism.hinges if hinge.name.startswith(f"{leg}.")) for leg in LEGS}
    return legs | {"legs": tuple(name for names in legs.values() for name in names)}


def _neighbours(mechanism: Mechanism) -> tuple[tuple[str, str], ...]:
    """Bodies that may overlap: those of one leg, the torso's parts with each other and with all of a leg but its foot."""
    trunk = tuple(body for body, _, _ in mechanism.hulls)
    pairs = list(combinations(trunk, 2))
    for leg in LEGS:
        links = [hinge.child for hinge in mechanism.hinges if hinge.name.startswith(f"{leg}.")]
        pairs += [(body, link) for body in trunk for link in links[:-1]]
        pairs += combinations(links, 2)
    return tuple(pairs)
