"""How warm a motor's winding becomes, as a share of what it may.

The heat of a winding goes with the square of its torque, and it cools in proportion to its warmth: with the time constant T and the
continuous torque tau_c, at which it may stay for ever,

    T dw/dt = (tau / tau_c)^2 - w,

so that w = 1 is as warm as it may be. A motion that repeats for ever ends at the mean of (tau / tau_c)^2, whatever T; so does one
whose motors state no T: that continuous torque is an RMS is how makers mean it. One that happens once starts cold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.arrays import Array
from bunraku.motion import Check
from bunraku.verification.servos.bank import ServoBank

HOT = 1.0
"""A winding may become as warm as its continuous torque makes it, and no warmer."""


def winding_heat(bank: ServoBank, torque: Array, dt: float, *, repeats: bool) -> Array:
    """The largest warmth (k,) of the windings under torques (n, k) at steps of ``dt`` [s]; NaN without a continuous torque."""
    load = (torque / bank.continuous) ** 2
    if not len(load):
        return np.where(np.isnan(bank.continuous), np.nan, 0.0)
    out = np.asarray(load.mean(axis=0))
    if repeats:
        return out
    from scipy.signal import lfilter  # half a second to import

    for j in np.flatnonzero(~np.isnan(bank.winding_time) & ~np.isnan(bank.continuous)).tolist():
        keep = float(np.exp(-dt / bank.winding_time[j]))
        out[j] = float(lfilter([1.0 - keep], [1.0, -keep], load[:, j]).max())
    return out


def heat_checks(bank: ServoBank, heat: Array, note: str = "") -> list[Check]:
    """That no winding becomes too warm; motors whose continuous torque nobody states are not checked."""
    checks, known = [], ~np.isnan(bank.continuous)
    if known.any():
        hottest = int(np.where(known, heat, -1.0).argmax())
        words = "; ".join(part for part in (bank.names[hottest], note) if part)
        checks.append(Check("winding heat", float(heat[hottest]), "of what it may have", HOT, note=words))
    if not known.all():
        without = [name for name, stated in zip(bank.names, known, strict=True) if not stated]
        checks.append(Check.not_checked("winding heat", f"add continuous_torque_n_m of {some(without)} to the character"))
    return checks


def some(names: Sequence[str], most: int = 3) -> str:
    """The first few of a list of names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
