"""How does motion planning scale? One Gauss-Newton iteration per sample from 12 to 400 samples, and a minute of choreography.

An iteration is the rows with their Jacobians, the assembly of blocks, their factorization, the step and the energy there. The
Swizzlebot's cycle of 0.1 s a sample couples its last sample with its first; the Agilebot's motion from rest to rest does not.
Thread CPU time of one core, best of several, kernels compiled before. Then the Agilebot rolls for a minute through a slalom of COM
targets, one every 2 s, planned whole from the rest pose. A plot is left at the path given by ``-o``.

Bars: time per sample within 1.5 times of each other over all lengths; the minute converges, its rows to 1e-6. Exit 1 below them.

Run: python benchmarks/how_does_locomotion_scale.py [-o locomotion-scaling.png] [--seconds 60]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from bunraku.formats.registry import read_character
from bunraku.motion import Gait, Target
from bunraku.optimization.blocks.descent import Descent
from bunraku.performers.locomotion.problem import MotionProblem
from bunraku.performers.locomotion.solve import Planned, plan_motion
from bunraku.performers.locomotion.state import state_problem

SAMPLES = (12, 24, 48, 100, 200, 400)
STEP, CONSTANT = 0.1, 1.5
"""Step [s] of the motions that grow; the largest ratio of times per sample."""
EVERY, ASIDE, SPEED, FINE = 2.0, 0.1, 0.25, 0.05
"""Of the choreography: time between targets [s], how far aside they lie [m], speed [m/s], step of the plan [s]."""


def growing(name: str, samples: int) -> MotionProblem:
    """The problem of a motion with that many samples, each of the same length of time."""
    gait = Gait(STEP * samples, distance=(0.04 * samples, 0.0), turn=0.0)
    if name == "agilebot":
        gait = Gait(STEP * (samples - 1), periodic=False, distance=(0.04 * samples, 0.0), turn=0.0)
    return state_problem(read_character(name), gait, samples=samples)


def iteration(problem: MotionProblem, times: int) -> float:
    """Least CPU time [s] of one iteration from near the rest pose."""
    z = problem.still()
    z[:-3] += 1e-3 * np.random.default_rng(0).standard_normal(len(z) - 3)
    found = []
    for _ in range(times):
        descent = Descent(problem, z, 10.0, problem.zero_shifts())
        descent.step(max_factorizations=1)
        begin = time.thread_time()
        descent.step(max_factorizations=1)
        found.append(time.thread_time() - begin)
    return min(found)


def choreography(seconds: float) -> tuple[Planned, float]:
    """A slalom of COM targets for that long [s], planned; and the CPU time [s] it took."""
    targets = [
        Target(EVERY * k, "com", (SPEED * EVERY * k, ASIDE * (-1) ** k, None), weight=500.0) for k in range(1, int(seconds / EVERY))
    ]
    gait = Gait(
        seconds,
        periodic=False,
        distance=(SPEED * seconds, 0.0),
        turn=0.0,
        targets=tuple(targets),
        samples=round(seconds / FINE) + 1,
    )
    character = read_character("agilebot")
    begin = time.thread_time()
    planned = plan_motion(character, gait)
    return planned, time.thread_time() - begin


def plot(path: Path, found: dict[str, list[float]], planned: Planned) -> None:
    """Time per sample against samples; the way of the minute."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(13, 4.8), layout="constrained")
    for name, times in found.items():
        left.semilogx(SAMPLES, [1e6 * t / n for t, n in zip(times, SAMPLES, strict=True)], "o-", label=name)
    left.set(xlabel="samples of the plan", ylabel="CPU time of an iteration per sample [µs]", title="One Gauss-Newton iteration")
    left.set_xticks(SAMPLES, [str(n) for n in SAMPLES])
    left.minorticks_off()
    left.set_ylim(bottom=0.0)
    left.grid(alpha=0.3)
    left.legend()
    q = planned.plan.q
    right.plot(q[:, 0], q[:, 1], lw=1, label="base")
    places = np.array([target.place[:2] for target in planned.gait.targets], dtype=np.float64)
    right.plot(places[:, 0], places[:, 1], "x", label="targets of the centre of mass")
    right.set(xlabel="x [m]", ylabel="y [m]", title=f"{planned.gait.duration:g} s of choreography, {len(q)} samples")
    right.grid(alpha=0.3)
    right.legend()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main() -> int:
    """Print the tables, leave the plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("locomotion-scaling.png"), help="where the plot goes")
    parser.add_argument("--seconds", type=float, default=60.0, help="length of the choreography")
    options = parser.parse_args()
    failed = []
    found: dict[str, list[float]] = {}
    for name in ("swizzlebot", "agilebot"):
        iteration(growing(name, SAMPLES[0]), 1)
        found[name] = [iteration(growing(name, n), max(3, 400 // n)) for n in SAMPLES]
        each = [1e6 * t / n for t, n in zip(found[name], SAMPLES, strict=True)]
        ratio = max(each) / min(each)
        print(f"{name}: " + ", ".join(f"{n} samples {1e3 * t:.2f} ms" for n, t in zip(SAMPLES, found[name], strict=True)))
        print(f"  per sample {', '.join(f'{t:.0f}' for t in each)} µs: within {ratio:.2f} of each other (at most {CONSTANT:g})")
        if ratio > CONSTANT:
            failed.append(f"{name}'s time per sample")
    planned, cpu = choreography(options.seconds)
    solution = planned.plan.solution
    print(
        f"{options.seconds:g} s of choreography: {planned.plan.problem.samples} samples, {planned.plan.problem.size} unknowns, "
        f"{solution.status.value} after {' + '.join(map(str, planned.iterations))} iterations and {cpu:.1f} s, "
        f"residual {solution.residual:.1e}"
    )
    if not solution.status.good or solution.residual > 1e-6:
        failed.append("the choreography")
    plot(options.output, found, planned)
    print(f"plot: {options.output}")
    if failed:
        print(f"below the bar: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
