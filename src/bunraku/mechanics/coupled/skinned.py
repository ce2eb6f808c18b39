"""A character with its skin, compiled: skeleton, elastic solid, glue, patches of the soles.

The skeleton moves in its coordinates q, the skin in the places x of its nodes. Glue is no constraint here but a substitution: the
places of glued nodes are functions of q, x_g = r(q), so that the unknowns are q and the free nodes alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from bunraku.arrays import Array, Indices
from bunraku.character import PATCHES, Character, ElasticMaterial, SkinMesh, free_base
from bunraku.errors import BadInput
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.mechanics.coupled import carried_point_kernels as kernels
from bunraku.mechanics.coupled.known_skins import skin_of
from bunraku.mechanics.dynamics import equation_kernels as dynamics
from bunraku.mechanics.dynamics.inverse_kernels import inverse
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.solid import ElasticSolid
from bunraku.mechanics.systems.character_system import character_system
from bunraku.mechanics.tree import compile_tree
from bunraku.mechanics.tree.tree import Configuration, Tree


@dataclass(frozen=True)
class SkinnedModel:
    """The arrays of a skinned character.

    ``glue`` (g,) nodes, ``glue_tree`` (g,) the tree's node that carries each, ``glue_place`` (g, 3) where in its frame. ``driven``
    (na,) the coordinates of motors. ``patches`` (3 P, 3 n) takes the mean displacement of the nodes of each patch; its transpose
    spreads a force over them. ``damping`` beta [s]: viscous stress leads by it, D = beta K.
    """

    character: Character
    mesh: SkinMesh
    tree: Tree
    system: System
    solid: ElasticSolid
    glue: Indices
    glue_tree: Indices
    glue_place: Array
    driven: Indices
    patches: csr_array
    damping: float
    home: Array

    @property
    def nq(self) -> int:
        """Coordinates of the skeleton."""
        return self.tree.nq

    @property
    def n_patches(self) -> int:
        """Patches of all soles."""
        return PATCHES * self.mesh.soles

    @cached_property
    def free(self) -> Indices:
        """The degrees of freedom of nodes that are not glued, in order."""
        held = np.zeros(self.solid.nodes, dtype=bool)
        held[self.glue] = True
        return np.flatnonzero(np.repeat(~held, 3))

    @cached_property
    def held(self) -> Indices:
        """The degrees of freedom of glued nodes, in the order of ``glue``."""
        return (3 * self.glue[:, None] + np.arange(3)).ravel()

    @cached_property
    def mass(self) -> csr_array:
        """Mass matrix of the skin [kg]."""
        return self.solid.mass

    @cached_property
    def node_mass(self) -> Array:
        """What each node weighs in the mass matrix, (n,) [kg]: its row's sum."""
        return np.asarray(self.mass @ np.tile([1.0, 0.0, 0.0], self.solid.nodes))[::3]

    @property
    def total_mass(self) -> float:
        """Mass of skeleton and skin [kg]."""
        return float(self.tree.mass.sum() + self.node_mass.sum())

    def skeleton(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Mass matrix (nq, nq) and the forces (nq,) that motion, gravity and joint damping ask for: M a + bias = tau."""
        n = self.nq
        M, mixed, stiff = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
        dynamics.second_derivatives(self.system.model, q, v, M, mixed, stiff)
        bias = inverse(self.system.model, q, v, np.zeros(n)) - self.system.force(q, v, np.zeros(self.system.nu))
        return M, bias

    def glue_at(self, q: Array) -> tuple[Array, Array]:
        """Where the glued nodes are, r(q) (g, 3), and their Jacobian (3 g, nq)."""
        return self._carried_along(self.tree.configuration(q), self.glue_tree, self.glue_place)

    def jacobian_at(self, q: Array, carrier: Indices, points: Array) -> Array:
        """The Jacobian (3 k, nq) of ``points`` (k, 3) in the world, each fixed to its tree node ``carrier`` (k,)."""
        at = self.tree.configuration(q)
        local = np.einsum("nji,nj->ni", at.rotation[carrier], points - at.position[carrier])
        return self._carried_along(at, carrier, np.ascontiguousarray(local))[1]

    def _carried_along(self, at: Configuration, carrier: Indices, local: Array) -> tuple[Array, Array]:
        tree = self.tree
        places, J = np.empty((len(carrier), 3)), np.zeros((3 * len(carrier), self.nq))
        kernels.glue(
            tree.parent, tree.kind, tree.coordinate, at.rotation, at.position, at.world_axis, carrier, local, places, J
        )  # fmt: skip
        return places, J

    def carried(self, q: Array, owner: Indices, local: Array) -> Array:
        """The nodes (n, 3) when each moves rigidly with its tree node ``owner`` (n,) from its ``local`` place (n, 3)."""
        at = self.tree.configuration(q)
        return np.asarray(at.position[owner] + np.einsum("nij,nj->ni", at.rotation[owner], local))

    def center_of_mass(self, q: Array, x: Array) -> Array:
        """Centre of mass (3,) of skeleton and skin."""
        skeleton = float(self.tree.mass.sum())
        whole = skeleton * self.tree.configuration(q).center_of_mass() + self.node_mass @ x
        return np.asarray(whole / self.total_mass)


def skinned_model(character: Character, mesh: SkinMesh | None = None) -> SkinnedModel:
    """Compile a skinned character; ``mesh`` takes the place of the skin that was read with it (refined, for example)."""
    base = free_base(character)
    if base is None or base.sequence != "zyx":
        raise BadInput(f"{character.name!r} has no free base that turns in the order zyx; a skinned character that walks needs one")
    skin = skin_of(character) if mesh is None else mesh
    if character.couplings or character.loops or character.flexibles or character.strings:
        raise BadInput(
            f"{character.name!r} has couplings, loops, strings or flexible parts beside its skin; a tree of hinges is needed"
        )
    tree = compile_tree(character)
    home = tree.configuration(tree.home)
    nodes = np.array([tree.nodes[name] for name in skin.bodies], dtype=np.int64)[skin.glue_body]
    offset = skin.nodes[skin.glue_node] - home.position[nodes]
    local = np.einsum("nji,nj->ni", home.rotation[nodes], offset)
    used = skin_materials(character)
    names = list(tree.names)
    return SkinnedModel(
        character,
        skin,
        tree,
        character_system(character),
        elastic_solid(skin, used),
        skin.glue_node,
        nodes,
        np.ascontiguousarray(local),
        np.array([names.index(motor.coordinate) for motor in character.motors], dtype=np.int64),
        _patches(skin),
        max(material.strain_damping for material in used),
        tree.home.copy(),
    )


def skin_materials(character: Character) -> list[ElasticMaterial]:
    """The material of each region of a character's skin."""
    if character.skin is None:
        raise BadInput(f"{character.name!r} has no skin")
    known = {material.name: material for material in character.materials}
    return [known[name] for name in character.skin.materials]


def elastic_solid(skin: SkinMesh, materials: list[ElasticMaterial]) -> ElasticSolid:
    """The skin as an elastic solid, each cell of the material of its region; all follow the energy of the first."""
    elastic = [Material(young=m.young, poisson=m.poisson, density=m.density, model=m.model) for m in materials]
    density = np.array([m.density for m in materials])[skin.region]
    solid = ElasticSolid(TetMesh(skin.nodes, skin.cells), elastic[0], density=density, one_piece=False)
    for k in range(2):
        solid.lame[k][:] = np.array([m.lame[k] for m in elastic])[skin.region]
    return solid


def _patches(skin: SkinMesh) -> csr_array:
    P = PATCHES * skin.soles
    count = np.bincount(skin.sole_patch, minlength=P)
    if P and count.min() == 0:
        raise BadInput(f"patch {int(count.argmin())} of the soles has no node; each of the {P} needs some")
    share = 1.0 / count[skin.sole_patch]
    row = (3 * skin.sole_patch[:, None] + np.arange(3)).ravel()
    column = (3 * skin.sole_node[:, None] + np.arange(3)).ravel()
    return csr_array((np.repeat(share, 3), (row, column)), shape=(3 * P, 3 * len(skin.nodes)))
