"""What there is to see of a skin that is planned, made or worn: rings of folds, servos, thickness, glue."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.building.creatures.mechanism import Clearance, collisions, servo_case
from bunraku.building.creatures.pipeline import DesignedCreature, PlannedCreature, StandingSurface
from bunraku.character import SkinMesh
from bunraku.geometry.rotations import quaternion_of_matrix
from bunraku.geometry.surfaces.distance import signed_distance
from bunraku.geometry.surfaces.surface import Surface

_THIN, _THICK = np.array([0.16, 0.35, 0.80]), np.array([0.85, 0.20, 0.15])


@dataclass(frozen=True)
class ThicknessView:
    """How thick a skin is at each vertex of its outside (V,) [m], and colours (V, 3) in 0..1: blue the least, red the most."""

    values: Array
    colors: Array

    @property
    def least(self) -> float:
        """The least thickness [m]."""
        return float(self.values.min())

    @property
    def most(self) -> float:
        """The greatest thickness [m]."""
        return float(self.values.max())


@dataclass(frozen=True)
class WornSkin:
    """A skin of one layer as it is worn at home: its outside ``outer`` (V, 3) [m], ``faces`` (F, 3), thickness, glue by body."""

    outer: Array
    faces: Indices
    thickness: ThicknessView
    glue: dict[str, Array]


def lowered(surface: Surface, stood: StandingSurface) -> Surface:
    """The ``surface`` that was stood up, on flat soles as it ``stood`` but with its own triangles, which are fewer: to be drawn."""
    low = surface.vertices - np.array([0.0, 0.0, stood.drop])
    return Surface(np.column_stack([low[:, :2], np.maximum(low[:, 2], 0.0)]), surface.faces)


def fold_ends(plan: PlannedCreature) -> dict[str, Array]:
    """The folds of a plan by joint ("LF.knee"): their ends (2, 3) [m] along the limb."""
    above = {hinge.child: hinge.name for hinge in plan.mechanism.hinges}
    return {
        above[body]: np.array([fold.middle + s * 0.5 * fold.length * fold.direction for s in (-1.0, 1.0)])
        for fold, body in zip(plan.folds, plan.bodies, strict=True)
    }


def case_views(plan: PlannedCreature) -> dict[str, Array]:
    """The servos of a plan as boxes: ``case_centers`` (h, 3) [m], ``case_wxyz`` (h, 4), ``case_sizes`` (h, 3) [m]."""
    cases = [servo_case(hinge) for hinge in plan.mechanism.hinges]
    turns = np.array([quaternion_of_matrix(case.axes) for case in cases])
    sizes = np.array([case.servo.size for case in cases])
    return {"case_centers": np.array([case.center for case in cases]), "case_wxyz": turns, "case_sizes": sizes}


def strut_views(plan: PlannedCreature) -> Array:
    """The printed struts of a plan as segments (l, 2, 3) [m]; the tubes about them are left out."""
    return np.array([[link.start, link.end] for link in plan.mechanism.links if link.wall == 0.0]).reshape(-1, 2, 3)


def poking_parts(plan: PlannedCreature, thickness: float) -> tuple[Clearance, ...]:
    """The parts of a plan that would reach into a skin of ``thickness`` [m] without folds, worst first."""
    return collisions(plan.mechanism, lambda points: signed_distance(plan.surface, points), thickness)


def pressing_parts(creature: DesignedCreature) -> tuple[Clearance, ...]:
    """The parts of a creature that reach beyond the inside of its skin as it came out, folds and all, worst first."""
    inside = Surface(creature.shell.inner, creature.shell.faces)
    return collisions(creature.mechanism, lambda points: signed_distance(inside, points), 0.0)


def thickness_view(outer: Array, inner: Array) -> ThicknessView:
    """The thickness of a skin as it came out: how far each vertex of the outside (V, 3) is from its partner ``inner`` (V, 3)."""
    values = np.linalg.norm(outer - inner, axis=1)
    span = float(np.ptp(values))
    share = (values - values.min()) / span if span > 1e-9 else np.zeros(len(values))
    return ThicknessView(values, _THIN + share[:, None] * (_THICK - _THIN))


def glue_places(mesh: SkinMesh) -> dict[str, Array]:
    """Where a skin is glued: for each body the places (n, 3) [m] at home."""
    number = {name: mesh.glue_body == k for k, name in enumerate(mesh.bodies)}
    return {name: mesh.nodes[mesh.glue_node[mine]] for name, mine in number.items() if mine.any()}


def worn_skin(mesh: SkinMesh) -> WornSkin | None:
    """The outside, the thickness and the glue of a skin of one layer; None for a mesh that is none.

    In a skin of one layer the corners of the outside come first, then as many of the inside in the same order, and three cells lie
    under each face: one has three corners outside, which are the face.
    """
    corners = mesh.cells[:, :4]
    count = int(corners.max(initial=-1)) + 1
    V = count // 2
    outside = corners < V
    top = corners[outside.sum(axis=1) == 3]
    if count % 2 or not len(top) or 3 * len(top) != len(corners) or len(np.unique(corners)) != count:
        return None
    lying = outside[outside.sum(axis=1) == 3]
    faces = top[lying].reshape(-1, 3)
    below = mesh.nodes[top[~lying]]
    a, b, c = (mesh.nodes[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), below - a) > 0.0
    faces[inward] = faces[inward][:, ::-1]
    outer = mesh.nodes[:V]
    return WornSkin(outer, faces, thickness_view(outer, mesh.nodes[V:count]), glue_places(mesh))
