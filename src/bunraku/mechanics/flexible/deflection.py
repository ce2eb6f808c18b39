"""How far flexible parts bend, against their length: what a reduced model is good for.

Of a part with child interfaces c(u) = c0 + C u in the frame of its base, the deflection is the largest |C u|, the length the
largest distance of an interface from the base. Modal models lose their accuracy above a quarter of the length and fail near half
of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput

if TYPE_CHECKING:
    from bunraku.mechanics.flexible.system import FlexibleCharacterSystem

WARN_ABOVE, REFUSE_ABOVE = 0.25, 0.4
"""Deflection over length above which the prediction is doubtful, and above which it is refused."""


def deflection_ratios(model: FlexibleCharacterSystem, q: ArrayLike) -> dict[str, Array]:
    """Deflection over length of every part at every sample, (n,) each, for q (n, nq)."""
    values = np.asarray(q, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != model.system.nq:
        raise BadInput(f"q has shape {values.shape}; (samples, {model.system.nq}) is needed")
    ratios = {}
    for name, part in model.parts.items():
        u = values[:, model.coordinates(name)]
        moved = [np.linalg.norm(u @ face.C.T, axis=1) for face in part.reduction.segment.interfaces]
        ratios[name] = np.max(moved, axis=0) / part.length
    return ratios


def deflection_ratio(model: FlexibleCharacterSystem, q: ArrayLike) -> dict[str, float]:
    """The largest deflection over length of every part, over all samples of q (n, nq)."""
    return {name: float(ratios.max(initial=0.0)) for name, ratios in deflection_ratios(model, q).items()}


def deflection_verdict(ratios: Mapping[str, float]) -> tuple[str, str]:
    """``fine``, ``warn`` or ``refuse`` for the largest ratio, and one line that names its part."""
    if not ratios:
        return "fine", "no flexible parts"
    name = max(ratios, key=lambda key: ratios[key])
    worst = ratios[name]
    if not worst <= REFUSE_ABOVE:
        return (
            "refuse",
            f"{name} bends by {worst:.2f} of its length; above {REFUSE_ABOVE} the model does not hold: slow the motion down",
        )
    if worst > WARN_ABOVE:
        return (
            "warn",
            f"{name} bends by {worst:.2f} of its length; above {WARN_ABOVE} the prediction is doubtful: verify it in full order",
        )
    return "fine", f"{name} bends most, by {worst:.2f} of its length"
