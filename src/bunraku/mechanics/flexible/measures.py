"""What is promised of a flexible character's motion, as checks: errors of its places, torque, deflection, loops, motors, hits.

Computed from the judged motion; the performer's certificate and its verification both come from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.flexible.deflection import REFUSE_ABOVE, deflection_ratio, deflection_verdict
from bunraku.mechanics.flexible.judge import Judged, hit_lags
from bunraku.mechanics.flexible.prediction import FINE_STEP
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem
from bunraku.mechanics.flexible.torque_lines import torque_lines, torques_of
from bunraku.mechanics.measures.shaking import place_shaking_check
from bunraku.motion import Check, JointCurves, Mark

CLOSURE_THRESHOLD = 1e-9
"""Loops are closed when no row of theirs is off by more [m]."""

HIT_THRESHOLD = 0.020
"""No hit may be earlier or later than wished by more [s]."""

TORQUE_THRESHOLD = 1.0
"""No motor may need more than its torque-speed line gives."""


@dataclass(frozen=True)
class FlexibleMeasures:
    """The checks, flat figures, and notes that a reader must see."""

    checks: tuple[Check, ...]
    figures: dict[str, float]
    notes: tuple[str, ...]


def measure_flexible(
    flexible: FlexibleCharacterSystem, wish: JointCurves, played: JointCurves, judged: Judged, marks: Sequence[Mark] = ()
) -> FlexibleMeasures:
    """Errors of the tracked places, torque, deflection, loops, deviation of the motors from the wish, and hits at ``marks``.

    Figures of the motion as wished (``*_before_m``) are left out when it cannot be simulated.
    """
    numbers: dict[str, float] = {}
    checks = [*_error_checks(judged, numbers), _shaking_check(judged), *_torque_checks(flexible, judged, numbers)]
    ratios = deflection_ratio(flexible, judged.after.motion.q)
    verdict, line = deflection_verdict(ratios)
    worst = max(ratios.values(), default=0.0)
    numbers["deflection_ratio"] = worst
    checks.append(Check("deflection over length", worst, "", REFUSE_ABOVE, note=line))
    closure = _closure(flexible, judged.after.motion.q)
    if closure is not None:
        numbers["loop_closure_m"] = closure
        checks.append(Check("loop closure", closure, "m", CLOSURE_THRESHOLD))
    checks += _deviation_checks(wish, played, numbers)
    lags, strokes = hit_lags(judged, marks), {(mark.text, mark.stroke) for mark in marks if mark.stroke is not None}
    if lags:
        name = max(lags, key=lambda key: abs(lags[key]))
        numbers["hits_moved_s"] = abs(lags[name])
        checks.append(
            Check(
                "hits moved",
                abs(lags[name]),
                "s",
                HIT_THRESHOLD,
                note=f"most: {name}; {len(lags)} of {len(strokes)} strokes judged",
            )
        )
    notes = [*([judged.note] if judged.note else []), *([line] if verdict == "warn" else [])]
    return FlexibleMeasures(tuple(checks), numbers, tuple(notes))


def _error_checks(judged: Judged, figures: dict[str, float]) -> list[Check]:
    before, after = judged.before, judged.after
    figures["peak_error_after_m"], figures["rms_error_after_m"] = after.peak, after.rms
    if before is not None:
        figures["peak_error_before_m"], figures["rms_error_before_m"] = before.peak, before.rms
    against = "" if before is None else f"{1e3 * before.peak:.2f} mm when the wish is played as it is"
    mean = "" if before is None else f"{1e3 * before.rms:.2f} mm when the wish is played as it is"
    checks = [
        Check("tracked error, peak", after.peak, "m", note=against),
        Check("tracked error, RMS", after.rms, "m", None if before is None else before.rms, note=mean),
    ]
    for k, name in enumerate(after.names):
        rms, peak = float(np.sqrt((after.distance[:, k] ** 2).mean())), float(after.distance[:, k].max())
        figures[f"rms_error_after_m.{name}"], figures[f"peak_error_after_m.{name}"] = rms, peak
        words = f"peak {1e3 * peak:.2f} mm"
        if before is not None:
            figures[f"rms_error_before_m.{name}"] = float(np.sqrt((before.distance[:, k] ** 2).mean()))
            figures[f"peak_error_before_m.{name}"] = float(before.distance[:, k].max())
            words += f"; before {1e3 * figures[f'rms_error_before_m.{name}']:.2f} mm RMS"
        checks.append(Check(f"error of {name}, RMS", rms, "m", note=words))
    return checks


def _shaking_check(judged: Judged) -> Check:
    """How much of the places' motion is faster than a body moves on purpose: what is seen to shake, whatever the motors do."""
    after = judged.after
    return place_shaking_check(after.names, after.seen.positions, judged.targets.positions, 1.0 / float(after.times[1]))


def torque_shares(flexible: FlexibleCharacterSystem, judged: Judged) -> tuple[tuple[str, ...], Array, Array]:
    """Motors, their torques (N, nk) [N·m] along the motion, and how much of their torque-speed line is used (N, nk)."""
    system, motion = flexible.system, judged.after.motion
    names = tuple(system.names[i] for i in system.kinematic)
    torque, speed = torques_of(motion)
    return names, torque, torque_lines(flexible.character, names).use(torque, speed)


def _torque_checks(flexible: FlexibleCharacterSystem, judged: Judged, figures: dict[str, float]) -> list[Check]:
    names, torque, share = torque_shares(flexible, judged)
    of = {motor.coordinate: motor for motor in flexible.character.motors}
    if not share.size or not any(of[name].stall_torque is not None for name in names):
        return []
    k, j = np.unravel_index(int(np.argmax(share)), share.shape)
    figures["torque_share"] = float(share[k, j])
    note = f"{names[j]} at {k * FINE_STEP:.3f} s, {torque[k, j]:.2f} N·m"
    checks = [Check("torque against the torque-speed line", float(share[k, j]), "of the line", TORQUE_THRESHOLD, note=note)]
    stated = [(name, of[name].continuous_torque) for name in names]
    rms = np.sqrt((torque**2).mean(axis=0))
    shares = {name: float(rms[i] / limit) for i, (name, limit) in enumerate(stated) if limit is not None}
    if shares:
        name = max(shares, key=lambda key: shares[key])
        figures["rms_torque_share"] = shares[name]
        checks.append(Check("RMS torque", shares[name], "of continuous", 1.0, note=f"motor {name}"))
    return checks


def _closure(flexible: FlexibleCharacterSystem, q: Array) -> float | None:
    """The largest residual [m] of the loops at every second node (1 ms); None without loops."""
    system = flexible.system
    if not system.nc:
        return None
    return max(float(np.abs(system.constraint_values(row)).max()) for row in q[::2])


def _deviation_checks(wish: JointCurves, played: JointCurves, figures: dict[str, float]) -> list[Check]:
    off = {name: float(np.sqrt(((played.column(name) - wish.column(name)) ** 2).mean())) for name in played.names}
    worst = max(off, key=lambda key: off[key])
    figures["motor_deviation_rms_deg"] = float(np.degrees(np.sqrt(np.mean([value**2 for value in off.values()]))))
    for name, value in off.items():
        figures[f"motor_deviation_rms_deg.{name}"] = float(np.degrees(value))
    words = ", ".join(f"{name} {np.degrees(value):.2f} deg" for name, value in off.items())
    return [Check("largest motor deviation, RMS", off[worst], "rad", note=words)]
