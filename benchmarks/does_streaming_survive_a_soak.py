"""Does streaming survive a soak? A million ticks of jumps, stalls, NaN and infinities: violations and memory.

Six joints: velocity limits alone, a range that depends on another joint, acceleration limits, jerk limits. Violations are counted
against MotionLimits.excess in blocks that overlap by three samples. Run: python benchmarks/does_streaming_survive_a_soak.py [ticks]
"""

from __future__ import annotations

import resource
import sys
import time
from collections import Counter

import numpy as np

from bunraku.motion.limits import MotionLimits
from bunraku.performers.speech.stream import SpeechStream

HEAD = np.array([[-2.0, -0.1, 0.1], [-0.5, -0.6, 0.4], [0.0, -0.67, 0.51], [0.5, -0.6, 0.4], [2.0, -0.1, 0.1]])
RATE, BLOCK = 50.0, 5000
MOST_GROWTH = 4.2e6  # bytes, after the first blocks


def soak_limits() -> MotionLimits:
    none = np.inf
    return MotionLimits(
        ("yaw", "pitch", "shoulder", "elbow", "wrist", "hand"),
        np.array([-2.0, -0.67, -2.0, -1.5, -1.8, 0.0]),
        np.array([2.0, 0.51, 2.0, 0.0, 1.8, 1.0]),
        np.array([8.0, 7.0, 8.0, 7.0, 24.0, 8.0]),
        np.array([none, none, 60.0, 5.0, 300.0, none]),
        np.array([none, none, none, none, 9000.0, 1000.0]),
        ((1, 0, HEAD),),
    )


def frames_of(rng: np.random.Generator, limits: MotionLimits, count: int):
    """Wanted frames (count, k) and, for each, whether it arrives at all."""
    k = len(limits.names)
    middle, half = 0.5 * (limits.lower + limits.upper), 0.5 * (limits.upper - limits.lower)
    frames = middle + half * np.cumsum(rng.normal(0.0, 0.1, (count, k)), axis=0)
    frames = middle + half * 1.4 * np.sin(frames)
    jump = rng.random(count) < 0.15
    frames[jump] = rng.uniform(middle - 1.5 * half, middle + 1.5 * half, (jump.sum(), k))
    frames[rng.random((count, k)) < 0.003] = np.nan
    frames[rng.random((count, k)) < 0.003] = np.inf
    frames[rng.random(count) < 0.003] *= 1e300
    arrives = rng.random(count) > 0.03
    stall = rng.integers(0, count - 200, 3)
    for begin in stall:
        arrives[begin : begin + int(rng.integers(10, 200))] = False
    return frames, arrives


def peak_bytes() -> int:
    """The largest memory this process has held; the system counts it in KiB, on macOS in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> int:
    ticks = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    limits, rng = soak_limits(), np.random.default_rng(2024)
    stream = SpeechStream(limits, rate=RATE, look_ahead=0.4)
    stream.push(0.5 * (limits.lower + limits.upper))
    block = np.empty((BLOCK + 3, len(limits.names)))
    block[:3] = stream.out
    statuses: Counter[str] = Counter()
    violations, worst, moved, begin = 0, 0.0, 0.0, time.thread_time()
    memory = 0
    for done in range(0, ticks, BLOCK):
        frames, arrives = frames_of(rng, limits, BLOCK)
        for i in range(BLOCK):
            status = stream.push(frames[i]) if arrives[i] else stream.hold()
            statuses[status.name] += 1
            block[3 + i] = stream.out
        excess = limits.excess(block, RATE)
        worst = max(worst, excess.relative)
        violations += sum(excess.count(kind) for kind in ("range", "velocity", "acceleration", "jerk"))
        violations += int(np.count_nonzero(~np.isfinite(block)))
        moved += float(np.abs(np.diff(block[3:], axis=0)).sum())
        block[:3] = block[-3:]
        if done <= 10 * BLOCK:
            memory = peak_bytes()
    grown = peak_bytes() - memory
    spent = time.thread_time() - begin
    print(f"{ticks} ticks, {1e6 * spent / ticks:.0f} us each with the checks, joints moved {moved:.0f} rad in all")
    print(f"violations {violations}, largest relative excess {worst:.1e}, peak memory grown by {grown / 1e6:.1f} MB after a while")
    print(dict(statuses))
    return 1 if violations or grown > MOST_GROWTH else 0


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
