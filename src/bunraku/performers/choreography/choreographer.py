"""The choreographer: follows every primitive, finds the best switching times, and says what the closed loop does with them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.systems.carriages import CarriageExcess, CarriageLimits
from bunraku.motion import Choreography, Clip, JointCurves
from bunraku.optimization.control.switching import SwitchingSolution, optimize_switching
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.optimization.threads import one_thread
from bunraku.performers.choreography.cost import PuppetCost, PuppetWeights
from bunraku.performers.choreography.feedforward import FollowedPrimitive, HangingPuppet
from bunraku.performers.choreography.switching import LawSwitching


@dataclass(frozen=True)
class Timing:
    """A show in closed loop with some switching ``times`` [s]: its ``cost``, split into score, effort and slack strings.

    ``q`` (N + 1, nd): the puppet's free coordinates; ``carriages`` (N + 1, nk). ``least_tension`` [N]; the largest
    ``acceleration`` of a carriage and ``winch_acceleration`` [m/s^2]; ``velocity_jump`` [m/s] of a carriage coordinate or winch
    from one step to the next; ``excess`` over the carriages' limits.
    """

    times: tuple[float, ...]
    cost: float
    score: float
    effort: float
    slack: float
    q: Array
    carriages: Array
    least_tension: float
    acceleration: float
    winch_acceleration: float
    velocity_jump: float
    excess: CarriageExcess


@dataclass(frozen=True)
class TimedShow:
    """What came out: the ``clip`` with optimized modes and the wish, the ``equal`` and the ``best`` timing, the solver's end."""

    clip: Clip
    equal: Timing
    best: Timing
    solution: SwitchingSolution
    primitives: dict[str, FollowedPrimitive]
    status: Status

    @property
    def saving(self) -> float:
        """By which part of the cost of equal spacing the best times are cheaper."""
        return 1.0 - self.best.cost / self.equal.cost if self.equal.cost > 0.0 else 0.0


