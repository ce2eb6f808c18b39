"""Make the built-in skinned creatures: characters and the meshes of their skins.

python scripts/make_creatures.py [NAME ...] [--pictures DIR]     # writes src/bunraku/assets/characters
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from creature_forms import FORMS, Form, form_surface

from bunraku.building.creatures.embed import embed
from bunraku.building.creatures.mechanism import Mechanism, clearances, template
from bunraku.building.creatures.skeleton import skeleton_character
from bunraku.building.creatures.skins import MATERIALS, RUBBER, SkinPlan, creature_skin, skin_mass
from bunraku.character import Character, Skin, SkinMesh
from bunraku.errors import BadInput
from bunraku.formats.character_yaml import write_character_yaml
from bunraku.formats.skin_file import write_skin
from bunraku.geometry.shells.shell import Shell, shell_quality
from bunraku.geometry.tet_mesh import TetMesh, cell_volumes

CHARACTERS = Path(__file__).resolve().parents[1] / "src" / "bunraku" / "assets" / "characters"


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


def write(made: Made) -> None:
    """The character and its skin, beside each other."""
    head, rest = write_character_yaml(made.character).split("\n", 1)
    name = made.character.name
    about = f"# The {name.removesuffix('-quick')}, a creature with a soft skin{', coarse' if name.endswith('-quick') else ''}.\n"
    text = f"{head}\n{about}# Made by scripts/make_creatures.py.\n{rest}"
    (CHARACTERS / f"{name}.character.yaml").write_text(text, encoding="utf-8")
    write_skin(made.mesh, CHARACTERS / f"{name}.skin.npz")


def report(made: Made, seconds: float) -> None:
    """Figures of a creature, one line each."""
    mesh, quality = made.mesh, shell_quality(made.shell)
    size = np.ptp(mesh.nodes, axis=0)
    bodies = sum(body.mass for body in made.character.bodies)
    tight = min(clearances(made.mechanism, made.form.field, 0.004), key=lambda part: part.room)
    joints = len(made.character.motors)
    print(f"{made.character.name}: {joints} joints, {len(mesh.nodes)} nodes, {len(mesh.glue_node)} glue, {seconds:.0f} s")
    print(f"  size {size[0]:.3f} x {size[1]:.3f} x {size[2]:.3f} m, bodies {bodies:.3f} kg, skin {skin_weight(made):.3f} kg")
    angles = np.degrees([quality.least_angle, quality.greatest_angle])
    print(f"  angles {angles[0]:.1f} to {angles[1]:.1f} deg, thinnest {quality.thinnest:.3f}")
    print(f"  genus {quality.genus}, crossings {quality.crossings}, sole nodes {np.bincount(mesh.sole_patch).tolist()}")
    print(f"  tightest part: {tight.part} of {tight.body}, {1e3 * tight.room:.1f} mm")


def skin_weight(made: Made) -> float:
    """Mass of the skin [kg]."""
    materials = {material.name: material for material in made.character.materials}
    volumes = cell_volumes(TetMesh(made.mesh.nodes, made.mesh.cells))
    names = made.character.skin.materials if made.character.skin else ()
    return float(sum(volumes[made.mesh.region == r].sum() * materials[name].density for r, name in enumerate(names)))


def picture(made: Made, path: Path) -> None:
    """The skin from two sides: folds, glue, soles, joints."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shell, mesh = made.shell, made.mesh
    fig = plt.figure(figsize=(20, 9))
    low, high = mesh.nodes.min(axis=0), mesh.nodes.max(axis=0)
    for k, (elevation, azimuth) in enumerate([(18, -55), (-25, -120)]):
        axes = fig.add_subplot(1, 2, k + 1, projection="3d")
        folded = (shell.region[shell.faces] >= 0).all(axis=1)
        for faces, color, alpha in ((shell.faces[~folded], "olivedrab", 0.25), (shell.faces[folded], "orange", 0.5)):
            axes.plot_trisurf(*shell.outer.T, triangles=faces, color=color, alpha=alpha, edgecolor="k", linewidth=0.15)
        bodies = mesh.glue_body % 10
        axes.scatter(*mesh.nodes[mesh.glue_node].T, c=bodies, cmap="tab10", s=9, depthshade=False)
        axes.scatter(*mesh.nodes[mesh.sole_node].T, c=mesh.sole_patch % 5, cmap="Set1", s=6, depthshade=False)
        joints = np.array([hinge.place for hinge in made.mechanism.hinges])
        axes.scatter(*joints.T, c="red", s=40, marker="x", depthshade=False)
        axes.set_xlim(low[0], high[0]), axes.set_ylim(low[1], high[1]), axes.set_zlim(low[2], high[2])
        axes.set_box_aspect(high - low)
        axes.view_init(elevation, azimuth)
    fig.tight_layout()
    fig.savefig(path, dpi=70)
    plt.close(fig)


def main() -> None:
    """Write the creatures that are named, or all; the quick ones after the fine ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(CREATURES))
    parser.add_argument("--pictures", type=Path)
    options = parser.parse_args()
    for base in options.names:
        weight = None
        for name in (base, f"{base}-quick"):
            started = time.thread_time()
            made = make_creature(name, weight)
            weight = skin_weight(made)
            write(made)
            report(made, time.thread_time() - started)
            if options.pictures:
                picture(made, options.pictures / f"{name}.png")


if __name__ == "__main__":
    main()
