"""How does retargeting grow? Time of one Gauss-Newton iteration against motors, modes, parameters and seconds of animation.

An iteration is a simulation of the motion at 2 ms, a linearization with forward sensitivities summed to normal equations, and a
quadratic program within the limits of the motors; a retargeting takes 3 to 20. On chains of motors and steel rods one thing grows
at a time (what else must grow with it is said in the title), and a power law is fitted to each; then the characters themselves.
Thread CPU time of one core, best of two, kernels compiled before. A plot is left at the path given by ``-o``. No bar: the figures
are the answer; it fails only when a problem cannot be simulated.

Run: python benchmarks/how_does_retargeting_grow.py [-o retargeting-growth.png] [NAME ...]    (characters; all if none is given)
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from _flexible import NAMES, case, spent
from _rods import STEEL, part
from bunraku.character import Body, Character, Joint, Motor, Pose
from bunraku.character.body import Frame
from bunraku.mechanics.flexible.reduced_parts import ReducedPart
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem, flexible_system
from bunraku.motion import JointCurves
from bunraku.performers.vibration.evaluate import evaluate, normal_equations
from bunraku.performers.vibration.problem import VibrationProblem, state_problem
from bunraku.performers.vibration.step import gauss_newton_step

LENGTH, LONG, BALL = 0.1, 0.4, 0.03
"""Of a link, and of the rod whose modes are counted [m]; mass of the ball at its end [kg]."""
SECONDS, DENSITY = 2.0, 20.0
"""Of the motion [s]; control points a second."""
STAGES = ("simulation", "sensitivities", "program", "whole")


@dataclass(frozen=True)
class Cost:
    """Sizes of a problem and times [s] of the stages of an iteration."""

    label: str
    motors: int
    modes: int
    parameters: int
    seconds: float
    times: tuple[float, ...]


def chain(motors: int, rods: int, length: float = LENGTH) -> Character:
    """``motors`` motors in a row, their axes turning x, y, x..., each with a link [m]; the last ``rods`` are flexible."""
    bodies, joints, flexibles = [], [], []
    for i in range(motors):
        hub, ball = f"hub {i}", f"ball {i}"
        bodies += [Body(name=hub), Body(name=ball, mass=BALL, inertia=(5e-6,) * 3 + (0.0,) * 3)]
        where = Pose(position=(0.0, 0.0, length))
        axis = (0.0, 1.0, 0.0) if i % 2 == 0 else (1.0, 0.0, 0.0)
        joints.append(Joint(name=f"turn {i}", kind="hinge", parent=f"ball {i - 1}" if i else "world", child=hub, axis=axis))
        joints.append(Joint(name=f"link {i}", kind="fixed", parent=hub, child=ball, pose=where))
        if i >= motors - rods:
            flexibles.append(part(f"rod {i}", hub, ball, length))
    return Character(
        name=f"chain of {motors} motors and {rods} rods",
        bodies=tuple(bodies),
        joints=tuple(joints),
        motors=tuple(Motor(name=f"motor {i}", coordinate=f"turn {i}", velocity=7.0, acceleration=250.0) for i in range(motors)),
        frames=(Frame(name="tip", body=f"ball {motors - 1}"),),
        materials=(STEEL,),
        flexibles=tuple(flexibles),
    )


@cache
def rod(modes: int, length: float) -> ReducedPart:
    """The last link's rod with so many bending modes a plane; all links take the same basis."""
    return flexible_system(chain(1, 1, length), modes=modes).parts["rod 0"]


def model(character: Character, modes: int, length: float) -> FlexibleCharacterSystem:
    """The system of a chain whose rods are all reduced alike."""
    alike = rod(modes, length)
    return flexible_system(character, reductions={each.name: replace(alike, part=each) for each in character.flexibles})


def sway(motors: int, seconds: float) -> JointCurves:
    """All motors begin to sway by up to 6 degrees in all, at 0.5 to 1.1 Hz."""
    t = np.arange(round(100 * seconds) + 1) / 100.0
    rate = np.linspace(0.5, 1.1, motors)
    rise = np.clip(t / 0.5, 0.0, 1.0) ** 2
    values = np.radians(6.0) / motors * rise[:, None] * np.sin(2.0 * np.pi * rate * t[:, None])
    return JointCurves(tuple(f"turn {i}" for i in range(motors)), 100.0, values)


def measured(label: str, problem: VibrationProblem, times: int = 2) -> Cost:
    """The cost of an iteration about the motion of the wish."""
    found = evaluate(problem, problem.wish)
    if not np.isfinite(found.cost):
        raise SystemExit(f"{label} cannot be simulated: {found.message}")
    normal = normal_equations(problem, found.point, problem.wish)
    each = (
        spent(lambda: evaluate(problem, problem.wish), times),
        spent(lambda: normal_equations(problem, found.point, problem.wish), times),
        spent(lambda: gauss_newton_step(problem, normal, problem.wish, 1e-2), times),
    )
    system, profile = problem.nominal.flexible.system, problem.profile
    modes = sum(part.reduction.segment.r for part in problem.nominal.flexible.parts.values())
    return Cost(label, system.nk, modes, len(problem.free), profile.steps * profile.dt, (*each, sum(each)))


