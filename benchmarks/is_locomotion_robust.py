"""Is locomotion robust? Every motion of Table 1 from random starts: do all converge, and to one motion?

A start is the rest pose at every sample with normal noise, its standard deviation 0.1 rad in each joint, 5 cm and 10 degrees in the
base, another one at every sample, and no forces at all. "Calmed": as bunraku.performers.locomotion.calmed solves it, which draws
the start home first; bars: every start CONVERGED with residual <= 1e-6, objectives within 1 % of each other. "Plain": the same
solver on the noise itself, without a bar, which shows what there is to fall into: other minima (better ones too), slow valleys.
Thread CPU time of one core, kernels compiled before.

Run: python benchmarks/is_locomotion_robust.py [--starts 30] [--plain 0] [NAME ...]     (of the rows of Table 1)
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from bunraku.formats.registry import read_character, read_clip
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
from bunraku.performers.locomotion.calmed import solve_from
from bunraku.performers.locomotion.problem import MotionProblem, Weights
from bunraku.performers.locomotion.state import state_problem
from locomotion import TABLE

SPREAD, RESIDUAL = 0.01, 1e-6
HEAD = (
    f"{'':15}{'':4}{'rest':>10}{'':2}{'converged':>10}{'residual':>10}{'objective':>11}{'spread':>9}"
    f"{'iterations':>16}{'CPU s':>16}\n{'motion':15}{'T':>4}{'objective':>10}{'':2}{'':>10}{'worst':>10}{'best':>11}{'':>9}"
    f"{'median':>9}{'most':>7}{'median':>9}{'most':>7}"
)


def noisy(problem: MotionProblem, seed: int) -> np.ndarray:
    """A random start (n,)."""
    rng, model = np.random.default_rng(seed), problem.model
    T, nv, _ = problem.shape
    z = problem.still()
    v = z[: T * nv].reshape(T, nv)
    v[:, :3] += 0.05 * rng.standard_normal((T, 3))
    v[:, 3:6] += np.deg2rad(10.0) * rng.standard_normal((T, 3))
    v[:, 6 : model.nq] += 0.1 * rng.standard_normal((T, model.nq - 6))
    v[:, model.nq :] = 0.0
    return z


def line(what: str, problem: MotionProblem, starts: int, solve) -> tuple[list[str], str]:
    """What is below its bars, and a line of figures."""
    found, seconds = [], []
    for seed in range(starts):
        start = noisy(problem, seed)
        begin = time.thread_time()
        found.append(solve(start))
        seconds.append(time.thread_time() - begin)
    good = [one for one in found if one.status.good]
    objectives = np.array([problem.objective(one.z) for one in good])
    worst = max((one.residual for one in found), default=0.0)
    spread = float(objectives.max() / objectives.min() - 1.0) if good else np.inf
    steps = np.array([one.iterations for one in found])
    told = [f"{starts - len(good)} of {starts} did not converge"] if len(good) < starts else []
    told += [f"residual {worst:.1e}"] if worst > RESIDUAL else []
    told += [f"objectives within {100 * spread:.1f} %"] if spread > SPREAD else []
    text = f"{len(good):7d}/{starts:<2d}{worst:10.1e}{objectives.min() if good else np.nan:11.5f}{100 * spread:8.2f}%"
    text += f"{np.median(steps):9.0f}{steps.max():7d}{np.median(seconds):9.2f}{max(seconds):7.2f}"
    return told, f"{text}  {what}"


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(TABLE)}; all if none is given")
    parser.add_argument("--starts", type=int, default=30, help="random starts of each motion, calmed")
    parser.add_argument("--plain", type=int, default=0, help="random starts of each motion that are not calmed")
    chosen = parser.parse_args()
    names = chosen.names or list(TABLE)
    if unknown := [name for name in names if name not in TABLE]:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(TABLE)}")
    print(HEAD)
    solver, below = AugmentedLagrangian(), {}
    for name in names:
        row = TABLE[name]
        gait = read_clip(row.clip).gait
        assert gait is not None
        problem = state_problem(read_character(row.robot), gait, samples=row.samples, weights=Weights(posture=row.posture))
        rest = problem.objective(solver.solve(problem, problem.still()).z)
        told, text = line("calmed", problem, chosen.starts, lambda start, problem=problem: solve_from(problem, start, solver))
        print(f"{name:15}{row.samples:4d}{rest:10.5f}  {text}", flush=True)
        below |= {name: told} if told else {}
        if chosen.plain:
            _, text = line("plain", problem, chosen.plain, lambda start, problem=problem: solver.solve(problem, start))
            print(f"{'':29}  {text}", flush=True)
    for name, told in below.items():
        print(f"{name} is below its bars: {'; '.join(told)}")
    print(f"all bars of {', '.join(names)} met: {'NO' if below else 'yes'}")
    return 1 if below else 0


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
