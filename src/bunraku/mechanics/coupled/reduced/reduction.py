"""A skin reduced: everything that does not change from frame to frame, made once a skin and kept on disk.

A point of the skin whose share body k carries is at p_k + R_k (X + d(theta) + Phi s): carried with the body, moved by the folds of
the joints theta, and by the coordinates s = (p, a) of patches (in the frames of their feet) and modes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bunraku.character import PATCHES
from bunraku.mechanics.coupled.reduced.fields import skin_fields
from bunraku.mechanics.coupled.reduced.folding import Folded, fold, groups_of_joints
from bunraku.mechanics.coupled.reduced.integrals import relative_fields, skin_integrals
from bunraku.mechanics.coupled.reduced.law import JointLaw, fit_law
from bunraku.mechanics.coupled.reduced.loads import skin_loads
from bunraku.mechanics.coupled.share import SkinShare, skin_share
from bunraku.mechanics.coupled.skinned import SkinnedModel
from bunraku.mechanics.flexible.cache import content_key, load_result, save_result
from bunraku.optimization.condensation.condenser import Backend

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
Coarse: TypeAlias = NDArray[np.float32]

KIND = "reduced-skin"
REACH = np.radians(60.0)
STEP = np.radians(10.0)


@dataclass(frozen=True)
class Reduction:
    """The arrays, k shares, P patches, nj joints, ny = nj + ns coordinates (joints, patches, modes).

    ``share_mass`` (k,) [kg], ``share_moment`` (k, 3) [kg·m] mass times centre in the body's frame, skin undeformed. ``patch_place``
    (P, 3) in the frames of the feet. ``knots`` (m,) and ``cubics`` (nj, m - 1, 4, 1 + 3 k + 3 P) of the law of folds: torque of
    the joint, moments of the shares, displacements of the patches. ``coupling`` (nj, nj) the joints' stiffness off the diagonal.
    ``first``, ``second`` (k, 3, ny), ``mass`` (ny, ny): `integrals`. ``stiff`` (ns, ns) of patches and modes.
    ``load_sum`` (k, 3, ns), ``load_virial`` (k, 3, 3, ns), ``load_moments`` (k, 3, ns, 3 P): `loads`.

    For every node: ``shapes`` (n, 3, ns) in the frame of the body that owns it; ``folds`` (g, m, n, 3) its displacement by the
    angle of joint ``fold_joint`` (g, n) at the knots.
    """

    share_mass: Array
    share_moment: Array
    patch_place: Array
    knots: Array
    cubics: Array
    coupling: Array
    first: Array
    second: Array
    mass: Array
    stiff: Array
    load_sum: Array
    load_virial: Array
    load_moments: Array
    frequencies: Array
    shapes: Coarse
    folds: Coarse
    fold_joint: Indices

    @property
    def law(self) -> JointLaw:
        """The law of folds."""
        return JointLaw(self.knots, self.cubics)


def reduce_skin(model: SkinnedModel, share: SkinShare | None = None, *, modes: int = 120, backend: Backend = "auto") -> Reduction:
    """The reduction of a model's skin, from the disk when it was made before; ``modes`` that sway are kept at the most."""
    key = _key(model, modes)
    kept = load_result(KIND, key)
    if kept is not None:
        known = _unpacked(kept)
        if known is not None:
            return known
    made = _reduced(model, skin_share(model) if share is None else share, modes, backend)
    save_result(KIND, key, {field.name: getattr(made, field.name) for field in fields(made)})
    return made


def _reduced(model: SkinnedModel, share: SkinShare, modes: int, backend: Backend) -> Reduction:
    n, P = model.solid.nodes, model.n_patches
    at = model.tree.configuration(model.home)
    home = skin_fields(model, share, modes=modes, backend=backend)
    feet = np.repeat([model.tree.nodes[tip.body] for tip in model.character.end_effectors], PATCHES)
    turn = at.rotation[feet]
    in_feet = np.einsum("cpa,pab->cpb", home.patches.reshape(3 * n, P, 3), turn).reshape(3 * n, 3 * P)
    shapes = np.hstack([in_feet, home.modes])
    stiff = np.zeros((shapes.shape[1],) * 2)
    stiff[: 3 * P, : 3 * P] = np.einsum("pab,paqc,qcd->pbqd", turn, home.stiff.reshape(P, 3, P, 3), turn).reshape(3 * P, 3 * P)
    stiff[3 * P :, 3 * P :] = np.diag(home.frequencies**2)
    parts = skin_integrals(model, share, home.joints, shapes)
    loads = skin_loads(model, share, shapes)
    places = np.asarray(model.patches @ model.mesh.nodes.ravel()).reshape(P, 3)
    moments = np.asarray(share.moment @ model.mesh.nodes) - share.mass[:, None] * at.position[share.nodes]
    law, folds, joint = _folds(model, share, feet, home.joints, home.torque, backend)
    frames = at.rotation[share.nodes[share.owner]]
    return Reduction(
        share_mass=share.mass,
        share_moment=np.einsum("kji,kj->ki", at.rotation[share.nodes], moments),
        patch_place=np.einsum("pji,pj->pi", turn, places - at.position[feet]),
        knots=law.knots,
        cubics=law.cubics,
        coupling=home.torque - np.diag(np.diag(home.torque)),
        first=parts.first,
        second=parts.second,
        mass=parts.mass,
        stiff=stiff,
        load_sum=loads.sum,
        load_virial=loads.virial,
        load_moments=loads.moments,
        frequencies=home.frequencies,
        shapes=np.einsum("nji,njc->nic", frames, shapes.reshape(n, 3, -1)).astype(np.float32),
        folds=folds,
        fold_joint=joint,
    )


