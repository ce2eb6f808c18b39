"""Left and right: which end effectors mirror each other, and footfalls whose second half mirrors the first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.errors import BadInput
from bunraku.gait.feet import Feet

NEAR = 1e-6


def mirror_partners(feet: Feet, names: Sequence[str], tolerance: float = 2e-3) -> tuple[int, ...]:
    """For every end effector the index of the one that stands at (x, -y) where it stands at (x, y) [m], itself in the middle."""
    places = np.array(feet.places)
    partners = []
    for j, (x, y) in enumerate(places):
        away = np.hypot(places[:, 0] - x, places[:, 1] + y)
        partner = int(np.argmin(away))
        if away[partner] > tolerance:
            raise BadInput(
                f"no end effector mirrors {names[j]!r} at ({x:.3g}, {y:.3g}) m; half-cycle symmetry needs a left and a right"
            )
        partners.append(partner)
    return tuple(partners)


def check_half_cycle(swings: Sequence[tuple[int, float, float]], partners: Sequence[int], names: Sequence[str]) -> None:
    """Refuse swings of a cycle for which no mirrored swing of the partner comes half a cycle later."""
    for j, start, end in swings:
        later = (start + 0.5) % 1.0
        answers = [
            k == partners[j] and abs((s - later + 0.5) % 1.0 - 0.5) < NEAR and abs(e - s - end + start) < NEAR for k, s, e in swings
        ]
        if not any(answers):
            raise BadInput(
                f"the swing of {names[j]!r} at {start:.3g} has no mirrored one of {names[partners[j]]!r} at {later:.3g}; "
                "drop the half-cycle symmetry or choose another pattern"
            )
