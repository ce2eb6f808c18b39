"""Tipping: how long and how far a plan lets the centre of mass leave the support polygon, which open-loop replays do not forgive.

Outside the polygon of what stands the body is an inverted pendulum: an error grows like cosh(t / tau), tau = sqrt(h / g), h the
height of the centre of mass. Long or wide excursions multiply whatever a servo sags or a floor gives by so much that no replay
keeps to the plan, however well its forces balance on paper. Two numbers tell, of the plan alone: the longest time for which the
centre of mass is less than `INSIDE` within the polygon, in tau, and its farthest distance outside, in h.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.mechanics.measures import balance_kernels as kernels
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.performers.locomotion.plan import MotionPlan
from bunraku.performers.locomotion.stance import StanceMotion, moments, splined, stand
from bunraku.performers.locomotion.track import track_of

INSIDE = 0.005
"""The centre of mass is safe when it is at least this far [m] within the support polygon."""

LONGEST, FARTHEST = 1.5, 0.12
"""Excursions that replays survive: in sqrt(h / g), and in h."""

RATE = 200.0
"""Rate [Hz] at which a plan is judged: that of its channels unless someone asks for another."""


@dataclass(frozen=True)
class Tipping:
    """``time``: the longest excursion, in sqrt(h / g); ``distance``: the farthest, in h; ``height`` h [m], mean over the motion."""

    time: float
    distance: float
    height: float

    @property
    def safe(self) -> bool:
        """Whether both are within what replays survive."""
        return self.time <= LONGEST and self.distance <= FARTHEST

    @property
    def note(self) -> str:
        """What to tell before anyone plays it; nothing of a safe motion."""
        if self.safe:
            return ""
        tau = np.sqrt(self.height / GRAVITY)
        return (
            f"it may tip: the centre of mass is outside the support for {self.time * tau:.2f} s at a time ({self.time:.1f} "
            f"sqrt(h/g), safe up to {LONGEST:g}), {1000.0 * self.distance * self.height:.0f} mm at most "
            f"({self.distance:.2f} h, safe up to {FARTHEST:g}); shorter swings or cycles, or the pattern crawl, keep it inside"
        )


def tipping(com: Array, contact: Array, on: NDArray[np.bool_], step: float) -> Tipping:
    """Of centres of mass (m, 3) and contact points (m, n_e, 3), those ``on`` (m, n_e) the ground, ``step`` [s] apart."""
    under = np.where(on, contact[..., 2], np.nan)
    floor = np.nanmin(under, axis=1, initial=np.inf)
    height = float(np.mean(com[:, 2] - np.where(np.isfinite(floor), floor, np.min(contact[..., 2]))))
    margin = np.array([_margin(com[k, :2], contact[k, on[k], :2]) for k in range(len(com))])
    longest = run = 0
    for outside in margin < INSIDE:
        run = run + 1 if outside else 0
        longest = max(longest, run)
    tau = float(np.sqrt(max(height, 1e-9) / GRAVITY))
    return Tipping(longest * step / tau, float(max(0.0, -margin.min())) / max(height, 1e-9), height)


def tipping_as_played(stance: StanceMotion, step: float) -> Tipping:
    """Of a motion at the playing rate, its moments ``step`` [s] apart."""
    return tipping(stance.seen.com, stance.seen.contact, stance.on, step)


def tipping_of(plan: MotionPlan) -> Tipping:
    """Of a plan as it is played: a cycle twice, so that an excursion over its end counts as one."""
    track = track_of(plan, 2)
    at = moments(track, RATE)
    return tipping_as_played(stand(track, at, splined(track, at)), 1.0 / RATE)


def _margin(place: Array, feet: Array) -> float:
    """Distance [m] of a place (2,) within the hull of ``feet`` (k, 2), negative outside; 0 in flight."""
    if not len(feet):
        return 0.0
    hull = np.empty((2 * len(feet) + 2, 2))
    size = kernels.convex_hull(np.ascontiguousarray(feet), len(feet), hull)
    return float(kernels.polygon_margin(hull, size, place[0], place[1]))
