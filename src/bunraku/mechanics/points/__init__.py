"""Chosen points of a system along a motion: where they are, and how that depends on the coordinates."""

from bunraku.mechanics.points.points import Points

__all__ = ["Points"]
