"""The carriages' path if they went with the puppet's root as one rigid plate, and the wish that such a path can follow.

With r(t) and yaw(t) the place and heading of the root in the wish, k_i(0) a carriage's place while the puppet hangs still,

    k_i(t) = r(t) + R(yaw(t) - yaw(0)) (k_i(0) - r(0)),

in the plane, R the turn about the vertical. Yaw is the twist of the root's rotation Q, atan2(Q_yx - Q_xy, Q_xx + Q_yy): it is
defined unless the root is upside down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.motion import JointCurves
from bunraku.performers.marionette.baselines import low_passed

CUTOFF = 1.0
"""Faster motion of the root [Hz] is left out of the rigid path: carriages need not shake with each step of a walk."""

MARGIN = 0.05
"""Share of the range at each of its ends that a fitted wish leaves free, for limbs to be led and motion to be slowed."""


@dataclass(frozen=True)
class FittedWish:
    """The ``wish`` whose root stays where the carriages can go with it: its path times ``scale``, ``shift`` (2,) [m] added."""

    wish: JointCurves
    scale: float = 1.0
    shift: tuple[float, float] = (0.0, 0.0)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the wish, in words; nothing when it fits as it is."""
        moved = f"moved by ({self.shift[0]:.2f}, {self.shift[1]:.2f}) m"
        how = moved if self.scale == 1.0 else f"made {self.scale:.2f} times as wide and {moved}"
        same = self.scale == 1.0 and not any(self.shift)
        return () if same else (f"the wish leaves the carriages' range: the path of its root was {how}; errors refer to that wish",)


def fit_root(character: Character, system: System, rest: Array, wish: JointCurves) -> FittedWish:
    """The wish with the path of its root moved, and made narrower where that is not enough, so that all carriages stay in range.

    ``rest`` (nq,): the puppet hanging. The path r becomes s r + b with the largest s <= 1 that allows it, and then the b next to
    what keeps the resting place where it is. A wish whose carriages stay in range is left as it is, and so is a root of which the
    wish says nothing.
    """
    root = _root(character)
    names = [f"{root}.{axis}" for axis in ("tx", "ty")]
    missing = [name for name in names if name not in wish.names]
    if missing == names or not set(names) <= set(system.names):
        return FittedWish(wish)
    if missing:
        hanging = np.tile(rest[[system.index(name) for name in missing]], (len(wish.values), 1))
        whole = JointCurves((*wish.names, *missing), wish.rate, np.hstack([wish.values, hanging]))
        fitted = fit_root(character, system, rest, whole)
        return fitted if fitted.notes else FittedWish(wish)
    q = np.tile(rest, (len(wish.values), 1))
    q[:, [system.index(name) for name in wish.names]] = wish.values
    limits, path = CarriageLimits.of(character), _Path(character, system, rest)
    r, arms = path.plane(q)
    low, high = (bound[: 2 * len(limits.carriages)].reshape(-1, 2) for bound in (limits.lower, limits.upper))
    if ((r[:, None] + arms >= low) & (r[:, None] + arms <= high)).all():
        return FittedWish(wish)
    edge = np.where(np.isfinite(high - low), MARGIN * (high - low), 0.0)
    lowest, highest = (low + edge - arms).max(axis=1), (high - edge - arms).min(axis=1)

    def shifts(scale: float) -> tuple[Array, Array]:
        return (lowest - scale * r).max(axis=0), (highest - scale * r).min(axis=0)

    def fits(scale: float) -> bool:
        least, most = shifts(scale)
        return bool((least <= most).all())

    scale, unfit = (1.0, 1.0) if fits(1.0) else (0.0, 1.0)
    while unfit - scale > 1e-6:
        middle = 0.5 * (scale + unfit)
        scale, unfit = (middle, unfit) if fits(middle) else (scale, middle)
    least, most = shifts(scale)
    shift = np.minimum(np.maximum((1.0 - scale) * path.home, least), most)
    values, at = wish.values.copy(), [wish.names.index(name) for name in names]
    slope = path.slope(q[0], [system.index(name) for name in names])
    values[:, at] += np.linalg.solve(slope, ((scale - 1.0) * r + shift).T).T
    return FittedWish(replace(wish, values=values), float(scale), (float(shift[0]), float(shift[1])))


def rigid_path(character: Character, system: System, rest: Array, q: Array, rate: float) -> Array:
    """The prescribed coordinates (N + 1, nk) of the rigid path along the wish ``q`` (N + 1, nq), low-passed; winches rest."""
    limits = CarriageLimits.of(character)
    start = rest[[system.index(name) for name in limits.names]]
    r, arms = _Path(character, system, rest).plane(q)
    k = np.tile(start, (len(q), 1))
    k[:, : 2 * len(limits.carriages)] = (r[:, None] + arms).reshape(len(q), -1)
    return low_passed(k, rate, CUTOFF, start)


class _Path:
    """Place and heading of the root along configurations; ``home`` (2,) [m] its place while the puppet hangs."""

    def __init__(self, character: Character, system: System, rest: Array) -> None:
        body = next(joint.child for joint in character.joints if joint.name == _root(character))
        self._points = Points(system, [Place(body), Place(body, (1.0, 0.0, 0.0)), Place(body, (0.0, 1.0, 0.0))])
        place, yaw = self._pose(rest[None])
        self.home, self._yaw = place[0], float(yaw[0])
        limits = CarriageLimits.of(character)
        names = limits.names[: 2 * len(limits.carriages)]
        self._arms = rest[[system.index(name) for name in names]].reshape(-1, 2) - self.home

    def _pose(self, q: Array) -> tuple[Array, Array]:
        p = self._points.positions(q)[:, :, :2]
        x, y = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
        return p[:, 0], np.unwrap(np.arctan2(x[:, 1] - y[:, 0], x[:, 0] + y[:, 1]))

    def plane(self, q: Array) -> tuple[Array, Array]:
        """The root's places (N + 1, 2) and the carriages' distances from it, turned with it (N + 1, carriages, 2) [m]."""
        r, yaw = self._pose(q)
        cos, sin = np.cos(yaw - self._yaw), np.sin(yaw - self._yaw)
        turn = np.stack([np.stack([cos, -sin], axis=1), np.stack([sin, cos], axis=1)], axis=1)
        return r, self._arms @ np.swapaxes(turn, 1, 2)

    def slope(self, q: Array, columns: list[int]) -> Array:
        """How the root's place in the plane changes with the coordinates ``columns``: (2, columns)."""
        J = self._points.jacobians(q[None])[0, 0, :2]
        return np.asarray(J[:, columns], dtype=np.float64)


def _root(character: Character) -> str:
    """The joint by which the puppet is in the world."""
    return next(joint.name for joint in character.joints if joint.parent == "world")
