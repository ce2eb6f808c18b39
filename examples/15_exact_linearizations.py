"""
15. Exact linearizations
========================

The small puppet of lesson 7, now with motors in its shoulders, holds its arms up. They fall if nobody looks, and it sways on its
two strings while the motors balance them. Two regulators have the same weights: one comes from the exact derivatives of a step,
strings included, the other from the equations of motion, linearized exactly and discretized to first order, x + dt f(x, u). Notice
what the second pays as the step gets longer: half a percent at 10 ms, a fifth at 60 ms, and at 85 ms the arms fall. The first goes
on. This lesson works below the public names.
"""

import numpy as np

from bunraku.character import Body, Character, Joint, Pose
from bunraku.mechanics.dynamics.constraints import Distance
from bunraku.mechanics.dynamics.continuous import continuous_first
from bunraku.mechanics.dynamics.forces import CoordinateForce
from bunraku.mechanics.dynamics.initial import make_consistent
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.system import System, build_system
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.tree import compile_tree
from bunraku.optimization.control.cost import TrackingCost
from bunraku.optimization.control.lqr import time_varying_lqr

SECONDS, EFFORT = 3.0, 1e-2
STEPS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.085, 0.1)  # s


def puppet() -> System:
    """A torso of 2 kg that moves in a vertical plane, two driven arms of 0.5 kg, and a string of 1 m to each shoulder."""
    arm = {"mass": 0.5, "center_of_mass": (0.0, -0.2, 0.0), "inertia": (0.007, 0.0, 0.007, 0.0, 0.0, 0.0)}
    torso = Body(name="torso", mass=2.0, center_of_mass=(0.0, -0.15, 0.0), inertia=(0.02, 0.02, 0.02, 0.0, 0.0, 0.0))
    upright = Pose(quaternion=(0.5**0.5, 0.5**0.5, 0.0, 0.0))  # the plane of the planar joint stands up
    joints, strings = [Joint(name="torso", kind="planar", parent="world", child="torso", pose=upright)], []
    for side, x in (("left", -0.15), ("right", 0.15)):
        joints.append(Joint(name=side, kind="hinge", parent="torso", child=side, pose=Pose(position=(x, 0.0, 0.0))))
        strings.append(Distance(Place("torso", (x, 0.0, 0.0)), Place("world", (1.5 * x, 0.0, 1.0)), 1.0, name=side))
    character = Character(name="puppet", bodies=(torso, Body(name="left", **arm), Body(name="right", **arm)), joints=tuple(joints))
    motors = [CoordinateForce(side, side) for side in ("left", "right")]
    return build_system(compile_tree(character), inputs=("left", "right"), forces=motors, constraints=strings)


def along_strings(system: System, q):
    """The matrix E of v = E p: the velocity of momentum p, strings answering with whatever keeps their lengths."""
    M, Dh = system.lagrangian_derivatives(q, 0 * q).vv, system.constraint_jacobian(q)
    return np.linalg.inv(np.block([[M, Dh.T], [Dh, np.zeros((2, 2))]]))[:5, :5]


def closed_loop(system: System, dt: float, starts: int = 10, seed: int = 0):
    """Mean cost of holding the arms up from disturbed starts, by the linearization behind the feedback; and the worst swing [rad].

    The cost is dt sum |dq|^2 + 0.01 |E dp|^2 + EFFORT |u|^2, d the deviation from rest with the arms up.
    """
    dynamics, N = VariationalDynamics(VariationalIntegrator(system, dt)), round(SECONDS / dt)
    up = make_consistent(system, [0.0, 0.003, 0.0, np.pi, np.pi]).q
    x = np.tile(dynamics.state(up, dynamics.integrator.initial(up, up).p), (N + 1, 1))
    u, E, one, none = np.zeros((N, 2)), along_strings(system, up), np.eye(5), np.zeros((5, 5))
    T = np.block([[one, none], [none, E]])  # (q, v) of (q, p)
    slow = dt * np.diag([1.0] * 5 + [0.01] * 5)
    Q, R = T.T @ slow @ T, dt * EFFORT * np.eye(2)
    exact = time_varying_lqr(*dynamics.linearize(x, u), Q, R, terminal=10.0 * Q / dt).K
    f = continuous_first(system, up, 0 * up, u[0])
    A = np.eye(10) + dt * np.block([[none, one], [f.f[:, :10]]])
    B = dt * np.vstack([np.zeros((5, 2)), f.f[:, f.columns["u"]]])
    first = time_varying_lqr(np.tile(A, (N, 1, 1)), np.tile(B, (N, 1, 1)), slow, R, terminal=10.0 * slow / dt).K @ T
    cost, results = TrackingCost(x, Q, R, terminal=10.0 * Q / dt), {"exact": [], "first order": []}
    swing = {"exact": 0.0, "first order": 0.0}
    for off in np.random.default_rng(seed).normal(size=(starts, 5)) * [0.02, 0.0, 0.02, 0.1, 0.1]:
        q = make_consistent(system, up + off).q
        for name, K in (("exact", exact), ("first order", first)):
            run = dynamics.rollout(dynamics.state(q, dynamics.integrator.initial(q, q).p), x, u, K)
            results[name].append(cost.value(run.x, run.u) if run.good else np.inf)
            swing[name] = max(swing[name], float(np.abs(run.x[:, 3:5] - np.pi).max()))
    return {name: float(np.mean(costs)) for name, costs in results.items()}, swing


def lesson():
    """By step length [s]: the costs and the swings."""
    system = puppet()
    return {dt: closed_loop(system, dt) for dt in STEPS}


if __name__ == "__main__":
    from matplotlib import pyplot

    results = lesson()
    for dt, (costs, swing) in results.items():
        more = 100 * (costs["first order"] / costs["exact"] - 1)
        print(f"{1e3 * dt:5.1f} ms: " + ", ".join(f"{name} {cost:.5f}" for name, cost in costs.items()), end="; ")
        print(f"{more:.1f} % more" if swing["first order"] < 1.0 else "the arms fall")
    figure, axis = pyplot.subplots(figsize=(7, 3.5), layout="constrained")
    for name, color in (("exact", "#c1272d"), ("first order", "#8a8f98")):
        axis.plot([1e3 * dt for dt in results], [1e3 * costs[name] for costs, _ in results.values()], "o-", color=color, label=name)
    axis.set(xlabel="step [ms]", ylabel="cost of holding the arms up [1/1000]", ylim=(1.9, 4.0))
    axis.legend(frameon=False)
    pyplot.show()
