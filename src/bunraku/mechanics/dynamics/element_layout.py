"""The codes of constraint rows and wrenches in the model arrays."""

from __future__ import annotations

DISTANCE, DIRECTION, BILINEAR = 0, 1, 2
BODY, HYBRID, SPATIAL = 0, 1, 2
