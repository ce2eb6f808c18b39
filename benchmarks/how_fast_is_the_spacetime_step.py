"""How fast is the space-time step of a skinned character, cold and again after the skin was seen to act otherwise?

A walk of each creature, its bodies as heavy as they are with their skin (the masses of its description, scaled to the total that is
stated), planned with 50 and 100 samples from the pose it stands in; then from three more starts, every joint moved by 0.05 rad and
every sample by 0.02 rad (normal); then again with a motion to follow 0.01 rad away, and with the skin's masses 1 mm, its torques
0.05 N·m and a stiffness of 0.2 N·m/rad away. Weights are those of the performer. Thread CPU time of one core, kernels compiled
before. Bars: 3 s with 50 samples, 6 s with 100, a plan again 0.5 s; soles within 5 mm of their curves, residual 1e-6, cost of all
four starts within 1e-3.

Run: python benchmarks/how_fast_is_the_spacetime_step.py [NAME ...] [--level WEIGHT] [--torque WEIGHT]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bunraku.character import Character
from bunraku.formats.registry import read_character
from bunraku.motion import Gait
from bunraku.performers.skin.performer import SkinPerformer
from bunraku.performers.skin.spacetime.effect import SkinEffect
from bunraku.performers.skin.spacetime.plan import SpacetimePlan
from bunraku.performers.skin.spacetime.solve import replan, solve_spacetime
from bunraku.performers.skin.spacetime.stance import crouched
from bunraku.performers.skin.spacetime.state import state_spacetime
from bunraku.performers.skin.spacetime.weights import WEIGHTS, SpacetimeWeights

BARS = {50: 3.0, 100: 6.0}
AGAIN = 0.5


@dataclass(frozen=True)
class Case:
    """A creature's walk: total mass [kg], duration of a cycle [s], distance [m], lift [m], how far it crouches [m]."""

    mass: float
    duration: float
    distance: float
    lift: float
    drop: float


CASES = {
    "beetle": Case(3.9, 2.5, 0.04, 0.02, 0.008),
    "monster": Case(11.9, 1.6, 0.1, 0.03, 0.0),
    "lizard": Case(10.8, 2.5, 0.12, 0.03, 0.0),
}


def laden(character: Character, mass: float) -> Character:
    """The character with masses and inertias scaled to a total."""
    share = mass / sum(body.mass for body in character.bodies)
    bodies = tuple(
        body.changed(mass=share * body.mass, inertia=tuple(share * part for part in body.inertia)) for body in character.bodies
    )
    return character.changed(bodies=bodies)


def timed(run: Callable[[], SpacetimePlan]) -> tuple[SpacetimePlan, float]:
    """A plan and the CPU seconds it took."""
    begin = time.thread_time()
    plan = run()
    return plan, time.thread_time() - begin


def moved(plan: SpacetimePlan, rng: np.random.Generator) -> np.ndarray:
    """Another start."""
    problem = plan.problem
    nq, z = problem.model.nq, problem.still()
    v = z[:-3].reshape(problem.samples, -1)
    v[:, :nq] += 0.05 * rng.standard_normal(nq) + 0.02 * rng.standard_normal((problem.samples, nq))
    return z


def otherwise(plan: SpacetimePlan, rng: np.random.Generator) -> SkinEffect:
    """A skin that acts otherwise, the same at all samples."""
    model, samples = plan.problem.model, plan.problem.samples
    return SkinEffect(
        np.tile(1e-3 * rng.standard_normal((1, len(model.points[0]) // 4, 3)), (samples, 1, 1)),
        torque=np.tile(0.05 * rng.standard_normal(model.nq), (samples, 1)),
        stiffness=0.2 * np.eye(model.nq),
    )


def examine(name: str, case: Case, samples: int, weights: SpacetimeWeights) -> list[str]:
    """Plan, print one line; the bars missed."""
    character = laden(read_character(name), case.mass)
    gait = Gait(case.duration, pattern="crawl", distance=(case.distance, 0.0), turn=0.0, swing_height=case.lift, samples=samples)
    stance = crouched(character, case.drop) if case.drop else None
    problem = state_spacetime(character, gait, stance=stance, weights=weights)
    problem.assemble(problem.still(), 1.0, problem.zero_shifts())
    plan, cold = timed(lambda: solve_spacetime(problem))
    rng = np.random.default_rng(1)
    others = [timed(lambda: solve_spacetime(problem, moved(plan, rng))) for _ in range(3)]
    followed, following = timed(lambda: replan(plan, joints=plan.q + 0.01 * rng.standard_normal(problem.model.nq)))
    acted, acting = timed(lambda: replan(plan, otherwise(plan, rng)))
    feet = problem.tracks.feet
    assert feet is not None
    off = 1e3 * float(np.abs(plan.moved[1] - feet).max())
    spread = max(abs(one.objective / plan.objective - 1.0) for one, _ in others)
    worst = max(one.residual for one in (plan, followed, acted, *(other for other, _ in others)))
    print(
        f"{name:9}{samples:4d}{problem.size:7d}{plan.iterations:5d}{cold:8.2f}{max(seconds for _, seconds in others):9.2f}"
        f"{following:9.2f}{acting:8.2f}{off:8.2f}{float(np.abs(plan.torque).max()):9.2f}{worst:10.1e}{spread:10.1e}",
        flush=True,
    )
    told = [f"{cold:.1f} s, bar {BARS[samples]:g}"] if cold > BARS[samples] else []
    told += [f"again {max(following, acting):.2f} s, bar {AGAIN:g}"] if max(following, acting) > AGAIN else []
    told += [f"soles {off:.1f} mm off"] if off > 5.0 else []
    told += [f"residual {worst:.1e}"] if worst > 1e-6 else []
    told += [f"costs differ by {spread:.1e}"] if spread > 1e-3 else []
    return told


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)}; all if none is given")
    parser.add_argument("--level", type=float, default=WEIGHTS.level, help="weight of flat soles")
    parser.add_argument("--torque", type=float, default=SkinPerformer().torque, help="weight of torques")
    chosen = parser.parse_args()
    names, weights = chosen.names or list(CASES), SpacetimeWeights(level=chosen.level, torque=chosen.torque)
    if unknown := [name for name in names if name not in CASES]:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(CASES)}")
    print(
        f"{'':25}{'CPU seconds':>34}{'soles':>8}{'torque':>9}{'residual':>10}{'cost':>10}\n"
        f"{'creature':9}{'T':>4}{'n':>7}{'it':>5}{'cold':>8}{'starts':>9}{'follow':>9}{'skin':>8}{'mm off':>8}{'N·m':>9}"
        f"{'most':>10}{'spread':>10}"
    )
    below = {}
    for name in names:
        for samples in BARS:
            below |= {f"{name} {samples}": told} if (told := examine(name, CASES[name], samples, weights)) else {}
    for name, told in below.items():
        print(f"{name} is below its bars: {'; '.join(told)}")
    print(f"all bars of {', '.join(names)} met: {'NO' if below else 'yes'}")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
