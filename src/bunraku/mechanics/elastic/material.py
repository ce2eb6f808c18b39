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

from bunraku.errors import BadInput
from bunraku.mechanics.elastic import tetrahedra_kernels as kernels

MODELS = {"neo-hookean": kernels.NEO_HOOKEAN, "st-venant-kirchhoff": kernels.ST_VENANT_KIRCHHOFF}


@dataclass(frozen=True, kw_only=True)
class Material:
    """Young's modulus ``young`` [Pa], Poisson's ratio ``poisson``, ``density`` [kg/m^3], and which energy.

    ``strain_damping`` beta [s] describes its losses: viscous stress = beta times Hooke's law of the strain rate, zero under any
    rigid motion.
    """

    young: float
    poisson: float
    density: float
    model: Literal["neo-hookean", "st-venant-kirchhoff"] = "neo-hookean"
    strain_damping: float = 0.0

    def __post_init__(self) -> None:
        for name in ("young", "poisson", "density", "strain_damping"):
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
        if self.strain_damping < 0.0:
            raise BadInput(f"strain_damping is {self.strain_damping:g}; damping must not be negative", place="material")
        if self.model not in MODELS:
            raise BadInput(f"the model is {self.model!r}; there are {' and '.join(MODELS)}", place="material")

    @property
    def lame(self) -> tuple[float, float]:
        """Lame's numbers (lam, mu) [Pa]."""
        nu = self.poisson
        return self.young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), self.young / (2.0 * (1.0 + nu))
