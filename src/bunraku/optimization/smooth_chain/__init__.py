"""Tracking under limits on position, velocity, acceleration and jerk, one joint at a time."""

from bunraku.optimization.smooth_chain.smooth_chain import SmoothChainSolution, solve_smooth_chain

__all__ = ["SmoothChainSolution", "solve_smooth_chain"]
