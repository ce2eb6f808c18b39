"""A character with flexible parts as a mechanical system.

Motors are kinematic coordinates, joints without motor are dynamic with their damping and springs, and every flexible part adds
its modal coordinates ``part.0``, ``part.1``, ... Loops are closed by constraints whose rank is measured with the parts bending.
Soft motors (`bunraku.mechanics.flexible.compliance`) add ``coordinate.deflection``, dynamic, behind each motor that has a
stiffness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.mechanics.dynamics.flexible.attach import Flexible
from bunraku.mechanics.dynamics.forces import Damping
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.potentials import CoordinateSpring, Potential
from bunraku.mechanics.dynamics.system import System, build_system
from bunraku.mechanics.flexible.compliance import SoftMotor, soft_motors, with_deflections
from bunraku.mechanics.flexible.reduced_parts import ModeCounts, ReducedPart, reduce_parts
from bunraku.mechanics.systems.character_system import joint_springs
from bunraku.mechanics.systems.loops import LoopClosure, close_loops
from bunraku.mechanics.tree import compile_tree, rotation_of
from bunraku.optimization.monitor import SILENT, Monitor


@dataclass(frozen=True, eq=False)
class FlexibleCharacterSystem:
    """The ``system``, its reduced ``parts`` by name, what closed its loops, its soft motors, and a ``note`` on all of it.

    ``home`` (nq,) is the configuration at home, loops closed, nothing bent; gravity bends it: find an equilibrium from there.
    """

    character: Character
    system: System
    parts: dict[str, ReducedPart]
    closure: LoopClosure
    soft: tuple[SoftMotor, ...]
    home: Array
    note: str

    def coordinates(self, part: str) -> NDArray[np.int64]:
        """Where the modal coordinates of a part stand in q."""
        if part not in self.parts:
            raise BadInput(f"there is no flexible part {part!r}; known: {', '.join(self.parts)}")
        r = self.parts[part].reduction.segment.r
        return np.array([self.system.index(f"{part}.{a}") for a in range(r)], dtype=np.int64)

    @property
    def motors(self) -> NDArray[np.int64]:
        """Where the motors' coordinates stand in q, in the order of the motors: `Character.driven`."""
        return np.array([self.system.index(name) for name in self.character.driven], dtype=np.int64)


def flexible_system(
    character: Character,
    *,
    meshes: Mapping[str, TetMesh] | None = None,
    motor_stiffness: bool | float | Mapping[str, float] | None = None,
    modes: ModeCounts = None,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    reductions: Mapping[str, ReducedPart] | None = None,
    monitor: Monitor = SILENT,
) -> FlexibleCharacterSystem:
    """The system of a character whose flexible parts bend.

    ``meshes``: of parts whose shape is a file (`bunraku.formats.part_meshes.read_part_meshes`). ``motor_stiffness``: what
    motors state, unless a number [N·m/rad] or numbers by motor replace it; False is rigid motors. ``modes``:
    bending modes of each plane, of all parts or by part; unless given, chosen against the whole solid (see :func:`reduce_parts`).
    ``gravity`` [m/s²]. ``reductions``: parts reduced before, by name, to take in place of reducing anew.
    """
    if character.strings:
        raise BadInput(f"{character.name!r} has strings and flexible parts; a marionette's bodies are rigid: leave one of them out")
    soft = soft_motors(character, motor_stiffness)
    built = with_deflections(character, soft)
    tree = compile_tree(built)
    parts = dict(reductions or {})
    if any(part.name not in parts for part in character.flexibles):
        parts = {**reduce_parts(built, tree, meshes=meshes, modes=modes, monitor=monitor), **parts}
    segments = [_stand(parts[part.name]) for part in character.flexibles]
    kinematic = character.driven
    closure = close_loops(built, tree, kinematic=kinematic, segments=segments)
    system = build_system(
        tree,
        kinematic=kinematic,
        gravity=gravity,
        potentials=_springs(character, soft),
        forces=_dampers(character, soft),
        constraints=closure.constraints,
        armature={axis.name: joint.armature for joint in built.joints for axis in joint.axes if joint.armature},
        segments=segments,
    )
    home = system.home.copy()
    for i, name in enumerate(tree.names):
        if name in system.names:
            home[system.index(name)] = closure.q[i]
    return FlexibleCharacterSystem(character, system, parts, closure, soft, home, _note(system, parts, closure, soft))


def _stand(reduced: ReducedPart) -> Flexible:
    part = reduced.part
    x, y, z = ((float(row[0]), float(row[1]), float(row[2])) for row in rotation_of(part.pose))
    place = Place(part.base, part.pose.position, (x, y, z))
    return Flexible(part.name, reduced.reduction.segment, place, tuple(child.body for child in part.children))


def _springs(character: Character, soft: Sequence[SoftMotor]) -> list[Potential]:
    """Springs of joints without motor, about home, and of soft motors."""
    springs: list[Potential] = [*joint_springs(character)]
    return springs + [CoordinateSpring(motor.deflection, motor.stiffness) for motor in soft]


def _dampers(character: Character, soft: Sequence[SoftMotor]) -> list[Damping]:
    """Damping of joints without motor and of soft motors; what a motor's own joint takes is a matter of its torque."""
    free = set(character.driven) | {coupling.follower for coupling in character.couplings}
    values = {axis.name: joint.damping for joint in character.joints for axis in joint.axes if axis.name not in free}
    values |= {motor.deflection: motor.damping for motor in soft}
    values = {name: value for name, value in values.items() if value > 0.0}
    return [Damping(values)] if values else []


def _note(system: System, parts: Mapping[str, ReducedPart], closure: LoopClosure, soft: Sequence[SoftMotor]) -> str:
    modes = sum(part.reduction.segment.r for part in parts.values())
    words = [f"{len(parts)} flexible parts in {modes} modes, {system.nk} motors, {system.nd - modes} other coordinates"]
    judged = [part.reduction.errors for part in parts.values() if part.reduction.errors is not None]
    if judged:
        position, frequency = np.max(judged, axis=0)
        words += [f"shapes chosen against the whole solids: positions within {position:.2%}, frequencies {frequency:.2%}"]
    words += [f"{system.nc} rows close its loops"] if system.nc else []
    words += [closure.note] if closure.note else []
    words += [f"{len(soft)} motors give way"] if soft else []
    return "; ".join(words)
