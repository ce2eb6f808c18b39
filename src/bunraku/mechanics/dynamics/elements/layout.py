"""The codes of constraint rows and wrenches in the model arrays."""

from __future__ import annotations

__all__ = ["BILINEAR", "BODY", "DIRECTION", "DISTANCE", "HYBRID", "SPATIAL"]

DISTANCE, DIRECTION, BILINEAR = 0, 1, 2
BODY, HYBRID, SPATIAL = 0, 1, 2
