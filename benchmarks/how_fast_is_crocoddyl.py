"""How fast is crocoddyl? It and ours walk the same robot with the same footfalls over the same distance, in one process.

The four-legged walker (12 motors, 1.7 kg) crawls 0.12 m and trots 0.1 m: as a cycle (ours only: crocoddyl has no periodic motions),
and once through the same footfalls from rest to rest, in steps as long, which both do. What differs:

* model: crocoddyl (FDDP) has the dynamics of the whole body with torques as controls, 48 unknowns a node; ours that of the centre
  of mass and of the angular momentum of all bodies, the joints' torques by inequalities, 30 unknowns a sample. Its feet are points.
* asked: crocoddyl is GIVEN where the feet step, how they swing and how the centre of mass advances; ours FINDS where and how.
* met: in crocoddyl friction, joint limits and goal are penalties and torques have no limit; ours meets every row to 1e-6.

"Rough" stops ours at 1e-3, and crocoddyl when a step promises less than 1e-3 of a cost of about 10 (else 1e-9, its default).
"Tight": once solved, its cones are weighed 1000 times more and it goes on from there. Time: for crocoddyl the solver alone, C++ on
one thread; for ours all from the character on, coarse to fine, from the rest pose. Thread CPU time, kernels compiled before, the
least of three. At the end crocoddyl's own example with its settings and robot, ANYmal, as a measure of the machine.

There is no bar on the speed. Judged: ours is solved; both walk as far as asked within 2 %; crocoddyl converges with its feet within
2 mm of their places, else it were no anchor; both have the same robot. Needs crocoddyl 3.2.1 and pin 4.0.0 (extra check-all).

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
from bunraku.gait.patterns import footfalls
from bunraku.mechanics.centroidal.kinematics import center_of_mass
from bunraku.mechanics.centroidal.model import centroidal_model
from bunraku.motion import Gait
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
from bunraku.performers.locomotion.certificate import torque_use
from bunraku.performers.locomotion.played import play
from bunraku.performers.locomotion.solve import plan_motion
from bunraku.performers.locomotion.state import stages

NOT_MEASURED = 77
"""Exit code of a benchmark that cannot be run here."""
GOAL, FOOT, SAME = 0.02, 2e-3, 1e-9
ROUGH, STOP, TIGHT = 1e-3, 1e-9, 1e4
CYCLE, RUNS, MOST = 48, 3, 500
HEAD = (
    f"{'':32}{'nodes':>6}{'n':>6}{'it':>5}{'CPU s':>8}{'ms/it':>7}{'us/it/node':>12}"
    f"{'gone m':>9}{'foot mm':>9}{'cone N':>9}{'torque':>8}"
)


def least(run: Callable[[], Any]) -> tuple[float, Any]:
    """Least thread CPU time [s] of several runs, and the last result."""
    spent = []
    for _ in range(RUNS):
        begin = time.thread_time()
        result = run()
        spent.append(time.thread_time() - begin)
    return min(spent), result


def show(name: str, size: int, steps: dict[int, int], seconds: float, found: tuple[float, ...] = ()) -> None:
    """Print one line; ``steps``: how many with how many nodes; ``found``: distance [m], foot [m], cone [N], torque of the line."""
    count, visits = sum(steps.values()), sum(nodes * times for nodes, times in steps.items())
    line = f"{name:32}{max(steps):6d}{size:6d}{count:5d}{seconds:8.3f}{1e3 * seconds / count:7.1f}{1e6 * seconds / visits:12.0f}"
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
    steps = dict(zip(stages(gait, footfalls(character, gait)), planned.iterations, strict=True))
    show(name, problem.size, steps, seconds, (gone, foot, off["friction cone [N]"], torque))
    told = [] if plan.solution.status.good else [f"{name}: ended {plan.solution.status.name}"]
    assert gait.distance is not None
    goal = float(gait.distance[0] or 0.0)
    return told + ([f"{name}: went {gone:.4f} m, bar {goal:g} m within 2 %"] if abs(gone - goal) > GOAL * goal else [])


def examine_theirs(character: Character, gait: Gait) -> list[str]:
    """Solve with crocoddyl as its examples do, roughly, and with tight cones; print three lines; what is wrong."""
    import crocoddyl

    from _crocoddyl import judge, state_walk, tighten

    walk = state_walk(character, gait, gait.samples)
    problem, told = walk.problem, []

    def solve(xs: Any, us: Any, stop: float) -> Any:
        solver = crocoddyl.SolverFDDP(problem)
        solver.th_stop = stop
        solver.solve(xs, us, MOST, False)
        return solver

    def report(name: str, solver: Any, iterations: int, seconds: float) -> None:
        found = judge(walk, solver)
        size = problem.ndx * problem.T + sum(len(u) for u in solver.us)
        show(name, size, {problem.T: iterations}, seconds, (found.distance, found.foot, found.cone, found.torque))
        told.extend([] if solver.isFeasible and solver.stop <= solver.th_stop else [f"{name}: did not converge"])
        told.extend([f"{name}: feet {1e3 * found.foot:.1f} mm off, bar {1e3 * FOOT:g}"] if found.foot > FOOT else [])
        if abs(found.distance - walk.length) > GOAL * walk.length:
            told.append(f"{name}: went {found.distance:.4f} m, bar {walk.length:g} m within 2 %")

    still, torques = [walk.start] * (problem.T + 1), problem.quasiStatic([walk.start] * problem.T)
    seconds, rough = least(lambda: solve(still, torques, ROUGH))
    report("crocoddyl, rest to rest, rough", rough, rough.iter + 1, seconds)
    seconds, first = least(lambda: solve(still, torques, STOP))
    report("crocoddyl, rest to rest", first, first.iter + 1, seconds)
    tighten(walk, TIGHT)
    more, tight = least(lambda: solve(first.xs, first.us, STOP))
    report("crocoddyl, rest to rest, tight", tight, first.iter + tight.iter + 2, seconds + more)
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
        torques = problem.quasiStatic([start] * problem.T)

        def solve(problem: Any = problem, torques: Any = torques) -> Any:
            solver = crocoddyl.SolverFDDP(problem)
            solver.solve([start] * (problem.T + 1), torques, 100, False)
            return solver

        seconds, solver = least(solve)
        size = problem.ndx * problem.T + sum(len(u) for u in solver.us)
        show(f"crocoddyl, ANYmal, {name.lower()}", size, {problem.T: solver.iter + 1}, seconds)


def examine_robot(character: Character) -> list[str]:
    """Whether both programs have the same robot: mass, and centre of mass at a random pose of the joints; what is wrong."""
    import pinocchio

    from _crocoddyl import robot_of

    model, pose, _ = robot_of(character)
    ours = centroidal_model(character)
    q = ours.home.copy()
    q[6:] += np.random.default_rng(0).uniform(-1.0, 1.0, ours.nq - 6)
    for name, angle in zip(ours.names[6:], q[6:], strict=True):
        pose[model.joints[model.getJointId(name)].idx_q] = angle
    data = model.createData()
    apart = float(np.linalg.norm(pinocchio.centerOfMass(model, data, pose) - center_of_mass(ours, q)))
    heavier = abs(float(data.mass[0]) - ours.mass)
    print(f"the robot in both: {ours.mass:.4f} kg, {heavier:.0e} apart; its centre of mass at a random pose {apart:.0e} m apart")
    return ["the robots differ"] if max(apart, heavier) > SAME else []


def main() -> int:
    """Print the table; 1 when something is not solved, 77 without crocoddyl."""
    if any(importlib.util.find_spec(name) is None for name in ("crocoddyl", "pinocchio", "example_robot_data")):
        print("crocoddyl is not installed (pip install 'bunraku[check-all]'): nothing to compare with")
        return NOT_MEASURED
    character = read_character("walker")
    told = examine_robot(character)
    for clip in ("crawl", "trot"):
        gait = read_clip(clip).gait
        assert gait is not None
        once = gait.changed(periodic=False, cycles=1, duration=1.5 * gait.duration, samples=CYCLE * 3 // 2 + 1)
        print(f"\n{clip}, steps of {1e3 * gait.duration / CYCLE:g} ms\n{HEAD}")
        told += examine_ours("ours, a cycle", character, gait.changed(samples=CYCLE))
        told += examine_ours("ours, rest to rest, rough", character, once, ROUGH)
        told += examine_ours("ours, rest to rest", character, once)
        told += examine_theirs(character, once)
    print(f"\nits own example, steps of 10 ms\n{HEAD}")
    examine_stock()
    print(
        "\nnodes: samples, or intervals and landings; n: unknowns; it: steps of all stages; worst foot off its place (ours: height,"
        "\nslip), worst force outside the friction cone, largest torque as a share of the motor's torque-speed line"
    )
    for line in told:
        print(line)
    print(f"every walk is one: {'NO' if told else 'yes'}")
    return 1 if told else 0


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
