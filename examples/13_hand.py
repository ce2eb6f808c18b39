"""
13. A hand that holds
=====================

Five fingers hold a ball, moved by tendons, which never push. Every fingertip joins the ball, so the joints make cycles: they are
cut and closed by constraints that nobody has to state. Notice: tensions that hold the ball exist, all positive, and the tendons
reach every motion that the loops leave; yet a nudge of 0.05 rad grows. Feedback from the state to the tensions, made from the
exact linearization of a step, brings the hand back, and in MuJoCo as well. This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.formats.mjcf_write import write_mjcf
from bunraku.mechanics.dynamics.initial import make_consistent
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.systems.character_system import character_home, character_system
from bunraku.mechanics.systems.loops import mobility
from bunraku.mechanics.systems.tendons import holding_tensions
from bunraku.optimization.control.gramian import controllability_gramian
from bunraku.optimization.control.lqr import infinite_horizon_lqr

HAND, DT = bunraku.load_character("hand"), 0.005


def hold(system):
    """Rest: the configuration, its state x = (q, p), and tensions [N] by which every finger pushes with 0.5 N, within friction."""
    q = character_home(HAND, system)
    at = system.tree.configuration(q)
    inward = {loop.name: at.pose("ball")[1] - at.pose(loop.name.replace("grip", "tip"))[1] for loop in HAND.loops}
    holding = holding_tensions(HAND, system, q, least=3.0, pushes=inward, least_push=0.5, friction=0.5)
    return q, np.concatenate([q, VariationalIntegrator(system, DT).initial(q, q).p]), holding.require().u


def feedback(system, x, u):
    """The LQR gain (tensions, states) at rest, and the singular values of what the tensions reach, states scaled to size one."""
    integrator, n = VariationalIntegrator(system, DT), system.nq
    step = integrator.linearize(integrator.rollout(x[:n], x[n:], u[None], np.zeros((1, 0))))
    A, B, M = step.A[0], step.B[0], system.lagrangian_derivatives(x[:n], np.zeros(n)).vv
    Q = np.block([[np.eye(n), np.zeros((n, n))], [np.zeros((n, n)), 1e-3 * np.linalg.inv(M @ M)]])
    gain, _ = infinite_horizon_lqr(A, B, Q, 1e-4 * np.eye(system.nu))
    W = controllability_gramian(*(np.tile(part, (100, 1, 1)) for part in (A, B, gain)))
    return gain, np.linalg.svd(W / np.sqrt(np.outer(np.diag(W), np.diag(W))))[1]


def nudged(system, q, seed):
    """A configuration that keeps the loops, its farthest joint 0.05 rad from q."""
    tangent = np.linalg.svd(system.constraint_jacobian(q))[2][system.nc :]
    move = np.random.default_rng(seed).normal(size=len(tangent)) @ tangent
    return make_consistent(system, q + 0.05 * move / np.abs(move[:20]).max()).q


def simulate(system, start, x, u, gain, seconds=2.0):
    """Configurations and tensions from ``start`` at rest, with tensions u - gain (state - x)."""
    integrator, N = VariationalIntegrator(system, DT), round(seconds / DT)
    state, law = integrator.initial(start, start), {"reference": np.tile(x, (N, 1)), "gain": np.tile(gain, (N, 1, 1))}
    return (motion := integrator.rollout(state.q, state.p, np.tile(u, (N, 1)), np.zeros((N, 0)), **law)).q, motion.u


def replay(system, start, x, u, gain, seconds=2.0):
    """The same in MuJoCo, ten of its steps to one of ours; the momentum is that of the velocity it measures."""
    import mujoco

    text = write_mjcf(HAND, free_base_as_quaternion=False, floor=False, self_collision=False, timestep_s=DT / 10)
    data = mujoco.MjData(mujoco.MjModel.from_xml_string(text))
    data.qpos[order := [data.model.joint(name).dofadr[0] for name in system.names]] = start
    q, pulls = [start], np.zeros((round(seconds / DT), system.nu))
    while len(q) <= len(pulls):
        p = x[system.nq :] + system.lagrangian_derivatives(q[-1], data.qvel[order]).v
        data.ctrl[:] = pulls[len(q) - 1] = u - gain @ (np.concatenate([q[-1], p]) - x)
        mujoco.mj_step(data.model, data, 10)
        q.append(data.qpos[order].copy())
    return np.array(q), pulls


def lesson(seed=1):
    """Singular values, and by name how far [rad] the farthest joint is from the hold over time, and the tensions [N]."""
    system = character_system(HAND)
    q, x, u = hold(system)
    gain, reach = feedback(system, x, u)
    runs = {"constant tensions": (simulate, 0 * gain), "feedback": (simulate, gain), "feedback in MuJoCo": (replay, gain)}
    motions = {name: run(system, nudged(system, q, seed), x, u, K) for name, (run, K) in runs.items()}
    return mobility(system, q), reach, {name: (np.abs(at - q)[:, :20].max(axis=1), T) for name, (at, T) in motions.items()}


if __name__ == "__main__":
    from matplotlib import pyplot

    freedoms, reach, motions = lesson()
    print(f"{freedoms} degrees of freedom; what tensions reach:\n", np.array2string(reach[: 2 * freedoms + 2], precision=2))
    _, axes = pyplot.subplots(2, 1, figsize=(9, 5.5), sharex=True, layout="constrained")
    for (name, (off, T)), color in zip(motions.items(), ("#8a8f98", "#c1272d", "#2f6f9f"), strict=True):
        print(f"{name:>18}: joints off by {off[0]:.3f} rad, in the end {off[-1]:.1e}; tensions {T.min():.2f} to {T.max():.1f} N")
        axes[0].semilogy(DT * np.arange(len(off)), off, color=color, label=name)
        axes[1].plot(DT * np.arange(len(T)), T.min(axis=1), color=color)
    axes[0].set(ylabel="farthest joint [rad]", ylim=(1e-5, 10.0))
    axes[1].set(xlabel="time [s]", ylabel="least of 25 tensions [N]", xlim=(0.0, 0.5), ylim=(0.0, 3.2))
    axes[0].legend(frameon=False)
    pyplot.show()
