"""What every replay promises, of whatever physics: that it came to the end, kept up, and had torque to spare."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.motion import Check
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.servos.heat import some

MOST_SATURATION = 0.05
"""No motor may spend more than this share of the time on its torque-speed line."""


def completed(complete: bool, *, fell: bool = False, name: str = "replay completed") -> Check:
    """Whether all that was to be replayed was."""
    note = "" if complete else "some fell and were stopped" if fell else "cancelled"
    return Check(name, float(complete), threshold=1.0, at_least=True, note=note)


def fallen(falls: float, reason: str, *, unit: str = "", otherwise: str) -> Check:
    """How many replays fell, and why the first did."""
    return Check("fell", falls, unit, 0.0, note=reason or otherwise)


def saturation_checks(servos: ServoBank, shares: Array, note: str = "", *, promised: bool = True) -> list[Check]:
    """The largest share of the time (k,) that a motor spent on its line; motors that state none are not checked."""
    known, checks = np.isfinite(servos.stall), []
    if known.any():
        worst = int(np.where(known, shares, -1.0).argmax())
        words = "; ".join(part for part in (servos.names[worst], note) if part)
        threshold = MOST_SATURATION if promised else None
        checks.append(Check("torque saturation", float(shares[worst]), "of the time", threshold, note=words))
    if not known.all():
        without = some([n for n, line in zip(servos.names, known, strict=True) if not line])
        missing = f"add stall_torque_n_m of {without} to the character"
        checks.append(Check.not_checked("torque saturation", missing))
    return checks


def limbs_in_replay() -> Check:
    """Limbs pass through each other in replays; what is planned is checked for that."""
    note = "limbs pass through each other in the replay; the certificate's self-collision speaks of the plan"
    return Check.not_applicable("limbs touching in the replay", note)
