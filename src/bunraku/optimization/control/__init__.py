"""Optimal control of discrete-time systems: LQR, projection operator, Newton on trajectories, Gramians, switching times."""
