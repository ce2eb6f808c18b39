"""What to look at while a character is being designed: mass, torque, balance, overlaps, printing, figures, thin rods.

All of it is static and quick; performers and `bunraku verify` prove the motion.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, degrees, pi, sqrt
from typing import Literal

import numpy as np

from bunraku.arrays import Array
from bunraku.building.servos import SERVOS
from bunraku.building.shapes import LIGHT
from bunraku.building.tips import PRINTER
from bunraku.character import WORLD, Character, FlexiblePart, Shape, free_base
from bunraku.design.loads import MotorLoad, balance, bending_inertia, limb_masses, motor_loads, part_mass, standing
from bunraku.formats.poses import of_pose
from bunraku.mechanics.collision import self_collisions
from bunraku.mechanics.tree import Tree

Severity = Literal["note", "warning", "error"]
WarningKind = Literal["mass", "torque", "balance", "overlap", "print", "figures", "rod"]
LEAST_FREQUENCY = 2.0
"""A rod that swings slower than this [Hz] is called too thin."""
LEAST_WALL = 0.0012
"""Nothing printed is thinner than this [m]: three lines of a nozzle of 0.4 mm."""
_MARGIN = 0.01
_MOST = 8


@dataclass(frozen=True)
class DesignWarning:
    """One thing to look at: ``text`` in a sentence with its numbers, ``about`` the body or motor it is about (empty: the whole)."""

    kind: WarningKind
    severity: Severity
    text: str
    about: str = ""


def warnings_of(character: Character, *, bed: tuple[float, float, float] = PRINTER) -> tuple[DesignWarning, ...]:
    """All warnings of a character, errors first; ``bed`` [m] is what the printer can print."""
    stand = standing(character)
    warnings = [
        *_mass(character),
        *_torques(character, motor_loads(character, stand)),
        *_balance(character, stand),
        *_overlaps(character, stand[1]),
        *_printing(character, bed),
        *_figures(character),
        *_rods(character),
    ]
    order = {"error": 0, "warning": 1, "note": 2}
    return tuple(sorted(warnings, key=lambda one: order[one.severity]))


def rod_frequency(character: Character, part: FlexiblePart) -> float | None:
    """The first frequency [Hz] of a rod clamped at its base, by Euler and Bernoulli; None for a part that is no rod or tube.

    With M the mass it carries and m its own, f = sqrt(3 E I / (L³ (M + 33/140 m))) / 2π: the load at its end, Rayleigh's share of
    its own mass. Gravity and the size of the load are left out.
    """
    second, length = bending_inertia(part), part.shape.length
    if second is None or length is None:
        return None
    young = next(material.young for material in character.materials if material.name == part.material)
    carried = sum(body.mass for body in character.bodies if body.name in _beyond(character, part))
    effective = carried + 33.0 / 140.0 * part_mass(part, character)
    return sqrt(3.0 * young * second / (length**3 * effective)) / (2.0 * pi)


def _beyond(character: Character, part: FlexiblePart) -> set[str]:
    carried = {child.body for child in part.children}
    while more := {joint.child for joint in character.joints if joint.parent in carried} - carried:
        carried |= more
    return carried


def _mass(character: Character) -> list[DesignWarning]:
    shares = limb_masses(character)
    total = sum(shares.values())
    if not total > 0.0:
        return [DesignWarning("mass", "error", f"{character.name} weighs nothing; give its bodies masses")]
    largest = sorted(shares.items(), key=lambda one: -one[1])
    listed = ", ".join(f"{name} {100.0 * mass / total:.0f} %" for name, mass in largest[:_MOST])
    rest = f" and {len(largest) - _MOST} more" if len(largest) > _MOST else ""
    text = f"{character.name} weighs {total:.3f} kg: {listed}{rest}"
    warnings = [DesignWarning("mass", "note", text)]
    moving = {joint.child for joint in character.joints if joint.kind != "fixed"}
    for body in character.bodies:
        ends = not any(joint.parent == body.name for joint in character.joints)
        if body.mass <= 0.0 and body.name in moving and ends:
            warnings.append(DesignWarning("mass", "error", f"{body.name} moves and weighs nothing; give it mass", body.name))
    return warnings


def _torques(character: Character, loads: tuple[MotorLoad, ...]) -> list[DesignWarning]:
    warnings = []
    sliding = _sliding(character)
    for load in loads:
        need, (what, unit) = abs(load.torque), ("force", "N") if load.motor in sliding else ("torque", "N·m")
        text = f"{load.motor} must hold {need:.2f} {unit} at home"
        if load.stall is not None and need > load.stall:
            text += f", more than its stall {what} of {load.stall:.2f} {unit}: it gives way"
            warnings.append(DesignWarning("torque", "error", text, load.motor))
        elif load.continuous is not None and need > load.continuous:
            text += f", {100.0 * need / load.continuous:.0f} % of the {load.continuous:.2f} {unit} it can hold for long"
            warnings.append(DesignWarning("torque", "warning", text, load.motor))
    return warnings


def _sliding(character: Character) -> set[str]:
    """The motors that slide: they hold forces, not torques."""
    slides = {axis.name for axis in character.axes if axis.kind == "slide"}
    return {motor.name for motor in character.motors if motor.coordinate in slides}


def _balance(character: Character, stand: tuple[Character, Tree]) -> list[DesignWarning]:
    held = any(joint.parent == WORLD and joint.kind != "free" for joint in character.joints)
    if free_base(character) is None or character.strings or held:
        return []
    stands = balance(character, stand)
    if stands is None:
        return [DesignWarning("balance", "note", f"{character.name} has no wheels, feet or strings: nothing carries it")]
    base = next(joint.child for joint in character.joints if joint.kind == "free" and joint.parent == WORLD)
    if stands.margin < 0.0:
        text = f"{character.name} tips over: its centre of mass is {1e3 * -stands.margin:.0f} mm outside of what it stands on"
        return [DesignWarning("balance", "error", text, base)]
    tilt = degrees(atan2(stands.margin, max(stands.height, 1e-9)))
    inside = f"the centre of mass is {1e3 * stands.margin:.0f} mm inside of what {character.name} stands on"
    text = f"{inside}; it tips at {tilt:.0f} degrees"
    return [DesignWarning("balance", "warning" if stands.margin < _MARGIN else "note", text, base)]


def _overlaps(character: Character, tree: Tree) -> list[DesignWarning]:
    pairs = self_collisions(character, tree, tree.home).touching_at_home
    warnings = [DesignWarning("overlap", "warning", f"{a} and {b} overlap at home", a) for a, b in pairs[:_MOST]]
    if len(pairs) > _MOST:
        warnings.append(DesignWarning("overlap", "warning", f"{len(pairs) - _MOST} more pairs of parts overlap at home"))
    return warnings


def _printing(character: Character, bed: tuple[float, float, float]) -> list[DesignWarning]:
    """Light parts are printed; the coloured body of a robot with servos of the library is too."""
    warnings = []
    built = any(motor.model in SERVOS for motor in character.motors)
    root = next((joint.child for joint in character.joints if joint.parent == WORLD and joint.kind == "free"), "")
    for body in character.bodies:
        printed = [shape for shape in body.shapes if shape.color == LIGHT]
        if built and body.name == root:
            printed += [shape for shape in body.shapes if shape.kind == "box" and shape.collides and shape.color != LIGHT]
        if not printed:
            continue
        size = _extent(printed)
        if any(side > most + 1e-9 for side, most in zip(sorted(size), sorted(bed), strict=True)):
            text = (
                f"{body.name} is {' x '.join(f'{1e3 * side:.0f}' for side in size)} mm; the printer prints "
                f"{' x '.join(f'{1e3 * side:.0f}' for side in bed)} mm"
            )
            warnings.append(DesignWarning("print", "warning", text, body.name))
        thin = min(2.0 * min(_half(shape)) for shape in printed)
        if thin < LEAST_WALL:
            text = f"{body.name} is {1e3 * thin:.1f} mm thin at one place; print at least {1e3 * LEAST_WALL:.1f} mm"
            warnings.append(DesignWarning("print", "warning", text, body.name))
    return warnings


def _extent(shapes: list[Shape]) -> Array:
    """The sides [m] of the box, along the body's axes, round some shapes."""
    low, high = [], []
    for shape in shapes:
        R, p = of_pose(shape.pose)
        reach = np.abs(R) @ np.array(_half(shape))
        low.append(p - reach)
        high.append(p + reach)
    sides: Array = np.max(high, axis=0) - np.min(low, axis=0)
    return sides


