"""From a surface in a file to a skinned creature: first the plan, which is quick to do again, then the creature with its skin."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.errors import BadInput, Cancelled
from bunraku.formats.files import refuse_link
from bunraku.optimization.monitor import Event, Monitor
from bunraku.studio.jobs.exchange import write_arrays
from bunraku.studio.jobs.verbs.arguments import Arguments
from bunraku.studio.project import plain

if TYPE_CHECKING:
    from bunraku.building.creatures.pipeline import DesignedCreature, PlannedCreature, StandingSurface
    from bunraku.building.creatures.recipe import SkinRecipe
    from bunraku.geometry.surfaces.surface import Surface

MOST_KEPT = 3
LARGEST = 20.0
"""Largest size [m] of a surface that is taken for one in metres."""


@dataclass(frozen=True)
class _Stood:
    surface: StandingSurface
    drawn: Surface
    repairs: tuple[str, ...]


_STOOD: OrderedDict[str, _Stood] = OrderedDict()
"""The surfaces that were stood up last, by what is in their files: a plan after an edit takes a second instead of six."""


def planned(arguments: dict[str, Any], folder: Path, monitor: Monitor) -> tuple[dict[str, Any], bool]:
    """{file, scale, recipe} -> names of joints and folds, figures, and arrays to be drawn.

    Arrays: the standing surface ``vertices`` (n, 3) and ``faces`` (m, 3); its skeleton line, ``line`` (k, 3) and ``edges`` (l, 2);
    ``joints`` (h, 3); ``struts`` (s, 2, 3); servo cases ``case_centers`` (h, 3), ``case_wxyz`` (h, 4), ``case_sizes`` (h, 3); the
    rings of folds as segments ``rings`` (r, 2, 3) and the number of the fold of each, ``ring_fold`` (r,).
    """
    import numpy as np

    from bunraku.building.creatures.pipeline import plan_creature
    from bunraku.building.creatures.skin_views import case_views, fold_ends, poking_parts, strut_views

    given = Arguments(arguments, "planned")
    file, scale, recipe = _asked(given)
    given.finish()
    stood = _stood_up(file, scale, monitor)
    monitor.report(Event("planning", 0.7, f"placing the {recipe.template} inside"))
    plan = plan_creature(stood.surface, recipe)
    _listen(monitor)
    monitor.report(Event("planning", 0.9, "looking for parts that reach into the skin"))
    outlines = [fold.points for fold in plan.rings]
    rings = [np.stack([ring, np.roll(ring, -1, axis=0)], axis=1) for fold in outlines for ring in fold]
    number = [k for k, fold in enumerate(outlines) for _ in range(fold.shape[0] * fold.shape[1])]
    arrays = {"vertices": stood.drawn.vertices, "faces": stood.drawn.faces, "line": plan.line.nodes, "edges": plan.line.edges}
    arrays |= {"joints": np.array([hinge.place for hinge in plan.mechanism.hinges]), "struts": strut_views(plan)}
    arrays |= case_views(plan)
    arrays |= {"rings": np.concatenate(rings) if rings else np.zeros((0, 2, 3)), "ring_fold": np.array(number, dtype=np.int64)}
    path = folder / "plan.npz"
    write_arrays(path, arrays, lasting=False, compressed=False)
    facts = {
        "arrays": str(path),
        "joints": [hinge.name for hinge in plan.mechanism.hinges],
        "folds": list(fold_ends(plan)),
        "repairs": list(stood.repairs),
        "figures": _plan_figures(plan, poking_parts(plan, recipe.thickness)),
    }
    return facts, False


def surface(arguments: dict[str, Any], folder: Path, monitor: Monitor) -> tuple[dict[str, Any], bool]:
    """{file, scale, recipe, folder} -> character and skin files in the folder, figures, arrays to be drawn.

    Arrays: ``outer``, ``inner`` (n, 3) and ``faces`` (m, 3) of the shell, ``thickness`` (n,) [m] and its ``colors`` (n, 3) in 0..1,
    ``glue`` (g, 3), ``line`` (k, 3) and ``edges`` (l, 2) of the skeleton line of the standing surface.
    """
    import numpy as np

    from bunraku.building.creatures.pipeline import design_creature
    from bunraku.building.creatures.skin_views import glue_places, thickness_view
    from bunraku.formats.registry import write_character
    from bunraku.formats.skin_file import write_skin

    given = Arguments(arguments, "surface")
    file, scale, recipe = _asked(given)
    target = given.path("folder", folder)
    given.finish()
    refuse_link(target)
    target.mkdir(exist_ok=True)
    stood = _stood_up(file, scale, monitor)
    monitor.report(Event("skin", 0.3, f"embedding the {recipe.template} and making the skin, half a minute"))
    creature = design_creature(stood.surface, recipe)
    monitor.report(Event("skin", 0.95, "writing"))
    character = target / f"{recipe.name}.character.yaml"
    write_skin(creature.mesh, target / f"{recipe.name}.skin.npz")
    write_character(character, creature.character)
    arrays = target / f"{recipe.name}.shell.npz"
    shell, line, thickness = creature.shell, stood.surface.lowered, thickness_view(creature.shell.outer, creature.shell.inner)
    kept = {"outer": shell.outer, "inner": shell.inner, "faces": shell.faces, "line": line.nodes, "edges": line.edges}
    kept |= {
        "thickness": thickness.values,
        "colors": thickness.colors,
        "glue": np.concatenate(list(glue_places(creature.mesh).values())),
    }
    write_arrays(arrays, kept)
    facts = {"path": str(character), "arrays": str(arrays), "repairs": list(stood.repairs), "figures": _figures(creature)}
    return facts, False


def _asked(given: Arguments) -> tuple[Path, float, SkinRecipe]:
    from bunraku.building.creatures.recipe import SkinRecipe

    file, scale = Path(given.text("file")), given.number("scale", 1.0)
    asked = given.mapping("recipe")
    recipe = SkinRecipe.from_json({"name": file.stem} | asked)
    return file, scale, recipe.changed(name=plain(recipe.name))


def _stood_up(file: Path, scale: float, monitor: Monitor) -> _Stood:
    """The surface of a file, repaired and on its feet; what was stood up lately is at hand."""
    import numpy as np

    from bunraku.building.creatures.pipeline import stand_up
    from bunraku.building.creatures.skin_views import lowered
    from bunraku.formats.files import read_bytes
    from bunraku.formats.surface_file import read_surface
    from bunraku.geometry.surfaces.repair import repaired

    data = read_bytes(file)
    key = f"{hashlib.sha256(data).hexdigest()} {file.suffix} {scale!r}"
    if key in _STOOD:
        _STOOD.move_to_end(key)
        return _STOOD[key]
    monitor.report(Event("surface", 0.05, "repairing the surface"))
    raw = read_surface(file, scale=scale)
    size = float(np.ptp(raw.vertices, axis=0).max())
    if size > LARGEST:
        raise BadInput(f"the surface is {size:.3g} m long; if its file is in millimetres, choose that as its unit", file=file.name)
    mended = repaired(raw)
    _listen(monitor)
    monitor.report(Event("surface", 0.15, "looking for the skeleton line and the legs"))
    stood = stand_up(mended.surface)
    _STOOD[key] = _Stood(stood, lowered(mended.surface, stood), tuple(mended.notes))
    while len(_STOOD) > MOST_KEPT:
        _STOOD.popitem(last=False)
    _listen(monitor)
    return _STOOD[key]


def _listen(monitor: Monitor) -> None:
    if monitor.cancelled:
        raise Cancelled("cancelled before the skin was made; there is nothing to keep yet")


def _plan_figures(plan: PlannedCreature, parts: Any) -> dict[str, Any]:
    import numpy as np

    return {
        "size": np.ptp(plan.surface.vertices, axis=0),
        "scale": plan.mechanism.scale,
        "joints": len(plan.mechanism.hinges),
        "folds": len(plan.folds),
        "into_the_skin": _pressing(parts),
    }


def _pressing(parts: Any) -> list[str]:
    return [f"{part.part} of {part.body}: {-1e3 * part.room:.1f} mm" for part in parts]


def _figures(creature: DesignedCreature) -> dict[str, Any]:
    import numpy as np

    from bunraku.building.creatures.skin_views import pressing_parts
    from bunraku.geometry.shells.shell import shell_quality

    quality = shell_quality(creature.shell)
    return {
        "size": np.ptp(creature.mesh.nodes, axis=0),
        "joints": len(creature.character.motors),
        "nodes": len(creature.mesh.nodes),
        "glue": len(creature.mesh.glue_node),
        "least_thickness": quality.thinnest,
        "thinned_vertices": quality.thinned,
        "least_dihedral": float(quality.least_angle),
        "into_the_skin": _pressing(pressing_parts(creature)),
    }
