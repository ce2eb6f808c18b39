"""Rotations, poses and splines on plain arrays."""

__all__ = ["euler", "poses", "rotations", "splines"]
