"""How fast is a step of a flexible character? One rod, a dancer of three rods, a drummer of four with a loop; and how it grows.

Thread CPU time of one core after warm-up; motors sway by 6-23 degrees at 0.5-1.6 Hz, steps of 0.5 ms, Newton to 1e-10. Printed for
each: steps a second beside the bar and the ratio to it, Newton iterations and factorizations a step, the quasi-static frame, the
linearized step, forward sensitivities and the adjoint beside the simulation. Then the growth with coordinates and with parameters
as exponents of a power law. Run: python benchmarks/how_fast_is_the_flexible_step.py
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.interpolate import BSpline

from _ritz_rods import dancer, drummer, one_rod
from bunraku.mechanics.integrators.driven.curves import Curves, make_curves
from bunraku.mechanics.integrators.driven.linearization import linearize_motion
from bunraku.mechanics.integrators.driven.outputs import track
from bunraku.mechanics.integrators.driven.rest import rest_motion
from bunraku.mechanics.integrators.driven.simulate import simulate

DT, SECONDS = 5e-4, 1.0
BARS = {
    "one rod, 135 strains": (lambda: one_rod(True), 7000.0, None),
    "one rod, 80 strains": (lambda: one_rod(False), 7000.0, None),
    "dancer": (dancer, 4000.0, 115.0),
    "drummer": (drummer, 2500.0, 108.0),
}


def curves_of(steps: int, points: int) -> Curves:
    """Cubic motor curves; the first three control points fixed."""
    x = np.minimum(np.linspace(0.0, points - 3, steps + 1), points - 3 - 1e-12)
    return make_curves(BSpline.design_matrix(x, np.arange(-3.0, points + 1), 3), np.arange(points) > 2)


def sway(motors: int, steps: int) -> np.ndarray:
    """Node values (steps + 1, motors) that begin and move smoothly."""
    t = np.arange(steps + 1) * DT
    rise = np.clip(t / 0.1, 0.0, 1.0)
    rise = rise**3 * (10.0 - 15.0 * rise + 6.0 * rise**2)
    rng = np.random.default_rng(1)
    size, rate = rng.uniform(0.1, 0.4, motors), rng.uniform(0.5, 1.6, motors)
    return rise[:, None] * size * np.sin(2.0 * np.pi * rate * t[:, None])


def spent(run, times: int = 3) -> float:
    """Least thread CPU time [s]."""
    found = []
    for _ in range(times):
        begin = time.thread_time()
        run()
        found.append(time.thread_time() - begin)
    return min(found)


def power(x: list[float], y: list[float]) -> float:
    """Exponent of y ~ x^power."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def main() -> int:
    """Print the tables; 1 when a bar is missed."""
    steps = round(SECONDS / DT)
    missed, sizes, costs = [], [], []
    columns = {"nq": 4, "nk": 4, "nc": 4, "steps/s": 9, "bar": 7, "x bar": 7, "x paper": 8, "newton": 8, "factors": 8}
    columns |= {"rest us": 9, "slope us": 9, "sens us": 9, "adj us": 8}
    print(" " * 22 + "".join(f"{column:>{width}s}" for column, width in columns.items()))
    for name, (make, bar, paper) in BARS.items():
        system, places = make()
        K = sway(system.nk, steps)
        motion = simulate(system, K, DT)
        if not motion.status.good:
            print(f"{name:22s}{motion.message}")
            missed.append(name)
            continue
        rate = steps / spent(lambda s=system, k=K, q=motion.q[0]: simulate(s, k, DT, start=q), 5)
        short = simulate(system, K[:401], DT)
        curves, outputs = curves_of(400, 53), track(system, places)
        rest = rest_motion(system, K[:401])
        still = spent(lambda s=system, k=K[:401]: rest_motion(s, k)) / 401
        targets = outputs.observe((rest if rest.status.good else short).q[::4])
        whole = linearize_motion(short)
        whole.gradient(curves, outputs, targets, stride=4)
        fresh = spent(lambda m=short: list(linearize_motion(m).blocks())) / 400
        forward = spent(lambda w=whole, c=curves, o=outputs, t=targets: w.normal_equations(c, o, t, stride=4)) / 400
        adjoint = spent(lambda w=whole, c=curves, o=outputs, t=targets: w.gradient(c, o, t, stride=4)) / 400
        beside = f"{rate / paper:8.0f}" if paper else f"{'':8s}"
        print(f"{name:22s}{system.nq:4d}{system.nk:4d}{system.nc:4d}{rate:9.0f}{bar:7.0f}{rate / bar:7.2f}{beside}", end="")
        print(f"{motion.iterations.mean():8.2f}{motion.factorizations / steps:8.2f}", end="")
        print(f"{1e6 * still:9.0f}{1e6 * fresh:9.0f}{1e6 * forward:9.0f}{1e6 * adjoint:8.0f}")
        if rate < bar:
            missed.append(name)
        if name != "one rod, 80 strains":
            sizes.append(float(system.nq))
            costs.append(1.0 / rate)
    if len(sizes) > 1:
        print(f"a step grows with coordinates to the power {power(sizes, costs):.2f}")
    growth()
    print(f"missed: {', '.join(missed) or 'none'}")
    return 1 if missed else 0


def growth() -> None:
    """Sensitivities of the dancer against the number of parameters, and simulation against seconds."""
    system, places = dancer()
    outputs, steps = track(system, places), 400
    K = sway(system.nk, steps)
    motion = simulate(system, K, DT)
    whole = linearize_motion(motion)
    targets = outputs.observe(motion.q[::4])
    counts, times = [], []
    for points in (28, 53, 103, 203):
        curves = curves_of(steps, points)
        counts.append(float(curves.count(system.nk)))
        whole.normal_equations(curves, outputs, targets, stride=4)
        times.append(spent(lambda c=curves: whole.normal_equations(c, outputs, targets, stride=4)) / steps)
    row = ", ".join(f"{count:.0f}: {1e6 * t:.0f}" for count, t in zip(counts, times, strict=True))
    print(f"dancer, sensitivities us a step by parameters: {row}; power {power(counts, times):.2f}")
    lengths = [400, 800, 1600]
    spans = [spent(lambda n=n: simulate(system, sway(system.nk, n), DT)) for n in lengths]
    print(f"dancer, simulation against seconds: power {power([float(n) for n in lengths], spans):.2f}")


if __name__ == "__main__":
    sys.exit(main())
