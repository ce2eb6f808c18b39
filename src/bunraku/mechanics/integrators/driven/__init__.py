"""Motors that follow given curves: simulation of the rest of the system, its exact derivatives, and its quasi-static motion."""
