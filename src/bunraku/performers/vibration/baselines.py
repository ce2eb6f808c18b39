"""How vibration is dealt with otherwise: the wish as it is, input shapers, a low-pass filter.

Shapers are built for the lowest vibrations of the reduced model, motors held at the pose in the middle of the clip; the shaped
curves become profiles like any other, so that all are judged alike.
"""

from __future__ import annotations

from functools import reduce

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion import JointCurves
from bunraku.performers.vibration.frequencies import vibrations
from bunraku.performers.vibration.problem import VibrationProblem
from bunraku.performers.vibration.profile import fit_profile
from bunraku.performers.vibration.shapers import Shaper, low_pass, zero_vibration, zero_vibration_derivative

BASELINES = ("none", "zv", "zv-advanced", "zvd", "zvd-advanced", "lowpass")


def shaper_for(problem: VibrationProblem, kind: str, modes: int = 1) -> Shaper:
    """The shaper of that kind for the lowest ``modes`` vibrations, one after the other."""
    rest = problem.nominal.rest.q
    lowest = vibrations(problem.nominal.flexible, rest[len(rest) // 2], max(modes, 1))
    make = zero_vibration_derivative if kind.startswith("zvd") else zero_vibration
    each = [make(float(f), float(d)) for f, d in zip(lowest.frequencies[:modes], lowest.damping[:modes], strict=True)]
    whole = reduce(lambda one, other: one.after(other), each)
    return whole.advanced() if kind.endswith("advanced") else whole


def baseline(problem: VibrationProblem, kind: str, *, modes: int = 1, cutoff: float = 2.0) -> Array:
    """Parameters of the profiles of a baseline; ``modes`` shaped, ``cutoff`` [Hz] of the low-pass."""
    if kind not in BASELINES:
        raise BadInput(f"there is no baseline {kind!r}; choose {', '.join(BASELINES)}")
    profile = problem.profile
    if kind == "none":
        return problem.wish.copy()
    angles = problem.angles(problem.wish)
    if kind == "lowpass":
        shaped = low_pass(angles, 1.0 / profile.dt, cutoff)
    else:
        shaped = shaper_for(problem, kind, modes).shaped(profile.times, angles)
    return fit_profile(profile, JointCurves(profile.motors, 1.0 / profile.dt, shaped))
