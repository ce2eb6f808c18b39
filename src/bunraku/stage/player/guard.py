"""The last step before the wire: whatever is wanted, only what the machine may do gets through.

What gets through keeps, at every period h: the range of the character, the servo's soft limits and pulse range (exactly, in
counts); the velocity, |x - x_before| <= v h, the acceleration, |x - 2 x_before + x_before_that| <= a h^2, ranges that depend on
another value and distances between carriages, exactly before the values are rounded to counts. A wish that is not a number leaves
a place where it is and sets a speed to zero, as soon as the acceleration allows.

After each step the machine can still come to rest, each step a h^2 shorter than the one before, with all limits kept: so there is
always a step that keeps them, the one that brakes. Values that are tied to each other brake each for itself or in the direction
they have together, whichever keeps the limits. Where values that are tied to each other cannot go as they are wanted, they go
half as far from braking, and half again, until they can. What lags behind its wish comes closer as fast as it can still brake to
meet it, even if the wish turns with the acceleration that it took lately, or turns with all of it until it is as fast as it may
be. So what comes closer at such a speed goes beyond no wish that keeps the limits and takes no more than lately; what a leap of the
wish has made faster than that may go beyond, and comes back.

A machine that stands outside at first is sent where it is, within its pulse range, and may go inwards only, as fast as anywhere:
what it has come back to is its limit until it is inside. That is so all the way to rest too: a way that comes closer to a dependent
range and then leads away from it again is not begun.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.stage.player.braking import closing_step, largest_step, stopping_places
from bunraku.stage.player.outputs import DeviceOutputs

Counts = NDArray[np.int64]
Indices = NDArray[np.int64]

HALVINGS = 12
SETTLED = 8
CUT = 1e-6
"""A wish counts as cut when it is changed by more than this, in counts."""
OUTSIDE = 0.01
"""How far outside its pulse range a servo may stand at first, as a share of that range: it leaps into it."""
EXACT = 1e-9
"""What dependent ranges and distances may be left by, for rounding."""


SPARED = 0.01
"""A wish is taken to spare this share of the acceleration at least."""
LEAP = 1.01
"""A wish whose speed changes by more than so many accelerations leaps."""
FORGOTTEN = 1.0
"""The acceleration that a wish took counts for 1/e after this time [s]."""


class Guard:
    """Clamps what is wanted of ``outputs`` at ``rate`` [Hz], starting where the machine stands.

    ``now`` (k,): the values last let through, ``counts`` (k,) the same as counts. ``cut``: how many wishes were changed so far,
    ``wild`` how many were no finite numbers; ``by`` (k,) the largest change of each output, in its unit.
    """

    def __init__(self, outputs: DeviceOutputs, rate: float) -> None:
        self.outputs = outputs
        self._limits = outputs.limits
        self._reach = outputs.limits.velocity / rate
        self._pull = np.minimum(outputs.limits.acceleration / rate**2, 2.0 * self._reach)  # from one way to the other: no limit
        self._shared = np.union1d(outputs.limits.tied, outputs.limits.planar.ravel())
        self._ways: tuple[list[Indices], ...] = ([], outputs.limits.groups) if len(outputs.limits.tied) else ([],)
        self._groups = self._ways[0]
        self._smallest = CUT * outputs.resolution
        k = len(outputs.names)
        self.now, self.counts = outputs.home.copy(), outputs.counts(outputs.home)
        self._narrow()
        self._moved, self._wish = np.zeros(k), self.now.copy()
        self._moves, self._taken, self._fades = np.zeros(k), np.zeros(k), np.exp(-1.0 / (FORGOTTEN * rate))
        self._next, self.by = np.zeros(k), np.zeros(k)
        self.cut = self.wild = 0

    def start(self, measured: Array | None) -> tuple[Array, Array]:
        """Begin where the machine stands (k,), or at home if it does not say; that place (k,) and the next to it within the limits.

        A servo is refused that stands farther outside its range than it may err in following, or where commands do not reach:
        something is not as described.
        """
        outputs, limits = self.outputs, self._limits
        known = outputs.home if measured is None else np.where(np.isfinite(measured), measured, outputs.home)
        known = np.where(outputs.still, known, outputs.home)
        place = np.clip(known, limits.lower, limits.upper)
        for _ in range(SETTLED):
            for index, on, knots in limits.dependents:
                low, high = np.interp(place[on], knots[:, 0], knots[:, 1]), np.interp(place[on], knots[:, 0], knots[:, 2])
                place[index] = min(max(place[index], low, limits.lower[index]), high, limits.upper[index])
        off = np.abs(place - known)
        if (off > outputs.following).any():
            j = int(np.argmax(off - outputs.following))
            raise self._misplaced(j, known, f"outside its range [{limits.lower[j]:.3f}, {limits.upper[j]:.3f}]")
        if not limits.kept(place, np.full(len(place), EXACT)):
            raise BadInput("the machine stands in a pose that its dependent ranges or distances forbid; move it by hand first")
        stands = self._commandable(known)
        self.now[:] = self._wish[:] = stands
        self._moved[:] = 0.0
        self.counts[:] = outputs.counts(stands, outputs.pulse_low, outputs.pulse_high)
        self._narrow()
        return stands, place

    def _commandable(self, known: Array) -> Array:
        """The place (k,) within the pulse ranges; refused where it is far from ``known`` (k,)."""
        outputs = self.outputs
        ends = outputs.values(np.stack([outputs.pulse_low, outputs.pulse_high]))
        low, high = ends.min(axis=0), ends.max(axis=0)
        stands = np.clip(known, low, high)
        far = np.abs(stands - known) > OUTSIDE * (high - low)
        if far.any():
            j = int(np.argmax(far))
            where = f"where its servo cannot be commanded to be: its pulse range is [{low[j]:.3f}, {high[j]:.3f}]"
            raise self._misplaced(j, known, where)
        return stands

    def _misplaced(self, j: int, known: Array, where: str) -> BadInput:
        name, unit = self.outputs.names[j], self.outputs.units[j]
        advice = "move it inside by hand, or correct its calibration"
        return BadInput(f"{name!r} stands at {known[j]:.3f} {unit}, {where}; {advice}")

    def _narrow(self) -> None:
        """The limits from here on: those of the outputs, and where they are left, not farther than now."""
        outputs, limits, now = self.outputs, self._limits, self.now
        excess = limits.excess(now)
        self._lower, self._upper = np.minimum(limits.lower, now), np.maximum(limits.upper, now)
        self._count_low, self._count_high = np.minimum(outputs.count_low, self.counts), np.maximum(outputs.count_high, self.counts)
        self._slack = np.maximum(excess, EXACT)
        beyond = (now < limits.lower) | (now > limits.upper) | (excess > EXACT)
        self._outside = bool((beyond | (self.counts < outputs.count_low) | (self.counts > outputs.count_high)).any())

    def __call__(self, asked: Array) -> Counts:
        """The counts (k,) to send for the values ``asked`` (k,); the array is overwritten by the next call."""
        now, new = self.now, self._next
        good = np.isfinite(asked)
        if not good.all():
            self.wild += int(np.count_nonzero(~good))
            asked = np.where(good, asked, np.where(self.outputs.still, now, self.outputs.home))
        np.clip(asked, self._lower, self._upper, out=new)
        step = self._bounded(self._towards(new))
        if len(self._shared):
            step = self._together(step)
        np.add(now, step, out=new)
        np.clip(new, self._lower, self._upper, out=new)
        change = np.abs(new - asked)
        cut = change > self._smallest
        if cut.any():
            self.cut += int(np.count_nonzero(cut))
            np.maximum(self.by, change, out=self.by)
        np.subtract(new, now, out=self._moved)
        now[:] = new
        self.counts[:] = self.outputs.counts(new, self._count_low, self._count_high)
        if self._outside:
            self._narrow()
        return self.counts

    def _towards(self, wish: Array) -> Array:
        """The step (k,) to a wish (k,); from behind one that comes closer no faster than it can brake."""
        behind, moves = self._wish - self.now, wish - self._wish
        self._watch(moves)
        room = self._reach + np.clip(np.copysign(1.0, behind) * moves, -self._reach, self._reach)
        far = np.abs(behind)
        spared = np.maximum(self._pull - self._taken, SPARED * self._pull)
        late = np.copysign(far - closing_step(far, self._pull, spared, room), behind)
        self._wish[:], self._moves[:] = wish, moves
        return wish - self.now - late

    def _watch(self, moves: Array) -> None:
        """Note how much acceleration the wish takes itself, by its steps (k,); a leap says nothing about that."""
        change = np.abs(moves - self._moves)
        for pair in self._limits.planar:
            change[pair] = np.hypot(*change[pair])
        self._taken *= self._fades
        np.maximum(self._taken, np.where(change <= LEAP * self._pull, change, 0.0), out=self._taken)

    def _bounded(self, step: Array) -> Array:
        """The step (k,) within velocity and acceleration, and such that one can brake before the range ends."""
        room = np.maximum(self._upper - self.now, 0.0), np.maximum(self.now - self._lower, 0.0)
        up, down = (np.minimum(largest_step(gap, self._pull), self._reach) for gap in room)
        return np.clip(np.clip(step, self._moved - self._pull, self._moved + self._pull), -down, up)

    def _together(self, step: Array) -> Array:
        """The step (k,) with planar speeds and accelerations and everything tied kept, now and while braking from there."""
        shared = self._shared
        step = self._in_the_plane(step)
        if self._can_stop(step):
            return step
        follow = self._in_the_plane(self._following(step))
        if self._can_stop(follow):
            return follow
        braking, _ = stopping_places(self.now, self._moved, self._pull, self._limits.planar, self._groups)
        part = step[shared] - braking[shared]
        for halving in range(1, HALVINGS):
            step[shared] = braking[shared] + part * 0.5**halving
            if self._can_stop(step):
                return step
        step[shared] = braking[shared]
        return step

    def _in_the_plane(self, step: Array) -> Array:
        """The step (k,) with the speed of each carriage and its change within their limits, in their directions."""
        for pair in self._limits.planar:
            moved = self._moved[pair]
            step[pair] *= min(1.0, self._reach[pair[0]] / max(float(np.hypot(*step[pair])), 1e-300))
            change = step[pair] - moved
            step[pair] = moved + change * min(1.0, self._pull[pair[0]] / max(float(np.hypot(*change)), 1e-300))
        return step

    def _can_stop(self, step: Array) -> bool:
        """Whether a step (k,), and braking after it, keep ranges, dependent ranges and distances.

        Each value brakes as fast as it can, or those that are tied go straight on, along a border too; which of them is kept.
        """
        for groups in self._ways:
            _, places = stopping_places(self.now + step, step, self._pull, self._limits.planar, groups)
            inside = (places[-1] >= self._lower - EXACT) & (places[-1] <= self._upper + EXACT)
            if inside.all() and self._kept(places):
                self._groups = groups
                return True
        return False

    def _kept(self, places: Array) -> bool:
        """Whether places (m, k) on the way to rest keep dependent ranges and distances; from outside, each no farther than before.

        Then what is left of the way keeps to the limits of the next period, which are those of the place that it has come back to.
        """
        if not self._outside:
            return self._limits.kept(places, self._slack)
        excess = np.maximum(self._limits.excess(np.vstack([self.now, places])), EXACT)
        return bool((np.diff(excess, axis=0) <= EXACT).all())

    def _following(self, step: Array) -> Array:
        """The step (k,) with values whose range depends on another brought into it, as far as they can go."""
        follow = self.now + step
        for _ in range(2):
            for index, on, knots in self._limits.dependents:
                low, high = np.interp(follow[on], knots[:, 0], knots[:, 1]), np.interp(follow[on], knots[:, 0], knots[:, 2])
                follow[index] = min(max(follow[index], low), high)
            follow = self.now + self._bounded(follow - self.now)
        return follow - self.now
