"""A skinned character with its skin reduced: the same interface as the whole one, few points in the place of the nodes.

The points are the patches of the soles and the centres of the shares of skin: enough for contact, the centre of mass, and what a
plan learns from frames.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array, hstack

from bunraku.character import PATCHES
from bunraku.errors import BadInput
from bunraku.mechanics.coupled.reduced.reduction import Reduction, reduce_skin
from bunraku.mechanics.coupled.share import SkinShare, skin_share, with_skin_mass
from bunraku.mechanics.coupled.skinned import SkinnedModel
from bunraku.mechanics.coupled.state import SkinnedState
from bunraku.mechanics.systems.character_system import character_system
from bunraku.mechanics.tree.tree import Configuration
from bunraku.mechanics.tree.tree_kernels import HINGE
from bunraku.optimization.condensation.condenser import Backend

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class ReducedState(SkinnedState):
    """Places ``x`` (P + k, 3) are patches and shares' centres; ``s`` (ns,) patches in their feet and modes, ``r`` rates."""

    s: Array
    r: Array


@dataclass(frozen=True)
class ReducedModel(SkinnedModel):
    """A skinned model whose ``patches`` (3 P, 3 (P + k)) and ``node_mass`` (P + k,) act on the points of a reduced state.

    Its ``system`` is the skeleton that carries its shares of skin rigidly; ``whole`` the model it was reduced from.
    """

    whole: SkinnedModel
    reduction: Reduction
    full_share: SkinShare

    @cached_property
    def node_mass(self) -> Array:
        """Masses (P + k,) of the points [kg]: none at the patches, those of the shares."""
        return np.concatenate([np.zeros(self.n_patches), self.reduction.share_mass])

    @cached_property
    def share(self) -> SkinShare:
        """The shares as functions of the points."""
        P, k = self.n_patches, len(self.full_share.bodies)
        owner = np.concatenate([np.zeros(P, dtype=np.int64), np.arange(k)])
        moment = csr_array((self.reduction.share_mass, (np.arange(k), P + np.arange(k))), shape=(k, P + k))
        return SkinShare(self.full_share.bodies, self.full_share.nodes, owner, moment, self.full_share.mass)

    @cached_property
    def feet(self) -> Indices:
        """The tree's node (P,) of the foot under which each patch is."""
        return np.repeat([self.tree.nodes[tip.body] for tip in self.character.end_effectors], PATCHES)

    def points(self, q: Array, s: Array) -> Array:
        """Places (P + k, 3) of patches and shares' centres."""
        theta = q[6:] - self.home[6:]
        return self.points_at(self.tree.configuration(q), self.reduction.law.at(theta)[0].sum(axis=0), s)

    def points_at(self, at: Configuration, folded: Array, s: Array) -> Array:
        """The same from kinematics and the ``folded`` (1 + 3 k + 3 P) values of the law."""
        red, nodes, feet = self.reduction, self.full_share.nodes, self.feet
        P, k, nj = len(feet), len(nodes), self.nq - 6
        moment = red.share_moment + folded[1 : 1 + 3 * k].reshape(k, 3) + red.first[:, :, nj:] @ s
        inside = red.patch_place + folded[1 + 3 * k :].reshape(P, 3) + s[: 3 * P].reshape(P, 3)
        patches = at.position[feet] + np.einsum("pij,pj->pi", at.rotation[feet], inside)
        centers = at.position[nodes] + np.einsum("kij,kj->ki", at.rotation[nodes], moment / red.share_mass[:, None])
        return np.concatenate([patches, centers])

    def rest(self) -> ReducedState:
        """The home pose at rest, the skin as it was made."""
        s = np.zeros(len(self.reduction.stiff))
        x = self.points(self.home, s)
        return ReducedState(self.home.copy(), np.zeros(self.nq), x, np.zeros_like(x), s, s.copy())

    def expanded(self, state: ReducedState) -> SkinnedState:
        """Every node of the skin: for pictures, or to go on with the whole skin."""
        x = self._nodes(state.q, state.s)
        h = 1e-4
        w = (self._nodes(state.q + h * state.v, state.s + h * state.r) - x) / h
        return SkinnedState(state.q, state.v, x, w)

    def _nodes(self, q: Array, s: Array) -> Array:
        red, share = self.reduction, self.full_share
        theta = q[6:] - self.home[6:]
        home = self.tree.configuration(self.home)
        frame = share.nodes[share.owner]
        local = np.einsum("nji,nj->ni", home.rotation[frame], self.mesh.nodes - home.position[frame])
        local = local + red.shapes @ s.astype(np.float32)
        n = np.arange(len(local))
        for folds, joint in zip(red.folds, red.fold_joint, strict=True):
            first, shares = _cubic(red.knots, theta[joint])
            for c in range(4):
                local = local + shares[c][:, None] * folds[first + c, n]
        x = self.whole.carried(q, frame, local)
        x[self.glue] = self.glue_at(q)[0]
        return x

    def reduced(self, state: SkinnedState) -> ReducedState:
        """The nearest reduced state of a state of the whole skin: its patches exactly, modes by least squares."""
        s = self._coordinates(state.q, state.x)
        h = 1e-4
        r = (self._coordinates(state.q + h * state.v, state.x + h * state.w) - s) / h
        x = self.points(state.q, s)
        w = (self.points(state.q + h * state.v, s + h * r) - x) / h
        return ReducedState(state.q, state.v, x, w, s, r)

    def _coordinates(self, q: Array, x: Array) -> Array:
        red, P3 = self.reduction, 3 * self.n_patches
        at = self.tree.configuration(q)
        s = np.zeros(len(red.stiff))
        off = np.asarray(self.whole.patches @ x.ravel()).reshape(-1, 3) - self.points(q, s)[: self.n_patches]
        s[:P3] = np.einsum("pji,pj->pi", at.rotation[self.feet], off).ravel()
        frame = self.full_share.nodes[self.full_share.owner]
        rest = np.einsum("nji,nj->ni", at.rotation[frame], x - self._nodes(q, s))
        modes = red.shapes[:, :, P3:].reshape(-1, len(s) - P3)
        s[P3:] = modes.T @ np.asarray(self.whole.mass @ rest.ravel())
        return s


