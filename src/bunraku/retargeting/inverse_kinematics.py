"""Weighted inverse kinematics within joint ranges, frame by frame of a motion.

Frame k minimises, over the coordinates allowed to move,

    sum_i |w_p (p_i(q) - p_i*)|^2 + |w_r log(R_i*^T R_i(q))|^2  +  (c / h) |q - q_{k-1}|^2  +  a |q - q_home|^2
        + sum_j w_j max(0, |q_j| - m)^2

subject to lower <= q <= upper and |q - q_{k-1}| <= step: targets i with places p_i and turns R_i (in their bases), weights w_p
[1/m] and w_r [1/rad], c [s] the temporal weight, h [s] the time between frames, a the pull to the home pose; m [rad] where the
middle angles j of ball and free joints, singular at a right angle, begin to be pushed back, with weights w_j. It is solved
by Levenberg-Marquardt with the bounds treated inside the step (see the kernels). With c / h the response time to a target
that moves the pose by J per radian is about c / J^2, whatever the rate: 1 ms for a well-placed joint, long near a singularity,
where a frame-by-frame solution would spin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.tree import Tree
from bunraku.motion import MotionLimits
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.retargeting import inverse_kinematics_kernels as kernels
from bunraku.retargeting.targets import TargetSet

FRAMES_BETWEEN_REPORTS = 1000

LONGER, SAME = 20, 1e-5
"""A frame at the iteration limit has settled if so many times as many iterations move it by no more than this [rad or m]."""


@dataclass(frozen=True, kw_only=True)
class Solver:
    """Options of the method: weights of temporal term, home and middle angles beyond their limit, iterations, when to stop."""

    temporal_weight: float = 1e-3
    home_weight: float = 1e-5
    middle_limit: float = 1.25
    middle_weight: float = 1.0
    max_iterations: int = 60
    first_frame_factor: int = 10
    tolerance: float = 1e-10

    def __post_init__(self) -> None:
        weights = (self.temporal_weight, self.home_weight, self.middle_weight, self.middle_limit)
        if min(weights) < 0.0 or not np.isfinite(weights).all():
            raise BadInput("weights of inverse kinematics are finite and not negative; give 0 to leave a term out")
        if self.max_iterations < 1 or self.first_frame_factor < 1 or not self.tolerance > 0.0:
            raise BadInput("inverse kinematics needs at least one iteration and a positive tolerance")


@dataclass(frozen=True)
class MotionSolution:
    """Configurations ``q`` (m, nq), which frames converged, iterations of each, and the status of the whole."""

    q: Array
    converged: NDArray[np.bool_]
    iterations: NDArray[np.int64]
    status: Status


def solve_motion(
    targets: TargetSet,
    places: Array,
    turns: Array | None,
    *,
    limits: MotionLimits,
    rate: float,
    step: Array | None = None,
    middle: tuple[str, ...] = (),
    start: ArrayLike | None = None,
    home: ArrayLike | None = None,
    solver: Solver | None = None,
    monitor: Monitor = SILENT,
) -> MotionSolution:
    """Every frame of a motion, each from the one before; the first from ``start`` (nq,) without temporal term and step bound.

    ``places`` (m, k, 3) and ``turns`` (m, k, 3, 3) are wished in the targets' bases at ``rate`` [Hz]; the coordinates of
    ``limits`` move within its ranges (also those that depend on another coordinate), the rest stays at ``start``; ``step``
    (one a coordinate of ``limits``) bounds the change between frames; ``middle`` names coordinates that are pushed back from a
    right angle (the solver's ``middle_limit`` and ``middle_weight``). Cancelled, the frames not reached repeat the last one. Where
    frames reach the iteration limit, but more iterations would not change them, no step improves them.
    """
    solver = solver or Solver()
    tree = targets.tree
    m, k = len(places), len(targets.targets)
    if places.shape != (m, k, 3) or m < 1:
        raise BadInput(f"wished places have shape {places.shape}; (frames, {k}, 3) with at least one frame is needed")
    turned = np.broadcast_to(np.eye(3), (m, k, 3, 3)) if turns is None else turns
    if turned.shape != (m, k, 3, 3):
        raise BadInput(f"wished turns have shape {turned.shape}; ({m}, {k}, 3, 3) is needed")
    base = np.array(tree.home if start is None else start, dtype=np.float64)
    nv = len(limits.names)
    at = np.array([tree.index(name) for name in limits.names], dtype=np.int64)
    rest = np.ascontiguousarray((tree.home if home is None else np.asarray(home, dtype=np.float64))[at])
    limit, pushed = np.full(nv, solver.middle_limit), np.array([name in middle for name in limits.names], dtype=np.float64)
    temporal, weight = np.full(nv, solver.temporal_weight * rate), np.full(nv, solver.home_weight)
    pulls = kernels.Pulls(temporal, rest, weight, -limit, limit, solver.middle_weight * pushed)
    problem = kernels.PoseProblem(tree.arrays, targets.arrays, _variables(tree, at, base), _box(limits, step), pulls)
    effort = kernels.SolveEffort(int(solver.max_iterations), int(solver.first_frame_factor), float(solver.tolerance))
    work = kernels.pose_work(len(tree.parent), k, nv)
    x, ends = np.empty((m, nv)), np.zeros((m, 3))
    places, turned = (np.require(part, np.float64, ("C", "W")) for part in (places, turned))
    done, cancelled, last = 0, False, np.ascontiguousarray(base[at])
    while done < m and nv > 0 and not cancelled:
        part = slice(done, min(done + FRAMES_BETWEEN_REPORTS, m))
        before = done > 0
        kernels.solve_frames(problem, places[part], turned[part], base.copy(), last, before, effort, work, x[part], ends[part])
        done = part.stop
        last = x[done - 1].copy()
        monitor.report(Event("inverse kinematics", done / m))
        cancelled = monitor.cancelled and done < m
    if nv == 0:
        ends[:, 2] = 1.0
    x[done:] = last
    q = np.tile(base, (m, 1))
    q[:, at] = x
    for driver, follower, ratio, shift in tree.couplings:
        q[:, follower] = ratio * q[:, driver] + shift
    converged = ends[:, 2] > 0.5
    if cancelled or converged.all():
        status = Status.CANCELLED if cancelled else Status.CONVERGED
    else:
        effort = effort._replace(iterations=LONGER * effort.iterations)
        first = np.ascontiguousarray(base[at])

        def settled(frame: int) -> bool:
            one, again, end = slice(frame, frame + 1), np.empty((1, nv)), np.zeros((1, 3))
            before = x[frame - 1].copy() if frame else first
            kernels.solve_frames(problem, places[one], turned[one], base.copy(), before, frame > 0, effort, work, again, end)
            return bool(np.abs(again[0] - x[frame]).max() <= SAME)

        status = Status.STALLED if all(settled(int(frame)) for frame in np.flatnonzero(~converged)) else Status.MAX_ITERATIONS
    return MotionSolution(q, converged, ends[:, 1].astype(np.int64), status)


def _variables(tree: Tree, at: NDArray[np.int64], base: Array) -> kernels.Variables:
    """Variable (nq,; -1: none), gain and offset of each coordinate, q = gain x + offset, for variables at the places ``at``.

    Followers of a coupling take the variable of their driver; in ``base`` they are put where they follow to.
    """
    variable, gain, offset = np.full(tree.nq, -1, dtype=np.int64), np.ones(tree.nq), np.zeros(tree.nq)
    variable[at] = np.arange(len(at))
    for driver, follower, ratio, shift in tree.couplings:
        variable[follower], gain[follower], offset[follower] = variable[driver], ratio, shift
        base[follower] = ratio * base[driver] + shift
    return kernels.Variables(variable, gain, offset)


def _box(limits: MotionLimits, step: Array | None) -> kernels.Box:
    """Bounds as the kernels take them.

    They are copied: for arrays that are read-only the kernels would be compiled once more.
    """
    return kernels.Box(
        np.array(limits.lower, dtype=np.float64),
        np.array(limits.upper, dtype=np.float64),
        np.full(len(limits.names), np.inf) if step is None else np.array(step, dtype=np.float64),
        np.array([index for index, _, _ in limits.dependents], dtype=np.int64),
        np.array([on for _, on, _ in limits.dependents], dtype=np.int64),
        np.cumsum([0] + [len(knots) for _, _, knots in limits.dependents]).astype(np.int64),
        np.concatenate([np.zeros((0, 3)), *(knots for _, _, knots in limits.dependents)]),
    )