def stated(motors: int, rods: int, *, modes: int = 2, length: float = LENGTH, seconds: float = SECONDS, points: int = 0) -> Cost:
    """The cost on a chain."""
    character = chain(motors, rods, length)
    points = points or round(DENSITY * seconds) + 3
    problem = state_problem(character, sway(motors, seconds), points=points, flexible=model(character, modes, length))
    return measured(f"{motors} motor{'s' * (motors > 1)}, {rods} rod{'s' * (rods > 1)}", problem)


def power(x: Sequence[float], y: Sequence[float]) -> float:
    """Exponent of y ~ x^power."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def growths() -> dict[str, tuple[str, list[float], list[Cost]]]:
    """Title -> (what grows, its values, costs)."""
    found: dict[str, tuple[str, list[float], list[Cost]]] = {}

    def add(title: str, what: str, costs: list[Cost]) -> None:
        values = [float(getattr(cost, what)) for cost in costs]
        found[title] = what, values, costs
        last = [cost.times[3] for cost in costs]
        late = power(values[-2:], last[-2:])
        print(
            f"\n{title}: the whole grows with {what} to the power {power(values, last):.2f} (last two {late:.2f}); ",
            end="",
        )
        print(", ".join(f"{name} {power(values, [c.times[k] for c in costs]):.2f}" for k, name in enumerate(STAGES[:3])))
        for cost in costs:
            show(cost)

    add("motors, one rod at the end (parameters too)", "motors", [stated(n, 1) for n in (1, 2, 4, 8)])
    add("motors, each with a rod (modes, parameters too)", "motors", [stated(n, n) for n in (1, 2, 3, 4, 6)])
    add("modes of one long rod", "modes", [stated(1, 1, modes=m, length=LONG) for m in (1, 2, 3, 4)])
    add("parameters of two motors", "parameters", [stated(2, 2, points=n) for n in (25, 50, 100, 200, 400)])
    add("seconds, 20 points a second (parameters too)", "seconds", [stated(2, 2, seconds=T) for T in (1.0, 2.0, 4.0, 8.0)])
    return found


def show(cost: Cost) -> None:
    """A row."""
    print(
        f"  {cost.label:22}{cost.motors:7d}{cost.modes:7d}{cost.parameters:12d}{cost.seconds:9.2f}"
        + "".join(f"{1e3 * t:14.1f}" for t in cost.times),
        flush=True,
    )


def plot(path: Path, found: dict[str, tuple[str, list[float], list[Cost]]], characters: list[Cost]) -> None:
    """Six panels: five things that grow, and the characters."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(15, 9), layout="constrained")
    for axis, (title, (what, values, costs)) in zip(axes.flat, found.items(), strict=False):
        for k, name in enumerate(STAGES):
            t = [cost.times[k] for cost in costs]
            axis.loglog(values, t, "o-" if k < 3 else "ks-", label=f"{name}: power {power(values, t):.2f}", lw=1 if k < 3 else 2)
        axis.set(title=title, xlabel=what, ylabel="CPU time of one iteration [s]")
        axis.set_xticks(values, [f"{value:g}" for value in values])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
        axis.margins(y=0.1)
        axis.legend(fontsize=8)
    axis = axes.flat[-1]
    for cost in characters:
        axis.loglog(cost.parameters, cost.times[3], "ks")
        axis.annotate(f" {cost.label}", (cost.parameters, cost.times[3]), va="top")
    axis.set(title="the characters", xlabel="free parameters", ylabel="CPU time of one iteration [s]")
    axis.set_xlim(50, 6000)
    axis.margins(y=0.15)
    axis.grid(alpha=0.3)
    figure.suptitle("How one Gauss-Newton iteration of retargeting grows (one core, steps of 2 ms)")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main() -> int:
    """Print the tables, leave the plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}, or none; all if not given")
    parser.add_argument("-o", "--output", type=Path, default=Path("retargeting-growth.png"), help="where the plot goes")
    options = parser.parse_args()
    names = [name for name in options.names or NAMES if name != "none"]
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(NAMES)}")
    stated(1, 1, seconds=0.5)
    print(f"{'':24}{'motors':>7}{'modes':>7}{'parameters':>12}{'seconds':>9}" + "".join(f"{name + ' ms':>14}" for name in STAGES))
    found = growths()
    print("\nthe characters:" if names else "")
    characters = []
    for name in names:
        characters.append(measured(name, case(name).problem(), times=1))
        show(characters[-1])
    if len(characters) > 2:
        exponent = power([cost.parameters for cost in characters], [cost.times[3] for cost in characters])
        print(f"over the characters, whose everything grows, with parameters to the power {exponent:.2f}")
    plot(options.output, found, characters)
    print(f"plot: {options.output}")
    return 0


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
