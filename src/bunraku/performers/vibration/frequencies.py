"""Small vibrations of a character about a pose at rest: frequencies of its reduced model, motors held.

(K - w^2 M) phi = 0 on the motions that loops allow, with M = L_vv and K = -L_qq over the dynamic coordinates at rest; the damping
ratio of a mode is phi.C phi / (2 w), C = -dF/dv.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh, null_space

from bunraku.arrays import Array
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem


@dataclass(frozen=True)
class PoseVibration:
    """``frequencies`` [Hz], rising, and ``damping`` ratios of the modes at a pose."""

    frequencies: Array
    damping: Array


def vibrations(flexible: FlexibleCharacterSystem, q: ArrayLike, count: int = 6) -> PoseVibration:
    """The lowest ``count`` vibrations about the pose q (nq,) at rest, damped by strain rates and joints."""
    system = flexible.system
    at = np.asarray(q, dtype=np.float64)
    derivatives = system.lagrangian_derivatives(at, np.zeros(system.nq))
    d = np.ix_(system.dynamic, system.dynamic)
    M, K = derivatives.vv[d], -derivatives.qq[d]
    _, _, Fv, _ = system.force_derivatives(at, np.zeros(system.nq), np.zeros(system.nu))
    C = -Fv[d]
    if system.nc:
        N = null_space(system.constraint_jacobian(at)[:, system.dynamic], rcond=1e-9)
        M, K, C = N.T @ M @ N, N.T @ K @ N, N.T @ C @ N
    values, shapes = eigh(0.5 * (K + K.T), 0.5 * (M + M.T), subset_by_index=(0, min(count, len(M)) - 1))
    w = np.sqrt(np.maximum(values, 1e-12))
    ratio = np.einsum("ia,ij,ja->a", shapes, C, shapes) / (2.0 * w)
    return PoseVibration(w / (2.0 * np.pi), np.clip(ratio, 0.0, 0.99))
