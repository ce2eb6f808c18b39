"""Whole trajectories of variational steps and their derivatives, each in one compiled call."""
