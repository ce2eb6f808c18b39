"""Lifted linearization: about configurations that do not obey physics yet, with their defects.

Nodes' configurations q are unknowns of their own (momenta are not: P_m follows from q of nodes m - 1 and m). The defect of step m,
r_m = P_m + dt/2 (Lq + D) - Lv + dt F - Dh' lam, h(q_{m+1}) for loops, adds one column to the sensitivities; a full Newton step in
the parameters, with :meth:`Linearization.follow` for the configurations, closes it to first order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.integrators.driven.linearization import Linearization
from bunraku.mechanics.integrators.driven.rest import RestMotion
from bunraku.mechanics.integrators.driven.simulate import DrivenMotion


def linearize_about(
    system: System, motion: DrivenMotion | RestMotion | ArrayLike, dt: float, lam: ArrayLike | None = None, *, memory: float = 1e9
) -> Linearization:
    """The linearization about a motion that need not obey physics, starting from rest.

    ``motion``: a simulation (with an observer, say), a quasi-static motion, or configurations (N + 1, nq) with the multipliers
    ``lam`` (N, nc) (impulses; zero if not given).
    """
    if isinstance(motion, DrivenMotion):
        motion.require()
        return Linearization(system, motion.q, motion.lam, dt, motion.rests, memory)
    if isinstance(motion, RestMotion):
        return Linearization(system, motion.q, -dt * motion.multipliers[:-1], dt, True, memory)
    q = np.asarray(motion, dtype=np.float64)
    impulses = np.zeros((len(q) - 1, system.nc)) if lam is None else np.asarray(lam, dtype=np.float64)
    return Linearization(system, q, impulses, dt, True, memory)
