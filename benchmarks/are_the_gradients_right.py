"""Are the gradients right? The discrete adjoint against central differences and against forward sensitivities, on every character.

Of each character's own problem (model, loops, tracked places, emphasis, regularizers, spline density of its demo) a stretch of the
clip is taken in which most motors move, 0.6 s or as long as that needs, at a point a random 0.01 rad away from the wish in every
free parameter, so that all motors move (by half a degree or more). There, in 20 random directions d over all free parameters:
(F(p + h d) - F(p - h d)) / 2h against g.d, g the gradient of the adjoint, relative to g.d; h = 3e-6 rad, below which differences
no longer get better as h^2; and g against the gradient that forward sensitivities sum up, relative in the maximum norm. Bars: 1e-6
and 1e-10. Slope: the least |g.d| of the directions beside |g|, where differences have the hardest time. Cut: steps that had to be
made of shorter ones, at which derivatives are not exact.

Run: python benchmarks/are_the_gradients_right.py [NAME ...]
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from _flexible import NAMES, Case, case
from bunraku.mechanics.integrators.driven.linearization import linearize_motion
from bunraku.performers.vibration.evaluate import Evaluation, cost_and_gradient, evaluate
from bunraku.performers.vibration.problem import VibrationProblem

DIRECTIONS, STEP = 20, 3e-6
DIFFERENCE_THRESHOLD, FORWARD_THRESHOLD = 1e-6, 1e-10
SHORTEST, LONGEST, MOVES = 0.6, 2.0, np.radians(1.0)


def stretch(one: Case) -> tuple[float, float]:
    """Start and length [s] of a short stretch of the clip in which every motor that the clip moves at all moves by a degree."""
    wish = one.wish
    moving = np.ptp(wish.values, axis=0) > MOVES
    best = (0.0, min(LONGEST, wish.duration), -1)
    for seconds in np.arange(SHORTEST, LONGEST + 1e-9, 0.2):
        width = round(seconds * wish.rate) + 1
        for first in range(0, max(1, len(wish.values) - width), max(1, width // 6)):
            moved = int((np.ptp(wish.values[first : first + width, moving], axis=0) > MOVES).sum())
            if moved > best[2]:
                best = (first / wish.rate, float(seconds), moved)
        if best[2] == moving.sum():
            break
    return best[:2]


def forward(problem: VibrationProblem, found: Evaluation) -> np.ndarray:
    """The gradient by forward sensitivities, regularizers included."""
    gradient = problem.regularizer(found.parameters)[1]
    for scenario, motion in zip(problem.scenarios, found.motions, strict=True):
        line = linearize_motion(motion)
        normal = line.normal_equations(problem.curves, scenario.outputs, scenario.targets, problem.weights, stride=problem.stride)
        gradient = gradient + normal.gradient / len(problem.scenarios)
    return gradient


def examine(name: str) -> bool:
    """Print a row; whether both bars are met."""
    start, seconds = stretch(case(name))
    one = case(name).part(start, seconds)
    problem = one.problem()
    rng = np.random.default_rng(20)
    p = problem.with_free(problem.wish, 0.01 * rng.normal(size=len(problem.free)))
    moved = int((np.ptp(problem.angles(p), axis=0) > 0.5 * MOVES).sum())
    clock = time.thread_time()
    cost, gradient, found = cost_and_gradient(problem, p)
    adjoint = time.thread_time() - clock
    if not np.isfinite(cost):
        print(f"{name:10} cannot be simulated there: {found.message}")
        return False
    cut = sum(int((motion.parts > 1).sum()) for motion in found.motions)
    ahead = forward(problem, found)
    apart = float(np.abs(ahead - gradient).max() / np.abs(gradient).max())
    off, slopes = np.empty(DIRECTIONS), np.empty(DIRECTIONS)
    for k in range(DIRECTIONS):
        d = rng.normal(size=len(problem.free))
        slopes[k] = slope = float(gradient @ d)
        high, low = (evaluate(problem, problem.with_free(p, sign * STEP * d)).cost for sign in (1.0, -1.0))
        off[k] = abs((high - low) / (2.0 * STEP) - slope) / abs(slope)
    least = float(np.abs(slopes).min() / np.linalg.norm(gradient))
    worst, typical = float(off.max()), float(np.median(off))
    met = worst <= DIFFERENCE_THRESHOLD and apart <= FORWARD_THRESHOLD
    system = problem.nominal.flexible.system
    print(
        f"{name:10}{start:6.2f}-{start + seconds:<5.2f}{f'{moved}/{system.nk}':>8}{system.nd:6d}{system.nc:6d}"
        f"{len(problem.free):12d}{worst:13.1e}{typical:10.1e}{least:9.0e}{apart:13.1e}{cut:6d}{adjoint:9.2f}"
        f"{'' if met else '   ABOVE ITS BAR'}",
        flush=True,
    )
    return met


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all if none is given")
    names = parser.parse_args().names or NAMES
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(NAMES)}")
    print(
        f"{'':10}{'seconds':>12}{'moving':>7}{'coord':>6}{'loops':>6}{'parameters':>12}{'differences':>13}{'median':>10}"
        f"{'slope':>9}{'forward':>13}{'cut':>6}{'CPU s':>9}"
    )
    met = [examine(name) for name in names]
    print(
        f"worst of {DIRECTIONS} directions within {DIFFERENCE_THRESHOLD:g}, forward sensitivities within {FORWARD_THRESHOLD:g}: ",
        end="",
    )
    print("yes" if all(met) else "NO")
    return 0 if all(met) else 1


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
