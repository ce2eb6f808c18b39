"""Elastic materials: Neo-Hookean for large strains, St. Venant-Kirchhoff for small strains and large rotations.

With F = I + grad u, J = det F, E = (F'F - I) / 2 and Lame's numbers lam = E_Y nu / ((1 + nu)(1 - 2 nu)), mu = E_Y / (2 (1 + nu))
from Young's modulus E_Y and Poisson's ratio nu, the energies a volume are

    Neo-Hookean           W = mu/2 (F:F - 3 - 2 ln J) + lam/2 (ln J)^2        P = mu (F - F^-T) + lam ln J F^-T
    St. Venant-Kirchhoff  W = lam/2 (tr E)^2 + mu E:E                         P = F (lam tr(E) I + 2 mu E)

P = dW/dF is the first Piola stress. Both are Hooke's law at small strain and differ from each other by terms of third order in it
(W).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.elastic import tetrahedra_kernels as kernels

MODELS = {"neo-hookean": kernels.NEO_HOOKEAN, "st-venant-kirchhoff": kernels.ST_VENANT_KIRCHHOFF}


@dataclass(frozen=True, kw_only=True)
class Material:
    """Young's modulus ``young`` [Pa], Poisson's ratio ``poisson``, ``density`` [kg/m^3], and which energy.

    ``strain_damping`` beta [s] (viscous stress = beta times Hooke's law of the strain rate; zero under any rigid motion) and the
    Rayleigh numbers ``mass_damping`` alpha [1/s] and ``rest_damping`` [s] (alpha M v + rest_damping K(0) v) describe its losses.
    """

    young: float
    poisson: float
    density: float
    model: Literal["neo-hookean", "st-venant-kirchhoff"] = "neo-hookean"
    strain_damping: float = 0.0
    mass_damping: float = 0.0
    rest_damping: float = 0.0

    def __post_init__(self) -> None:
        for name in ("young", "poisson", "density", "strain_damping", "mass_damping", "rest_damping"):
            if not np.isfinite(getattr(self, name)):
                raise BadInput(f"{name} is {getattr(self, name)}; a number is needed", place="material")
        if self.young <= 0.0:
            raise BadInput(f"Young's modulus is {self.young:g} Pa; it must be positive (steel 200e9, PLA 3.5e9)", place="material")
        if not -1.0 < self.poisson < 0.5:
            advice = (
                "a number above -1 and below 0.5 is needed; for rubber take 0.49" if self.poisson >= 0.5 else "above -1 is needed"
            )
            raise BadInput(f"Poisson's ratio is {self.poisson:g}; {advice}", place="material")
        if self.density <= 0.0:
            raise BadInput(f"the density is {self.density:g} kg/m^3; it must be positive (steel 7850, PLA 1240)", place="material")
        for name in ("strain_damping", "mass_damping", "rest_damping"):
            if getattr(self, name) < 0.0:
                raise BadInput(f"{name} is {getattr(self, name):g}; damping must not be negative", place="material")
        if self.model not in MODELS:
            raise BadInput(f"the model is {self.model!r}; there are {' and '.join(MODELS)}", place="material")

    @property
    def lame(self) -> tuple[float, float]:
        """Lame's numbers (lam, mu) [Pa]."""
        nu = self.poisson
        return self.young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), self.young / (2.0 * (1.0 + nu))

    def energy_density(self, F: ArrayLike) -> Array:
        """W (m,) [J/m^3] at deformation gradients F (m, 3, 3); infinite for a collapsed Neo-Hookean material (J <= 0)."""
        return np.asarray(kernels.stresses(MODELS[self.model], *self.lame, _gradients(F))[0])

    def stress(self, F: ArrayLike) -> Array:
        """The first Piola stress P (m, 3, 3) [Pa]."""
        return np.asarray(kernels.stresses(MODELS[self.model], *self.lame, _gradients(F))[1])

    def tangent(self, F: ArrayLike) -> Array:
        """The derivative dP_ij/dF_kl (m, 3, 3, 3, 3) [Pa].

        The stiffness of cells with three nodes whose gradients are the unit vectors.
        """
        H = _gradients(F)
        n, one = len(H), np.ones(len(H))
        cells, slot = np.arange(3 * n).reshape(n, 3), np.broadcast_to(np.arange(3, dtype=np.int32), (n, 3, 3)).copy()
        G, start, data = np.broadcast_to(np.eye(3), (n, 1, 3, 3)).copy(), np.arange(0, 9 * n + 1, 3), np.zeros(81 * n)
        u, lame = np.ascontiguousarray(H.transpose(0, 2, 1)).reshape(-1, 3), self.lame
        arrays = (MODELS[self.model], lame[0] * one, lame[1] * one, cells, G, one[:, None])
        _, collapsed = kernels.tangents(*arrays, u, slot, start, np.zeros((3 * n, 3)), data)
        if collapsed >= 0:
            raise BadInput(f"deformation gradient {int(collapsed)} has no positive determinant; the material has collapsed there")
        return data.reshape(n, 3, 3, 3, 3).transpose(0, 2, 1, 4, 3)


def _gradients(F: ArrayLike) -> Array:
    array = np.asarray(F, dtype=np.float64)
    if array.ndim != 3 or array.shape[1:] != (3, 3):
        raise BadInput(f"deformation gradients have shape {array.shape}; (m, 3, 3) is needed")
    return np.ascontiguousarray(array - np.eye(3))
