"""What the built-in flexible characters promise beyond the verdict on any performance: each a check with its threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.flexible.judge import Judged, TrackedError
from bunraku.motion import Check, Performance

MOTOR_DEVIATION = np.radians(3.0)
"""No motor strays from the wish by more RMS [rad]: vibration is not suppressed by freezing the character."""

PEAKS = {"drummer": (0.05, 0.12, 0.010), "boxer": (0.05, 0.12, 0.015), "rapper": (0.20, 0.40, 0.010)}
"""Peak error [m] of the wish played as it is, from and to, and of the performance, at most."""

SPILL, UPRIGHT = np.arctan(7.0 / 31.0), np.radians(3.0)
"""The bartender's glass spills when tilted by more against effective gravity [rad]; how near to the quasi-static tilt it stays."""


CORNER = 0.05
"""A pause is judged from so long [s] after it begins to so long before it ends: no motor follows the corner of a wish."""


@dataclass(frozen=True)
class FlexiblePromises:
    """The checks, and figures that go with them."""

    checks: tuple[Check, ...]
    figures: dict[str, float]


def promises_of(name: str, performance: Performance, judged: Judged) -> FlexiblePromises:
    """The promises of the demo called ``name``; ``judged``: the performance as the reduced model has it."""
    checks: list[Check] = []
    figures: dict[str, float] = {}
    if name == "one-rod":
        pause = phrase_rms(judged.after, performance, "pause")
        figures["pause_rms_m"] = pause
        checks += [Check("tip off, RMS", judged.after.rms, "m", 1.1e-3), Check("tip off in the pause, RMS", pause, "m", 1.5e-4)]
    if name == "two-rods":
        rest = phrase_rms(judged.after, performance, "after the stop")
        figures["after_stop_rms_m"] = rest
        checks.append(Check("places off after the stop, RMS", rest, "m", 3e-4))
    if name == "bartender":
        tilts, tilted = _tilts(judged)
        checks += tilted
        figures |= tilts
    if name in PEAKS:
        low, high, most = PEAKS[name]
        before = np.nan if judged.before is None else judged.before.peak
        checks += [
            Check("peak error as wished, at least", before, "m", low, at_least=True),
            Check("peak error as wished, at most", before, "m", high),
            Check("peak error", judged.after.peak, "m", most),
            _freezing(performance),
        ]
    return FlexiblePromises(tuple(checks), figures)


def phrase_rms(error: TrackedError, performance: Performance, text: str) -> float:
    """RMS error [m] over all tracked places during the phrase called ``text``, its corners left out; NaN if there is none."""
    phrase = next((mark for mark in performance.phrases if mark.text == text), None)
    if phrase is None:
        return float("nan")
    inside = (error.times >= phrase.start + CORNER) & (error.times <= phrase.end - CORNER)
    return float(np.sqrt((error.distance[inside] ** 2).mean()))


def effective_tilt(positions: Array, rotations: Array, step: float, gravity: float = 9.81) -> Array:
    """Angle (n,) [rad] of a vessel's z axis against effective gravity, a - g, along positions (n, 3), rotations (n, 3, 3)."""
    acceleration = np.gradient(np.gradient(positions, step, axis=0), step, axis=0)
    up = acceleration + np.array([0.0, 0.0, gravity])
    z = rotations[..., 2]
    return np.asarray(np.arctan2(np.linalg.norm(np.cross(z, up), axis=1), (z * up).sum(axis=1)))


def _tilts(judged: Judged) -> tuple[dict[str, float], Sequence[Check]]:
    """Tilts of the glass against effective gravity: peaks before and after, and how far it is from the quasi-static target's."""
    k, step = judged.after.names.index("glass"), float(judged.after.times[1])
    target = effective_tilt(judged.targets.positions[:, k], judged.targets.rotations[:, k], step)
    after = effective_tilt(judged.after.seen.positions[:, k], judged.after.seen.rotations[:, k], step)
    figures = {"peak_tilt_deg_target": float(np.degrees(target.max())), "peak_tilt_deg_after": float(np.degrees(after.max()))}
    before = float("nan")
    if judged.before is not None:
        seen = judged.before.seen
        before = float(effective_tilt(seen.positions[:, k], seen.rotations[:, k], step).max())
        figures["peak_tilt_deg_before"] = float(np.degrees(before))
    return figures, (
        Check("tilt of the glass as wished", before, "rad", float(SPILL), at_least=True, note="it spills above this"),
        Check("tilt of the glass", float(after.max()), "rad", float(SPILL), note="it spills above this"),
        Check("tilt beyond the quasi-static one", float(np.abs(after - target).max()), "rad", float(UPRIGHT), note="at any time"),
    )


def _freezing(performance: Performance) -> Check:
    """The largest RMS deviation of a motor from its wish."""
    played, wish = performance.sent(), performance.wish_or_plan()
    off = {name: float(np.sqrt(((played.column(name) - wish.column(name)) ** 2).mean())) for name in wish.names}
    worst = max(off, key=lambda key: off[key])
    return Check("motor deviation, RMS", off[worst], "rad", float(MOTOR_DEVIATION), note=f"most: {worst}")
