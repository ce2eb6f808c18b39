"""How fast is Newton on trajectories? The golden cart swing-up, the golden marionette over 100 steps, and their parts.

Thread CPU time of one process after warm-up, best of three. Bars: swing-up of 1000 nodes in four stages <= 2 s; marionette, 22 + 18
coordinates, 100 steps, to convergence <= 2 s; Gramian of the marionette <= 50 ms; and the Riccati sweep must not dominate. Needs
the golden data beside the repository. Run: python benchmarks/how_fast_is_the_trajectory_newton.py
"""

from __future__ import annotations

import json
import os
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

from bunraku.mechanics.dynamics.forces import CoordinateForce
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.optimization.control.cost import LinearResidualCost, SumOfCosts, TrackingCost
from bunraku.optimization.control.gramian import controllability_gramian
from bunraku.optimization.control.lqr import linear_quadratic_step
from bunraku.optimization.control.trajectory import FeedbackWeights, TrajectoryNewton, TrajectorySolution

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "oracles"))

from frame_graph import system_of_graph

GOLDEN = Path(os.environ.get("BUNRAKU_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "golden" / "marionette"


def best(run, times: int = 3):
    """Least thread CPU time [s] of several runs, and the last result."""
    spent = []
    for _ in range(times):
        begin = time.thread_time()
        result = run()
        spent.append(time.thread_time() - begin)
    return min(spent), result


def swing_up() -> list[TrajectorySolution]:
    """The four golden stages, 999 steps each."""
    graph = json.loads((GOLDEN / "cart_pendulum.json").read_text())
    free = system_of_graph(graph)
    helped = system_of_graph(graph, (CoordinateForce(free.names[1], "theta-force"),), ("theta-force",))
    t = np.arange(0.0, 10.0, 0.01)
    wish = np.zeros((len(t), 4))
    wish[:, 1] = np.where((t >= 3) & (t <= 7), (1 - np.cos(2 * np.pi / 4 * (t - 3))) * np.radians(130) / 2, 0.0)
    Q = np.diag([0.01, 100.0, 0.01, 0.01])
    x, u, found = np.zeros((len(t), 4)), np.zeros((len(t) - 1, 2)), []
    for R in (np.diag([0.01, 0.01]), np.diag([0.01, 100.0]), np.diag([0.01, 1e6]), np.array([[0.01]])):
        dynamics = VariationalDynamics(VariationalIntegrator(helped if len(R) == 2 else free, 0.01, tolerance=1e-11))
        u = u[:, : len(R)]
        x = dynamics.simulate(x[0], u).x
        solver, weights = TrajectoryNewton(quasi_iterations=4), FeedbackWeights(np.eye(4), np.eye(len(R)))
        found.append(solver.solve(dynamics, TrackingCost(wish, Q, R, terminal=Q), x, u, feedback=weights))
        x, u = found[-1].x, found[-1].u
    return found


def marionette(speed_weight: float):
    """The golden puppet, hung at rest, asked to raise both upper arms by 0.5 rad and lower them again within a second.

    ``speed_weight`` [1 / (m/s)^2] of the carriages' velocities.
    """
    system = system_of_graph(json.loads((GOLDEN / "puppet22_18.json").read_text()))
    data = np.load(GOLDEN / "puppet22_18.npz")
    dynamics = VariationalDynamics(VariationalIntegrator(system, 0.01))
    N = 100
    q0 = data["q"][0]
    start = dynamics.state(q0, np.zeros(system.nd))
    u = np.tile(q0[system.kinematic], (N, 1))
    wish = np.tile(start, (N + 1, 1))
    for name in ARMS:
        wish[:, system.index(name)] += 0.25 * (1 - np.cos(2 * np.pi * np.arange(N + 1) / N))
    weights = np.concatenate([np.full(system.nq, 1.0), np.full(system.nd, 1e-3)])
    weights[system.kinematic] = 0.01
    speed = np.zeros((system.nk, dynamics.nx + dynamics.nu))
    speed[np.arange(system.nk), system.kinematic] = -100.0
    speed[np.arange(system.nk), dynamics.nx + np.arange(system.nk)] = 100.0
    cost = SumOfCosts(
        TrackingCost(wish, np.diag(weights), 0.1 * np.eye(system.nk), u_wish=u), LinearResidualCost(speed, speed_weight)
    )
    return dynamics, cost, dynamics.simulate(start, u).x, u


def main() -> int:
    if not GOLDEN.is_dir():
        print("the golden systems are not beside the repository; set BUNRAKU_SHARED to the folder that holds golden/")
        return 77
    swing_up()
    spent, found = best(swing_up)
    iterations = sum(one.iterations for one in found)
    print(f"cart swing-up, 4 stages, 1000 nodes: {spent:.2f} s, {iterations} iterations, cost {found[-1].cost:.9g}")
    met = spent <= 2.0
    for speed in (0.1, 0.01):
        dynamics, cost, x, u = marionette(speed)
        for method in ("newton", "quasi"):
            solver = TrajectoryNewton(method=method, tolerance=1e-8)
            solver.solve(dynamics, cost, x, u)
            spent, one = best(partial(solver.solve, dynamics, cost, x, u))
            met = met and (method != "newton" or spent <= 2.0)
            print(
                f"marionette, {dynamics.nx} states, {len(u)} steps, speed weight {speed}, {method}: {spent:.2f} s, "
                f"{one.iterations} iterations, "
                f"cost {one.costs[0]:.6g} -> {one.cost:.9g}, {one.status.value}, exponent {one.exponent:.2f}"
            )
    A, B = one.A, one.B
    H, Pf = cost.hessian(one.x, one.u, exact=False)
    w, bf = cost.gradient(one.x, one.u)
    parts = {
        "roll-out": lambda: dynamics.rollout(one.x[0], one.x, one.u, one.K),
        "linearization": lambda: VariationalDynamics(dynamics.integrator).linearize(one.x, one.u),  # the same one remembers
        "contracted curvature": lambda: dynamics.curvature(one.x, one.u, one.x[1:]),
        "Riccati sweep and direction": lambda: linear_quadratic_step(A, B, H, w, Pf, bf),
        "Gramian": lambda: controllability_gramian(A, B),
        "Gramian, closed loop": lambda: controllability_gramian(A, B, one.K),
    }
    for name, run in parts.items():
        run()
        spent = best(run)[0]
        print(f"  {name}: {1e3 * spent:.1f} ms")
        met = met and ("Gramian" not in name or spent <= 0.050)
    print(f"swing-up and marionette within 2 s, Gramian within 50 ms: {'yes' if met else 'NO'}")
    return 0 if met else 1


ARMS = ("lshoulder_rx", "rshoulder_rx")

if __name__ == "__main__":
    sys.exit(main())
