"""Small vibrations of chains of rigid links in MuJoCo, and the limit of two numbers of links."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, null_space

from bunraku.verification.flexible.model import ChainModel
from bunraku.verification.flexible.rest import balance, tangent
from bunraku.verification.foreign import mass_matrix


def chain_frequencies(foreign: ChainModel, qpos: np.ndarray, count: int) -> np.ndarray:
    """The lowest undamped frequencies (count,) [Hz] of small vibrations about a rest ``qpos`` (nq,); closed loops stay closed."""
    import mujoco

    data = mujoco.MjData(foreign.model)
    data.qpos[:] = qpos
    r, J, _ = balance(foreign, data, np.zeros(0))
    y = np.linalg.lstsq(J.T, r, rcond=1e-12)[0] if len(J) else np.zeros(0)
    K = tangent(foreign, data, np.asarray(y, dtype=np.float64))[1]
    M = mass_matrix(foreign.model, data)
    Z = null_space(J) if len(J) else np.eye(len(r))
    squares = eigh(Z.T @ (0.5 * (K + K.T)) @ Z, Z.T @ M[np.ix_(foreign.free, foreign.free)] @ Z, eigvals_only=True)[:count]
    return np.asarray(np.sign(squares) * np.sqrt(np.abs(squares)) / (2.0 * np.pi))


def limit(coarse: np.ndarray, fine: np.ndarray) -> np.ndarray:
    """What n and 2 n links, whose errors fall as 1 / n^2, come to."""
    return fine + (fine - coarse) / 3.0
