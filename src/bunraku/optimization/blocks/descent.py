"""Damped Gauss-Newton steps on an energy whose curvature is given in blocks: one step at a time, damping kept between them.

At z the energy is modelled as E + g.p + p.H p / 2. The step solves (H + mu D) p = -g, with D the unit matrix, or the
problem's own metric (:class:`ForeseenEnergy`). It is taken when the energy falls by a fair share rho of what the model promised,
m = -g.p - p.H p / 2; a step too long is shortened first (an energy costs a tenth of a factorization); only when no part of it will
do, or only small parts several times, is it damped more. After full steps the damping mu follows rho (Nielsen's rule).

Where inequalities push or not, the energy is quadratic in pieces, and a step that changes which of them push ends in another piece
than its model's. A problem that can assemble its blocks with the inequalities of another point (:class:`ForeseenEnergy`) is then
asked for those where the step ended, a few times over: Newton's method on the pieces, all that change at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.optimization.blocks.blocks import BlockFactor, factor

Blocks = tuple[float, Array, Array, Array, Array, Array]

ROUNDING = 1e-13
"""Energies that differ by less than this part of themselves are not told apart."""
LOOK_DOWN, LOOK_UP = 8, 4
"""How often a step too long is quartered, and how often what was cut off is then halved back."""
GOOD, FORESEEN = 0.1, 3
"""The share of its promise that a step must keep not to be looked at again, and how often it is then made anew."""

NEAR, WAIT, EXTRA = 0.1, 2, (1e-3, 0.1, 10.0)
"""The promise below which second derivatives are asked for; for how many steps they are not after they were indefinite; and the
damping with which that is tried before.
"""


class BlockEnergy(Protocol):
    """An energy E(z; weight, shifts) of z = (v_0, ..., v_{T-1}, D), packed (T nv + nd,), with curvature in blocks."""

    @property
    def cyclic(self) -> bool:
        """Whether sample T is sample 0 again (T >= 5)."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """The samples T, the unknowns nv of each, the border unknowns nd."""

    def energy(self, z: Array, weight: float, shifts: Array) -> float:
        """E; may be infinite or not a number where z is out of the question. Must leave the arrays of ``assemble`` alone."""

    def assemble(self, z: Array, weight: float, shifts: Array) -> Blocks:
        """(E, H, B, C, g, gD): E ~ E + g.p + p.H p / 2 in the layout of :mod:`bunraku.optimization.blocks.blocks`.

        For a sum of squares |r|^2 with Jacobian J, g = 2 J^T r and H = 2 J^T J. The arrays may be overwritten by the next call.
        """


@runtime_checkable
class ForeseenEnergy(Protocol):
    """An energy whose blocks can be assembled with the inequalities of another point, and with or without second derivatives."""

    @property
    def metric(self) -> Array:
        """What a unit of damping adds for each unknown: one over the square of what is a large change of it."""

    def pushing(self, z: Array, shifts: Array) -> NDArray[np.int64]:
        """Which inequalities push at ``z``."""

    def assemble_held(self, z: Array, weight: float, shifts: Array, held: NDArray[np.int64], curved: bool) -> Blocks:
        """As ``assemble``, but with the inequalities pushing that ``held`` names; never indefinite if not ``curved``."""


@dataclass
class Descent:
    """The moving state of a minimisation: point, damping, and what was spent. Each :meth:`step` makes at most one move.

    ``promise``: the last model's decrease as a share of the energy, m / E: how far from stationary the point before the last step
    was, as seen under the damping of that step; :meth:`undamped_promise` sees it without. ``least_damping``:
    floor of mu; ``cuts``: steps shortened in a row.
    """

    problem: BlockEnergy
    z: Array
    weight: float
    shifts: Array
    damping: float = 1e-3
    least_damping: float = 1e-12
    growth: float = 2.0
    cuts: int = 0
    energy: float = np.inf
    promise: float = np.inf
    iterations: int = 0
    factorizations: int = 0
    _curved: bool = field(default=True, repr=False)
    _wait: int = field(default=0, repr=False)
    _lifted: float = field(default=0.0, repr=False)
    _factor: BlockFactor | None = field(default=None, repr=False)
    _model: tuple[Array, Array, Array, Array] = field(default=(np.empty(0),) * 4, repr=False)

    def step(self, *, max_factorizations: int = 40) -> bool:
        """Move once; False when no damped step lowers the energy (the point is then as good as rounding lets it be, or stuck)."""
        self._curved = isinstance(self.problem, ForeseenEnergy) and self._wait <= 0 and self.promise < NEAR
        self._wait -= 1
        self.energy, H, B, C, g, gD = self._assembled()
        gradient = np.concatenate([g.ravel(), gD])
        self._model = H, B, C, gradient
        D = self._metric(gradient.size)
        extra = [mu for mu in EXTRA if mu > self._lifted] if self._curved else []
        mu = max(self.damping, self._lifted) if self._curved else self.damping
        for _ in range(max_factorizations):
            self.factorizations += 1
            self._factor = factor(H, B, C, mu * D, cyclic=self.problem.cyclic, into=self._factor)
            if not self._factor.definite:
                if extra:
                    mu = max(extra.pop(0), mu)
                elif self._curved:
                    self._curved, self._wait, self._lifted = False, WAIT, 0.0
                    _, H, B, C, _, _ = self._assembled()
                    self._model = H, B, C, gradient
                    mu = self.damping
                else:
                    self._more()
                    mu = self.damping
                continue
            self._lifted = mu / 30.0 if mu > self.damping else 0.0
            p = -self._factor.solve_packed(gradient)
            slope = float(gradient @ p)
            curvature = -slope - mu * float(p @ (D * p))
            self.promise = (-slope - 0.5 * curvature) / max(self.energy, 1e-300)
            energy = self._at(p)
            share, length = self._share(energy, -slope - 0.5 * curvature), 1.0
            if share < GOOD and isinstance(self.problem, ForeseenEnergy):
                p, energy, share = self._foreseen(self.problem, p, energy, share, mu * D, gradient)
            if share <= 1e-4:
                share, length, energy = self._shorter(p, slope, curvature)
            if share > 0.0:
                self.z = self.z + length * p
                self.energy = energy
                self.iterations += 1
                if length == 1.0:
                    self.damping = max(self.damping * max(1.0 / 3.0, 1.0 - (2.0 * share - 1.0) ** 3), self.least_damping)
                    self.growth, self.cuts = 2.0, 0
                else:
                    self.cuts += 1
                    if self.cuts > 1 and length < 0.05:  # not a wall met once, but curvature that the model lacks
                        self.damping = 4.0 * max(self.damping, self.least_damping)
                return True
            if self.promise <= ROUNDING:
                return False
            self.damping = max(self.damping, mu)
            self._more()
            mu = self.damping
            if self.damping > 1e16:
                return False
            if not self._model[3].size:
                _, H, B, C, _, _ = self._assembled()
                self._model = H, B, C, gradient
        return False

    def _metric(self, size: int) -> Array:
        return self.problem.metric if isinstance(self.problem, ForeseenEnergy) else np.ones(size)

    def _assembled(self) -> Blocks:
        """Energy and blocks at the point, with second derivatives if they are needed now and the problem has them."""
        if isinstance(self.problem, ForeseenEnergy) and not self._curved:
            held = self.problem.pushing(self.z, self.shifts)
            return self.problem.assemble_held(self.z, self.weight, self.shifts, held, False)
        return self.problem.assemble(self.z, self.weight, self.shifts)

    def _share(self, energy: float, promised: float) -> float:
        """The share of its promise that a whole step keeps."""
        if promised <= ROUNDING * self.energy and energy <= self.energy * (1.0 + ROUNDING):
            return 1.0  # energies this close cannot be told apart: the model decides
        return (self.energy - energy) / promised if promised > 0.0 else 0.0

    def _foreseen(
        self, problem: ForeseenEnergy, p: Array, energy: float, share: float, D: Array, gradient: Array
    ) -> tuple[Array, float, float]:
        """A step, its energy and share: the best among ``p`` and those with the inequalities that push where the last one ended.

        A step that lowers the energy more counts as keeping half of its promise, which is then what it did.
        """
        best, held = (p, energy, share), problem.pushing(self.z, self.shifts)
        for _ in range(FORESEEN):
            pushing = problem.pushing(self.z + p, self.shifts)
            if np.array_equal(pushing, held):
                break
            held = pushing
            _, H, B, C, g, gD = problem.assemble_held(self.z, self.weight, self.shifts, held, self._curved)
            self._model = (np.empty(0),) * 4
            self.factorizations += 1
            self._factor = factor(H, B, C, D, cyclic=self.problem.cyclic, into=self._factor)
            if not self._factor.definite:
                break
            p = -self._factor.solve_packed(np.concatenate([g.ravel(), gD]))
            energy = self._at(p)
            if energy < best[1] and energy < self.energy - 1e-4 * abs(float(gradient @ p)):
                best = (p, energy, 0.5)
        if best[2] == 0.5:
            self.promise = (self.energy - best[1]) / max(self.energy, 1e-300)
        return best

    def _shorter(self, p: Array, slope: float, curvature: float) -> tuple[float, float, float]:
        """Share, length and energy of about the longest part of p that keeps a tenth of its promise; share 0 if none does.

        An inequality that p would break is not in the model. The longest part breaks it a little, so that the next model knows it;
        a shorter one would stop before it, again and again.
        """
        low, high, lowest = 0.0, 1.0, np.inf
        for _ in range(LOOK_DOWN):
            trial = 0.25 * high
            energy = self._at(trial * p)
            if self.energy - energy > 0.1 * (-trial * slope - 0.5 * trial**2 * curvature):
                low, lowest = trial, energy
                break
            high = trial
        for _ in range(LOOK_UP if low else 0):
            trial = 0.5 * (low + high)
            energy = self._at(trial * p)
            if self.energy - energy > 0.1 * (-trial * slope - 0.5 * trial**2 * curvature):
                low, lowest = trial, energy
            else:
                high = trial
        return (0.5, low, lowest) if low else (0.0, 0.0, self.energy)

    def _at(self, p: Array) -> float:
        """The energy at z + p, infinite where it is not a number."""
        energy = float(self.problem.energy(self.z + p, self.weight, self.shifts))
        return energy if np.isfinite(energy) else np.inf

    def undamped_promise(self) -> float:
        """What the last model would promise without damping, as a share of the energy: g.H^-1 g / 2 E. One factorization.

        Infinite where inequalities changed in the last step, whose model is gone; where second derivatives are indefinite, with the
        least damping of `EXTRA` that makes up for it.
        """
        H, B, C, gradient = self._model
        if not gradient.size:
            return np.inf
        metric = self._metric(gradient.size)
        tried = [self.least_damping, 1e3 * self.least_damping, 1e6 * self.least_damping, self.damping]
        for damping in tried + (list(EXTRA) if self._curved else []):
            self.factorizations += 1
            self._factor = factor(H, B, C, damping * metric, cyclic=self.problem.cyclic, into=self._factor)
            if self._factor.definite:
                return 0.5 * float(gradient @ self._factor.solve_packed(gradient)) / max(self.energy, 1e-300)
        return np.inf

    def _more(self) -> None:
        self.damping = max(self.damping, self.least_damping) * self.growth
        self.growth = min(2.0 * self.growth, 1e4)
