"""A driven motion to first order: what its outputs and configurations do when the control points of the motors change.

About any configurations q (N + 1, nq): a simulated motion, or one that does not obey physics yet (lifted: its configurations are
unknowns of their own, and the defect r_m of each step adds one column to the sensitivities; a full Newton step in the parameters,
with :meth:`Linearization.follow` for the configurations, closes it to first order). See `linearization_kernels.py` for the
equations. One linearization serves forward sensitivities, the adjoint gradient and back-substitution.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.blas import dsyrk

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.integrators.driven import linearization_kernels as kernels
from bunraku.mechanics.integrators.driven import rest_kernels as resting
from bunraku.mechanics.integrators.driven.curves import Curves
from bunraku.mechanics.integrators.driven.outputs import Outputs, OutputTargets
from bunraku.mechanics.integrators.driven.simulate import DrivenMotion
from bunraku.mechanics.integrators.work_kernels import make_work

ROWS, BLOCK_BYTES = 2000, 2e8


class Block(NamedTuple):
    """Steps from ``begin`` on: S (steps, 2 nd + 3 nk + 1, nd), U (steps, ..., nk), defects (steps, nd), forces (steps, nk)."""

    begin: int
    S: Array
    U: Array
    defect: Array
    force: Array


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """The quadratic model of the cost Phi = sum w e^2 / 2 over the parameters, J = de/dparameters and d what defects add.

    ``hessian`` (n, n) = J' w J, ``gradient`` (n,) = J' w e, ``lifted`` (n,) = J' w (e + d) (equal without defects), ``cost`` Phi,
    ``lifted_cost`` = sum w (e + d)^2 / 2. ``jacobian`` (frames x rows, n) = de/dparameters times the roots of the weights, and
    ``residual`` (frames x rows,) e times them, if asked for.
    """

    hessian: Array
    gradient: Array
    lifted: Array
    cost: float
    lifted_cost: float
    jacobian: Array | None = None
    residual: Array | None = None


@dataclass(eq=False)
class Linearization:
    """Step matrices about q (N + 1, nq) and multipliers lam (N, nc) (impulses), kept if they fit in ``memory`` [bytes].

    ``rests``: the first node is at rest and moves with the motors. Otherwise its dynamic coordinates are fixed.
    """

    system: System
    q: Array
    lam: Array
    dt: float
    rests: bool = True
    memory: float = 1e9
    _kept: list[Block] = field(default_factory=list, repr=False)
    _start: Array | None = None

    def __post_init__(self) -> None:
        self.q, self.lam = np.ascontiguousarray(self.q, dtype=np.float64), np.ascontiguousarray(self.lam, dtype=np.float64)
        N = len(self.q) - 1
        if self.q.ndim != 2 or self.q.shape[1] != self.system.nq or N < 1 or self.lam.shape != (N, self.system.nc):
            raise BadInput(
                f"q is {self.q.shape}, lam {self.lam.shape}; they must be (N + 1, {self.system.nq}), (N, {self.system.nc})"
            )
        if not (np.isfinite(self.q).all() and np.isfinite(self.lam).all()):
            raise BadInput("a motion that holds NaN cannot be linearized; simulate it to the end first")

    @property
    def steps(self) -> int:
        """N."""
        return len(self.q) - 1

    @property
    def _row_count(self) -> int:
        return 2 * self.system.nd + 3 * self.system.nk + 1

    @property
    def start(self) -> Array:
        """How the dynamic coordinates of the first node follow the motors there, (nk, nd)."""
        if self._start is None:
            self._start = np.zeros((self.system.nk, self.system.nd))
            if self.rests:
                q, lam, work = self.q[0].copy(), -self.lam[0] / self.dt, make_work(self.system.model, self.system.nu)
                resting.settle(self.system.model, q, lam, 1e-10, 20, work)
                self._start = resting.rest_slope(self.system.model, q, lam, work)
        return self._start

    def blocks(self, backwards: bool = False) -> Iterator[Block]:
        """The step matrices, a run of steps at a time, in order or from the last to the first."""
        each = 8.0 * self._row_count * (self.system.nd + self.system.nk)
        size = max(1, min(self.steps, int(BLOCK_BYTES / max(each, 1.0))))
        begins = list(range(0, self.steps, size))
        if each * self.steps > self.memory:
            for begin in reversed(begins) if backwards else begins:
                yield self._block(begin, min(begin + size, self.steps))
            return
        if not self._kept:
            self._kept = [self._block(begin, min(begin + size, self.steps)) for begin in begins]
        yield from reversed(self._kept) if backwards else self._kept

    def _block(self, begin: int, end: int) -> Block:
        system, count = self.system, end - begin
        S, U = np.empty((count, self._row_count, system.nd)), np.empty((count, self._row_count, system.nk))
        defect, force = np.empty((count, system.nd)), np.empty((count, system.nk))
        try:
            kernels.transitions(
                system.model, self.q, self.lam, self.dt, begin, end, make_work(system.model, system.nu), S, U, defect, force
            )
        except np.linalg.LinAlgError as error:
            raise BadInput(
                "the equations of a step are singular: constraints depend on each other somewhere in the motion"
            ) from error
        return Block(begin, S, U, defect, force)

    @property
    def defects(self) -> Array:
        """Momentum defects r (N, nd): zero for a motion that obeys physics."""
        return np.concatenate([block.defect for block in self.blocks()])

    @property
    def forces(self) -> Array:
        """What the motors must bring at each node, (N, nk) [N·m, N]; see `torque.py`."""
        return np.concatenate([block.force for block in self.blocks()])

    def normal_equations(
        self,
        curves: Curves,
        outputs: Outputs,
        targets: OutputTargets,
        weights: ArrayLike | None = None,
        *,
        stride: int = 1,
        jacobian: bool = False,
    ) -> NormalEquations:
        """Forward sensitivities of the outputs at every ``stride``-th node (the first included), summed to normal equations.

        ``targets``: N // stride + 1 frames; ``weights``: see :meth:`Outputs.weights`. ``jacobian``: keep J too, for small problems.
        """
        nk, nd, frames = self.system.nk, self.system.nd, self.steps // stride + 1
        tracking = outputs.tracking(targets, np.sqrt(outputs.weights(weights, frames)), stride)
        knots = self._knots(curves)
        n, outs = curves.count(nk), outputs.rows
        run = max(1, ROWS // max(outs, 1)) * stride
        room = (run // stride + 2) * outs
        rows = kernels.Rows(np.zeros((n, room)), np.zeros((2, room)))
        carried, model = kernels.Carried(np.zeros((n, 2 * nd)), np.zeros((2, nd)), np.zeros((n, nd))), self.system.model
        work, H, sums = make_work(model, self.system.nu), np.zeros((n, n)), _Sums(n)
        kernels.begin_state(model, self.start, knots, tracking, self.q, work, carried, rows)
        at, kept, (J, e) = outs, [], rows
        for begin, S, *_ in self.blocks():
            for s in range(0, len(S), run):
                part = S[s : s + run]
                last = begin + s + len(part)
                at = kernels.spread(model, part, begin + s, carried, knots, tracking, self.q, work, rows, at)
                sums.add(H, J, e, at, int(knots.active[last]))
                if jacobian:
                    kept.append((J[:, :at].T.copy(), e[0, :at].copy()))
                J[:, :at] = 0.0
                at = 0
        H += np.tril(H, -1).T
        dense = np.vstack([rows for rows, _ in kept]) if jacobian else None
        errors = np.concatenate([values for _, values in kept]) if jacobian else None
        return NormalEquations(H, sums.gradient, sums.lifted, sums.cost, sums.lifted_cost, dense, errors)

    def follow(self, change: ArrayLike) -> Array:
        """The change of q (N + 1, nq) when the motors' node values change by ``change`` (N + 1, nk), defects closed on the way."""
        system = self.system
        dK = np.ascontiguousarray(change, dtype=np.float64)
        if dK.shape != (self.steps + 1, system.nk):
            raise BadInput(f"the change of the motors has shape {dK.shape}; it must be ({self.steps + 1}, {system.nk})")
        dq = np.zeros((self.steps + 1, system.nq))
        dq[:, system.kinematic] = dK
        first = dK[0] @ self.start
        x = np.array([first, first])
        dq[0, system.dynamic] = first
        for begin, S, *_ in self.blocks():
            out = np.empty((len(S), system.nd))
            kernels.follow(S, begin, dK, x, out)
            dq[begin + 1 : begin + 1 + len(S), system.dynamic] = out
        return dq

    def gradient(
        self, curves: Curves, outputs: Outputs, targets: OutputTargets, weights: ArrayLike | None = None, *, stride: int = 1
    ) -> tuple[float, Array]:
        """The cost Phi = sum w e^2 / 2 and its gradient over the parameters by one sweep backwards (discrete adjoint)."""
        system, frames = self.system, self.steps // stride + 1
        tracking = outputs.tracking(targets, outputs.weights(weights, frames), stride)
        self._knots(curves)
        gd, gk = np.zeros((self.steps + 1, system.nd)), np.zeros((self.steps + 1, system.nk))
        cost = kernels.slopes_of_cost(system.model, tracking, self.q, make_work(system.model, system.nu), gd, gk)
        return float(cost), curves.gather(self.pull_back(gd, gk))

    def pull_back(self, slope: ArrayLike, direct: ArrayLike) -> Array:
        """Slope over the motors' node values (N + 1, nk) of a cost with slopes over q_d (N + 1, nd) and the motors directly."""
        gd, dK = np.ascontiguousarray(slope, dtype=np.float64), np.array(direct, dtype=np.float64)
        mu = np.zeros((self.steps + 1, self.system.nd))
        for begin, S, *_ in self.blocks(backwards=True):
            kernels.back(S, begin, gd, mu, dK)
        dK[0] += self.start @ (mu[0] + gd[0])
        return dK

    def force_slopes(self, curves: Curves, steps: ArrayLike) -> Array:
        """How the motors' forces of chosen steps depend on the parameters: (len(steps), nk, parameters); see :attr:`forces`."""
        knots = self._knots(curves)
        nk, nd = self.system.nk, self.system.nd
        chosen = np.asarray(steps, dtype=np.int64)
        if chosen.ndim != 1 or (len(chosen) and (chosen.min() < 0 or chosen.max() >= self.steps or np.any(np.diff(chosen) <= 0))):
            raise BadInput(f"the steps must be rising numbers from 0 to {self.steps - 1}")
        n, at = curves.count(nk), 0
        out, first = np.zeros((len(chosen), nk, n)), np.zeros((n, nd))
        kernels.local_columns(self.start, knots, 0, first)
        carried = kernels.Carried(np.hstack([first, first]), np.zeros((2, nd)), np.zeros((n, nd)))
        for block in self.blocks():
            if at < len(chosen):
                at = kernels.spread_forces(self.system.model, block.S, block.U, block.begin, carried, knots, chosen, out, at)
        return out

    def _knots(self, curves: Curves) -> kernels.Knots:
        if curves.steps != self.steps:
            raise BadInput(f"the motor curves have {curves.steps + 1} nodes, the motion {self.steps + 1}")
        return kernels.Knots(curves.first, curves.weight, curves.parameter, curves.active(self.system.nk))


def linearize_motion(motion: DrivenMotion, *, memory: float = 1e9) -> Linearization:
    """The linearization about a simulated motion, to be used several times; BadInput if the motion is incomplete."""
    motion.require()
    return Linearization(motion.system, motion.q, motion.lam, motion.dt, motion.rests, memory)


class _Sums:
    """What the rows of the Jacobian are summed to besides the Hessian."""

    def __init__(self, n: int) -> None:
        self.gradient, self.lifted = np.zeros(n), np.zeros(n)
        self.cost, self.lifted_cost = 0.0, 0.0

    def add(self, H: Array, J: Array, e: Array, count: int, a: int) -> None:
        """Add the first ``count`` columns of ``J`` (n, room), ``a`` parameters active; the lower half of H only."""
        error, whole = e[0, :count], e[0, :count] + e[1, :count]
        self.cost += 0.5 * float(error @ error)
        self.lifted_cost += 0.5 * float(whole @ whole)
        if a and count:
            block = J[:a, :count] if count < J.shape[1] else J[:a]
            self.gradient[:a] += block @ error
            self.lifted[:a] += block @ whole
            H[:a, :a] += dsyrk(1.0, block.T, trans=1, lower=0).T
