"""Which body carries which part of the skin: the masses that planning with rigid bodies adds to them.

Each cell of the skin belongs to the body to whose glue it is nearest along the mesh. Its mass moves with that body as if rigid; how
far the deformed skin's centre is from there, `SkinShare.centers` tells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from bunraku.arrays import Array, Indices
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.geometry.tetrahedra import EDGES, shape_values, tetrahedron_rule
from bunraku.mechanics.coupled.skinned import SkinnedModel, skin_materials


@dataclass(frozen=True)
class SkinShare:
    """``bodies`` (k) that carry skin and their tree ``nodes`` (k,); ``owner`` (n,) of each skin node into them.

    ``moment`` (k, n) times the places of the nodes is mass times centre of each share; ``mass`` (k,) [kg].
    """

    bodies: tuple[str, ...]
    nodes: Indices
    owner: Indices
    moment: csr_array
    mass: Array

    def centers(self, model: SkinnedModel, q: Array, x: Array) -> Array:
        """The centre (k, 3) of each share in the frame of its body."""
        at = model.tree.configuration(q)
        world = np.asarray(self.moment @ x) / self.mass[:, None] - at.position[self.nodes]
        return np.einsum("kji,kj->ki", at.rotation[self.nodes], world)


def skin_share(model: SkinnedModel) -> SkinShare:
    """Divide the skin among the bodies it is glued to."""
    mesh = model.mesh
    X, cells = mesh.nodes, mesh.cells
    ends = np.array(EDGES)
    first, last = cells[:, ends[:, 0]].ravel(), cells[:, ends[:, 1]].ravel()
    middle = cells[:, 4:].ravel()
    a, b = np.concatenate([first, last]), np.concatenate([middle, middle])
    length = np.linalg.norm(X[a] - X[b], axis=1)
    graph = _single(a, b, length, len(X))
    _, _, source = dijkstra(graph, directed=False, indices=mesh.glue_node, min_only=True, return_predecessors=True)
    if (source < 0).any():
        raise BadInput(f"node {int(np.argmin(source))} of the skin hangs on no glue; every piece of it needs some")
    body_of = np.zeros(len(X), dtype=np.int64)
    body_of[mesh.glue_node] = mesh.glue_body
    names = sorted({mesh.bodies[k] for k in mesh.glue_body})
    place = np.array([names.index(name) if name in names else -1 for name in mesh.bodies])
    owner = place[body_of[source]]
    points, weights = tetrahedron_rule(2)
    N = shape_values(2, points)
    integral = (weights[:, None] * N).sum(axis=0)
    cell_mass = _cell_masses(model)
    of_cell = owner[cells[:, 0]]
    k = cells.shape[1]
    shares = (cell_mass / weights.sum())[:, None] * integral
    moment = csr_array((shares.ravel(), (np.repeat(of_cell, k), cells.ravel())), shape=(len(names), len(X)))
    mass = np.bincount(of_cell, weights=cell_mass, minlength=len(names)).astype(np.float64)
    nodes = np.array([model.tree.nodes[name] for name in names], dtype=np.int64)
    return SkinShare(tuple(names), nodes, owner, moment, mass)


def with_skin_mass(model: SkinnedModel, share: SkinShare) -> Character:
    """The character without skin whose bodies carry their shares of it rigidly: mass, centre and inertia of both together."""
    at = model.tree.configuration(model.home)
    mesh, cells = model.mesh, model.mesh.cells
    points, weights = tetrahedron_rule(2)
    N = shape_values(2, points)
    cell_mass, of_cell = _cell_masses(model), share.owner[cells[:, 0]]
    bodies = {body.name: body for body in model.character.bodies}
    for k, name in enumerate(share.bodies):
        mine = np.flatnonzero(of_cell == k)
        body, node = bodies[name], share.nodes[k]
        world = np.einsum("qa,cai->cqi", N, mesh.nodes[cells[mine]]).reshape(-1, 3) - at.position[node]
        places = world @ at.rotation[node]
        masses = (cell_mass[mine][:, None] * (weights / weights.sum())).ravel()
        own = np.array(body.center_of_mass)
        total = body.mass + masses.sum()
        center = (body.mass * own + masses @ places) / total
        xx, yy, zz, xy, xz, yz = body.inertia
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + body.mass * _spread(own - center)
        d = places - center
        inertia += (masses @ (d * d).sum(axis=1)) * np.eye(3) - np.einsum("p,pi,pj->ij", masses, d, d)
        flat = (*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2])
        bodies[name] = body.changed(mass=float(total), center_of_mass=tuple(map(float, center)), inertia=tuple(map(float, flat)))
    heavier: Character = model.character.changed(bodies=tuple(bodies[body.name] for body in model.character.bodies), skin=None)
    return heavier


def _cell_masses(model: SkinnedModel) -> Array:
    """Mass (m,) of each cell [kg]."""
    density = np.array([material.density for material in skin_materials(model.character)])[model.mesh.region]
    return np.asarray(model.solid.weights.sum(axis=1) * density)


def _spread(d: Array) -> Array:
    return float(d @ d) * np.eye(3) - np.outer(d, d)


def _single(a: Indices, b: Indices, length: Array, n: int) -> csr_array:
    """The graph with one entry an edge; equal entries would be added up."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    _, once = np.unique(low * n + high, return_index=True)
    return csr_array((length[once], (low[once], high[once])), shape=(n, n))
