"""Switching times of a discrete system: the exact derivatives of what the time stepper computes, not of its limit.

A mode is a one-step map x_+ = f(x, t, h) from time t over the step h, with a stage cost L(x, t, h). A grid turns the
switching times tau into steps s = 0 .. S - 1 with start times a_s(tau) and lengths h_s(tau), affine in tau on each piece. With
H_s = L + chi_{s+1}.f, the costate chi_S = m_x, chi_s = L_x + f_x^T chi_{s+1} and the sensitivities Y_0 = 0,
Y_{s+1} = f_x Y_s + f_t a'_s + f_h h'_s (n, r),

    dJ/dtau   = sum_s (L_t + chi_{s+1}.f_t) a'_s + (L_h + chi_{s+1}.f_h) h'_s
    d2J/dtau2 = sum_s W_s^T (d2H_s / d(x, t, h)^2) W_s + Y_S^T m_xx Y_S,        W_s = (Y_s, a'_s, h'_s).

(The Lagrangian sum L + chi.(f - x_+) equals J for any chi; with this chi its derivative by x vanishes, and a, h are affine.)

With a node put at tau inside the step from t_k to t_{k+1} (:func:`inserted_grid`) the gradient is the paper's in discrete form:
dJ/dtau = chi_tau.f1_h + L1_h - chi_{k+1}.f2_h - L2_h + chi_{k+1}.f2_t + L2_t. Steps then get as short as tau comes close to a node,
and the second derivative jumps there. :func:`stretched_grid` divides each mode into a fixed number of equal steps: J is smooth
in tau throughout, which suits optimization.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.optimization.control.switching import SwitchingDerivatives, SwitchingProblem, TerminalCost


class DiscreteMode(ABC):
    """A one-step map x_+ = f(x, t, h); w = (x, t, h) stacked, n + 2 numbers. Three methods to write.

    A step that cannot be made returns NaN. :func:`differenced_second` stands in for a second derivative that is not at hand.
    """

    @abstractmethod
    def step(self, x: Array, t: float, h: float) -> Array:
        """The next state (n,)."""

    @abstractmethod
    def first(self, x: Array, t: float, h: float) -> Array:
        """df/dw, shape (n, n + 2)."""

    @abstractmethod
    def second(self, x: Array, t: float, h: float, costate: Array) -> Array:
        """Sum over i of costate_i d2f_i/dw2, shape (n + 2, n + 2)."""


class StageCost(ABC):
    """The cost L(x, t, h) of one step, with derivatives by w = (x, t, h)."""

    @abstractmethod
    def value(self, x: Array, t: float, h: float) -> float:
        """The cost of the step."""

    @abstractmethod
    def gradient(self, x: Array, t: float, h: float) -> Array:
        """dL/dw, shape (n + 2,)."""

    @abstractmethod
    def hessian(self, x: Array, t: float, h: float) -> Array:
        """d2L/dw2, shape (n + 2, n + 2)."""


class QuadraticStage(StageCost):
    """L = h/2 (x - wish).Q (x - wish): distance to a constant ``wish`` (n,) at the beginning of the step; ``Q`` (n, n)."""

    def __init__(self, wish: ArrayLike, Q: ArrayLike) -> None:
        self._wish, self._Q = np.array(wish, dtype=np.float64), np.array(Q, dtype=np.float64)

    def value(self, x: Array, t: float, h: float) -> float:
        """The cost of the step."""
        e = x - self._wish
        return 0.5 * h * float(e @ self._Q @ e)

    def gradient(self, x: Array, t: float, h: float) -> Array:
        """dL/dw, shape (n + 2,)."""
        e = x - self._wish
        return np.concatenate([h * self._Q @ e, [0.0, 0.5 * float(e @ self._Q @ e)]])

    def hessian(self, x: Array, t: float, h: float) -> Array:
        """d2L/dw2, shape (n + 2, n + 2)."""
        n = len(x)
        H = np.zeros((n + 2, n + 2))
        H[:n, :n] = h * self._Q
        H[:n, -1] = H[-1, :n] = self._Q @ (x - self._wish)
        return H


def differenced_second(mode: DiscreteMode, x: Array, t: float, h: float, costate: Array, *, step: float = 1e-2) -> Array:
    """The contracted second derivative from central differences of :meth:`DiscreteMode.first`, sixth order, symmetric.

    ``step``: relative to the size of each state (at least 1) and to h (at least 1e-3 s). A mode that cannot step by h <= 0 must
    not come that near: keep a ``least_duration``.
    """
    n = len(x)
    w = np.concatenate([x, [t, h]])
    sizes = step * np.concatenate([np.maximum(1.0, np.abs(x)), np.full(2, max(h, 1e-3))])
    out = np.zeros((n + 2, n + 2))
    for j in range(n + 2):
        for i, c in enumerate((3 / 4, -3 / 20, 1 / 60), start=1):
            for sign in (1.0, -1.0):
                moved = w.copy()
                moved[j] += sign * i * sizes[j]
                out[j] += sign * c / sizes[j] * (costate @ mode.first(moved[:n], float(moved[n]), float(moved[n + 1])))
    return 0.5 * (out + out.T)


@dataclass(frozen=True)
class StepGrid:
    """Steps: ``mode`` (S,) indices, ``start`` (S,) and ``length`` (S,) times, their derivatives by tau, each (S, r)."""

    mode: NDArray[np.int64]
    start: Array
    length: Array
    start_slope: Array
    length_slope: Array


def inserted_grid(start: float, end: float, step: float, times: Array) -> StepGrid:
    """A regular grid of about ``step`` from ``start`` to ``end`` with a node added at each switching time.

    A node that coincides with a switching time is that switching time: it moves with it.
    """
    count = max(round((end - start) / step), 1)
    regular = np.linspace(start, end, count + 1)
    edges = np.concatenate([[start], times, [end]])
    near = 1e-9 * (end - start) / count
    nodes = [(t, -1) for t in regular if t in (start, end) or not (np.abs(times - t) <= near).any()]
    nodes = [*sorted(nodes[:-1] + [(float(t), i) for i, t in enumerate(times)], key=lambda node: node[0]), nodes[-1]]
    mode = np.searchsorted(edges[1:-1], [0.5 * (a[0] + b[0]) for a, b in itertools.pairwise(nodes)])
    t = np.array([node[0] for node in nodes])
    slope = np.zeros((len(nodes), len(times)))
    for row, (_, i) in enumerate(nodes):
        if i >= 0:
            slope[row, i] = 1.0
    return StepGrid(mode.astype(np.int64), t[:-1], np.diff(t), slope[:-1], np.diff(slope, axis=0))


def stretched_grid(start: float, end: float, steps: Sequence[int], times: Array) -> StepGrid:
    """``steps[i]`` equal steps in mode i, which stretch and shrink with the switching times."""
    edges = np.concatenate([[start], times, [end]])
    slopes = np.vstack([np.zeros(len(times)), np.eye(len(times)), np.zeros(len(times))])
    share = np.concatenate([np.arange(count) / count for count in steps])
    mode = np.repeat(np.arange(len(steps)), steps)
    h, dh = np.diff(edges) / np.asarray(steps), np.diff(slopes, axis=0) / np.asarray(steps)[:, None]
    begin = edges[mode] + share * np.diff(edges)[mode]
    dbegin = slopes[mode] + share[:, None] * np.diff(slopes, axis=0)[mode]
    return StepGrid(mode.astype(np.int64), begin, h[mode], dbegin, dh[mode])


class DiscreteSwitching(SwitchingProblem):
    """Discrete modes one after the other from ``x0`` (n,), ``costs`` one per mode or one for all.

    ``grid(times)`` places the steps: with ``step`` given nodes are inserted into a regular grid, with ``steps`` (one count per
    mode) each mode is divided evenly. ``local_clock``: modes and costs are told the time since their own beginning, as a motion
    primitive that starts when it is switched to wants it; otherwise the time of the whole.
    """

    def __init__(
        self,
        modes: Sequence[DiscreteMode],
        costs: Sequence[StageCost] | StageCost,
        terminal: TerminalCost,
        x0: ArrayLike,
        *,
        start: float = 0.0,
        end: float,
        step: float | None = None,
        steps: Sequence[int] | None = None,
        local_clock: bool = False,
    ) -> None:
        super().__init__(start, end)
        self._modes = list(modes)
        self._costs = [costs] * len(self._modes) if isinstance(costs, StageCost) else list(costs)
        self._terminal, self._x0 = terminal, np.array(x0, dtype=np.float64)
        if len(self._modes) < 2 or len(self._costs) != len(self._modes):
            raise BadInput(
                f"{len(self._modes)} modes and {len(self._costs)} costs arrived; at least two modes, one cost each or one for all"
            )
        if (step is None) == (steps is None):
            raise BadInput("give either step (a regular grid with inserted nodes) or steps (a count for each mode), not both")
        place: Callable[[Array], StepGrid]
        if step is not None:
            if not 0.0 < step <= end - start:
                raise BadInput(f"a step of {step} s in a span of {end - start} s; a positive one that fits is needed")
            place = partial(inserted_grid, self.start, self.end, step)
        else:
            counts = [int(count) for count in steps or ()]
            if len(counts) != len(self._modes) or min(counts) < 1:
                raise BadInput(f"steps {counts} for {len(self._modes)} modes; a positive count for each is needed")
            place = partial(stretched_grid, self.start, self.end, counts)
        self._place, self._local_clock = place, local_clock

    def grid(self, times: Array) -> StepGrid:
        """Where the steps lie for given switching times."""
        grid = self._place(times)
        if not self._local_clock:
            return grid
        begins = np.concatenate([[self.start], times])[grid.mode]
        slopes = np.vstack([np.zeros(len(times)), np.eye(len(times))])[grid.mode]
        return replace(grid, start=grid.start - begins, start_slope=grid.start_slope - slopes)

    def value(self, times: Array) -> float:
        """J; infinity where a step fails."""
        rolled = self._roll(self.grid(self._times(times)))
        return rolled[1] if rolled is not None else float("inf")

    def derivatives(self, times: Array) -> SwitchingDerivatives:
        """J, gradient and Hessian by the formulas of the module."""
        tau = self._times(times)
        grid = self.grid(tau)
        rolled = self._roll(grid)
        if rolled is None:
            raise BadInput(f"the steps fail at switching times {tau.tolist()}; use shorter steps or other times")
        x, J = rolled
        S, n = len(grid.mode), len(self._x0)
        extra = np.stack([grid.start_slope, grid.length_slope], axis=1)
        at = [(x[s], float(grid.start[s]), float(grid.length[s])) for s in range(S)]
        D = [self._modes[grid.mode[s]].first(*at[s]) for s in range(S)]
        W = np.zeros((S, n + 2, len(tau)))
        W[:, n:] = extra
        for s in range(1, S):
            W[s, :n] = D[s - 1] @ W[s - 1]
        Y = D[-1] @ W[-1]
        chi = np.array(self._terminal.m_x(x[-1]), dtype=np.float64)
        gradient, hessian = np.zeros(len(tau)), Y.T @ self._terminal.m_xx(x[-1]) @ Y
        for s in range(S - 1, -1, -1):
            mode, cost = self._modes[grid.mode[s]], self._costs[grid.mode[s]]
            slope = cost.gradient(*at[s]) + chi @ D[s]
            hessian += W[s].T @ (cost.hessian(*at[s]) + mode.second(*at[s], chi)) @ W[s]
            gradient += slope[n:] @ extra[s]
            chi = slope[:n]
        arrivals = np.searchsorted(grid.mode, np.arange(1, len(tau) + 1))
        return SwitchingDerivatives(J, gradient, 0.5 * (hessian + hessian.T), x[arrivals])

    def _times(self, times: ArrayLike) -> Array:
        tau = self.check(times)
        if len(tau) != len(self._modes) - 1:
            raise BadInput(f"{len(tau)} switching times for {len(self._modes)} modes; one fewer than modes is needed")
        return tau

    def _roll(self, grid: StepGrid) -> tuple[Array, float] | None:
        """States (S + 1, n) and J; None when a step fails."""
        x = np.empty((len(grid.mode) + 1, len(self._x0)))
        x[0], J = self._x0, 0.0
        for s, mode in enumerate(grid.mode):
            t, h = float(grid.start[s]), float(grid.length[s])
            J += self._costs[mode].value(x[s], t, h)
            x[s + 1] = self._modes[mode].step(x[s], t, h)
            if not np.isfinite(x[s + 1]).all():
                return None
        return x, J + float(self._terminal.value(x[-1]))
