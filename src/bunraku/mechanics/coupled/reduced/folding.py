"""How the skin folds when joints turn far: equilibria of the whole skin at some angles.

The glue is put where the skeleton has it and the free nodes are where the elastic energy is least: Newton's method with the least
shift of the diagonal for which the stiffness is definite and a line search on the energy, as in `mechanics.elastic.tubes.bending`.
Joints that hardly feel each other turn together, which makes few equilibria of many; joints of one limb never do: far folds of
neighbours feel each other even where small turns do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bunraku.mechanics.coupled.skinned import SkinnedModel
from bunraku.mechanics.elastic.solid import Collapsed
from bunraku.optimization.condensation.condenser import Backend, condenser
from bunraku.optimization.linear import NotFactorizable

Array: TypeAlias = NDArray[np.float64]

COUPLED = 5e-3
"""Joints whose stiffness K_ij exceeds this share of sqrt(K_ii K_jj) feel each other."""
TOLERANCE = 1e-5
"""Unbalanced forces on free nodes, relative to those on the glue."""


@dataclass(frozen=True)
class Folded:
    """The skin in equilibrium at a pose: ``q`` (nq,), places ``x`` (n, 3), the ``torque`` (nq,) the skin resists with [N·m]."""

    q: Array
    x: Array
    torque: Array


def groups_of_joints(stiffness: Array, carries: NDArray[np.bool_]) -> list[list[int]]:
    """Joints in as few groups as a greedy choice finds, those without skin in none.

    None of a group feels another by ``stiffness`` (nj, nj), nor is carried by it: ``carries`` (nj, nj), joint i joint j.
    """
    size = np.sqrt(np.maximum(np.diag(stiffness), 0.0))
    apart = (np.abs(stiffness) > COUPLED * np.outer(size, size)) | carries | carries.T
    groups: list[list[int]] = []
    for j in np.flatnonzero(size > 1e-3 * size.max(initial=0.0)):
        for group in groups:
            if not apart[j, group].any():
                group.append(int(j))
                break
        else:
            groups.append([int(j)])
    return groups


def fold(
    model: SkinnedModel, joints: list[int], angles: Array, *, step: float = np.radians(10.0), backend: Backend = "auto"
) -> list[Folded]:
    """Equilibria with the ``joints`` (numbers into those after the base) turned by each of the ``angles`` (k,) from home.

    ``angles`` go one way from zero; between them at most ``step`` [rad] at a time. Ends early where no equilibrium is found.
    """
    path = _Fold(model, backend)
    found: list[Folded] = []
    at, stride, x = 0.0, step, model.mesh.nodes.copy()
    for aim in angles:
        while abs(aim - at) > 1e-12:
            towards = at + float(np.clip(aim - at, -stride, stride))
            q = model.home.copy()
            q[6 + np.array(joints)] += towards
            trial = path.move(x, q)
            if trial is None:
                stride *= 0.5
                if stride < step / 16.0:
                    return found
                continue
            x, at = trial, towards
        found.append(Folded(q, x, path.torque(x, q)))
    return found


class _Fold:
    """What stays the same while the skin is folded."""

    def __init__(self, model: SkinnedModel, backend: Backend) -> None:
        self.model, self.X = model, model.mesh.nodes
        self.free = np.zeros(model.solid.size, dtype=bool)
        self.free[model.free] = True
        pattern = model.solid.pattern.matrix(model.solid.pattern.zeros())
        self.solver = condenser(pattern, self.X, backend, free=self.free)
        rows = np.repeat(np.arange(model.solid.size), np.diff(pattern.indptr))
        self.diagonal = np.flatnonzero(rows == pattern.indices)
        self.shift = 0.0

    def torque(self, x: Array, q: Array) -> Array:
        """What the skin resists the coordinates with: J' f at the glue."""
        f = self.model.solid.force((x - self.X).ravel())
        return np.asarray(self.model.glue_at(q)[1].T @ f[self.model.held])

    def move(self, x: Array, q: Array) -> Array | None:
        """Equilibrium with the glue at ``q`` from that at another pose; None when it was not found."""
        try:
            u = (x - self.X).ravel()
            jump = np.zeros_like(u)
            jump[self.model.held] = (self.model.glue_at(q)[0] - x[self.model.glue]).ravel()
            _, K = self.model.solid.force_and_stiffness(u)
            self._factorize(K.data)
            return self._newton(u + jump - self.solver.solve(np.asarray(K @ jump)))
        except (Collapsed, NotFactorizable):
            return None

    def _newton(self, u: Array) -> Array | None:
        solid, held = self.model.solid, self.model.held
        V = solid.energy(u)
        if not np.isfinite(V):
            return None
        for _ in range(40):
            f, K = solid.force_and_stiffness(u)
            if np.linalg.norm(f[self.free]) <= TOLERANCE * np.linalg.norm(f[held]):
                return self.X + u.reshape(-1, 3)
            self._factorize(K.data)
            du = -self.solver.solve(f)
            slope, t = float(f @ du), 1.0
            while True:
                W = solid.energy(u + t * du)
                if V + 1e-4 * t * slope + 1e-12 * abs(V) >= W:
                    break
                t *= 0.5
                if t < 1e-6:
                    return None
            u, V = u + t * du, W
        return None

    def _factorize(self, data: Array) -> None:
        """Factorise K + s diag(K) with the least shift tried for which it is definite."""
        shift = 0.25 * self.shift if self.shift > 1e-6 else 0.0
        while True:
            shifted = data.copy()
            shifted[self.diagonal] += shift * np.abs(data[self.diagonal])
            try:
                self.solver.factorize(shifted)
            except NotFactorizable:
                shift = max(4.0 * shift, 1e-4)
                if shift > 1e3:
                    raise
                continue
            self.shift = shift
            return
