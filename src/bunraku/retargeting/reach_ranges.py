"""The ranges that edited joint curves keep: what is inside stays inside, what was outside comes no farther out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.systems.strings import with_carriages
from bunraku.motion import JointCurves, MotionLimits
from bunraku.retargeting.wished import wish_limits


@dataclass(frozen=True, eq=False)
class ReachRanges:
    """``lower`` and ``upper`` (k,) of the curves; ``limits`` of those ``columns`` that can be chosen, with dependent ranges."""

    lower: Array
    upper: Array
    limits: MotionLimits
    columns: tuple[int, ...]

    @staticmethod
    def of(character: Character, curves: JointCurves) -> ReachRanges:
        """The ranges of all curves: of joint and motor, of followers, and those that depend on another coordinate."""
        limits = wish_limits(character)
        chosen = tuple(name for name in curves.names if name in limits.names)
        axes = {axis.name: axis.range for axis in with_carriages(character).axes} if character.carriages else {}
        axes |= {axis.name: axis.range for axis in character.axes}
        ends = [axes.get(name) or (-np.inf, np.inf) for name in curves.names]
        lower, upper = (np.array([end[side] for end in ends], dtype=np.float64) for side in (0, 1))
        return ReachRanges(lower, upper, limits.chosen(chosen), tuple(curves.names.index(name) for name in chosen))

    def around(self, old: Array, columns: list[int]) -> Callable[[Array], tuple[Array, Array]]:
        """The ends of some ``columns`` at one sample, as a function of their values.

        ``old`` (k,): all curves at that sample before the edit. Widened to the old value where that was outside already.
        """
        row = old.copy()
        low, high = (ends[0, columns] for ends in self._widened(old[None], old[None]))
        if not any(self.columns[index] in columns for index, _, _ in self.limits.dependents):
            return lambda values: (low, high)

        def ends(values: Array) -> tuple[Array, Array]:
            row[columns] = values
            low, high = self._widened(row[None], old[None])
            return low[0, columns], high[0, columns]

        return ends

    def kept(self, new: Array, old: Array) -> Array:
        """Edited rows (m, k) brought back into the ranges where the edit left them; ``old``: the rows before it."""
        kept = new
        for _ in range(1 + len(self.limits.dependents)):
            kept = np.clip(kept, *self._widened(kept, old))
        return np.asarray(kept)

    def _widened(self, rows: Array, old: Array) -> tuple[Array, Array]:
        (low, high), (low_old, high_old) = self._bounds(rows), self._bounds(old)
        return np.where(old < low_old, np.minimum(low, old), low), np.where(old > high_old, np.maximum(high, old), high)

    def _bounds(self, rows: Array) -> tuple[Array, Array]:
        low, high = np.tile(self.lower, (len(rows), 1)), np.tile(self.upper, (len(rows), 1))
        columns = list(self.columns)
        low[:, columns], high[:, columns] = self.limits.bounds(rows[:, columns])
        return low, high
