"""The motion graph of gaits: cycles as motions, planned transitions between them, any path played as one performance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, permutations

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.gait.patterns import footfalls
from bunraku.motion import Gait, JointCurves
from bunraku.motion.graph import Edge, MotionGraph
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.performers.locomotion.carried import after, between_poses, carried, cycle_shift
from bunraku.performers.locomotion.plan import MotionPlan
from bunraku.performers.locomotion.solve import plan_motion
from bunraku.performers.locomotion.state import stages
from bunraku.performers.locomotion.track import MARGIN, Track
from bunraku.performers.locomotion.transition import Transition, plan_transition, supports

CYCLE_SOLVER = AugmentedLagrangian(tolerance=1e-9)
FINEST = 8
"""A common step is sought up to this many times finer than the gaits ask for."""


@dataclass(frozen=True)
class GaitGraph:
    """Cycles by name, all with one step, the sample at which each is left and entered, and the transitions between them."""

    character: Character
    gaits: Mapping[str, Gait]
    cycles: Mapping[str, MotionPlan]
    phases: Mapping[str, int]
    transitions: Mapping[tuple[str, str], Transition]

    @property
    def step(self) -> float:
        """The step [s] of all plans."""
        return next(iter(self.cycles.values())).problem.step

    @property
    def plans(self) -> tuple[MotionPlan, ...]:
        """Every plan, of cycles and transitions."""
        return (*self.cycles.values(), *(one.plan for one in self.transitions.values()))

    @cached_property
    def graph(self) -> MotionGraph:
        """The coordinates alone: every cycle from its phase on, once around, and the transitions as edges with curves."""
        model = self.plans[0].problem.model
        rate = 1.0 / self.step

        def curves(samples: Array) -> JointCurves:
            return JointCurves(tuple(model.names), rate, samples[:, : model.nq])

        motions = {
            name: curves(plan.samples(self.phases[name], self.phases[name] + plan.cycle)) for name, plan in self.cycles.items()
        }
        edges = [
            Edge(a, b, one.cost, self.step * (one.plan.problem.samples - 1), curves(one.plan.unknowns))
            for (a, b), one in self.transitions.items()
        ]
        return MotionGraph(motions, tuple(edges), (model.names[0], model.names[1], model.names[3]))

    def track(self, path: Sequence[str]) -> Track:
        """The samples of a path: each motion once around its cycle from phase to phase, transitions between, all in one row.

        At a sample that two plans share the transition's is taken: its forces hold the dynamics with both neighbours. Beyond the
        ends the first and the last cycle go on.
        """
        self.graph.cost(path)
        model = self.plans[0].problem.model
        first, phase = self.cycles[path[0]], self.phases[path[0]]
        rows: list[Array] = [first.samples(phase - MARGIN, phase - 1)]
        flags = [_flags(first, range(phase - MARGIN, phase))]
        G = between_poses(first.sample(phase), model.home)
        rows[0] = carried(rows[0], model.nq, G)
        for a, b in [*pairwise(path), (path[-1], "")]:
            cycle, k = self.cycles[a], self.phases[a]
            begin = k if a == path[0] and len(rows) == 1 else k + 1
            numbers = range(begin, k + cycle.cycle + (1 + MARGIN if not b else 0))
            rows.append(carried(cycle.samples(numbers[0], numbers[-1]), model.nq, G))
            flags.append(_flags(cycle, numbers))
            if not b:
                break
            G = after(G, cycle_shift(cycle))
            transition = self.transitions[a, b].plan
            rows.append(carried(transition.unknowns, model.nq, G))
            flags.append(transition.problem.contacts)
            G = after(G, transition.shift)
        return Track(model, self.step, np.concatenate(rows), np.concatenate(flags), MARGIN)

    def jump(self, path: Sequence[str]) -> tuple[float, float]:
        """The largest difference of poses, and of velocities [per s], at the samples that neighbouring plans of a path share."""
        pose = speed = 0.0
        nq = self.plans[0].problem.model.nq
        for a, b in pairwise(path):
            one, source, target = self.transitions[a, b], self.cycles[a], self.cycles[b]
            v, D = one.plan.unknowns, one.plan.shift
            left = source.samples(one.leave - 1, one.leave)
            right = carried(target.samples(one.enter, one.enter + 1), nq, D)
            off = np.abs(v[0] - left[1])[:nq], np.abs(v[-1] - right[0])[:nq]
            pose = max(pose, *(float(part.max()) for part in off))
            v_left = np.abs((v[0] - left[0]) - (left[1] - left[0]))[:nq]
            v_right = np.abs((right[1] - v[-1]) - (right[1] - right[0]))[:nq]
            speed = max(speed, float(v_left.max()) / self.step, float(v_right.max()) / self.step)
        return pose, speed


def common_step(character: Character, gaits: Mapping[str, Gait]) -> float:
    """The longest step [s], at most that of the finest plan of each gait that moves, of which every duration is a multiple."""
    moving = [gait for gait in gaits.values() if gait.distance is None or any(gait.distance) or gait.turn] or list(gaits.values())
    finest = min(gait.duration / stages(gait, footfalls(character, gait))[-1] for gait in moving)
    longest = max(gait.duration for gait in gaits.values())
    n = int(np.ceil(longest / finest - 1e-9))
    for count in range(n, FINEST * n):
        step = longest / count
        parts = np.array([gait.duration / step for gait in gaits.values()])
        if np.abs(parts - np.round(parts)).max() < 1e-6:
            return step
    durations = ", ".join(f"{name} {gait.duration:g} s" for name, gait in gaits.items())
    raise BadInput(f"no step of time divides all durations ({durations}); choose durations with a common divisor")


def build_gait_graph(character: Character, gaits: Mapping[str, Gait], *, monitor: Monitor = SILENT) -> GaitGraph:
    """Plan every gait as a cycle with one step, and the transitions between every two of them.

    The first gait is the hub, usually standing: each other is left and entered at the phase whose transitions from and to the hub
    are the cheapest together. BadInput names gaits and transitions that are not found.
    """
    if len(gaits) < 2 or not all(gait.periodic for gait in gaits.values()):
        raise BadInput("a motion graph takes two periodic gaits or more; one of them may stand (distance 0, turn 0)")
    step = common_step(character, gaits)
    cycles: dict[str, MotionPlan] = {}
    for name, gait in gaits.items():
        monitor.report(Event("motion graph", 0.5 * len(cycles) / len(gaits), f"planning {name}"))
        plan = plan_motion(character, gait.changed(samples=round(gait.duration / step)), solver=CYCLE_SOLVER).plan
        if plan.solution.residual > 1e-7:
            raise BadInput(
                f"the gait {name!r} cannot be planned: it ends {plan.solution.status.value}; perform it alone to see why"
            )
        cycles[name] = plan
    hub, *others = cycles
    phases: dict[str, int] = {hub: supports(cycles[hub])[0]}
    planned: dict[tuple[str, str], Transition] = {}
    for name in others:
        best = np.inf
        for phase in supports(cycles[name]):
            there = plan_transition(cycles[hub], cycles[name], [phases[hub]], [phase])
            back = plan_transition(cycles[name], cycles[hub], [phase], [phases[hub]])
            if there.good and back.good and there.cost + back.cost < 0.999 * best:
                best, phases[name] = there.cost + back.cost, phase
                planned[hub, name], planned[name, hub] = there, back
            if cycles[name].problem.contacts.all() and np.isfinite(best):
                break
        if name not in phases:
            raise BadInput(f"no transition between {hub!r} and {name!r} was found; slower gaits are easier to join")
    pairs = list(permutations(cycles, 2))
    transitions = {}
    for k, (a, b) in enumerate(pairs):
        monitor.report(Event("motion graph", 0.5 + 0.5 * k / len(pairs), f"planning {a} to {b}"))
        one = planned.get((a, b)) or plan_transition(cycles[a], cycles[b], [phases[a]], [phases[b]])
        if not one.good:
            raise BadInput(f"no transition from {a!r} to {b!r} was found; join slower gaits")
        transitions[a, b] = one
    return GaitGraph(character, dict(gaits), cycles, phases, transitions)


def _flags(plan: MotionPlan, numbers: range) -> NDArray[np.int64]:
    return np.array([plan.touching(k) for k in numbers], dtype=np.int64)