def _half(shape: Shape) -> tuple[float, float, float]:
    s = shape.size
    match shape.kind:
        case "sphere":
            return (s[0], s[0], s[0])
        case "capsule":
            return (s[0], s[0], s[0] + s[1])
        case "cylinder":
            return (s[0], s[0], s[1])
    return (s[0], s[1], s[2])


def _figures(character: Character) -> list[DesignWarning]:
    warnings = []
    sliding = _sliding(character)
    for motor in character.motors:
        strength = "force" if motor.name in sliding else "torque"
        lacks = [name for name, value in (("speed", motor.velocity), (strength, motor.stall_torque)) if value is None]
        if lacks:
            text = f"no {' and no '.join(lacks)} is stated for the motor {motor.name}: that limit is not checked"
            warnings.append(DesignWarning("figures", "note", text, motor.name))
    return warnings


def _rods(character: Character) -> list[DesignWarning]:
    warnings = []
    shared = {body for loop in character.loops for body in (loop.parent, loop.child)}
    for part in character.flexibles:
        frequency = rod_frequency(character, part)
        if frequency is None or shared & _beyond(character, part):
            continue  # no rod, or one of several that carry the same
        size = f"{1e3 * float(part.shape.diameter or 0.0):.1f} mm thick and {1e3 * float(part.shape.length or 0.0):.0f} mm long"
        text = f"the rod {part.name}, {size}, swings at about {frequency:.1f} Hz with what it carries"
        slow = frequency < LEAST_FREQUENCY
        if slow:
            text += f": too thin to be moved well, below {LEAST_FREQUENCY:g} Hz"
        warnings.append(DesignWarning("rod", "warning" if slow else "note", text, part.children[0].body))
    return warnings
