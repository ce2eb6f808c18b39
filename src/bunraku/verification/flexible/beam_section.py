"""Sections of slender parts: what bends and twists in a rod, a tube, a strip.

With the part's axis along z and its section in (x, y): area A, second moments I_x = int y^2 (bending about x), I_y = int x^2, and
the torsion constant J. Round sections have J = I_x + I_y; a rectangle of sides a >= b has Saint-Venant's
J = a b^3 (1/3 - 64 b / (pi^5 a) sum_{n odd} tanh(n pi a / (2 b)) / n^5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.character import ElasticMaterial, FlexiblePart, PartShape
from bunraku.errors import BadInput

SLENDER = 10.0
"""A part counts as a beam when it is at least this many times as long as thick; shear then lowers its deflection's share to 1 %."""


@dataclass(frozen=True)
class BeamSection:
    """``length`` [m] of a part, ``area`` A [m^2] of its section, ``bending`` (I_x, I_y) [m^4] and ``torsion`` J [m^4]."""

    length: float
    area: float
    bending: tuple[float, float]
    torsion: float

    def rigidity(self, material: ElasticMaterial) -> tuple[float, float, float]:
        """E I_x, E I_y and G J [N m^2]."""
        E, G = material.young, 0.5 * material.young / (1.0 + material.poisson)
        return E * self.bending[0], E * self.bending[1], G * self.torsion


def is_beam(part: FlexiblePart) -> bool:
    """Whether a part is a beam between its two end faces."""
    try:
        beam_section(part)
    except BadInput:
        return False
    return True


def beam_section(part: FlexiblePart) -> BeamSection:
    """The section of a part that is a beam between its two end faces; BadInput names a part that is not."""
    shape, where = part.shape, f"the flexible part {part.name!r}"
    if shape.kind not in ("rod", "tube", "box"):
        raise BadInput(f"{where} is a {shape.kind}, no slender beam; only rods, tubes and boxes are replayed as chains")
    patches = {part.base_patch, *(child.patch for child in part.children)}
    if len(part.children) != 1 or patches != {"start", "end"}:
        raise BadInput(f"{where} is held at {', '.join(sorted(patches))}; only parts from start to end are replayed as chains")
    section, thickness = _section(shape)
    if section.length < SLENDER * thickness:
        ratio = section.length / thickness
        raise BadInput(f"{where} is {ratio:.1f} times as long as thick; only beams of {SLENDER:g} or more are replayed as chains")
    return section


def _section(shape: PartShape) -> tuple[BeamSection, float]:
    """The section, and its larger side [m]."""
    if shape.kind == "box":
        x, y, length = (float(side) for side in shape.size or (0.0, 0.0, 0.0))
        return BeamSection(length, x * y, (x * y**3 / 12.0, y * x**3 / 12.0), _rectangle(max(x, y), min(x, y))), max(x, y)
    length, outer = float(shape.length or 0.0), 0.5 * float(shape.diameter or 0.0)
    inner = outer - float(shape.wall) if shape.kind == "tube" and shape.wall is not None else 0.0
    second = np.pi / 4.0 * (outer**4 - inner**4)
    return BeamSection(length, np.pi * (outer**2 - inner**2), (second, second), 2.0 * second), 2.0 * outer


def _rectangle(a: float, b: float) -> float:
    n = np.arange(1.0, 60.0, 2.0)
    return float(a * b**3 * (1.0 / 3.0 - 64.0 * b / (np.pi**5 * a) * np.sum(np.tanh(n * np.pi * a / (2.0 * b)) / n**5)))
