"""How fast is the dance? CPU time and memory of planning a dance over all strings, and how both grow with the dance's length.

One process after a warm-up on a short part of the clip. CPU is that of all threads and the whole performer: stating, solving with
tension and carriage limits, feedback, certificate. Bar: 4 s of dance <= 30 s, for each clip, every check of the certificate kept,
limits and tension among them. Then the same optimization problem over 2 s for other ways to keep the limits, each from the same
start, to the same tolerance and with a limit on its time: the augmented Lagrangian, hinge and barrier, and hinge and barrier with
the weight of accelerations lowered step by step, which a study of this problem found to converge best. cmu_18_15 needs the data
folder beside the repository (or BUNRAKU_SHARED).

Run: python benchmarks/how_fast_is_the_dance.py
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from _barrier import HingeThenBarrier
from _dances import RATE, Dance, puppet
from bunraku.optimization.control.constrained import ConstrainedTrajectory
from bunraku.optimization.control.interior import InteriorTrajectory
from bunraku.optimization.control.trajectory import TrajectoryNewton, TrajectorySolution
from bunraku.optimization.monitor import Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.marionette.problem import ImitationWeights, PuppetProblem, cut_wish, state_puppet_problem

BAR = 30.0
PATIENCE = 60.0
"""CPU time [s] the other methods are given."""

LENGTHS = (2.0, 4.0, 8.0)
STARTS = {"chicken-dance": 0.0, "cmu_18_15": 3.0}
SHORT = Dance("chicken-dance", 0.0, 2.0)


class Patience(Monitor):
    """Cancels when a CPU time is spent."""

    def __init__(self, seconds: float) -> None:
        self._end = time.process_time() + seconds

    def report(self, event: Event) -> None:
        """Nothing."""

    @property
    def cancelled(self) -> bool:
        """Whether the time is over."""
        return time.process_time() > self._end


def resident() -> float:
    """Largest resident memory of this process so far [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024.0 if sys.platform != "darwin" else 1024.0**2)


def growth() -> bool:
    """Plan 2, 4 and 8 s of each clip; whether 4 s are within the bar, all that the certificate checks kept."""
    met = True
    before = resident()
    print(f"{'':26}{'steps':>6}{'CPU s':>8}{'x length':>10}{'iterations':>12}{'ms/iteration':>14}{'peak MB':>9}{'more':>7}")
    for duration in LENGTHS:
        for name, start in STARTS.items():
            dance = Dance(name, start, duration)
            if not dance.there:
                print(f"{dance.label:26}not measured, for want of data")
                continue
            clip, performer = dance.clip, dance.performer
            clock = time.process_time()
            performance = performer.perform(puppet(), clip)
            spent = time.process_time() - clock
            iterations, status = performance.certificate.figures["iterations"], performance.certificate.status
            broken = [check.name for check in performance.certificate.checks if check.stands_against]
            met = met and (duration != 4.0 or (spent <= BAR and not broken))
            print(
                f"{dance.label:26}{round(duration * RATE):6d}{spent:8.1f}{spent / duration:10.1f}{iterations:12.0f}"
                f"{1e3 * spent / max(iterations, 1):14.0f}{resident():9.0f}{resident() - before:7.0f}"
                f"{'' if status.good else '  ' + status.value}{'  BROKEN: ' + ', '.join(broken) if broken else ''}",
                flush=True,
            )
    return met


def continued(problem: PuppetProblem, seconds: float) -> tuple[TrajectorySolution, int, Status]:
    """Hinge and barrier with the accelerations' weight 10, 3, 1, .1, .01, each from the last; and all iterations."""
    monitor, total = Patience(seconds), 0
    x, u = problem.still
    assert SHORT.clip.joints is not None
    wish = cut_wish(SHORT.clip.joints, rate=RATE, start=SHORT.start, duration=SHORT.duration)
    for weight in (10.0, 3.0, 1.0, 0.1, 0.01):
        eased = state_puppet_problem(puppet(), wish, rate=RATE, weights=ImitationWeights(acceleration=weight))
        solver = HingeThenBarrier(newton=newton())
        reached, iterations, status = solver.solve(eased.dynamics, eased.cost, eased.constraints, x, u, monitor=monitor)
        x, u, total = reached.x, reached.u, total + iterations
        if monitor.cancelled:
            break
    return reached, total, status


def newton() -> TrajectoryNewton:
    """The inner solver: quasi-Newton, as in the interior point method, to its tolerance."""
    return TrajectoryNewton(method="quasi", relative_tolerance=1e-3, max_iterations=200, beta=0.5)


def compare() -> None:
    """The same 2 s by each method."""
    problem = SHORT.problem
    x, u = problem.still

    def line(what: str, spent: float, xu: tuple[np.ndarray, np.ndarray], iterations: int, status: str) -> None:
        J = problem.cost.value(*xu)
        worst = max(float(values.max(initial=-np.inf)) for c in problem.constraints for values in c.values(*xu))
        off = np.sqrt(np.mean(np.sum((problem.points.positions(xu[0][:, : problem.system.nq]) - problem.targets) ** 2, axis=2)))
        held = "held" if worst <= 0.0 else f"broken by {worst:.2g}"
        print(f"{what:44}{spent:8.1f}{iterations:12d}{J:10.3f}{100 * off:9.2f}{held:>18}   {status}", flush=True)

    print(f"\nthe same {SHORT.label}, others stopped after {PATIENCE:g} s")
    print(f"{'':44}{'CPU s':>8}{'iterations':>12}{'cost':>10}{'RMS cm':>9}{'limits':>18}")
    clock = time.process_time()
    best = InteriorTrajectory(max_iterations=150, relative_tolerance=1e-3).solve(
        problem.dynamics, problem.cost, problem.constraints, x, u
    )
    line("interior point (ours)", time.process_time() - clock, (best.x, best.u), best.iterations, best.status.value)
    clock = time.process_time()
    limited = ConstrainedTrajectory(newton=newton()).solve(
        problem.dynamics, problem.cost, problem.constraints, x, u, monitor=Patience(PATIENCE)
    )
    curve = (limited.trajectory.x, limited.trajectory.u)
    line("augmented Lagrangian", time.process_time() - clock, curve, limited.iterations, limited.status.value)
    clock = time.process_time()
    reached, iterations, status = HingeThenBarrier(newton=newton()).solve(
        problem.dynamics, problem.cost, problem.constraints, x, u, monitor=Patience(PATIENCE)
    )
    line("hinge, then barrier", time.process_time() - clock, (reached.x, reached.u), iterations, status.value)
    clock = time.process_time()
    reached, iterations, status = continued(problem, PATIENCE)
    line("hinge, then barrier, weights continued", time.process_time() - clock, (reached.x, reached.u), iterations, status.value)


def main() -> int:
    clip = SHORT.clip
    Dance("chicken-dance", 1.0, 0.3).performer.perform(puppet(), clip)
    met = growth()
    compare()
    print(f"\n4 s of dance with all limits within {BAR:g} s: {'yes' if met else 'NO'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
