"""How the kernels of this room are compiled: cached, divisions as in numpy, multiply-add contracted."""

from __future__ import annotations

from numba import njit

kernel = njit(cache=True, error_model="numpy", fastmath={"contract"})
