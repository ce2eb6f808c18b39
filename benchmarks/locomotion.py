"""Locomotion: the paper's Table 1 beside ours, every motion planned from the rest pose, and IPOPT on the same problem.

Samples, horizon and goal are the paper's (Geilinger et al. 2018; start and stop in 0.8 s needs a friction of 1; the choreographies
and the angle of the turn in place are ours). Ours is thread CPU time of one core with kernels compiled before, the best of three;
the paper's is wall clock on its hardware, for its own robots. IPOPT (MUMPS) is given the same rows as hard constraints with exact
sparse derivatives by CasADi, written independently (tests/oracles), from the same start in the same process; "algebra" is its time
without those functions. "From ours": IPOPT started at our solution, which shows whether that is an optimum where IPOPT fails or
finds another one. Bars: residual <= 1e-6 unscaled, goal within 2 %, a fifth of the paper's time, half of IPOPT's where it solves,
objective at most 0.5 % above IPOPT's (from the rest pose where it solves, else from ours). Needs CasADi (extra bench).

Run: python benchmarks/locomotion.py [NAME ...]     (of the rows of the table; all if none is given)
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bunraku.formats.registry import read_character, read_clip
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian, AugmentedSolution
from bunraku.performers.locomotion.plan import MotionPlan
from bunraku.performers.locomotion.problem import MotionProblem, Weights
from bunraku.performers.locomotion.state import state_problem

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "oracles"))

NOT_MEASURED = 77
"""Exit code of a benchmark that cannot be run here."""


@dataclass(frozen=True)
class Row:
    """A row of Table 1: robot, clip, samples, the paper's parameters and seconds (None: interactive).

    ``posture``: the weight of the home pose, the performer's own or that of the demo.
    """

    robot: str
    clip: str
    samples: int
    parameters: int
    seconds: float | None
    posture: float = 2e-3


TABLE = {
    "swizzle": Row("swizzlebot", "swizzle", 12, 648, 4.5),
    "swizzle-turn": Row("swizzlebot", "swizzle-turn", 12, 648, 3.4, 1e-2),
    "walk": Row("creature3", "walk-tripod", 12, 504, 1.3),
    "fast-walk": Row("creature3", "fast-walk", 12, 504, 2.5),
    "walk-turn": Row("creature3", "turn-tripod", 12, 504, 1.5),
    "brain-swizzle": Row("brainbot", "brain-swizzle", 24, 1008, 5.7),
    "brain-turn": Row("brainbot", "brain-turn", 12, 504, 5.9),
    "start-stop": Row("agilebot", "start-stop-fast", 12, 696, 5.2),
    "turn-in-place": Row("agilebot", "turn-in-place", 12, 696, 1.1, 1e-2),
    "slalom": Row("agilebot", "slalom", 24, 1392, None),
    "side-step": Row("agilebot", "side-step", 37, 2088, None, 1e-2),
    "skate": Row("skatebot", "skate", 12, 696, 11.3),
    "dino-skate": Row("dinobot", "dino-skate", 12, 1140, 11.0),
}
HEAD = (
    f"{'':15}{'':6}{'paper':>14}{'ours':>39}{'IPOPT from rest':>43}{'from ours':>15}{'ratios':>20}\n"
    f"{'motion':15}{'T':>3}{'n':>6}{'n':>6}{'s':>6}{'it':>6}{'s':>8}{'residual':>10}{'objective':>11}"
    f"{'it':>6}{'s':>7}{'algebra':>9}{'violation':>11}{'objective':>11}{'it':>5}{'objective':>11}{'paper':>8}{'IPOPT':>7}"
)


def best(run, times: int = 3):
    """Least thread CPU time [s] of several runs, and the last result."""
    spent = []
    for _ in range(times):
        begin = time.thread_time()
        result = run()
        spent.append(time.thread_time() - begin)
    return min(spent), result


def goal_missed(problem: MotionProblem, solution: AugmentedSolution) -> float:
    """How far the motion is from its goal, of the goal (of 0.1 m or rad where that is zero)."""
    gone, goal = np.array(MotionPlan(problem, solution).displacement), np.array(problem.travel)
    wanted = np.isfinite(goal)
    size = max(0.1, float(np.abs(goal[wanted]).max(initial=0.0)))
    return float(np.abs((gone - goal)[wanted]).max(initial=0.0)) / size


def examine(name: str, row: Row, compare: bool) -> list[str]:
    """Solve, print one line; the bars missed."""
    from casadi_locomotion import oracle_of

    character, gait = read_character(row.robot), read_clip(row.clip).gait
    assert gait is not None
    problem = state_problem(character, gait, samples=row.samples, weights=Weights(posture=row.posture))
    solver, start = AugmentedLagrangian(), problem.still()
    seconds, ours = best(lambda: solver.solve(problem, start))
    objective = problem.objective(ours.z)
    told = [] if ours.status.good else [f"ended {ours.status.name}"]
    told += [f"residual {ours.residual:.1e}, bar 1e-6"] if ours.residual > 1e-6 else []
    off = goal_missed(problem, ours)
    told += [f"goal missed by {100 * off:.1f} %, bar 2 %"] if off > 0.02 else []
    paper = "-" if row.seconds is None else f"{row.seconds:.1f}"
    line = f"{name:15}{row.samples:3d}{row.parameters:6d}{problem.size:6d}{paper:>6}"
    line += f"{ours.iterations:6d}{seconds:8.3f}{ours.residual:10.1e}{objective:11.5f}"
    faster = "-" if row.seconds is None else f"x{row.seconds / seconds:.0f}"
    if row.seconds is not None and seconds > row.seconds / 5.0:
        told.append(f"{seconds:.2f} s, bar {row.seconds / 5.0:.2f} s")
    if not compare:
        print(f"{line}{'':60}{faster:>8}", flush=True)
        return told
    oracle = oracle_of(character, problem, gait.locked)
    theirs = oracle.solve_ipopt(start)
    polished = oracle.polish_ipopt(ours.z)
    solved = theirs.solved and theirs.violation <= 1e-5
    mark = "" if solved else "fails"
    line += f"{theirs.iterations:6d}{theirs.cpu:7.2f}{theirs.cpu - theirs.functions:9.2f}{theirs.violation:11.1e}"
    line += f"{mark or f'{theirs.objective:.5f}':>11}{polished.iterations:5d}"
    line += f"{f'{polished.objective:.5f}' if polished.solved else 'fails':>11}"
    print(f"{line}{faster:>8}{f'x{theirs.cpu / seconds:.0f}' if solved else '-':>7}", flush=True)
    if solved and seconds > theirs.cpu / 2.0:
        told.append(f"{seconds:.2f} s against IPOPT's {theirs.cpu:.2f} s, bar half")
    reference = theirs if solved else polished
    if (reference.solved or solved) and objective > 1.005 * reference.objective:
        told.append(f"objective {objective:.5f} against {reference.objective:.5f} of IPOPT, bar 0.5 %")
    return told


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(TABLE)}; all if none is given")
    parser.add_argument("--alone", action="store_true", help="ours only, without IPOPT")
    chosen = parser.parse_args()
    names = chosen.names or list(TABLE)
    unknown = [name for name in names if name not in TABLE]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(TABLE)}")
    if not chosen.alone:
        try:
            import casadi  # noqa: F401
        except ImportError:
            print("CasADi is not installed (extra bench): nothing to compare with; --alone prints our own figures")
            return NOT_MEASURED
    print(HEAD)
    below = {}
    for name in names:
        below |= {name: told} if (told := examine(name, TABLE[name], not chosen.alone)) else {}
    print("ratios: the paper's seconds over ours, IPOPT's over ours; n: unknowns")
    for name, told in below.items():
        print(f"{name} is below its bars: {'; '.join(told)}")
    print(f"all bars of {', '.join(names)} met: {'NO' if below else 'yes'}")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
