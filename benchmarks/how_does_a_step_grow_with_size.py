"""How does a variational step grow with size? Trees of 5 to 200 dynamic coordinates: one chain, and limbs of four on a spine.

The tree part (gradient and Hessian of L) and a whole step (with its dense elimination), thread CPU time in us, least of many
calls, and the exponent fitted to the larger half. A single chain couples every pair of coordinates, so its Hessian has n^2/2
entries; limbs do not. Bar: the tree part below quadratic in both. Where matplotlib is installed a plot is written to
demo-output/step-size.png, or to the path given. Run: python benchmarks/how_does_a_step_grow_with_size.py [plot.png]
"""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

import numpy as np

from bunraku.mechanics.dynamics import equation_kernels as kernels
from bunraku.mechanics.dynamics.system import System, build_system
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.tree import Tree

SIZES = (5, 10, 20, 40, 80, 120, 160, 200)
BAR = 2.0
PLOT = Path("demo-output") / "step-size.png"


def mechanism(n: int, limbs: bool) -> System:
    """Hinges, n of them, about alternating axes, a rod of 1 kg on each: a chain, or limbs of four that hang on a spine of n/5."""
    spine = max(1, n // 5)
    parent = np.arange(-1, n - 1)
    if limbs:
        for i in range(spine, n):
            parent[i] = i - 1 if (i - spine) % 4 else (i - spine) // 4 % spine
    axis = np.eye(3)[np.arange(n) % 3]
    position = np.tile([0.1, 0.0, -0.1], (n, 1))
    inertia = np.tile(0.01 * np.eye(3), (n, 1, 1))
    names = tuple(f"q{i}" for i in range(n))
    tree = Tree(
        names, {f"b{i}": i for i in range(n)}, parent, np.ones(n, dtype=np.int64), np.arange(n), np.tile(np.eye(3), (n, 1, 1)),
        position, axis, np.ones(n), np.tile([0.0, 0.0, -0.05], (n, 1)), inertia, {}, np.zeros(n), (),
    )  # fmt: skip
    return build_system(tree)


def least(run, times: int = 60) -> float:
    """Least thread CPU time [us]."""
    run()
    spent = []
    for _ in range(times):
        begin = time.thread_time_ns()
        run()
        spent.append(time.thread_time_ns() - begin)
    return min(spent) * 1e-3


def exponent(values: list[float]) -> float:
    """The power of n that fits the larger half of the sizes."""
    half = len(SIZES) // 2
    return float(np.polyfit(np.log(SIZES[half:]), np.log(values[half:]), 1)[0])


def draw(table: dict[str, list[float]], path: Path) -> None:
    """The table as a plot with two logarithmic axes; the exponents in its legend."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for name, values in table.items():
        kind, part = name.split(", ")
        style = {"color": "#c1272d" if kind == "chain" else "#2f6f9f", "linestyle": "-" if part == "step" else "--"}
        axes.loglog(SIZES, values, marker="o", markersize=4, label=f"{name}: n^{exponent(values):.2f}", **style)
    axes.set(xlabel="dynamic coordinates n", ylabel="thread CPU time [us]", title="Cost of one variational step")
    axes.legend(frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    print(f"plot: {path}")


def main() -> int:
    """Print the table, write the plot."""
    rng = np.random.default_rng(0)
    table: dict[str, list[float]] = {}
    for limbs in (False, True):
        kind = "limbs" if limbs else "chain"
        print(f"{kind}: coordinates, tree part us, step us (Newton iterations)")
        for n in SIZES:
            system = mechanism(n, limbs)
            q, v = 0.2 * rng.normal(size=n), 0.1 * rng.normal(size=n)
            integrator = VariationalIntegrator(system, 0.002)
            state = integrator.initial(q, v0=v)
            part = least(lambda s=system, q=q, v=v: kernels.lagrangian(s.model, q, v))
            step = integrator.step(state.q, state.p)
            whole = least(lambda i=integrator, s=state: i.step(s.q, s.p))
            table.setdefault(f"{kind}, tree part", []).append(part)
            table.setdefault(f"{kind}, step", []).append(whole)
            print(f"{n:6d}{part:12.1f}{whole:12.1f}   ({step.iterations}, {step.status.value})")
    for name, values in table.items():
        print(f"{name:20s} grows like n^{exponent(values):.2f}")
    if len(sys.argv) > 1 or importlib.util.find_spec("matplotlib") is not None:
        draw(table, Path(sys.argv[1]) if len(sys.argv) > 1 else PLOT)
    met = all(exponent(values) < BAR for name, values in table.items() if name.endswith("tree part"))
    print(f"tree part below quadratic: {'yes' if met else 'NO'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
