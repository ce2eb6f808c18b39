"""Parts that bend: what they are made of, their shape, and the bodies fixed to their interfaces.

A flexible part takes the place of fixed joints: the bodies it connects are described as fixed to each other in the pose they have
when nothing bends, and the part says what is between them. Its shape is described in the part's own frame, which stands on the body
``base`` (or the world); the patch ``base_patch`` of its surface is fixed to that body, and each of its ``children`` to one more
patch. Patches of ready shapes: ``start`` and ``end`` (the faces at z = 0 and at the far end of z), ``side``, for a tube ``hole``,
for a box ``-x``, ``+x``, ``-y``, ``+y``, for a plate the name of each hole; those of a mesh are its physical groups.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from bunraku.character.body import Pose
from bunraku.character.description import Description, Name, Vector3, quantity, some
from bunraku.character.joint import Joint

Point2 = tuple[float, float]


class ElasticMaterial(Description):
    """What a part is made of: Young's modulus, Poisson's ratio (below 0.5), density, and the energy it follows.

    ``strain_damping`` is the time beta by which stress leads: viscous stress is beta times Hooke's law of the strain rate, and a
    mode of frequency f loses the fraction pi f beta of critical damping. ``source`` says where the figures come from.
    """

    name: Name
    young: float = quantity("modulus", gt=0.0)
    poisson: float = Field(0.3, gt=-1.0, lt=0.5)
    density: float = quantity("density", gt=0.0)
    strain_damping: float = quantity("time", 0.0, ge=0.0)
    model: Literal["neo-hookean", "st-venant-kirchhoff"] = "neo-hookean"
    source: str = ""


class PartHole(Description):
    """A round hole through a plate; ``name`` becomes the patch of its wall."""

    name: Name
    center: Point2 = quantity("length")
    radius: float = quantity("length", gt=0.0)


class PartShape(Description):
    """The shape of a part, from z = 0 along z in its own frame.

    By kind: rod (``length``, ``diameter``); tube (and ``wall``); box (``size`` x, y, z, centred on the z axis); plate
    (``outline``: corners in the xy plane, in order; ``thickness``; ``holes``); mesh (``file``: gmsh .msh or VTK tetrahedra in
    metres, beside the character; the ``digest`` of its content is noted when it is read). ``cell`` is the wanted size of the
    tetrahedra; a size fine enough for bending is chosen when it is left out.
    """

    kind: Literal["rod", "tube", "box", "plate", "mesh"]
    length: float | None = quantity("length", None, gt=0.0)
    diameter: float | None = quantity("length", None, gt=0.0)
    wall: float | None = quantity("length", None, gt=0.0)
    size: Vector3 | None = quantity("length", None)
    outline: Annotated[tuple[Point2, ...], Field(max_length=10_000)] = quantity("length", ())
    thickness: float | None = quantity("length", None, gt=0.0)
    holes: tuple[PartHole, ...] = ()
    file: str | None = None
    digest: Annotated[str, Field(max_length=64)] = ""
    cell: float | None = quantity("length", None, gt=0.0)

    @model_validator(mode="after")
    def _check(self) -> PartShape:
        needed = {
            "rod": {"length", "diameter"},
            "tube": {"length", "diameter", "wall"},
            "box": {"size"},
            "plate": {"outline", "thickness"},
            "mesh": {"file"},
        }[self.kind]
        known = {"length", "diameter", "wall", "size", "outline", "thickness", "holes", "file"}
        given = {name for name in known if getattr(self, name) not in (None, ())}
        missing, extra = needed - given, given - needed - ({"holes"} if self.kind == "plate" else set())
        if missing or extra:
            which = f"lacks {sorted(missing)[0]}" if missing else f"has {sorted(extra)[0]}, which it does not take"
            raise ValueError(f"a {self.kind} {which}; it takes {', '.join(sorted(needed))}")
        if self.size is not None and min(self.size) <= 0.0:
            raise ValueError(f"the size of a box has {min(self.size):g} m; all three must be positive")
        if self.kind == "tube" and (self.wall or 0.0) >= 0.5 * (self.diameter or 0.0):
            raise ValueError("the wall of a tube is at least its radius; take a rod or a thinner wall")
        if self.kind == "plate" and (len(self.outline) < 3 or any(a == b for a, b in pairwise(self.outline))):
            raise ValueError("the outline of a plate needs three corners or more, no two in a row the same")
        return self


class PartInterface(Description):
    """Where a part carries a body: the name of the ``body`` and the ``patch`` of the part's surface it is fixed to."""

    body: Name
    patch: Name = "end"


class FlexiblePart(Description):
    """A part that bends: its material and shape, where its frame stands on its base, and what it carries.

    ``modes``: how many bending modes of each plane its motion is described with; two, or chosen against the full model, when left
    out.
    """

    name: Name
    material: Name
    shape: PartShape
    base: Name
    pose: Pose = Pose()
    base_patch: Name = "start"
    children: Annotated[tuple[PartInterface, ...], Field(min_length=1, max_length=50)]
    modes: Annotated[int, Field(ge=1, le=20)] | None = None

    @model_validator(mode="after")
    def _check(self) -> FlexiblePart:
        patches = [self.base_patch, *(child.patch for child in self.children)]
        if len(set(patches)) < len(patches):
            twice = next(patch for patch in patches if patches.count(patch) > 1)
            raise ValueError(f"two interfaces of part {self.name!r} are on the patch {twice!r}; each needs its own")
        bodies = [self.base, *(child.body for child in self.children)]
        if len(set(bodies)) < len(bodies):
            twice = next(body for body in bodies if bodies.count(body) > 1)
            raise ValueError(f"part {self.name!r} is fixed to the body {twice!r} twice; its interfaces carry different bodies")
        return self


def check_flexibles(
    parts: Iterable[FlexiblePart], materials: Iterable[ElasticMaterial], joints: Iterable[Joint], bodies: Collection[str]
) -> None:
    """Raise ValueError when flexible parts do not fit a character: every child hangs on a fixed joint of its own."""
    known = {material.name for material in materials}
    joint_of = {joint.child: joint for joint in joints}
    taken: dict[str, str] = {}
    for part in parts:
        where = f"the flexible part {part.name!r}"
        if part.material not in known:
            raise ValueError(f"{where} is made of {part.material!r}, which is no material; known: {some(sorted(known))}")
        if part.base not in bodies and part.base != "world":
            raise ValueError(f"{where} stands on {part.base!r}, which is no body; known: {some(sorted(bodies))}")
        for child in part.children:
            if child.body not in bodies:
                raise ValueError(f"{where} carries {child.body!r}, which is no body; known: {some(sorted(bodies))}")
            joint = joint_of.get(child.body)
            if joint is None or joint.kind != "fixed":
                has = "none" if joint is None else f"a {joint.kind} joint"
                raise ValueError(f"{where} carries {child.body!r}, which has {has}; describe it with a fixed joint, as when unbent")
            if child.body in taken:
                raise ValueError(f"{where} and {taken[child.body]!r} both carry {child.body!r}; close the loop with a fixed joint")
            taken[child.body] = part.name
