"""Rotations, poses and splines on plain arrays."""
