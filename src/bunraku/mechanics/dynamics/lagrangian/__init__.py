"""Gradient and Hessian of the Lagrangian of a tree."""
