"""How simulated servos move: each approaches its target like a first-order system."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class FirstOrderServos:
    """Servos with x' = (target - x) / tau while they are driven, and x' = 0 while they are not.

    ``target`` (servos,) in counts and ``driven`` (servos,) may be set at any time after :meth:`advance`.
    """

    def __init__(self, start: Sequence[float], *, tau_s: float) -> None:
        """``start`` are the first positions [counts], ``tau_s`` the time constant [s]."""
        self.target = np.array(start, dtype=np.float64)
        self.driven = np.zeros(len(start), dtype=bool)
        self._x = self.target.copy()
        self._tau = tau_s
        self._then = time.monotonic()

    def advance(self, now: float | None = None) -> NDArray[np.float64]:
        """Move to the present (or to ``now``, `time.monotonic`) and say where the servos are, (servos,)."""
        now = time.monotonic() if now is None else now
        left = np.exp(-max(0.0, now - self._then) / self._tau)
        self._x = np.where(self.driven, self.target + (self._x - self.target) * left, self._x)
        self._then = max(now, self._then)
        return self._x.copy()
