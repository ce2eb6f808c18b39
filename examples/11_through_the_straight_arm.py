"""
11. Through the straight arm
============================

A puppet's arm hangs on one string at the wrist. It swings back until it is straight and a little beyond, lifts its hand, waves and
drops back. Notice the straight arm: there upper arm and forearm can only move the hand sideways, the Jacobian of the hand loses a
rank, and whoever computes joints from hands, or a string's pull from joints, divides by nought. The equations of a step do not: the
matrix [M Dh'; Dh 0] of inertia and string stays regular (its hook sits 18 mm off the bone), and the motion goes on. A string never
pushes: without being told so, the plan would make it. This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.mechanics.systems.character_system import character_home
from bunraku.mechanics.systems.marionette import marionette_system
from bunraku.optimization.control.constrained import ConstrainedTrajectory
from bunraku.optimization.control.cost import LinearResidualCost, SumOfCosts, TrackingCost
from bunraku.optimization.control.trajectory import TrajectoryNewton
from bunraku.performers.marionette.limits import TensionMargin

DT, MARGIN = 0.01, 0.25  # s, N
ARM = bunraku.load_character("puppet-arm")
SYSTEM = marionette_system(ARM)
DYNAMICS = VariationalDynamics(VariationalIntegrator(SYSTEM, DT, tolerance=1e-11), kinematic_velocity=True)


def wished():
    """The wish (N + 1, nq): the joints as the clip says, and carriage and string where they would hold each pose if it rested.

    The string's force f at the hook balances gravity, J' f = dV/dq; the carriage stands where its line meets the plane.
    """
    home, curves = character_home(ARM, SYSTEM), bunraku.load_clip("arm-wave").need_joints("this lesson")
    q = np.tile(home, (len(curves.values), 1))
    q[:, :3] += curves.values - curves.values[0]
    for row in q:
        at = SYSTEM.tree.configuration(SYSTEM.tree_configuration(row))
        hook, J = at.pose("wrist_hook")[1], at.jacobian("wrist_hook")[0][:, :3]
        f = np.linalg.solve(J.T, -SYSTEM.lagrangian_derivatives(row, 0.0 * row).q[:3])
        line = f / f[2] * (ARM.carriages[0].home[2] - hook[2])
        row[3:] = *(hook + line)[:2], np.linalg.norm(line)
    return q


def solve(q):
    """The motion nearest to the wish with a gentle carriage, whatever the string must do; and the one with tension to spare."""
    p = np.array([DYNAMICS.integrator.initial(now, before).p for before, now in zip(q[[0, *range(len(q) - 1)]], q, strict=True)])
    wish, mass = DYNAMICS.state(q, p), np.diag(SYSTEM.lagrangian_derivatives(q[0], 0.0 * q[0]).vv)[:3]
    weights = DT * np.diag(np.concatenate([np.ones(3), np.full(3, 1e-2), 1e-4 / mass**2, np.zeros(3)]))
    bend = np.hstack([np.zeros((3, 3)), -np.eye(3) / DT**2, np.zeros((3, 3)), -np.eye(3) / DT, np.eye(3) / DT**2])  # acceleration
    cost = SumOfCosts(TrackingCost(wish, weights, np.zeros((3, 3)), terminal=10.0 * weights), LinearResidualCost(bend, DT * 1e-4))
    careless = TrajectoryNewton(tolerance=1e-7).solve(DYNAMICS, cost, wish, q[1:, 3:])
    limited = ConstrainedTrajectory(newton=TrajectoryNewton(tolerance=1e-7), penalty=1e-3, tolerance=1e-3)
    return careless, limited.solve(DYNAMICS, cost, [TensionMargin(DYNAMICS, MARGIN)], careless.x, careless.u).trajectory


def measures(motion):
    """Along a motion: tension [N], condition numbers of the step's matrix and of the hand's Jacobian, constraint residual [m²]."""
    tension = 2.0 * motion.x[:-1, 5] * DYNAMICS.multipliers(motion.x, motion.u)[:, 0] / DT
    step, hand, residual = [], [], []
    for q in motion.x[:, :6]:
        M, D = SYSTEM.lagrangian_derivatives(q, 0.0 * q).vv[:3, :3], SYSTEM.constraint_jacobian(q)[:, :3]
        step.append(np.linalg.cond(np.block([[M, D.T], [D, np.zeros((1, 1))]])))
        at = SYSTEM.tree.configuration(SYSTEM.tree_configuration(q))
        hand.append(np.linalg.cond(at.jacobian("hand")[0][:, [0, 2]]))
        residual.append(abs(SYSTEM.constraint_values(q)[0]))
    return tension, np.array(step), np.array(hand), np.array(residual)


def lesson():
    """The motion, its measures, by how much its carriage exceeds its limits, the wish, and the tension when nobody asks for any."""
    q = wished()
    careless, motion = solve(q)
    return motion, measures(motion), CarriageLimits.of(ARM).excess(motion.x[:, 3:6], DT), q, measures(careless)[0]


if __name__ == "__main__":
    motion, (tension, step, hand, residual), excess, q, careless = lesson()
    off = np.degrees(np.sqrt(((motion.x[:, :3] - q[:, :3]) ** 2).mean(axis=0)))
    print(
        f"off the wish by {off.round(2)} degrees RMS; constraint kept to {residual.max():.1e}; carriage limits kept: {excess.kept}"
    )
    print(f"least tension {tension.min():.3f} N, without asking {careless.min():.3f} N")
    print("time [s]  elbow [deg]  condition: hand  step   tension [N]")
    for k in range(0, len(tension), 20):
        print(f"{k * DT:8.2f}  {np.degrees(motion.x[k, 2]):11.2f}  {hand[k]:15.0f}  {step[k]:4.0f}  {tension[k]:11.2f}")
    print(f"worst condition: {hand.max():.2g} of the hand's Jacobian, {step.max():.2g} of the step's matrix")
