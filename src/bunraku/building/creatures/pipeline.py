"""From any closed surface with four legs to a skinned creature: legs, mechanism, folds, skin, character, without a hand on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from bunraku.building.creatures.embed import CreatureSizes, LegCurve, embed
from bunraku.building.creatures.mechanism import Clearance, Mechanism, Sole, Template, collisions, template
from bunraku.building.creatures.recipe import SkinRecipe
from bunraku.building.creatures.skeleton import skeleton_character
from bunraku.building.creatures.skins import MATERIALS, SkinPlan, creature_skin, fold_regions, skin_mass
from bunraku.building.creatures.stance import StandingLeg, find_legs, flat_footed, leg_stance
from bunraku.character import Character, Skin, SkinMesh
from bunraku.errors import BadInput
from bunraku.geometry.shells.fold_region import FoldRegion
from bunraku.geometry.shells.quality import check_closed
from bunraku.geometry.shells.rings import Rings, fold_rings
from bunraku.geometry.shells.shell import Shell
from bunraku.geometry.surfaces.distance import signed_distance
from bunraku.geometry.surfaces.skeleton_line import SkeletonLine, skeleton_line
from bunraku.geometry.surfaces.surface import Surface

SLENDER = 5.6
"""Longest edge of a cell over its thickness."""
TRIES = ((1.0, 1.0), (0.85, 1.0), (0.85, 0.88), (0.72, 1.0), (0.72, 0.8))
"""Edges and folds of one try after the other, over those of the first: a skin that is refused is made anew."""
PAYLOAD = 0.4
"""Mass [kg] of battery and controller where no total is given."""


@dataclass(frozen=True)
class StandingSurface:
    """A surface on flat soles: its skeleton line as it came, by how much it was lowered [m], and how its legs stand."""

    surface: Surface
    line: SkeletonLine
    drop: float
    stances: tuple[StandingLeg, ...]

    @property
    def lowered(self) -> SkeletonLine:
        """The skeleton line inside the surface as it stands."""
        return replace(self.line, nodes=self.line.nodes - np.array([0.0, 0.0, self.drop]))


@dataclass(frozen=True)
class PlannedCreature:
    """A mechanism in its place inside a surface, before its skin is made: what can be shown at once.

    ``surface`` stands on z = 0 with flat soles; ``line`` is its skeleton line, there too; ``folds`` are where the skin will fold,
    above the body of the same number in ``bodies``, and ``rings`` how.
    """

    surface: Surface
    line: SkeletonLine
    mechanism: Mechanism
    folds: tuple[FoldRegion, ...]
    bodies: tuple[str, ...]
    rings: tuple[Rings, ...]


@dataclass(frozen=True)
class DesignedCreature:
    """A creature made from a surface: character, skin, the shell it came from, mechanism, and the parts that come through the skin.

    ``surface`` is the one it was made from, standing on z = 0 with flat soles.
    """

    character: Character
    mesh: SkinMesh
    shell: Shell
    mechanism: Mechanism
    surface: Surface
    collisions: tuple[Clearance, ...]


def design_creature(surface: Surface | StandingSurface, recipe: SkinRecipe) -> DesignedCreature:
    """The skinned creature of a closed ``surface`` [m] that stands on four feet, z up, facing x: half a minute.

    The skeleton line gives the legs; a leg is a limb between where its cross-section swells to the torso and to the foot, and its
    folds are spread over that length. Without a mass the payload is that of a small battery. Raises BadInput with the reason when
    the surface does not have room for it.
    """
    chosen = _chosen(recipe)
    stood = stand_up(surface) if isinstance(surface, Surface) else surface
    standing = stood.surface
    embedded, mesh, shell = _skinned(chosen, stood, recipe)
    character = skeleton_character(
        embedded,
        total=recipe.mass or None,
        payload=PAYLOAD,
        skin_mass=skin_mass(mesh, dict(enumerate(MATERIALS))),
        skin=Skin(file=f"{recipe.name}.skin.npz", materials=tuple(part.name for part in MATERIALS)),
        materials=MATERIALS,
        source="made from a surface",
    )
    through = collisions(embedded, lambda points: signed_distance(standing, points), recipe.thickness)
    return DesignedCreature(character, mesh, shell, embedded, standing, through)


def plan_creature(surface: Surface | StandingSurface, recipe: SkinRecipe) -> PlannedCreature:
    """What `design_creature` begins with: the mechanism in its place and where the skin will fold; quick after `stand_up`."""
    chosen = _chosen(recipe)
    stood = stand_up(surface) if isinstance(surface, Surface) else surface
    plan = replace(_plan(stood.stances, recipe.thickness, 1.0), teeth=recipe.teeth)
    mechanism, plan, rings = _placed(chosen, stood, plan, recipe)
    folds, bodies = fold_regions(mechanism, plan)
    return PlannedCreature(stood.surface, stood.lowered, mechanism, tuple(folds), tuple(bodies), rings)


def stand_up(surface: Surface) -> StandingSurface:
    """A closed surface on flat soles with its legs found, for several plans; BadInput when it has no four legs."""
    check_closed(surface.faces, "the surface")
    line = skeleton_line(surface)
    legs = find_legs(line.nodes, line.edges, ground=float(surface.bounds[0, 2]))
    standing = flat_footed(surface, legs)
    drop = float(surface.vertices[:, 2].max() - standing.vertices[:, 2].max())
    legs = tuple(LegCurve(leg.name, leg.points - np.array([0.0, 0.0, drop])) for leg in legs)
    return StandingSurface(standing, line, drop, tuple(leg_stance(standing, leg) for leg in legs))


def _chosen(recipe: SkinRecipe) -> Template:
    """The template with the folds that were chosen."""
    whole = template(recipe.template)
    joints = tuple(replace(joint, fold=recipe.folds.get(joint.name, joint.fold)) for joint in whole.joints)
    if not joints[-1].fold:
        raise BadInput(f"the lowest joint, {joints[-1].name!r}, needs its fold: the sole turns with it")
    return replace(whole, joints=joints)


def _skinned(chosen: Template, stood: StandingSurface, recipe: SkinRecipe) -> tuple[Mechanism, SkinMesh, Shell]:
    """Mechanism and skin; where cells come out too flat, again with shorter edges or folds. What the first try met is told."""
    reason: BadInput | None = None
    for finer, shorter in TRIES:
        plan = _plan(stood.stances, recipe.thickness, finer)
        plan = replace(plan, glue=recipe.glue, fold_length=shorter * plan.fold_length, teeth=recipe.teeth)
        plan = replace(plan, bonds=tuple(recipe.bonds.items()), soft=recipe.soft)
        try:
            embedded, plan, _ = _placed(chosen, stood, plan, recipe)
            return embedded, *creature_skin(stood.surface, embedded, plan)
        except BadInput as error:
            reason = reason or error
    raise reason or AssertionError("there is a try")


def _plan(stances: tuple[StandingLeg, ...], thickness: float, finer: float) -> SkinPlan:
    """Folds in proportion to the thinnest leg; edges as long as the thickness allows, times ``finer``."""
    slender = finer * SLENDER
    r = min(stance.radius for stance in stances)
    large = max(stance.radius for stance in stances)
    room = min((stance.bottom - stance.top) * stance.curve.length() for stance in stances)
    length = min(1.1 * r, room / 3.0 - 0.016)
    if length < 0.4 * r:
        raise BadInput(
            f"legs of {room:.3f} m between torso and foot have no room for three folds; lengthen them or scale the surface"
        )
    around = int(np.ceil(2.0 * np.pi * large / (slender * thickness)))
    sole = min(2.0 * thickness, 0.3 * r)
    rim = int(np.ceil(2.0 * np.pi * max(stance.sole for stance in stances) / (0.5 * slender * sole)))
    return SkinPlan(
        size=slender * thickness,
        glue=0,
        around=max(around, 6),
        thickness=thickness,
        sole=sole,
        wall=thickness,
        depth=min(0.2 * r, 0.008),
        fold_length=length,
        sole_around=max(6, rim + rim % 2),
        rim=1.75 * sole,
    )


def _placed(
    chosen: Template, stood: StandingSurface, plan: SkinPlan, recipe: SkinRecipe
) -> tuple[Mechanism, SkinPlan, tuple[Rings, ...]]:
    """The mechanism with its folds on limbs: the hips are moved down, and the folds shortened, until each goes round one limb."""
    reason: BadInput | None = None
    stances, surface = stood.stances, stood.surface
    for down, shorter in ((0.0, 1.0), (0.0, 0.85), (0.1, 0.85), (0.1, 0.7), (0.2, 0.6), (0.2, 0.5)):
        trial = replace(plan, fold_length=shorter * plan.fold_length)
        legs = tuple(_jointed(stance, chosen, trial, down, recipe.places) for stance in stances)
        measures = _measures(stances, stood.lowered, trial, surface)
        mechanism = embed(recipe.name, chosen, legs, measures)
        soles = tuple(Sole(s.name, s.body, s.center, stance.sole) for s, stance in zip(mechanism.soles, stances, strict=True))
        mechanism = replace(mechanism, soles=soles)
        if mechanism.hinges[0].name == "spine":
            radius = float(-signed_distance(surface, mechanism.hinges[0].place[None])[0])
            trial = replace(trial, spine_around=max(8, int(np.ceil(2.0 * np.pi * 1.15 * radius / (SLENDER * trial.wall)))))
        try:
            _check_gaps(mechanism, trial, min(stance.radius for stance in stances))
            folds, bodies = fold_regions(mechanism, trial)
            names = [f"the fold above {body}" for body in bodies]
            rings = [fold_rings(surface.vertices, surface.faces, fold, name) for fold, name in zip(folds, names, strict=True)]
            _check_apart(folds, rings, bodies, 2.0 * trial.thickness)
        except BadInput as error:
            reason = error
            continue
        return mechanism, trial, tuple(rings)
    raise BadInput(f"the folds find no place on the legs: {reason}") from reason


def _jointed(stance: StandingLeg, chosen: Template, plan: SkinPlan, down: float, shares: Mapping[str, float]) -> LegCurve:
    """The curve of a leg with the fractions at which its joints lie.

    Those with folds are spread evenly between torso and foot, or lie where ``shares`` say; one without is above the next by three
    quarters of a fold.
    """
    length = stance.curve.length()
    half = (0.5 * plan.fold_length + 0.004) / length
    top = stance.top + down * (stance.bottom - stance.top) + half
    folded = [joint for joint in chosen.joints if joint.fold]
    bottom = _lowest(stance, plan, stance.bottom - half)
    even = np.linspace(top, bottom, len(folded)).tolist()
    at = iter(top + shares[one.name] * (bottom - top) if one.name in shares else s for one, s in zip(folded, even, strict=True))
    places = [next(at) if joint.fold else -1.0 for joint in chosen.joints]
    for k in range(len(places) - 1, -1, -1):
        if places[k] < 0.0:
            places[k] = max(places[k + 1] - 0.75 * plan.fold_length / length, 0.02)
    return replace(stance.curve, joints=tuple(places))


def _check_gaps(mechanism: Mechanism, plan: SkinPlan, radius: float) -> None:
    """Two folds of a leg leave plain skin for glue between them, also on the inside of a bend."""
    folded = [hinge for hinge in mechanism.hinges if hinge.limb is not None and "." in hinge.name]
    for above, below in pairwise(folded):
        if above.name[:3] != below.name[:3] or above.limb is None or below.limb is None:
            continue
        bend = float(np.arccos(np.clip(above.limb @ below.limb, -1.0, 1.0)))
        gap = float(np.linalg.norm(below.place - above.place)) - plan.fold_length - 0.5 * radius * bend
        if gap < 3.0 * plan.thickness:
            raise BadInput(f"the folds of {above.name} and {below.name} leave {gap:.3f} m of plain skin between them")


def _check_apart(folds: list[FoldRegion], rings: list[Rings], bodies: list[str], room: float) -> None:
    """No ring at the end of a fold comes nearer than ``room`` [m] to the plane in which the next fold of its leg begins."""
    for (above, last), (below, first) in pairwise(zip(folds, zip(rings, bodies, strict=True), strict=True)):
        if last[1].partition(".")[0] != first[1].partition(".")[0]:
            continue
        down = below.middle - 0.5 * below.length * below.direction - last[0].points[-1]
        up = first[0].points[0] - above.middle - 0.5 * above.length * above.direction
        gap = min(float((down @ below.direction).min()), float((up @ above.direction).min()))
        if gap < room:
            raise BadInput(f"the folds above {last[1]} and {first[1]} leave {gap:.3f} m of plain skin where they are nearest")


def _lowest(stance: StandingLeg, plan: SkinPlan, depth: float) -> float:
    """The lowest fraction, at or above ``depth``, at which a tilted fold stays clear of the sole's rim."""
    for s in np.arange(depth, stance.top, -0.005).tolist():
        limb = stance.curve.direction(s, 0.5 * plan.fold_length)
        reach = 0.5 * plan.fold_length * abs(limb[2]) + 1.1 * stance.radius * float(np.hypot(limb[0], limb[1]))
        if stance.curve.at(s)[2] - reach > plan.rim + 3.0 * plan.thickness:
            return float(s)
    raise BadInput(
        f"leg {stance.curve.name} has no place for the fold of its ankle above the sole; lengthen it or scale the surface"
    )


