"""Energy, stress and tangent of a material at given deformation gradients, by the kernels of the solids."""

from __future__ import annotations

import numpy as np

from bunraku.mechanics.elastic import tetrahedra_kernels as kernels
from bunraku.mechanics.elastic.material import MODELS, Material


def energy_and_stress(material: Material, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """W (m,) [J/m^3], infinite where it has collapsed, and the first Piola stress P (m, 3, 3) [Pa] at gradients F (m, 3, 3)."""
    return kernels.stresses(MODELS[material.model], *material.lame, F - np.eye(3))


def tangent(material: Material, F: np.ndarray) -> np.ndarray:
    """dP_ij/dF_kl (m, 3, 3, 3, 3) [Pa]: the stiffness of cells with three nodes whose gradients are the unit vectors."""
    H = F - np.eye(3)
    n, one = len(H), np.ones(len(H))
    cells, slot = np.arange(3 * n).reshape(n, 3), np.broadcast_to(np.arange(3, dtype=np.int32), (n, 3, 3)).copy()
    G, start, data = np.broadcast_to(np.eye(3), (n, 1, 3, 3)).copy(), np.arange(0, 9 * n + 1, 3), np.zeros(81 * n)
    u, (lam, mu) = np.ascontiguousarray(H.transpose(0, 2, 1)).reshape(-1, 3), material.lame
    arrays = (MODELS[material.model], lam * one, mu * one, cells, G, one[:, None])
    _, collapsed = kernels.tangents(*arrays, u, slot, start, np.zeros((3 * n, 3)), data)
    assert collapsed < 0, f"the material has collapsed at gradient {collapsed}"
    return data.reshape(n, 3, 3, 3, 3).transpose(0, 2, 1, 4, 3)