def _folds(
    model: SkinnedModel, share: SkinShare, feet: Indices, joints: Array, torque: Array, backend: Backend
) -> tuple[JointLaw, Coarse, Indices]:
    """The law of folds from equilibria of the whole skin; per group of joints the nodes' displacements and their joints."""
    count = round(REACH / STEP)
    knots = STEP * np.arange(-count, count + 1)
    groups = groups_of_joints(torque, _carries(model))
    K, P, nj, n = len(share.bodies), model.n_patches, len(torque), model.solid.nodes
    values = np.zeros((len(knots), nj, 1 + 3 * K + 3 * P))
    nodes = np.zeros((len(groups), len(knots), n, 3), dtype=np.float32)
    which = np.zeros((len(groups), n), dtype=np.int64)
    pull = _relative_size(model, share, joints)
    for g, group in enumerate(groups):
        which[g] = np.array(group)[pull[:, group].argmax(axis=1)]
        for way in (1, -1):
            wanted = way * STEP * np.arange(1, count + 1)
            found = fold(model, group, wanted, backend=backend)
            for i in range(count):
                at = count + way * (i + 1)
                if i < len(found):
                    values[at, group], nodes[g, at] = _looked(model, share, feet, group, which[g], found[i])
                elif i == 0:  # it does not fold at all: the answer at rest
                    values[at, group, 0] = wanted[0] * np.diag(torque)[group]
                else:  # beyond what folds: straight on
                    values[at, group] = 2.0 * values[at - way, group] - values[at - 2 * way, group]
                    nodes[g, at] = 2.0 * nodes[g, at - way] - nodes[g, at - 2 * way]
    return fit_law(knots, values), nodes, which


def _carries(model: SkinnedModel) -> NDArray[np.bool_]:
    """Which joint (rows) carries which (columns), of those after the base."""
    tree, nj = model.tree, model.nq - 6
    found = np.zeros((nj, nj), dtype=bool)
    for j in range(nj):
        i = int(tree.parent[np.flatnonzero(tree.coordinate == 6 + j)[0]])
        while i >= 0:
            if tree.coordinate[i] >= 6:
                found[tree.coordinate[i] - 6, j] = True
            i = int(tree.parent[i])
    return found


def _relative_size(model: SkinnedModel, share: SkinShare, joints: Array) -> Array:
    """How far (n, nj) each joint moves each node relative to the body that owns it [m/rad]."""
    n = model.solid.nodes
    found = np.zeros((n, joints.shape[1]))
    for k, node in enumerate(share.nodes):
        mine = share.owner == k
        moved = relative_fields(model, int(node), joints).reshape(n, 3, -1)
        found[mine] = np.linalg.norm(moved[mine], axis=1)
    return found


def _looked(
    model: SkinnedModel, share: SkinShare, feet: Indices, group: list[int], which: Indices, now: Folded
) -> tuple[Array, Array]:
    """Of an equilibrium: rows (joints of the group) of torque, moments of shares and displacements of patches that are its doing.

    And the displacements (n, 3) of nodes in the frames of their bodies.
    """
    at, home = model.tree.configuration(now.q), model.tree.configuration(model.home)

    def seen(node: int) -> Array:
        """Displacements (n, 3) in the frame of a body."""
        R, p = at.rotation[node], at.position[node]
        return np.asarray((now.x - p) @ R - (model.mesh.nodes - home.position[node]) @ home.rotation[node])

    K, P = len(share.bodies), model.n_patches
    rows = np.zeros((len(group), 1 + 3 * K + 3 * P))
    nodes = np.zeros_like(now.x)
    for k, node in enumerate(share.nodes):
        d = seen(int(node))
        mine = share.owner == k
        nodes[mine] = d[mine]
        for r, j in enumerate(group):
            rows[r, 1 + 3 * k : 4 + 3 * k] = (share.moment[[k]] @ (d * (which == j)[:, None]))[0]
    for foot in np.unique(feet):
        d = seen(int(foot))
        for r, j in enumerate(group):
            moved = np.asarray(model.patches @ (d * (which == j)[:, None]).ravel()).reshape(P, 3)
            rows[r, 1 + 3 * K :].reshape(P, 3)[feet == foot] = moved[feet == foot]
    rows[:, 0] = now.torque[6 + np.array(group)]
    return rows, nodes


def _key(model: SkinnedModel, modes: int) -> str:
    """What a reduction depends on: skin, materials, skeleton and the code itself."""
    mesh, tree = model.mesh, model.tree
    arrays = [getattr(mesh, name) for name in ("nodes", "cells", "region", "glue_node", "glue_body", "sole_node", "sole_patch")]
    return content_key(_code(), *arrays, *model.solid.lame, model.node_mass, list(tree.arrays), model.home, modes)[:32]


@cache
def _code() -> str:
    """The hash of the sources that make a reduction: a result of other code is not taken."""
    digest = hashlib.sha256(np.__version__.encode())
    for name in ("fields", "folding", "integrals", "law", "loads", "reduction"):
        digest.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return digest.hexdigest()


def _unpacked(kept: Mapping[str, NDArray[np.generic]]) -> Reduction | None:
    """The reduction of its arrays; None when they are not those of one."""
    try:
        return Reduction(**{field.name: np.ascontiguousarray(kept[field.name]) for field in fields(Reduction)})  # type: ignore[arg-type]
    except KeyError:
        return None
