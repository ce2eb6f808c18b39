"""The three built-in creatures: form, mechanism, skin, character; each with a fine skin and a coarse, quick one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from bunraku.building.creatures.embed import embed
from bunraku.building.creatures.forms import FORMS, Form
from bunraku.building.creatures.materials import MATERIALS, RUBBER, skin_mass
from bunraku.building.creatures.mechanism import Mechanism
from bunraku.building.creatures.outlines import form_surface
from bunraku.building.creatures.skeleton import skeleton_character
from bunraku.building.creatures.skins import SkinPlan, creature_skin
from bunraku.building.creatures.templates import template
from bunraku.character import Character, Skin, SkinMesh
from bunraku.errors import BadInput
from bunraku.geometry.shells.shell import Shell


@dataclass(frozen=True)
class Creature:
    """A built-in creature: the ``total`` mass [kg] it shall have, the plans of its fine and of its quick skin.

    ``quick_fold`` is Young's modulus of the quick skin's folds, which are smooth, over that of the rubber: such that a joint turns
    about as easily as with the fine skin.
    """

    form: str
    total: float
    fine: SkinPlan
    quick: SkinPlan
    quick_fold: float
    spacing: float = 0.005
    about: str = field(default="")


@dataclass(frozen=True)
class Made:
    """A creature made: its character, its skin's mesh, the shell that came from, its mechanism and its form."""

    character: Character
    mesh: SkinMesh
    shell: Shell
    mechanism: Mechanism
    form: Form


_QUICK = SkinPlan(
    size=0.08,
    limb_size=0.04,
    glue=140,
    around=5,
    wall=0.004,
    teeth=0,
    sole_around=6,
    spine_around=8,
    least_angle=np.radians(1.5),
    least_thickness=0.25,
)
_TAIL_AND_BELLY = (((-0.5, -0.2, 0.2), (-0.20, 0.2, 0.5)), ((-0.08, -0.06, 0.2), (0.08, 0.06, 0.30)))

CREATURES: dict[str, Creature] = {
    "beetle": Creature("beetle", 3.9, SkinPlan(size=0.024, glue=140, around=10, sole_around=8), _QUICK, 0.042),
    "monster": Creature(
        "monster",
        11.9,
        SkinPlan(size=0.024, glue=301, around=12, sole_around=8, soft=_TAIL_AND_BELLY),
        replace(_QUICK, size=0.055, limb_size=0.035, glue=301, soft=_TAIL_AND_BELLY),
        0.036,
    ),
    "lizard": Creature(
        "lizard",
        10.8,
        SkinPlan(size=0.029, limb_size=0.024, glue=176, around=12, thickness=0.005, sole_around=8),
        replace(_QUICK, glue=176),
        0.032,
    ),
}


def make_creature(name: str, fine_mass: float | None = None) -> Made:
    """The built-in creature of that name, with the quick skin when it ends in ``-quick``.

    ``fine_mass`` [kg] is the mass of the fine skin. The quick creature has the same skeleton; its skin's density is such that it
    weighs as much.
    """
    base, quick = name.removesuffix("-quick"), name.endswith("-quick")
    if base not in CREATURES:
        raise BadInput(f"no creature {name!r} is built in; there are {', '.join(CREATURES)}, and each with -quick behind its name")
    creature = CREATURES[base]
    form = FORMS[creature.form]()
    mechanism = replace(embed(base, template(form.template), form.legs, form.measures), name=name)
    mesh, shell = creature_skin(form_surface(form, creature.spacing), mechanism, creature.quick if quick else creature.fine)
    materials = list(MATERIALS)
    if quick:
        source = "stands for the folds of the fine skin: a smooth tube that lets the joint turn about as easily"
        materials[2] = RUBBER.changed(name="fold", young=creature.quick_fold * RUBBER.young, source=source)
    weight = skin_mass(mesh, dict(enumerate(materials)))
    if quick and fine_mass is not None:
        note = f"; density {fine_mass / weight:.4f} of the rubber's, so that the coarse skin weighs what the fine one does"
        materials = [part.changed(density=part.density * fine_mass / weight, source=part.source + note) for part in materials]
        weight = fine_mass
    skin = Skin(file=f"{name}.skin.npz", materials=tuple(part.name for part in materials))
    character = skeleton_character(
        mechanism, total=creature.total, skin_mass=weight, skin=skin, materials=tuple(materials), source="made by this project"
    )
    return Made(character, mesh, shell, mechanism, form)