def _measures(stances: tuple[StandingLeg, ...], line: SkeletonLine, plan: SkinPlan, surface: Surface) -> CreatureSizes:
    """The torso's bracing and bays from the two ends of the trunk between the fore and hind legs."""
    roots = np.array([stance.curve.at(0.0) for stance in stances])
    fore, hind = roots[:2].mean(axis=0), roots[2:].mean(axis=0)
    fore[1] = hind[1] = 0.5 * (fore[1] + hind[1])
    center = 0.5 * (fore + hind)
    middle = line.nodes[int(np.argmin(np.linalg.norm(line.nodes - center, axis=1)))]
    room = -signed_distance(surface, np.array([fore, hind, middle, center]))
    radius = max(float(np.sort(room)[1]), plan.thickness * 4.0)
    center = np.array([center[0], center[1], middle[2]])
    side = 1.1 * (radius - plan.thickness)
    size = np.array([abs(fore[0] - hind[0]), side, side])
    bay = 0.5 * np.array([0.6 * size[0], side, side])
    shift = np.array([0.28 * size[0], 0.0, 0.0])
    r = min(stance.radius for stance in stances)
    return CreatureSizes(
        r,
        max(stance.sole for stance in stances),
        (center, size),
        ((center + shift, bay), (center - shift, bay)),
        fold_length=plan.fold_length,
        skin=plan.thickness,
        strut=min(0.007, 0.25 * r),
        spine=center,
    )
