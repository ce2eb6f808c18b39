"""How the kernels of this room are compiled: cached, divisions as in numpy, multiply-add contracted."""

from __future__ import annotations

from numba import njit

kernel = njit(cache=True, error_model="numpy", fastmath={"contract"})

inlined = njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
"""The body of a loop that stands in several: as a call the loops of rigid trees were measured a quarter slower."""
