"""Speech while it happens: frames are pushed in, legal frames come out, a fixed time later.

Each tick solves eq. (7) of the paper over the frames at hand (exactly, by :mod:`bunraku.optimization.chain`; by
:mod:`bunraku.optimization.smooth_chain` for joints with acceleration or jerk limits) and applies the first sample. What a
frame far ahead can change fades with exp(-t / tau), tau = sqrt(q2 / q1) = 0.14 s, so 0.8 s of look-ahead is nearly the
optimum of the whole clip. Whatever arrives, what is emitted keeps every limit:

- velocity: the first sample of the exact solution, or the nearest value one step away;
- acceleration and jerk: a filter behind the window lets pass only what leaves a legal stop before the end of the range (the
  invariant and its proof: ``kernels.safe_acceleration``);
- a range that depends on another joint: the driver is solved first and the bound is taken at the value it is about to emit. If
  the bound can move no faster than the joint (largest slope of the knots times the driver's velocity limit), clamping is always
  one legal step away; otherwise, with acceleration limits or with several drivers, the joint keeps to the intersection of its
  ranges over all driver values.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Collection
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput, BunrakuError
from bunraku.motion.limits import MotionLimits
from bunraku.optimization.chain.chain_kernels import largest_pool
from bunraku.performers.speech import stream_kernels as kernels

MARGIN = 1e-9
"""By which part of themselves acceleration-limited joints stay within their limits, against rounding."""


class StreamStatus(IntEnum):
    """What became of one tick; the emitted frame is legal in every case."""

    OK = kernels.OK
    PRIMING = kernels.PRIMING
    OUT_OF_RANGE_CLAMPED = kernels.CLAMPED
    REJECTED_NOT_FINITE = kernels.REJECTED
    HELD = kernels.HELD
    WAITING = kernels.WAITING
    REJECTED_SHAPE = 6

    @property
    def sentence(self) -> str:
        """A whole sentence saying what this status means."""
        return _SENTENCES[self]


_SENTENCES = {
    StreamStatus.OK: "The frame was taken and a legal frame was emitted.",
    StreamStatus.PRIMING: "The frame was taken; the window is still filling and the pose is held.",
    StreamStatus.OUT_OF_RANGE_CLAMPED: "The frame was outside the range and was clamped into it.",
    StreamStatus.REJECTED_NOT_FINITE: "The frame held NaN or infinity and was replaced by the last good one.",
    StreamStatus.HELD: "No frame arrived; the last good one was repeated.",
    StreamStatus.WAITING: "No frame has arrived yet, so there is no pose to hold; send nothing to the motors.",
    StreamStatus.REJECTED_SHAPE: "The frame had the wrong number of values and was replaced by the last good one.",
}
_STATUSES = tuple(StreamStatus(code) for code in range(7))


def _carved(memory: Any, shapes: list[tuple[str, tuple[int, ...]]]) -> dict[str, Any]:
    """Views of consecutive parts of a block of memory."""
    parts, at = {}, 0
    for name, shape in shapes:
        parts[name] = memory[at : at + math.prod(shape)].reshape(shape)
        at += math.prod(shape)
    return parts


class SpeechStream:
    """Push frames, get legal frames, ``latency`` frames later.

    After each :meth:`push` or :meth:`hold` the array :attr:`out` (k,) holds the frame to send to the motors; it is the same array
    every time. Nothing is allocated in the loop.
    """

    def __init__(
        self,
        limits: MotionLimits,
        *,
        rate: float,
        look_ahead: float = 0.8,
        position_weight: float = 5.0,
        velocity_weight: float = 0.1,
        start: ArrayLike | None = None,
        held: Collection[str] = (),
    ) -> None:
        """Prepare all arrays.

        Args:
            limits: motor limits of the k coordinates.
            rate: frames a second [Hz], in and out.
            look_ahead: time [s] over which the motion is planned ahead of what is emitted.
            position_weight: q1 [1/rad^2].
            velocity_weight: q2 [s^2/rad^2].
            start: pose the character stands in, (k,), inside its range. None: the first good frame is the pose to begin with.
            held: coordinates wished at their value in ``start`` whatever the frames say; names that are not streamed are ignored.
        """
        if not limits.names:
            raise BadInput("there is no motor to stream to; add motors to the character")
        if held and start is None:
            raise BadInput("coordinates can be held only where a start pose says at which value; give start")
        if not (0.0 < rate <= 10_000.0 and 0.0 <= look_ahead <= 60.0 and look_ahead * rate <= 4000.0):
            raise BadInput(
                f"a rate of {rate} Hz with {look_ahead} s of look-ahead cannot be streamed; give at most 4000 frames ahead"
            )
        if not (position_weight > 0.0 and velocity_weight >= 0.0):
            raise BadInput(f"weights {position_weight} and {velocity_weight} cannot be used; give position > 0 and velocity >= 0")
        self.limits = limits
        self.rate = float(rate)
        self.look_ahead = float(look_ahead)
        self.latency = round(look_ahead * rate) + 1
        n = self.latency + 2
        h = 1.0 / rate
        scaled = np.stack([limits.velocity * h, limits.acceleration * h**2, limits.jerk * h**3], axis=1)
        self._smooth: NDArray[np.bool_] = np.asarray(np.isfinite(scaled[:, 1:]).any(axis=1))
        self._lower, self._upper = np.maximum(limits.lower, -1e6), np.minimum(limits.upper, 1e6)
        moving = self._settle_dependents(limits)
        size = 1.0 + np.maximum(np.abs(self._lower), np.abs(self._upper)).clip(max=100.0)
        self._limit = scaled * (1.0 - MARGIN) - np.where(np.isfinite(scaled), 8e-15 * size[:, None], 0.0)
        if not (self._limit[self._smooth] > 0.0).all():
            raise BadInput(f"an acceleration or jerk limit is lost in rounding at {rate} Hz; lower the rate or raise the limit")
        room = np.where(self._smooth, np.minimum(MARGIN, 0.25 * (self._upper - self._lower)), 0.0)
        self._lower, self._upper = self._lower + room, self._upper - room
        self._pack(moving, scaled[:, :1], (position_weight, velocity_weight * rate**2), n)
        self._still = np.array([j for j, name in enumerate(limits.names) if name in held], dtype=np.intp)
        self._still_at = np.zeros(len(self._still))
        if start is not None:
            self._begin(np.asarray(start, dtype=np.float64))
            self._still_at = self.out[self._still]

    def _settle_dependents(self, limits: MotionLimits) -> list[tuple[int, int, Array]]:
        """Ranges that depend on another joint: those that may move, in order; the others become fixed ranges."""
        moving = []
        several = [index for index, _, _ in limits.dependents]
        for index, on, knots in limits.dependents:
            if (np.maximum(knots[:, 1], self._lower[index]) > np.minimum(knots[:, 2], self._upper[index])).any():
                raise BadInput(f"the range of {limits.names[index]!r} is empty at some value of {limits.names[on]!r}; widen it")
            slope = np.abs(np.diff(knots[:, 1:], axis=0)) / np.maximum(np.diff(knots[:, :1], axis=0), 1e-300)
            fastest = float(slope.max(initial=0.0)) * limits.velocity[on] if slope.any() else 0.0
            if self._smooth[index] or several.count(index) > 1 or not fastest <= limits.velocity[index]:
                self._lower[index] = max(self._lower[index], knots[:, 1].max())
                self._upper[index] = min(self._upper[index], knots[:, 2].min())
                if self._lower[index] > self._upper[index]:
                    raise BadInput(
                        f"the range of {limits.names[index]!r} moves faster with {limits.names[on]!r} than the joint itself and has"
                        " no part common to all values; it cannot be streamed safely"
                    )
            else:
                moving.append((index, on, np.asarray(knots, dtype=np.float64)))
        return moving

    def _pack(self, moving: list[tuple[int, int, Array]], steps: Array, weights: tuple[float, float], n: int) -> None:
        """All arrays of the tick, carved out of two blocks of memory whose addresses it is called with."""
        k, d = len(self.limits.names), len(moving)
        m = max((len(knots) for _, _, knots in moving), default=1)
        pool = largest_pool(n)
        shapes = kernels.layout(k, n, d, m, pool)
        self._memory = np.zeros(sum(math.prod(shape) for _, shape in shapes[0]))
        self._numbers = np.zeros(sum(math.prod(shape) for _, shape in shapes[1]), dtype=np.int64)
        part: dict[str, Array] = _carved(self._memory, shapes[0])
        number: dict[str, NDArray[np.int64]] = _carved(self._numbers, shapes[1])
        part["state"][:, 0] = part["out"][:] = np.nan
        part["lower"][:], part["upper"][:], part["limit"][:] = self._lower, self._upper, self._limit
        part["low"][:], part["high"][:], part["steps"][:] = self._lower[:, None], self._upper[:, None], steps
        part["eps"][0], part["weights"][:] = 1e-7 / weights[0], weights
        for row, (index, on, knots) in enumerate(moving):
            part["knots"][row, : len(knots)] = knots
            number["dependent"][row], number["driver"][row], number["sizes"][row] = index, on, len(knots)
        order: list[int] = []
        while len(order) < k:
            ready = [j for j in range(k) if j not in order and all(on in order for index, on, _ in moving if index == j)]
            if not ready:
                raise BadInput("ranges depend on each other in a circle; cut it")
            order += ready
        number["order"][:], number["smooth"][:] = order, self._smooth
        self.out: Array = part["out"]
        self._frame, self._state, self._count = part["frame"], part["state"], number["count"]
        pointers = (
            self._memory.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
            self._numbers.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)),
        )
        self._arguments = (*pointers, k, n, d, m, pool)
        self._tick = kernels.tick_at.ctypes
        if self._tick(kernels.PROBE, *self._arguments) != len(self._memory):
            raise BunrakuError(
                "compiled kernels are older than their sources; delete the __pycache__ folders of bunraku and start again"
            )

    def _begin(self, start: Array) -> None:
        """Stand in the given pose."""
        if start.shape != self.out.shape or not np.isfinite(start).all():
            raise BadInput(f"the start pose has shape {start.shape} or is not finite; give {self.out.shape[0]} numbers")
        self._frame[:] = start
        status = self._tick(kernels.FRAME, *self._arguments)
        if status == kernels.CLAMPED or (np.abs(self.out - start) > 1e-6).any():
            j = int(np.argmax(np.abs(self.out - start)))
            raise BadInput(f"the start pose has {self.limits.names[j]} = {start[j]:g}, outside its range; move it inside first")

    def push(self, frame: ArrayLike) -> StreamStatus:
        """Take in one frame [rad or m], (k,), and emit the one that is ``latency`` frames older, made legal, into :attr:`out`."""
        if not (isinstance(frame, np.ndarray) and frame.dtype == np.float64 and frame.flags.c_contiguous):
            try:
                frame = np.ascontiguousarray(frame, dtype=np.float64)
            except (TypeError, ValueError):
                frame = np.empty(0)
        if frame.shape != self.out.shape:
            self.hold()
            return StreamStatus.REJECTED_SHAPE
        self._frame[:] = frame
        if self._still.size:
            self._frame[self._still] = self._still_at
        return _STATUSES[self._tick(kernels.FRAME, *self._arguments)]

    def hold(self) -> StreamStatus:
        """One tick without a frame: the last good one is repeated."""
        return _STATUSES[self._tick(kernels.HOLD, *self._arguments)]

    def flush(self) -> Array:
        """The frames still under way, then those needed to come to rest: shape (m, k). The stream stands still afterwards."""
        frames: list[Array] = []
        if self._count[0] > 1:
            frames += [self.out.copy()] * (self.latency + 1 - int(self._count[0]))
        while self._count[0] > 1 or np.any(self._state[:, 1:] != 0.0):
            self._tick(kernels.DRAIN, *self._arguments)
            frames.append(self.out.copy())
        return np.array(frames).reshape(-1, len(self.out))

    @property
    def waiting(self) -> bool:
        """Whether no pose is known yet, so that :attr:`out` means nothing."""
        return bool(np.isnan(self._state[0, 0]))
