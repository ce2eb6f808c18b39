"""
7. No drift
===========

A small puppet on two strings, arms raised and let go, simulated for a minute at one step per film frame, four ways. RK4 integrates
accelerations that respect the strings, but does not keep their *lengths*. Baumgarte's springs pull them back, well or badly, and
take energy out. The variational integrator solves for the lengths at every step. Notice that its strings are exact although the
step is coarse, and that its energy swings but does not drift. This lesson works below the public names.
"""

import numpy as np

from bunraku.character import Body, Character, Joint, Pose
from bunraku.mechanics.dynamics.constraints import Distance
from bunraku.mechanics.dynamics.continuous import continuous
from bunraku.mechanics.dynamics.initial import make_consistent
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.system import System, build_system
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.tree import compile_tree


def puppet() -> System:
    """A torso of 2 kg that moves in a vertical plane, two arms of 0.5 kg, and a string of 1 m to each shoulder."""
    arm = {"mass": 0.5, "center_of_mass": (0.0, -0.2, 0.0), "inertia": (0.007, 0.0, 0.007, 0.0, 0.0, 0.0)}
    torso = Body(name="torso", mass=2.0, center_of_mass=(0.0, -0.15, 0.0), inertia=(0.02, 0.02, 0.02, 0.0, 0.0, 0.0))
    upright = Pose(quaternion=(0.5**0.5, 0.5**0.5, 0.0, 0.0))  # the plane of the planar joint stands up
    joints, strings = [Joint(name="torso", kind="planar", parent="world", child="torso", pose=upright)], []
    for side, x in (("left", -0.15), ("right", 0.15)):
        joints.append(Joint(name=side, kind="hinge", parent="torso", child=side, pose=Pose(position=(x, 0.0, 0.0))))
        strings.append(Distance(Place("torso", (x, 0.0, 0.0)), Place("world", (1.5 * x, 0.0, 1.0)), 1.0, name=side))
    character = Character(name="puppet", bodies=(torso, Body(name="left", **arm), Body(name="right", **arm)), joints=tuple(joints))
    return build_system(compile_tree(character), constraints=strings)


def along_strings(system: System, q, p, rate):
    """The velocity of momentum ``p`` when strings answer with whatever keeps Dh v = ``rate``: M v + Dh' mu = p."""
    M, Dh = system.lagrangian_derivatives(q, 0 * q).vv, system.constraint_jacobian(q)
    return np.linalg.solve(np.block([[M, Dh.T], [Dh, np.zeros((len(Dh), len(Dh)))]]), np.concatenate([p, rate]))[: len(q)]


def runge_kutta(system: System, q, v, dt: float, steps: int, g: float):
    """RK4; with ``g`` [1/s] the accelerations obey h'' + 2 g h' + g^2 h = 0 (Baumgarte) instead of h'' = 0."""

    def rate(x):
        q, v = np.split(x, 2)
        a, _ = continuous(system, q, v)
        if g > 0.0:
            a += along_strings(system, q, 0 * q, -2 * g * system.constraint_jacobian(q) @ v - g**2 * system.constraint_values(q))
        return np.concatenate([v, a])

    x = [np.concatenate([q, v])]
    for _ in range(steps):
        k1 = rate(x[-1])
        k2 = rate(x[-1] + 0.5 * dt * k1)
        k3 = rate(x[-1] + 0.5 * dt * k2)
        x.append(x[-1] + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + rate(x[-1] + dt * k3)))
    return np.split(np.array(x), 2, axis=1)


def lesson(dt: float = 1 / 24, seconds: float = 60.0):
    """Times [s], and by method the worst error of a string's length [m] and the change of energy [J] at each of them."""
    system, steps = puppet(), round(seconds / dt)
    start = make_consistent(system, [0.05, -0.02, 0.1, 2.0, -1.2])
    integrator = VariationalIntegrator(system, dt)
    state = integrator.initial(start.q, v0=start.v)
    path = integrator.rollout(state.q, state.p, np.zeros((steps, 0)), np.zeros((steps, 0)))
    speeds = [along_strings(system, at, p, np.zeros(2)) for at, p in zip(path.q, path.p, strict=True)]
    motions = {"variational": (path.q, speeds)}
    for name, pull in (("RK4", 0.0), ("RK4, Baumgarte 10/s", 10.0), ("RK4, Baumgarte 60/s", 60.0)):
        motions[name] = runge_kutta(system, start.q, start.v, dt, steps, pull)
    result = {}
    for name, motion in motions.items():
        stretch = [np.abs(np.sqrt(1.0 + system.constraint_values(at)) - 1.0).max() for at in motion[0]]
        energy = np.array([system.energy(*at) for at in zip(*motion, strict=True)])
        result[name] = np.array(stretch), energy - energy[0]
    return dt * np.arange(steps + 1), result


def trend(energy):
    """How far the mean energy [J] has moved from the first sixth of the run to the last."""
    part = len(energy) // 6
    return float(energy[-part:].mean() - energy[:part].mean())


if __name__ == "__main__":
    from matplotlib import pyplot

    t, result = lesson()
    figure, axes = pyplot.subplots(2, 1, figsize=(9, 5.5), sharex=True, layout="constrained")
    for (name, (stretch, energy)), color in zip(result.items(), ("#c1272d", "#8a8f98", "#2f6f9f", "#d9a441"), strict=True):
        moved = f"energy swings by {np.ptp(energy):.3f} J and moves by {trend(energy):+.4f} J"
        print(f"{name:>20}: strings off by at most {stretch.max():.0e} m; {moved}")
        axes[0].semilogy(t, np.maximum(stretch, 1e-16), color=color, label=name, linewidth=1.0)
        axes[1].plot(t, energy, color=color, linewidth=1.0)
    axes[0].set(ylabel="error of a string [m]", ylim=(1e-16, 1.0))
    axes[1].set(xlabel="time [s]", ylabel="change of energy [J]", ylim=(-0.5, 0.5))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", frameon=False, ncols=4, fontsize=8)
    pyplot.show()