@dataclass(frozen=True, kw_only=True)
class Choreographer:
    """Options. ``fade`` [s]: how long one primitive takes to give way to the next; ``least`` [s]: how long each lasts at least.

    ``dt`` [s]: the control step. ``weights``: effort and slack strings against the score, where an accent of weight 1 missed by
    1 rad in one coordinate costs 1/2.
    """

    fade: float = 0.6
    least: float = 0.6
    dt: float = 0.01
    max_iterations: int = 20
    tolerance: float = 1e-6
    weights: PuppetWeights = field(default_factory=lambda: PuppetWeights(acceleration=3e-4, slack=1.0, slack_below=0.4))

    def __post_init__(self) -> None:
        if not 0.0 < self.dt <= self.fade < np.inf:
            raise BadInput(
                f"the fade lasts {self.fade} s and a step {self.dt} s; both are positive and the fade lasts a step or more"
            )
        if not 0.0 <= self.least < np.inf:
            raise BadInput(f"each mode shall last at least {self.least} s; give 0 s or more")
        if self.max_iterations < 0:
            raise BadInput(f"{self.max_iterations} iterations are asked for; give 0 or more (0 keeps the best of the starts)")
        if not 0.0 <= self.tolerance < np.inf:
            raise BadInput(f"the tolerance is {self.tolerance}; give 0 or more")

    @one_thread
    def choreograph(self, character: Character, clip: Clip, *, monitor: Monitor = SILENT) -> TimedShow:
        """Optimize the switching times of a clip's modes for a marionette, from equal spacing and from the clip's own times."""
        show = _needed(clip)
        names = list(dict.fromkeys(mode.primitive for mode in show.modes))
        if len(show.modes) == 1:
            raise BadInput(f"the clip {clip.name!r} has one mode; there is nothing to switch: perform {names[0]!r} itself")
        starts = self._starts(show)
        puppet = HangingPuppet(character, dt=self.dt)
        followed: dict[str, FollowedPrimitive] = {}
        for i, name in enumerate(names):
            monitor.report(Event("primitives", i / len(names), name))
            followed[name] = puppet.follow(show.primitive(name).curves)
        steps = int(np.ceil(show.duration / self.dt - 1e-9))
        cost = self.score_cost(puppet, show, steps)
        laws = [followed[mode.primitive].law for mode in show.modes]
        problem = LawSwitching(puppet.dynamics, laws, cost, puppet.x_rest, dt=self.dt, steps=steps, fade=self.fade)
        solved = self._optimize(problem, starts, monitor)
        equal, best = (self._timing(puppet, problem, cost, times) for times in (show.equal_times, solved.times))
        wish = JointCurves(puppet.joints, 1.0 / self.dt, best.q)
        timed = clip.changed(modes=show.switched_at(best.times), joints=wish)
        return TimedShow(timed, equal, best, solved, followed, solved.status)

    def score_cost(self, puppet: HangingPuppet, show: Choreography, steps: int) -> PuppetCost:
        """The cost of a show: every accent a Gaussian window in time around its pose, and the effort and slack of the options."""
        nx, dynamic = puppet.dynamics.nx, puppet.system.dynamic
        t = self.dt * np.arange(steps + 1)
        weight, pull = np.zeros((steps + 1, nx)), np.zeros((steps + 1, nx))
        for accent in show.accents:
            curves = show.primitive(accent.primitive).curves
            pose = puppet.wish(curves, np.array([show.moment(accent)]))[0]
            window = accent.weight * np.exp(-0.5 * ((t - accent.time) / accent.width) ** 2)
            window /= accent.width * np.sqrt(2.0 * np.pi)
            for name in accent.coordinates or curves.names:
                j = puppet.joints.index(name)
                weight[:, dynamic[j]] += puppet.scale[j] * window
                pull[:, dynamic[j]] += puppet.scale[j] * window * pose[j]
        wish = np.where(weight > 0.0, pull / np.where(weight > 0.0, weight, 1.0), 0.0)
        weight[-1] *= 0.5 * self.dt
        return PuppetCost(puppet.dynamics, wish, weight, self.weights)

    def _starts(self, show: Choreography) -> list[Array]:
        """Where to start from: equal spacing, the clip's own times, and those at which the accents would be met; those that fit."""
        starts = [np.array(show.equal_times), np.array(show.switching_times), self._aligned(show)]
        fitting = [tau for tau in starts if self._fits(tau, show)]
        if not fitting:
            raise BadInput(
                f"{len(show.modes)} modes of at least {self.least:g} s do not fit a show of {show.duration:g} s; make it longer"
            )
        return fitting

    def _optimize(self, problem: LawSwitching, starts: list[Array], monitor: Monitor) -> SwitchingSolution:
        best = min(starts, key=problem.value)
        return optimize_switching(
            problem,
            best,
            least_duration=self.least,
            max_iterations=self.max_iterations,
            tolerance=self.tolerance,
            monitor=monitor,
        )

    def _fits(self, tau: Array, show: Choreography) -> bool:
        return bool((np.diff(np.concatenate([[0.0], tau, [show.duration]])) >= self.least - 1e-12).all())

    def _aligned(self, show: Choreography) -> Array:
        """Switching times at which undisturbed primitives would meet their accents on average; equal spacing for those without."""
        times = np.array(show.equal_times)
        for i, mode in enumerate(show.modes[1:]):
            due = [a.time - show.moment(a) for a in show.accents if a.primitive == mode.primitive]
            others = sum(other.primitive == mode.primitive for other in show.modes)
            if due and others == 1:
                times[i] = float(np.mean(due))
        return times

    def _timing(self, puppet: HangingPuppet, problem: LawSwitching, cost: PuppetCost, times: ArrayLike) -> Timing:
        """What the closed loop does with given switching times."""
        tau = problem.check(times)
        rolled = problem.rollout(tau)
        if not rolled.good:
            raise BadInput(f"the puppet cannot follow switching times {tau.tolist()}: step {rolled.failed_at} fails")
        x, u = rolled.x, rolled.u
        limits, k = CarriageLimits.of(puppet.character), x[:, puppet.system.kinematic]
        motion = limits.motion(k, self.dt)
        score, effort, slack = cost.parts(x, u)
        return Timing(
            tuple(tau.tolist()),
            score + effort + slack,
            score,
            effort,
            slack,
            x[:, puppet.system.dynamic],
            k,
            float(cost.tensions(x, u).min()),
            float(motion.acceleration.max()),
            float(motion.winch_acceleration.max()),
            float(np.abs(self.dt * cost.accelerations(x, u)).max()),
            limits.excess(k, self.dt),
        )


def _needed(clip: Clip) -> Choreography:
    if clip.modes is None:
        has = ", ".join(clip.tracks) or "nothing"
        raise BadInput(f"the clip {clip.name!r} has no modes (it has: {has}); choreograph needs a modes track: see marionette-show")
    return clip.modes
