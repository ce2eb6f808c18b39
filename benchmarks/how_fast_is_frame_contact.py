"""How fast is frame contact? Coulomb contact of 20 patches alone, and the torques of whole frames with it inside.

Stress: 1,000 random problems (soft soles on a body, friction .05 to 1.5) beside projected Gauss-Seidel. Frames: a quadruped of
12 hinges, linear about its stance, that stands, is pushed, lifts a foot, and shifts its weight with the centre of pressure held;
each frame warm from the last, and judged by the independent check; relabelling beside it on the same problems. Thread CPU time.
Bars: no failure; every frame passes the check and meets its rows; median <= 10 ms, most <= 40 ms a frame; Gauss-Seidel equal to
1e-6. Run: python benchmarks/how_fast_is_frame_contact.py
"""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np

from bunraku.mechanics.contact.check import check_contact
from bunraku.mechanics.contact.coulomb import solve_contact
from bunraku.performers.skin.frame.problem import FrameProblem, FrameStep
from bunraku.performers.skin.frame.torque_step import step_torques

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "oracles"))

from gauss_seidel import solve_by_gauss_seidel

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.insert(0, str(TESTS / "oracles"))
from relabelling import step_by_relabelling  # noqa: E402 (beside the tests)

SCENES = {
    "stand, mu .8": {"mu": 0.8},
    "push 22 N, mu .4": {"mu": 0.4, "push": 22.0},
    "push 22 N, mu .8": {"mu": 0.8, "push": 22.0},
    "lift, mu .8": {"mu": 0.8, "lift": 0.15},
    "lift, mu .3": {"mu": 0.3, "lift": 0.3},
    "shift and lift, COP rows": {"mu": 0.8, "lift": 0.1, "sway": 0.015, "rows": True},
}
"""Friction, push [N], angle of the lifted leg [rad], sway of the body [m], whether three feet must hold the pressure."""


def fixtures(folder: str) -> ModuleType:
    """The problems of the tests: the file of fixtures in one of their folders."""
    place = TESTS / folder / "conftest.py"
    spec = importlib.util.spec_from_file_location(folder.replace("/", "_"), place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timed(run, *data, **options):
    begin = time.thread_time()
    result = run(*data, **options)
    return result, 1e3 * (time.thread_time() - begin)


def stress(problem, count: int = 1000) -> bool:
    rng = np.random.default_rng(0)
    solve_contact(*problem(rng))
    spent, sweeping, steps, errors, failures, rescued = [], [], [], [], 0, 0
    for _ in range(count):
        W, u0, gap, mu = problem(rng)
        found, ms = timed(solve_contact, W, u0, gap, mu)
        (oracle, _, settled), slow = timed(solve_by_gauss_seidel, W, u0, gap, mu)
        failures += not (found.status.good and settled.good and check_contact(W, u0, gap, mu, found.F).ok)
        errors.append(np.abs(found.F - oracle).max() / max(np.abs(oracle).max(), 1e-3))
        spent, sweeping, steps = [*spent, ms], [*sweeping, slow], [*steps, found.newton_steps]
        rescued += found.rescues > 0
    print(f"contact alone, {count} problems: {failures} failures, Gauss-Seidel differs by {max(errors):.0e} at most")
    print(f"  Newton {np.median(spent):.2f} ms ({max(spent):.2f}), {np.median(steps):.0f} ({max(steps)}) steps, rescued {rescued}")
    print(f"  Gauss-Seidel {np.median(sweeping):.2f} ms ({max(sweeping):.2f})")
    return failures == 0 and max(errors) <= 1e-6 and np.median(spent) <= 10.0 and max(spent) <= 40.0


def frames(body, count: int, push: float = 0.0, lift: float = 0.0, sway: float = 0.0, rows: bool = False):
    """Yield (problem, step, last force, ms) of a live run."""
    tau, F = np.zeros(12), np.zeros((20, 3))
    for k in range(count):
        target, force = np.zeros(18), np.array([push * min(1.0, k / 30.0), 0.0, 0.0])
        target[:2] = -sway * min(1.0, k / 20.0)
        target[7:9] = lift * np.clip((k - 20) / 20.0, 0.0, 1.0) * np.array([1.0, -1.0])
        C = body.pressure_rows(np.arange(5, 20), 0.005) if rows and k >= 20 else np.zeros((0, 72))
        problem = body.problem(target, force, C=C, d=np.zeros(len(C)))
        step, ms = timed(step_torques, problem, tau, F)
        yield problem, step, F, ms
        body.advance(force, problem, step)
        tau, F = step.tau, step.F


def scene(name: str, body, count: int = 60, **options) -> bool:
    spent, peer, good, peer_good, outer, solves = [], [], 0, 0, [], []
    for problem, step, F, ms in frames(body, count, **options):
        other, slow = timed(step_by_relabelling, problem, F)
        good += lawful(problem, step)
        peer_good += lawful(problem, other)
        spent, peer, outer, solves = [*spent, ms], [*peer, slow], [*outer, step.outer], [*solves, step.contact_solves]
    ours = f"{good:3d}/{count} {np.median(spent):6.1f} ({max(spent):5.1f}) ms"
    effort = f"outer {np.median(outer):3.0f} ({max(outer):2d})   solves {np.median(solves):3.0f} ({max(solves):2d})"
    theirs = f"relabelling {peer_good:3d}/{count} {np.median(peer):6.1f} ({max(peer):5.1f}) ms"
    print(f"{name:26s} {ours}   {effort}   {theirs}")
    return good == count and np.median(spent) <= 10.0 and max(spent) <= 40.0


def lawful(problem: FrameProblem, step: FrameStep) -> bool:
    """Whether contact, torque limits and rows all hold."""
    limits = (step.tau >= problem.lo).all() and (step.tau <= problem.hi).all()
    return bool(limits and step.rows_ok and problem.check(step.tau, step.F).ok)


def main() -> int:
    ok = stress(fixtures("mechanics/contact").random_problem)
    bodies = fixtures("performers/skin/frame")
    list(frames(bodies.Quadruped(0.8), 3))
    for name, options in SCENES.items():
        ok &= scene(name, bodies.Quadruped(options["mu"]), **{key: value for key, value in options.items() if key != "mu"})
    print("all bars met" if ok else "A BAR IS MISSED")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
