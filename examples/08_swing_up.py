"""
8. Swing up
===========

A pendulum hangs from a cart that can be pushed. Nobody says how to get it up: the wish is a pendulum that stands after three
seconds, and Newton's method on trajectories finds the swings. Notice how it ends: each step squares the error of the last.

Then the motion is performed from starts that are a little off, with feedback computed twice: from the exact derivatives of a
step, and from the equations of motion discretized to first order. Weights, steps and starts are the same, the price is not.
This lesson works below the public names.
"""

import numpy as np

from bunraku.character import Body, Character, Joint
from bunraku.mechanics.dynamics.continuous import continuous_first
from bunraku.mechanics.dynamics.forces import CoordinateForce
from bunraku.mechanics.dynamics.system import build_system
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.tree import compile_tree
from bunraku.optimization.control.cost import TrackingCost
from bunraku.optimization.control.lqr import time_varying_lqr
from bunraku.optimization.control.trajectory import TrajectoryNewton

DT, STEPS = 0.05, 100
Q, R, LAST = np.diag([0.1, 1.0, 0.01, 0.01]), np.array([[1e-2]]), np.diag([10.0, 100.0, 1.0, 1.0])


def cart_pendulum() -> VariationalDynamics:
    """A cart of 2 kg on a rail, pushed by a force, and a pendulum of 0.5 kg whose bob hangs 0.5 m below it; theta = 0 hangs."""
    bob = Body(name="bob", mass=0.5, center_of_mass=(0.0, 0.0, -0.5))
    rail = Joint(name="x", kind="slide", parent="world", child="cart", axis=(1.0, 0.0, 0.0))
    pivot = Joint(name="theta", kind="hinge", parent="cart", child="bob", axis=(0.0, -1.0, 0.0))
    character = Character(name="cart-pendulum", bodies=(Body(name="cart", mass=2.0), bob), joints=(rail, pivot))
    system = build_system(compile_tree(character), inputs=("push",), forces=(CoordinateForce("x", "push"),))
    return VariationalDynamics(VariationalIntegrator(system, DT))


def swing_up(dynamics: VariationalDynamics):
    """The best motion from hanging at rest, nothing asked for three seconds and an upright pendulum for the next two."""
    wish, weights = np.zeros((STEPS + 1, 4)), np.zeros((STEPS, 4, 4))
    wish[:, 1], weights[60:] = np.pi, Q
    cost = TrackingCost(wish, weights, R, terminal=LAST)
    return TrajectoryNewton(tolerance=1e-14).solve(dynamics, cost, np.zeros((STEPS + 1, 4)), np.zeros((STEPS, 1)))


def first_order(dynamics: VariationalDynamics, x, u):
    """A_k, B_k of x = (q, p) from the equations of motion and one Euler step, x + DT f(x, u)."""
    system, A, B, T = dynamics.system, [], [], []
    for (q, p), push in zip((np.split(at, 2) for at in x[:-1]), u, strict=True):
        v = np.linalg.solve(system.lagrangian_derivatives(q, 0 * q).vv, p)
        L, f = system.lagrangian_derivatives(q, v), continuous_first(system, q, v, push)
        T.append(np.block([[np.eye(2), np.zeros((2, 2))], [L.vq, L.vv]]))  # d(q, p) / d(q, v)
        A.append(np.eye(4) + DT * np.block([[np.zeros((2, 2)), np.eye(2)], [f.f[:, :4]]]))
        B.append(np.vstack([np.zeros((2, 1)), DT * f.f[:, f.columns["u"]]]))
    after = np.array([*T[1:], T[-1]])
    return after @ np.array(A) @ np.linalg.inv(T), after @ np.array(B)


def closed_loop_costs(dynamics: VariationalDynamics, best, seed: int = 0):
    """Mean cost of 20 performances from disturbed starts, by the linearization behind the feedback."""
    starts = best.x[0] + np.random.default_rng(seed).normal(size=(20, 4)) * [0.05, 0.1, 0.1, 0.02]
    cost, means = TrackingCost(best.x, Q, R, terminal=LAST, u_wish=best.u), {}
    for name, (A, B) in {"exact": (best.A, best.B), "first order": first_order(dynamics, best.x, best.u)}.items():
        K = time_varying_lqr(A, B, Q, R, terminal=LAST).K
        runs = [dynamics.rollout(start, best.x, best.u, K) for start in starts]
        means[name] = float(np.mean([cost.value(run.x, run.u) if run.good else np.inf for run in runs]))
    return means


def lesson():
    """The motion, and the mean cost of performing it with either feedback."""
    dynamics = cart_pendulum()
    best = swing_up(dynamics)
    return best, closed_loop_costs(dynamics, best)


if __name__ == "__main__":
    from matplotlib import pyplot

    best, costs = lesson()
    off = np.degrees(np.abs(best.x[:, 1] - np.pi))
    print(
        f"{best.iterations} steps to cost {best.cost:.6f}, order {best.exponent:.2f}; {off[-1]:.3f} degrees from upright at the end"
    )
    print(f"over the last second at most {off[-21:].max():.2f} degrees; largest push {np.abs(best.u).max():.1f} N")
    print("performed from disturbed starts: " + ", ".join(f"{cost:.4f} with {name} feedback" for name, cost in costs.items()))
    figure, (motion, newton) = pyplot.subplots(1, 2, figsize=(10, 3), width_ratios=(3, 1), layout="constrained")
    for k in range(0, STEPS + 1, 2):
        at, bob = 0.8 * DT * k + best.x[k, 0], 0.5 * np.array([np.sin(best.x[k, 1]), -np.cos(best.x[k, 1])])
        motion.plot([at, at + bob[0]], [0.0, bob[1]], color=pyplot.get_cmap("viridis")(k / STEPS), marker="o", markevery=[1])
    motion.set(aspect="equal", xlabel="place [m], drawn 0.8 m further on each second", ylabel="height [m]")
    newton.semilogy(-best.slopes, color="#c1272d")
    newton.set(xlabel="Newton step", ylabel="promised fall of the cost")
    pyplot.show()
