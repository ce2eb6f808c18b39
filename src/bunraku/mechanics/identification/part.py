"""The rig of a character: one of its flexible parts, whose material is to be found, and where the marker is."""

from __future__ import annotations

from collections.abc import Mapping

from bunraku.character import Character, FlexiblePart
from bunraku.errors import BadInput
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.mechanics.dynamics.places import Place, Where
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.mechanics.identification.fit import MaterialFit
from bunraku.mechanics.identification.rig import Rig


def find_part(character: Character, name: str) -> FlexiblePart:
    """The flexible part called ``name``, or BadInput with those there are."""
    for part in character.flexibles:
        if part.name == name:
            return part
    known = ", ".join(part.name for part in character.flexibles)
    has = f"its flexible parts are {known}" if known else "it has no flexible part; describe one under flexibles"
    raise BadInput(f"{character.name!r} has no flexible part {name!r}; {has}")


def part_rig(character: Character, part: str, *, marker: Where | None = None, meshes: Mapping[str, TetMesh] | None = None) -> Rig:
    """The rig of a character for the material of ``part``; all parts of the same material change together.

    ``marker``: a frame, body or place; without it the centre of mass of the body at the part's first interface. ``meshes``: of
    parts whose shape is a file.
    """
    one = find_part(character, part)
    if not character.motors:
        raise BadInput(f"{character.name!r} has no motor; the part whose material is asked for stands on one")
    if marker is None:
        body = next(body for body in character.bodies if body.name == one.children[0].body)
        marker = Place(body.name, body.center_of_mass)
    names = {body.name for body in character.bodies} | {frame.name for frame in character.frames}
    if isinstance(marker, str) and marker not in names:
        raise BadInput(f"the marker is on {marker!r}, which is neither a frame nor a body; known: {', '.join(sorted(names)[:12])}")
    material = next(material for material in character.materials if material.name == one.material)
    whole = flexible_system(character, meshes=meshes)
    same = tuple(other.name for other in character.flexibles if other.material == one.material)
    return Rig(whole.system, same, material.young, marker, whole.home)


def fitted_character(character: Character, part: str, fit: MaterialFit) -> Character:
    """The character with what was found: modulus and damping of the part's material, and the delay of its motors if it is known."""
    name = find_part(character, part).material
    values = {"young": fit.young.value, "strain_damping": fit.damping.value, "source": "fitted to a recorded marker"}
    materials = tuple(m.changed(**values) if m.name == name else m for m in character.materials)
    motors = character.motors
    if fit.delay is not None:
        delay = min(max(fit.delay.value, 0.0), 1.0)
        motors = tuple(motor.changed(delay=delay) for motor in motors)
    return character.changed(materials=materials, motors=motors)
