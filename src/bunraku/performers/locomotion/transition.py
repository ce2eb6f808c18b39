"""Transitions: how one cycle goes over into another, as a plan of its own that continues the state on both sides.

It leaves cycle A at sample k and enters cycle B at sample j. Given are A's samples k - 1 and k and B's samples j and j + 1, so
place and velocity are those of the cycles on both sides; where B is entered, its shift D over the ground, is found. The feet stand
when a cycle is left and entered; between, every foot that swings in B (or, if none does, in A) swings once, when it would in its
cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
from bunraku.optimization.threads import one_thread
from bunraku.performers.locomotion.carried import between_poses, carried
from bunraku.performers.locomotion.plan import MotionPlan
from bunraku.performers.locomotion.problem import Ends, MotionProblem

ROLLING = 1.2
"""Time [s] of a transition in which no foot swings."""

PAUSE = 0.3
"""Longest time [s] for which all feet stand before the first or after the last swing of a transition."""

SAME_STEP = 1e-9
GOOD = 1e-7

TRANSITION_SOLVER = AugmentedLagrangian(tolerance=5e-9)
"""States must agree to 1e-6, velocities too, where a miss of a pose counts by the inverse of the step. Cycles must be solved as
well: what their samples miss, the ends of a transition cannot meet."""


@dataclass(frozen=True)
class Transition:
    """A planned transition: its ``plan``, from sample ``leave`` of the one cycle to sample ``enter`` of the other."""

    plan: MotionPlan
    leave: int
    enter: int

    @property
    def cost(self) -> float:
        """The objective of the plan."""
        return self.plan.problem.objective(self.plan.solution.z)

    @property
    def good(self) -> bool:
        """Whether every row holds, to a tenth of what states may jump."""
        return self.plan.solution.residual <= GOOD


def supports(plan: MotionPlan) -> tuple[int, ...]:
    """Samples of a cycle at which it may be left or entered: the middles of the times when every foot stands.

    Of a cycle in which no foot swings: four, a quarter of it apart.
    """
    T = plan.cycle
    stands = np.array([bool(plan.touching(k).all()) for k in range(T)])
    if stands.all():
        return tuple(sorted({round(share * T) % T for share in (0.0, 0.25, 0.5, 0.75)}))
    middles = []
    for k in range(T):
        if stands[k] and not stands[k - 1]:
            length = 1
            while stands[(k + length) % T]:
                length += 1
            middles.append((k + length // 2) % T)
    if not middles:
        raise BadInput("every sample of the cycle has a foot in the air, so it cannot be left or entered; use shorter swings")
    return tuple(sorted(middles))


def state_transition(source: MotionPlan, target: MotionPlan, leave: int, enter: int, *, pause: float = 0.0) -> MotionProblem:
    """The problem of a transition from sample ``leave`` of a cycle to sample ``enter`` of another.

    ``pause`` [s] of standing is put before the swings, if the target swings, or behind them. Weights are those of a cycle as long
    as the target's (the source's), at the same step.
    """
    A, B = source.problem, target.problem
    if not (A.periodic and B.periodic) or abs(A.step - B.step) > SAME_STEP or A.model.names != B.model.names:
        raise BadInput(f"cycles with steps of {A.step:g} and {B.step:g} s arrived; transitions join cycles of one robot and step")
    contacts, heights = _footfalls(source, target, leave, enter, round(pause / A.step), max(round(ROLLING / A.step), 6))
    nq = A.model.nq
    ends = Ends(
        start=source.sample(leave)[:nq],
        before=source.sample(leave - 1),
        end=target.sample(enter)[:nq],
        after=target.sample(enter + 1),
        contacts_before=source.touching(leave - 1),
        contacts_after=target.touching(enter + 1),
    )
    longer = max(source.cycle, target.cycle)
    free = (np.nan, np.nan, np.nan)
    weights = B.weights.paced(len(contacts) - 1, longer)
    friction = np.minimum(A.friction, B.friction)
    least = max(A.least_force, B.least_force)
    return MotionProblem(A.model, contacts, heights, A.step, False, free, ends, weights, friction, least, spots=A.spots)


@one_thread
def plan_transition(
    source: MotionPlan,
    target: MotionPlan,
    leave: Sequence[int] | None = None,
    enter: Sequence[int] | None = None,
    *,
    tries: int = 3,
) -> Transition:
    """The cheapest transition that is found among the phases ``leave`` and ``enter`` (None: `supports`) and pauses.

    The combinations are sorted by how far apart the joints are at both ends, and the first ``tries`` that converge are compared. If
    none does, the last is returned as it is.
    """
    leaves, enters = leave or supports(source), enter or supports(target)
    nq = source.problem.model.nq
    moves = np.array([*range(2, 3), *range(4, nq)])

    def apart(k: int, j: int) -> float:
        a, b = source.samples(k - 1, k)[:, :nq], target.samples(j, j + 1)[:, :nq]
        pose, speed = (a[1] - b[0])[moves], ((a[1] - a[0]) - (b[1] - b[0]))[moves] / source.problem.step
        return float(pose @ pose + 0.01 * speed @ speed)

    swings = not all(plan.problem.contacts.all() for plan in (source, target))
    waits = (0.0, PAUSE) if swings else (0.0,)
    order = sorted(((apart(k, j), k, j) for k in leaves for j in enters), key=lambda one: one[0])
    converged: list[Transition] = []
    last: Transition | None = None
    for wait in waits:
        for _, k, j in order:
            problem = state_transition(source, target, k, j, pause=wait)
            last = Transition(
                MotionPlan(problem, TRANSITION_SOLVER.solve(problem, first_guess(source, target, k, j, problem))), k, j
            )
            if last.good:
                converged.append(last)
            if len(converged) == tries:
                break
        if converged:
            break
    if last is None:
        raise BadInput("a transition without any phase arrived; give phases at which the cycles may be left and entered")
    return min(converged, key=lambda one: one.cost) if converged else last


def first_guess(source: MotionPlan, target: MotionPlan, leave: int, enter: int, problem: MotionProblem) -> Array:
    """A first guess z: source and target play on, one fades into the other, met half-way; forces share the weight."""
    model, n = problem.model, problem.samples
    nq = model.nq
    a, b = source.samples(leave, leave + n - 1), target.samples(enter - n + 1, enter)
    D = between_poses(b[n // 2], a[n // 2])
    b = carried(b, nq, D)
    u = np.linspace(0.0, 1.0, n)[:, None]
    fade = u**2 * (3.0 - 2.0 * u)
    z = problem.still()
    v = z[:-3].reshape(n, -1)
    v[:, :nq] = (1.0 - fade) * a[:, :nq] + fade * b[:, :nq]
    standing = np.maximum(problem.contacts.sum(axis=1, keepdims=True), 1)
    v[:, nq + 2 :: 3] = problem.contacts * (model.mass * GRAVITY / standing)
    z[-3:] = D
    return z


def _footfalls(source: MotionPlan, target: MotionPlan, leave: int, enter: int, pause: int, rolling: int) -> tuple[Indices, Array]:
    """Contacts and heights (samples, n_e) of a transition."""
    rests = np.ones((pause, source.problem.model.n_tips), dtype=np.int64)
    flat = np.zeros(rests.shape)
    for plan, phase, first in ((target, enter, False), (source, leave, True)):
        if plan.problem.contacts.all():
            continue
        begin = phase if first else phase - plan.cycle
        numbers = range(begin, begin + plan.cycle + 1)
        flags = np.array([plan.touching(k) for k in numbers], dtype=np.int64)
        heights = np.array([_heights(plan, k) for k in numbers])
        order = ((flags, rests), (heights, flat)) if first else ((rests, flags), (flat, heights))
        return np.concatenate(order[0]), np.concatenate(order[1])
    still = np.ones((rolling + 1, source.problem.model.n_tips), dtype=np.int64)
    return still, np.zeros(still.shape)


def _heights(plan: MotionPlan, k: int) -> Array:
    """Swing heights (n_e,) at sample k of the endless motion."""
    problem = plan.problem
    T, nq = problem.samples, problem.model.nq
    heights = problem.heights[k % T]
    if problem.ends.mirror is not None and (k // T) % 2:
        heights = heights[(problem.ends.mirror[0][nq::3] - nq) // 3]
    return np.asarray(heights, dtype=np.float64)