def reduced_model(whole: SkinnedModel, *, modes: int = 120, backend: Backend = "auto") -> ReducedModel:
    """Reduce the skin of a model (a minute or so once a skin of 16,000 nodes, from the disk after that)."""
    for coordinate in range(6, whole.nq):
        if whole.tree.kind[np.flatnonzero(whole.tree.coordinate == coordinate)[0]] != HINGE:
            raise BadInput(f"{whole.tree.names[coordinate]!r} slides; a skin is reduced over hinges")
    share = skin_share(whole)
    red = reduce_skin(whole, share, modes=modes, backend=backend)
    P, k = whole.n_patches, len(share.bodies)
    given = {field.name: getattr(whole, field.name) for field in fields(SkinnedModel)}
    given["system"] = character_system(with_skin_mass(whole, share))
    given["patches"] = csr_array(hstack([eye_array(3 * P), csr_array((3 * P, 3 * k))]))
    return ReducedModel(**given, whole=whole, reduction=red, full_share=share)


def _cubic(knots: Array, t: Array) -> tuple[Indices, Array]:
    """The first (n,) of the four even ``knots`` about each ``t`` (n,), and their shares (4, n) in the cubic through them."""
    t, step = np.clip(t, knots[0], knots[-1]), knots[1] - knots[0]
    first = np.clip(np.searchsorted(knots, t, side="right") - 2, 0, len(knots) - 4)
    u = (t - knots[first]) / step
    return first, np.stack(
        [
            -(u - 1.0) * (u - 2.0) * (u - 3.0) / 6.0,
            u * (u - 2.0) * (u - 3.0) / 2.0,
            -u * (u - 1.0) * (u - 3.0) / 2.0,
            u * (u - 1.0) * (u - 2.0) / 6.0,
        ]
    )
