"""How do the solvers converge? The energy over iterations: the paper's fixed penalty by five methods, and our augmented Lagrangian.

Geilinger et al. 2018 (Skaterbots, Fig. 3) compare Newton's method with a filtered Hessian against others on f + 1e4 sum r^2. Here
that energy is minimised from the rest pose by: true Newton, the Hessian by central differences of the exact gradient (samples five
apart together), tau I added until Cholesky succeeds; filtered: Gauss-Newton plus the rest of the true Hessian's block of each
sample with its negative eigenvalues set to zero, blocks between samples left out of that rest (the paper drops the second
derivatives of its kinematics instead; ours are not a separate term, so it is another filter for the same purpose); Gauss-Newton
with the same line search; Levenberg-Marquardt; L-BFGS. The augmented Lagrangian has no such energy of its own: after every round
its point of least residual so far is valued by the same penalty function, against the steps until then. It is not made to lower
that: where all end in one valley, its end is higher by the small bias that a penalty leaves in the rows. Printed: steps to within
5 % of the best final energy of all, the energy at the end, CPU seconds.

Run: python benchmarks/how_do_the_solvers_converge.py [-o convergence.png] [--iterations 100] [NAME ...]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from _penalty_methods import minimize_penalty
from bunraku.formats.registry import read_character, read_clip
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
from bunraku.performers.locomotion.problem import MotionProblem, Weights
from bunraku.performers.locomotion.state import state_problem
from locomotion import TABLE

MOTIONS = ("swizzle", "turn-in-place", "slalom", "walk", "skate")
WEIGHT = 1e4
STEP = 1e-6


def symmetric(H: np.ndarray) -> np.ndarray:
    """Blocks whose lower triangle is given, whole."""
    lower = np.tril(H, -1)
    return lower + np.swapaxes(lower, -1, -2) + np.einsum("ijj->ij", H)[:, :, None] * np.eye(H.shape[-1])


def true_hessian(problem: MotionProblem, z: np.ndarray, weight: float, shifts: np.ndarray):
    """(H, B, C) by central differences of the gradient; samples of one group are five apart, so they do not meet."""
    T, nv, nd = problem.shape
    many = max(T // 5, 1)
    count = -(-T // many)
    while many > 1 and T - (many - 1) * count < 5:
        many -= 1
        count = -(-T // many)
    H, B, C = np.zeros((T, 3, nv, nv)), np.zeros((T, nd, nv)), np.zeros((nd, nd))

    def change(move: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        _, _, _, _, g, gD = problem.assemble(z + move, weight, shifts)
        up, up_D = g.copy(), gD.copy()
        _, _, _, _, g, gD = problem.assemble(z - move, weight, shifts)
        return (up - g) / (2.0 * STEP), (up_D - gD) / (2.0 * STEP)

    for first in range(count):
        group = np.arange(first, T, count)
        for c in range(nv):
            move = np.zeros(len(z))
            move[group * nv + c] = STEP
            g, _ = change(move)
            for d in range(3):
                H[group, d, :, c] = g[(group + d) % T]
    for a in range(nd):
        move = np.zeros(len(z))
        move[T * nv + a] = STEP
        B[:, a], C[:, a] = change(move)
    H[:, 0] = 0.5 * (H[:, 0] + np.swapaxes(H[:, 0], 1, 2))
    return H, B, 0.5 * (C + C.T)


def filtered_hessian(problem: MotionProblem, z: np.ndarray, weight: float, shifts: np.ndarray):
    """(H, B, C) of Gauss-Newton and the positive part of what each sample's own block has beyond it."""
    H, _, _ = true_hessian(problem, z, weight, shifts)
    _, H0, B0, C0, _, _ = problem.assemble(z, weight, shifts)
    values, vectors = np.linalg.eigh(H[:, 0] - symmetric(H0[:, 0]))
    out = H0.copy()
    out[:, 0] = symmetric(H0[:, 0]) + np.einsum("iab,ib,icb->iac", vectors, np.maximum(values, 0.0), vectors)
    return out, B0.copy(), C0.copy()


