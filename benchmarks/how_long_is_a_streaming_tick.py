"""How long is a streaming tick? 26 joints, 0.8 s of look-ahead, strong gestures; and does it allocate?

Run: python benchmarks/how_long_is_a_streaming_tick.py
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numba.core.runtime import _nrt_python, rtsys

from bunraku.motion.limits import MotionLimits
from bunraku.performers.speech.stream import SpeechStream

JOINTS = 26


def limits_of(acceleration: float, jerk: float) -> MotionLimits:
    ones = np.ones(JOINTS)
    names = tuple(f"joint{j}" for j in range(JOINTS))
    return MotionLimits(names, -1.5 * ones, 1.5 * ones, np.linspace(4.0, 9.0, JOINTS), acceleration * ones, jerk * ones)


def main() -> int:
    met = True
    rng = np.random.default_rng(3)
    for rate in (25.0, 100.0):
        t = np.arange(int(20 * rate))[:, None] / rate
        f = rng.uniform(0.3, 1.6, JOINTS)
        frames = 1.2 * np.sin(2 * np.pi * f * t) + 0.3 * np.sin(2 * np.pi * 2.7 * f * t)
        for label, acceleration, jerk in (("velocity", np.inf, np.inf), ("+ acceleration", 60.0, np.inf), ("+ jerk", 60.0, 3000.0)):
            limits = limits_of(acceleration, jerk)
            stream = SpeechStream(limits, rate=rate, look_ahead=0.8)
            emitted, spent = np.empty_like(frames), np.empty(len(frames))
            for k, frame in enumerate(frames):
                begin = time.thread_time()
                stream.push(frame)
                spent[k] = time.thread_time() - begin
                emitted[k] = stream.out
            _nrt_python.memsys_enable_stats()
            before = rtsys.get_allocation_stats()
            for frame in frames[:200]:
                stream.push(frame)
            after = rtsys.get_allocation_stats()
            busy = 1e3 * spent[stream.latency + 2 :]
            print(
                f"{rate:4.0f} Hz, {label:14s}: median {np.median(busy):6.3f} ms, 99 % {np.percentile(busy, 99):6.3f} ms,"
                f" largest relative excess {limits.excess(emitted, rate).relative:.1e}, allocations {after.alloc - before.alloc}"
            )
            if label == "velocity":
                met = met and bool(np.median(busy) <= 1.0) and after.alloc == before.alloc
    print(f"median tick <= 1 ms under velocity limits, no allocation: {'yes' if met else 'NO'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
