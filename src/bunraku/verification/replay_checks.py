"""What every replay promises, of whatever physics: that it came to the end, kept up, and had torque to spare."""

from __future__ import annotations

from bunraku.motion import Check

MOST_SATURATION = 0.05
"""No motor may spend more than this share of the time on its torque-speed line."""


def completed(complete: bool, *, fell: bool = False, name: str = "replay completed") -> Check:
    """Whether all that was to be replayed was."""
    note = "" if complete else "some fell and were stopped" if fell else "cancelled"
    return Check(name, float(complete), threshold=1.0, at_least=True, note=note)


def fallen(falls: float, reason: str, *, unit: str = "", otherwise: str) -> Check:
    """How many replays fell, and why the first did."""
    return Check("fell", falls, unit, 0.0, note=reason or otherwise)


def saturation(share: float, note: str, *, promised: bool = True) -> Check:
    """The largest share of the time that a motor spent on its line."""
    return Check("torque saturation", share, "of the time", MOST_SATURATION if promised else None, note=note)