def augmented(problem: MotionProblem, iterations: int) -> tuple[np.ndarray, np.ndarray, float]:
    """(steps, penalty energy) after every round, and CPU seconds."""
    shifts, solver = problem.zero_shifts(), AugmentedLagrangian()
    begin = time.thread_time()
    whole = solver.solve(problem, problem.still())
    seconds = time.thread_time() - begin
    steps, energies = [0], [problem.energy(problem.still(), WEIGHT, shifts)]
    ends = np.cumsum([one.iterations for one in whole.history])
    for end in sorted({int(end) for end in ends if 0 < end <= iterations}):  # deterministic: stopped there, it is the same run
        part = AugmentedLagrangian(max_iterations=end).solve(problem, problem.still())
        steps.append(end)
        energies.append(problem.energy(part.z, WEIGHT, shifts))
    return np.array(steps), np.array(energies), seconds


def examine(name: str, iterations: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Curves of every method; prints a line each."""
    row = TABLE[name]
    gait = read_clip(row.clip).gait
    assert gait is not None
    problem = state_problem(read_character(row.robot), gait, samples=row.samples, weights=Weights(posture=row.posture))
    start = problem.still()
    kinds = {
        "true Newton": {"method": "newton", "hessian": lambda *at: true_hessian(problem, *at)},
        "filtered Newton": {"method": "newton", "hessian": lambda *at: filtered_hessian(problem, *at)},
        "Gauss-Newton": {"method": "gauss-newton"},
        "Levenberg-Marquardt": {"method": "levenberg-marquardt"},
        "L-BFGS": {"method": "l-bfgs"},
    }
    curves, seconds, status = {}, {}, {}
    for kind, how in kinds.items():
        most = 10 * iterations if kind == "L-BFGS" else iterations
        found = minimize_penalty(problem, start, weight=WEIGHT, max_iterations=most, **how)
        curves[kind] = np.arange(len(found.energies)), found.energies
        seconds[kind], status[kind] = float(found.seconds[-1]), found.status.name
    steps, energies, seconds["augmented Lagrangian"] = augmented(problem, 10 * iterations)
    curves["augmented Lagrangian"], status["augmented Lagrangian"] = (steps, energies), "-"
    best = min(energies[-1] for _, energies in curves.values())
    for kind, (steps, energies) in curves.items():
        near = np.flatnonzero(energies <= 1.05 * best)
        reached = str(steps[near[0]]) if near.size else "never"
        print(f"{name:15}{kind:22}{reached:>8}{energies[-1]:13.5g}{steps[-1]:7d}{seconds[kind]:9.2f}  {status[kind]}", flush=True)
    return curves


def draw(found: dict[str, dict[str, tuple[np.ndarray, np.ndarray]]], path: Path) -> None:
    """One panel a motion, energies over steps, both logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * len(found), 4.2), layout="constrained")
    for k, (name, curves) in enumerate(found.items()):
        axes = figure.add_subplot(1, len(found), k + 1)
        for kind, (steps, energies) in curves.items():
            ours = kind == "augmented Lagrangian"
            axes.plot(steps + 1, energies, "k.--" if ours else "-", label=kind, linewidth=1.4)
        axes.set(xscale="log", yscale="log", title=name, xlabel="steps + 1")
        axes.grid(alpha=0.3)
        if k == 0:
            axes.set_ylabel("f + 10⁴ Σ r²")
            axes.legend(fontsize=8)
    figure.savefig(path, dpi=130)


def main() -> int:
    """Print the table and draw it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(TABLE)}; {', '.join(MOTIONS)} if none is given")
    parser.add_argument("-o", "--output", type=Path, help="where the picture goes")
    parser.add_argument("--iterations", type=int, default=100, help="most steps of each method; ten times as many of L-BFGS")
    chosen = parser.parse_args()
    names = chosen.names or list(MOTIONS)
    if unknown := [name for name in names if name not in TABLE]:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(TABLE)}")
    print(f"{'motion':15}{'method':22}{'to 5 %':>8}{'energy':>13}{'steps':>7}{'CPU s':>9}")
    found = {name: examine(name, chosen.iterations) for name in names}
    if chosen.output is not None:
        draw(found, chosen.output)
        print(f"drawn to {chosen.output}")
    return 0


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
