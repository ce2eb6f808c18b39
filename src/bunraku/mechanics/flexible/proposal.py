"""Which parts to treat as flexible: their first frequency against the band in which a motion has its accelerations.

Below its first frequency f1 (held at its base, with what it carries) a part follows quasi-statically; a motion at f is amplified
by 1 / (1 - (f / f1)^2), which is within 4 % of 1 for f < f1 / 5. So a part bends visibly if f1 < 5 x the edge of the motion's
band. By how much it gives way to an acceleration a of what it carries follows from the same number: a / (2 pi f1)^2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.mechanics.flexible.reduced_parts import ReducedPart, reduce_parts
from bunraku.mechanics.tree import compile_tree

FACTOR = 5.0
SHARE = 0.99


@dataclass(frozen=True)
class Proposal:
    """Whether to treat a part as flexible, its first ``frequency`` [Hz] and the edge of the motion's ``band`` [Hz].

    ``reason`` says it in a line.
    """

    part: str
    flexible: bool
    frequency: float
    band: float
    reason: str


def motion_band(values: ArrayLike, rate: float, *, share: float = SHARE) -> float:
    """The frequency [Hz] below which the ``share`` of the power of the second derivative of curves (n, m) at ``rate`` [Hz] lies.

    Zero for curves that do not move. Curves count together, each by its own power.
    """
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 2 or not rate > 0.0:
        raise BadInput(f"the curves have shape {x.shape} at {rate:g} Hz; (samples, curves) at a positive rate are needed")
    if len(x) < 4:
        return 0.0
    second = np.diff(x, 2, axis=0) * rate**2
    power = (np.abs(np.fft.rfft(second, axis=0)) ** 2).sum(axis=1)
    if not power.sum() > 1e-20 * len(x):
        return 0.0
    place = int(np.searchsorted(np.cumsum(power), share * power.sum()))
    return float(np.fft.rfftfreq(len(second), 1.0 / rate)[min(place, len(power) - 1)])


def propose_flexible(
    character: Character,
    band: float,
    *,
    parts: Mapping[str, ReducedPart] | None = None,
    meshes: Mapping[str, TetMesh] | None = None,
    factor: float = FACTOR,
) -> tuple[Proposal, ...]:
    """For every flexible part whether it should be treated as one in motions up to ``band`` [Hz] (:func:`motion_band`)."""
    known = parts or reduce_parts(character, compile_tree(character), meshes=meshes)
    proposals = []
    for part in character.flexibles:
        reduced = known[part.name]
        f1 = reduced.frequency
        flexible = f1 < factor * band
        sag = 9.81 / (2.0 * np.pi * f1) ** 2
        load = sum(body.mass for body in reduced.carried)
        what = f"first frequency {f1:.3g} Hz with {load:.3g} kg, gives way by {1e3 * sag:.3g} mm to 1 g"
        sign, do = ("below", "treat as flexible") if flexible else ("above", "may be taken as rigid")
        reason = f"{what}; {sign} {factor:g} x the {band:.3g} Hz of the motion: {do}"
        proposals.append(Proposal(part.name, flexible, f1, band, reason))
    return tuple(proposals)
