"""A variational integrator as discrete-time dynamics for trajectory optimization."""

from bunraku.mechanics.integrators.discrete_dynamics.discrete_dynamics import VariationalDynamics

__all__ = ["VariationalDynamics"]
