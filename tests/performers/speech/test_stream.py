"""Streaming: legal whatever arrives, close to the optimum of the whole clip, nothing allocated."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from bunraku.errors import BadInput
from bunraku.motion.limits import MotionLimits
from bunraku.optimization.chain.chain import solve_chain
from bunraku.optimization.smooth_chain.smooth_chain import solve_smooth_chain
from bunraku.performers.speech.stream import SpeechStream, StreamStatus

HEAD = np.array([[-2.0, -0.1, 0.1], [-0.5, -0.6, 0.4], [0.0, -0.67, 0.51], [0.5, -0.6, 0.4], [2.0, -0.1, 0.1]])


def limits_of(k=4, acceleration=np.inf, jerk=np.inf, dependents=()):
    def wide(value):
        return np.broadcast_to(np.asarray(value, dtype=float), (k,)).copy()

    names = tuple(f"joint{j}" for j in range(k))
    lower, upper = np.linspace(-1.0, -0.5, k), np.linspace(0.6, 1.2, k)
    return MotionLimits(names, lower, upper, np.linspace(3.0, 8.0, k), wide(acceleration), wide(jerk), dependents)


def waves(n, rate, k, seed, size=1.0):
    rng = np.random.default_rng(seed)
    t = np.arange(n)[:, None] / rate
    return size * (np.sin(2 * np.pi * rng.uniform(0.2, 1.5, k) * t) + 0.4 * np.sin(2 * np.pi * rng.uniform(1, 3, k) * t))


def stream_all(stream, frames):
    """Everything a stream emits for the frames, the end included, aligned with them."""
    emitted = []
    for frame in frames:
        stream.push(frame)
        emitted.append(stream.out.copy())
    return np.concatenate([emitted, stream.flush()])[stream.latency :]


def hostile_frames(n, limits, rng):
    """Random walks, jumps, stalls (None), NaN, infinities, huge values."""
    k = len(limits.names)
    wanted = np.zeros(k)
    for _ in range(n):
        kind = rng.random()
        if kind < 0.70:
            wanted = wanted + rng.normal(0.0, 0.15, k)
        elif kind < 0.85:
            wanted = rng.uniform(1.3 * limits.lower, 1.3 * limits.upper)
        if kind > 0.97:
            yield None
        elif kind > 0.94:
            yield np.where(rng.random(k) < 0.5, rng.choice([np.nan, np.inf, -np.inf]), wanted)
        elif kind > 0.93:
            yield wanted * 1e300
        else:
            yield np.clip(wanted, 1.5 * limits.lower, 1.5 * limits.upper)


@pytest.mark.parametrize("clip", ["18_11", "18_15", "79_06", "02_05", "18_08"])
def test_close_to_the_optimum_of_the_whole_clip(clip, golden, data):
    reference = np.genfromtxt(golden / f"speech/cmu_{clip}_nao_25hz_ref.csv", delimiter=",", skip_header=1)[:, 1:]
    optimum = np.genfromtxt(golden / f"speech/cmu_{clip}_nao_25hz_eq7.csv", delimiter=",", skip_header=1)[:, 1:]
    table = np.genfromtxt(data / "nao_joints.csv", delimiter=",", skip_header=2)[:, 1:4].T
    none = np.full(26, np.inf)
    limits = MotionLimits(tuple(f"j{j}" for j in range(26)), table[0], table[1], table[2], none, none)
    stream = SpeechStream(limits, rate=25.0, look_ahead=0.8)
    assert stream.latency == 21
    emitted = stream_all(stream, reference)
    assert emitted.shape == reference.shape
    assert np.abs(emitted - optimum).max() < 1e-3
    assert limits.excess(emitted, 25.0).relative <= 1e-12


def test_a_window_longer_than_the_clip_is_the_optimum():
    limits, rate = limits_of(3), 50.0
    r = np.clip(waves(60, rate, 3, seed=1), limits.lower, limits.upper)
    best = solve_chain(
        r, start=r[0], lower=limits.lower, upper=limits.upper, step=limits.velocity / rate, difference_weight=0.1 * rate**2
    ).values
    emitted = stream_all(SpeechStream(limits, rate=rate, look_ahead=2.0), r)
    assert np.abs(best - r).max() > 0.05, "the limits act"
    assert np.abs(emitted - best).max() < 1e-9


@pytest.mark.parametrize("jerk", [np.inf, 2000.0])
def test_with_acceleration_limits_close_to_the_whole_optimum(jerk):
    limits, rate = limits_of(3, acceleration=50.0, jerk=jerk), 25.0
    r = np.clip(waves(120, rate, 3, seed=3, size=0.7), limits.lower, limits.upper)
    best = solve_smooth_chain(
        r, rate=rate, start=r[0], start_velocity=0.0, start_acceleration=0.0, lower=limits.lower, upper=limits.upper,
        velocity=limits.velocity, acceleration=50.0, jerk=jerk,
    ).values  # fmt: skip
    emitted = stream_all(SpeechStream(limits, rate=rate, look_ahead=1.2), r)
    assert np.abs(best - r).max() > 0.02, "the limits act"
    assert np.abs(emitted[:120] - best)[:-5].max() < 3e-3
    assert limits.excess(emitted, rate).relative == 0.0
    assert limits.excess(np.concatenate([emitted, emitted[-1:], emitted[-1:], emitted[-1:]]), rate).relative == 0.0, "ends at rest"


@pytest.mark.parametrize(
    ("acceleration", "jerk", "dependents"),
    [
        (np.inf, np.inf, ()),
        (np.inf, np.inf, ((1, 0, HEAD),)),
        ([np.inf, np.inf, 30.0, 30.0], [np.inf, np.inf, np.inf, 800.0], ((1, 0, HEAD),)),
        ([40.0, np.inf, 5.0, 200.0], [np.inf, np.inf, 100.0, 900.0], ((1, 0, HEAD), (3, 2, HEAD))),
        ([np.inf, 30.0, np.inf, np.inf], [200.0, 500.0, 50.0, np.inf], ((1, 0, HEAD),)),
    ],
)
def test_a_hostile_sender_cannot_break_a_limit(acceleration, jerk, dependents):
    """4000 ticks each, 20,000 in all; the million is in the benchmarks."""
    limits, rate = limits_of(4, acceleration, jerk, dependents), 50.0
    stream = SpeechStream(limits, rate=rate, look_ahead=0.2)
    rng = np.random.default_rng(11)
    emitted, seen = [], set()
    for frame in hostile_frames(4000, limits, rng):
        seen.add(stream.hold() if frame is None else stream.push(frame))
        if not stream.waiting:
            emitted.append(stream.out.copy())
    values = np.array(emitted)
    excess = limits.excess(values, rate)
    assert np.isfinite(values).all()
    assert excess.range.max() <= 1e-9
    assert excess.velocity.max() <= 1e-9
    assert excess.acceleration.max() <= 1e-9
    assert excess.jerk.max() <= 1e-9
    assert {StreamStatus.OK, StreamStatus.HELD, StreamStatus.REJECTED_NOT_FINITE, StreamStatus.OUT_OF_RANGE_CLAMPED} <= seen
    assert np.abs(np.diff(values[:, 3])).max() > 0.01, "it moves"


def test_a_fast_moving_dependent_range_becomes_its_common_part():
    steep = np.array([[-1.0, -0.6, 0.1], [0.0, -0.9, 0.5], [0.1, -0.2, 0.6]])
    limits = limits_of(2, dependents=((1, 0, steep),))
    stream = SpeechStream(limits, rate=50.0, look_ahead=0.1)
    r = np.column_stack([np.sin(np.arange(400) * 0.3), np.where(np.arange(400) < 200, -1.0, 1.0)])
    emitted = stream_all(stream, r)
    assert emitted[:, 1].min() == pytest.approx(-0.2, abs=1e-6)
    assert emitted[:, 1].max() == pytest.approx(0.1, abs=1e-6)
    assert limits.excess(emitted, 50.0).relative <= 1e-12


def test_statuses_and_holding():
    limits = limits_of(3)
    stream = SpeechStream(limits, rate=20.0, look_ahead=0.2)
    assert stream.hold() is StreamStatus.WAITING
    assert stream.push(np.array([np.nan, 0.0, 0.0])) is StreamStatus.REJECTED_NOT_FINITE
    assert stream.waiting
    first = np.array([0.1, 0.2, 0.3])
    assert stream.push(first) is StreamStatus.PRIMING
    assert np.array_equal(stream.out, first)
    for _ in range(stream.latency):
        assert stream.push(first) is StreamStatus.PRIMING
    assert stream.push(first) is StreamStatus.OK
    assert stream.push(np.zeros(2)) is StreamStatus.REJECTED_SHAPE
    assert stream.push("nonsense") is StreamStatus.REJECTED_SHAPE
    assert stream.push([0.1, 0.2, 99.0]) is StreamStatus.OUT_OF_RANGE_CLAMPED
    assert stream.hold() is StreamStatus.HELD
    for status in StreamStatus:
        assert status.sentence.endswith(".")
    rest = stream.flush()
    assert rest.shape == (stream.latency, 3)
    assert np.array_equal(stream.out, rest[-1])
    assert stream.flush().shape == (0, 3)
    assert stream.push(np.zeros(3)) is StreamStatus.PRIMING, "it can go on after the end"


def test_a_given_start_pose_is_left_legally():
    limits = limits_of(3, acceleration=20.0)
    start = np.array([-0.5, 0.5, 0.0])
    stream = SpeechStream(limits, rate=50.0, look_ahead=0.3, start=start)
    assert not stream.waiting
    emitted = [start]
    for _ in range(100):
        stream.push(np.array([0.5, -0.5, 0.4]))
        emitted.append(stream.out.copy())
    assert limits.excess(np.array(emitted), 50.0).relative == 0.0
    assert np.abs(emitted[-1] - [0.5, -0.5, 0.4]).max() < 1e-3
    with pytest.raises(BadInput):
        SpeechStream(limits, rate=50.0, start=[9.0, 0.0, 0.0])


@pytest.mark.parametrize("jerk", [np.inf, 2000.0])
def test_nothing_is_allocated_in_the_loop(jerk):
    limits = limits_of(
        4, acceleration=[np.inf, np.inf, 60.0, 60.0], jerk=[np.inf, np.inf, np.inf, jerk], dependents=((1, 0, HEAD),)
    )
    stream = SpeechStream(limits, rate=100.0, look_ahead=0.3)
    frames = waves(600, 100.0, 4, seed=4)
    frames[300] = np.nan
    for frame in frames:
        stream.push(frame)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    tracemalloc.start()
    stream.push(frames[0])
    start, _ = tracemalloc.get_traced_memory()
    for frame in frames:
        stream.push(frame)
        stream.hold()
    end, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert (after.alloc, after.mi_alloc) == (before.alloc, before.mi_alloc)
    assert end - start < 2048


def test_offset_and_mirror():
    limits, rate = limits_of(2, acceleration=[np.inf, 40.0]), 50.0
    r = waves(150, rate, 2, seed=8)
    other = MotionLimits(limits.names, -limits.upper, -limits.lower, limits.velocity, limits.acceleration, limits.jerk)
    plain, mirror = stream_all(SpeechStream(limits, rate=rate), r), stream_all(SpeechStream(other, rate=rate), -r)
    n = min(len(plain), len(mirror))
    assert np.abs(plain[:n] + mirror[:n]).max() < 1e-6


def test_held_coordinates_stay_at_the_start_pose():
    limits, start = limits_of(3), np.array([0.1, -0.2, 0.3])
    stream = SpeechStream(limits, rate=50.0, look_ahead=0.1, start=start, held=("joint1", "elsewhere"))
    frames = waves(80, 50.0, 3, seed=5, size=0.5)
    frames[40, 1] = np.nan
    emitted = []
    for frame in frames:
        assert stream.push(frame) is not StreamStatus.REJECTED_NOT_FINITE, "what a held joint is told does not matter"
        emitted.append(stream.out.copy())
    values = np.array(emitted)
    assert np.abs(values[:, 1] - start[1]).max() <= 1e-12
    assert np.ptp(values[:, 0]) > 0.2
    with pytest.raises(BadInput, match="start"):
        SpeechStream(limits, rate=50.0, held=("joint1",))


def test_impossible_streams_are_refused():
    with pytest.raises(BadInput, match="no motor"):
        SpeechStream(limits_of(0), rate=50.0)
    with pytest.raises(BadInput, match="circle"):
        SpeechStream(limits_of(2, dependents=((1, 0, 0.1 * HEAD), (0, 1, 0.1 * HEAD))), rate=50.0)
    gap = np.array([[-1.0, 0.5, 0.6], [1.0, -0.6, -0.5]])
    with pytest.raises(BadInput, match="common"):
        SpeechStream(limits_of(2, acceleration=9.0, dependents=((1, 0, gap),)), rate=50.0)
    with pytest.raises(BadInput):
        SpeechStream(limits_of(2), rate=-1.0)
    with pytest.raises(BadInput):
        SpeechStream(limits_of(2), rate=50.0, look_ahead=1e9)
