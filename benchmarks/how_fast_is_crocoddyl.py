"""How fast is crocoddyl? It and ours walk the same robot with the same footfalls over the same distance, in one process.

The four-legged walker (12 motors, 1.7 kg) crawls 0.12 m and trots 0.1 m: as a cycle (ours only, as used: 48 samples), and from rest
to rest through the same footfalls in steps as long as the cycle's, which both do. What differs, in favour of crocoddyl (FDDP) unless
said otherwise: it has the dynamics of the whole body with torques as controls, ours that of the centre of mass and of the angular
momentum of all bodies, with torques of the joints limited as inequalities; it is GIVEN where the feet step, the paths that they swing
along and that the centre of mass goes on, ours FINDS them; its balls are points that do not roll; friction, joint limits and goal are
penalties, so some force stays outside its cone, and the motors' limits are not asked at all (the table says what they turn out
to be), ours meets every row to 1e-6; it has no periodic motions. "Tight": cones weighed 1000 times more once that is solved, warm.
"Rough": ours stopped at 1e-3. Time: the solver alone for crocoddyl, C++ on one thread; for ours everything from the character on,
coarse to fine (it: steps of all stages), from the rest pose. Thread CPU time, kernels compiled before, the least of three runs.
At the end crocoddyl's own example with the robot of its authors, ANYmal (walk and trot), as a measure of the machine.

There is no bar on the speed. Judged: ours solved; both walk as far as asked within 2 %; crocoddyl converges with its feet within
2 mm, or it would be no anchor. Needs crocoddyl 3.2 and pin 4.0.0 (the extra check-all).

Run: python benchmarks/how_fast_is_crocoddyl.py
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bunraku.character import Character
from bunraku.formats.registry import read_character, read_clip
from bunraku.motion import Gait
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
from bunraku.performers.locomotion.certificate import torque_use
from bunraku.performers.locomotion.played import play
from bunraku.performers.locomotion.solve import plan_motion

NOT_MEASURED = 77
"""Exit code of a benchmark that cannot be run here."""
GOAL, FOOT, ROUGH, RUNS, MOST = 0.02, 2e-3, 1e-3, 3, 500
CYCLE = 48
TIGHT = 1e4
HEAD = f"{'':32}{'nodes':>6}{'n':>6}{'it':>5}{'CPU s':>8}{'ms/it':>7}{'us/it/node':>12}{'gone m':>9}{'foot mm':>9}{'cone N':>9}{'torque':>8}"


def least(run: Callable[[], Any]) -> tuple[float, Any]:
    """Least thread CPU time [s] of several runs, and the last result."""
    spent = []
    for _ in range(RUNS):
        begin = time.thread_time()
        result = run()
        spent.append(time.thread_time() - begin)
    return min(spent), result


def show(name: str, nodes: int, size: int, iterations: int, seconds: float, found: tuple[float, ...] = ()) -> None:
    """Print one line; ``found``: distance [m], foot [m], cone [N], torque of the line."""
    each = seconds / iterations
    line = f"{name:32}{nodes:6d}{size:6d}{iterations:5d}{seconds:8.3f}{1e3 * each:7.1f}{1e6 * each / nodes:12.0f}"
    if found:
        line += f"{found[0]:9.4f}{1e3 * found[1]:9.4f}{max(found[2], 0.0):9.4f}{found[3]:8.2f}"
    print(line, flush=True)


def examine_ours(name: str, character: Character, gait: Gait, tolerance: float | None = None) -> list[str]:
    """Plan, print one line; what is wrong."""
    solver = AugmentedLagrangian() if tolerance is None else AugmentedLagrangian(tolerance=tolerance, stationarity=10.0 * tolerance)
    plan_motion(character, gait, solver=solver)
    seconds, planned = least(lambda: plan_motion(character, gait, solver=solver))
    plan, problem = planned.plan, planned.plan.problem
    off = problem.violations(plan.solution.z)
    foot = max(off["height over ground [m]"], off["slip [m]"])
    torque = torque_use(character, play(character, plan, 1, 200.0))[0]
    gone = plan.displacement[0]
    show(name, problem.samples, problem.size, sum(planned.iterations), seconds, (gone, foot, off["friction cone [N]"], torque))
    told = [] if plan.solution.status.good else [f"{name}: ended {plan.solution.status.name}"]
    assert gait.distance is not None
    goal = float(gait.distance[0] or 0.0)
    return told + ([f"{name}: went {gone:.4f} m, bar {goal:g} m within 2 %"] if abs(gone - goal) > GOAL * goal else [])


def examine_theirs(character: Character, gait: Gait, samples: int) -> list[str]:
    """Solve with crocoddyl as its examples do, then with tight cones; print two lines; what is wrong."""
    import crocoddyl

    from _crocoddyl import CONE, judge, state_walk, tighten

    walk = state_walk(character, gait, samples)
    problem = walk.problem
    still, torques = [walk.start] * (problem.T + 1), problem.quasiStatic([walk.start] * problem.T)

    def solve(xs: Any, us: Any) -> Any:
        solver = crocoddyl.SolverFDDP(problem)
        solver.solve(xs, us, MOST, False)
        return solver

    told = []
    seconds, first = least(lambda: solve(still, torques))
    more = size = 0
    for name, weight in (("crocoddyl, rest to rest", CONE), ("crocoddyl, rest to rest, tight", TIGHT)):
        solver = first
        if weight != CONE:
            tighten(walk, weight)
            extra, solver = least(lambda: solve(first.xs, first.us))
            more, seconds = first.iter, seconds + extra
        found = judge(walk, solver)
        size = problem.ndx * problem.T + sum(len(u) for u in solver.us)
        show(name, problem.T, size, more + solver.iter, seconds, (found.distance, found.foot, found.cone, found.torque))
        told += [] if solver.isFeasible and solver.stop <= solver.th_stop else [f"{name}: did not converge"]
        told += [f"{name}: feet {1e3 * found.foot:.1f} mm off, bar {1e3 * FOOT:g}"] if found.foot > FOOT else []
        if abs(found.distance - walk.length) > GOAL * walk.length:
            told.append(f"{name}: went {found.distance:.4f} m, bar {walk.length:g} m within 2 %")
    return told


def examine_stock() -> None:
    """The quadruped example that comes with crocoddyl, with its own settings; print a line each for walk and trot."""
    import crocoddyl
    import example_robot_data
    from crocoddyl.utils.quadruped import SimpleQuadrupedalGaitProblem

    model = example_robot_data.load("anymal").model
    start = np.concatenate([model.referenceConfigurations["standing"], np.zeros(model.nv)])
    feet = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
    for name, length, height in (("Walking", 0.25, 0.15), ("Trotting", 0.15, 0.1)):
        example = SimpleQuadrupedalGaitProblem(model, *feet)
        problem = getattr(example, f"create{name}Problem")(start, length, height, 1e-2, 25, 2)
        problem.nthreads = 1

        def solve(problem: Any = problem) -> Any:
            solver = crocoddyl.SolverFDDP(problem)
            solver.solve([start] * (problem.T + 1), problem.quasiStatic([start] * problem.T), 100, False)
            return solver

        seconds, solver = least(solve)
        size = problem.ndx * problem.T + sum(len(u) for u in solver.us)
        show(f"crocoddyl, ANYmal, {name.lower()}", problem.T, size, solver.iter, seconds)


def main() -> int:
    """Print the table; 1 when something is not solved, 77 without crocoddyl."""
    if any(importlib.util.find_spec(name) is None for name in ("crocoddyl", "pinocchio", "example_robot_data")):
        print("crocoddyl is not installed (pip install 'bunraku[check-all]'): nothing to compare with")
        return NOT_MEASURED
    character = read_character("walker")
    told = []
    for clip in ("crawl", "trot"):
        gait = read_clip(clip).gait
        assert gait is not None
        once = gait.changed(periodic=False, cycles=1, duration=1.5 * gait.duration, samples=CYCLE * 3 // 2 + 1)
        print(f"\n{clip}, steps of {1e3 * gait.duration / CYCLE:g} ms\n{HEAD}")
        told += examine_ours("ours, a cycle", character, gait.changed(samples=CYCLE))
        told += examine_ours("ours, rest to rest", character, once)
        told += examine_ours("ours, rest to rest, rough", character, once, ROUGH)
        told += examine_theirs(character, once, once.samples)
    print(f"\nits own example, steps of 10 ms\n{HEAD}")
    examine_stock()
    print(
        "\nnodes: samples, or intervals and landings; n: unknowns; it: steps of all stages; foot: off its place or slipping, worst;"
        "\ncone: force outside the friction cone, worst; torque: of the motor's torque-speed line, worst"
    )
    for line in told:
        print(line)
    print(f"every walk is one: {'NO' if told else 'yes'}")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
