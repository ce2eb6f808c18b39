"""The last clamp: hostile wishes, and what may reach the wire all the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stage.player.conftest import NAMES, character_of, device_of, performance_of, waving

from bunraku.character import Body, Carriage, Character, Joint, String
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.motion import Certificate, Channel, JointCurves, Performance, Provenance
from bunraku.motion.limits import MotionLimits
from bunraku.optimization.solution import Status
from bunraku.stage.player.described import described_device
from bunraku.stage.player.guard import Guard
from bunraku.stage.player.outputs import DeviceOutputs, outputs_of
from bunraku.stage.servos import ServoCalibration

RATE = 50.0
hostile = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True, width=64),
    st.floats(-3.0, 3.0),
    st.sampled_from([np.nan, np.inf, -np.inf, 1e308]),
)


def nao_outputs() -> DeviceOutputs:
    """The head of the NAO, whose pitch range depends on its yaw, and a shoulder; coarse servos with soft limits."""
    nao = read_character("nao")
    device = described_device(nao, "dynamixel")
    servos = {
        name: ServoCalibration(position_min=0, position_max=900, soft_min=100, neutral_deg=180.0, range_deg=360.0, id=j)
        for j, name in enumerate(("HeadYaw", "HeadPitch", "LShoulderPitch"))
    }
    home = np.tile([nao.home.get(name, 0.0) for name in nao.driven], (3, 1))
    return outputs_of([performance_of(home, who=nao).changed(channels=())], device.changed(servos=servos))


NAO = nao_outputs()
NAO_LIMITS = MotionLimits.of(read_character("nao")).chosen(NAO.names)


def slope_of(knots: np.ndarray) -> float:
    return float(np.abs(np.diff(knots[:, 1:], axis=0) / np.diff(knots[:, :1], axis=0)).max())


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(wishes=st.lists(st.tuples(hostile, hostile, hostile), min_size=1, max_size=25), start=st.tuples(hostile, hostile, hostile))
def test_whatever_is_wanted_only_what_is_allowed_comes_out(wishes: list, start: tuple) -> None:
    guard = Guard(NAO, RATE)
    try:
        guard.start(np.array(start))
    except BadInput:
        guard.start(None)
    one = NAO.resolution
    low, high = (NAO.values(NAO.counts(np.full(3, end))) for end in (1e9, -1e9))  # counts fall as angles rise
    low, high = np.minimum(low, high), np.maximum(low, high)
    assert (low >= NAO_LIMITS.lower - 1e-9).all()
    assert (high <= NAO_LIMITS.upper + 1e-9).all()
    before, beyond = NAO.values(guard.counts.copy()), NAO.limits.excess(guard.now)
    for wish in wishes:
        counts = guard(np.array(wish))
        assert counts.dtype == np.int64
        assert ((counts >= 0) & (counts <= 900)).all(), "nothing outside the pulse range, wherever it stood"
        values = NAO.values(counts)
        assert (values >= np.minimum(low, before) - 1e-9).all(), "the range holds in counts, exactly; from outside only inwards"
        assert (values <= np.maximum(high, before) + 1e-9).all()
        assert (np.abs(values - before) <= NAO_LIMITS.velocity / RATE + one).all()
        assert (NAO.limits.excess(guard.now) <= np.maximum(beyond, 0.0) + 2e-9).all()
        for index, on, knots in NAO_LIMITS.dependents:
            slack = 0.5 * one[index] + 0.5 * one[on] * slope_of(knots) + 1e-6 + max(beyond[index], 0.0)
            assert values[index] >= np.interp(values[on], knots[:, 0], knots[:, 1]) - slack
            assert values[index] <= np.interp(values[on], knots[:, 0], knots[:, 2]) + slack
        before, beyond = values, NAO.limits.excess(guard.now)


def test_the_dependent_range_of_the_head_is_there_to_be_kept() -> None:
    assert len(NAO.limits.dependents) == 1


def puppet_outputs() -> DeviceOutputs:
    who = Character(
        name="two",
        bodies=(Body(name="b", mass=1.0),),
        joints=(Joint(name="base", kind="free", parent="world", child="b"),),
        carriages=tuple(
            Carriage(
                name=n,
                home=(x, 0.0, 2.0),
                x_range=(-0.5, 0.5),
                y_range=(-0.5, 0.5),
                velocity=1.0,
                separation=0.2,
                winch_range=(0.5, 1.5),
                winch_velocity=0.4,
            )
            for n, x in (("l", -0.2), ("r", 0.2))
        ),
        strings=tuple(String(name=f"{n}s", carriage=n, hook="b", length=1.0) for n in "lr"),
    )
    rows = np.tile([-0.2, 0.0, 0.2, 0.0, 1.0, 1.0], (3, 1))
    channels = tuple(
        Channel(n, "length" if n.endswith("length") else "position", "m", RATE, rows[:, j]) for j, n in enumerate(who.prescribed)
    )
    motion = JointCurves(who.coordinates + who.prescribed, RATE, np.hstack([np.zeros((3, 6)), rows]))
    wish = JointCurves(("base.tx",), RATE, np.zeros((3, 1)))
    show = Performance(who, "hang", channels, wish, motion, Certificate(Status.CONVERGED, ()), Provenance("t", {}, {}, {}))
    return outputs_of([show], described_device([show], "dry-run"))


PUPPET = puppet_outputs()


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(wishes=st.lists(st.tuples(*[hostile] * 6), min_size=1, max_size=25))
def test_carriages_keep_their_speed_in_the_plane_and_their_distance(wishes: list) -> None:
    guard = Guard(PUPPET, RATE)
    guard.start(None)
    before = guard.now.copy()
    one = PUPPET.resolution.max()
    for wish in wishes:
        x = PUPPET.values(guard(np.array(wish)))
        assert (np.abs(x[:4]) <= 0.5 + 1e-9).all()
        assert ((x[4:] >= 0.5 - 1e-9) & (x[4:] <= 1.5 + 1e-9)).all()
        assert np.hypot(x[0] - x[2], x[1] - x[3]) >= 0.2 - 2.0 * one
        for a, b in ((0, 1), (2, 3)):
            assert np.hypot(x[a] - before[a], x[b] - before[b]) <= 1.0 / RATE + 3.0 * one
        assert (np.abs(x[4:] - before[4:]) <= 0.4 / RATE + 2.0 * one).all()
        before = x


def toy_outputs(acceleration: float | None = None) -> DeviceOutputs:
    return outputs_of([performance_of(waving(), who=character_of(acceleration=acceleration))], device_of())


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    wishes=st.lists(st.tuples(*[hostile] * 3), min_size=1, max_size=40),
    held=st.integers(1, 12),
    acceleration=st.sampled_from([0.5, 7.0, 40.0, 399.0, 1e4]),
)
def test_whatever_is_wanted_accelerations_are_kept_with_range_and_velocity(wishes: list, held: int, acceleration: float) -> None:
    outputs = toy_outputs(acceleration)
    guard = Guard(outputs, 100.0)
    guard.start(np.array([0.9, -1.1, 0.0]))
    path = [guard.now.copy(), guard.now.copy()]
    for wish in wishes:
        for _ in range(held):
            guard(np.array(wish))
            path.append(guard.now.copy())
    x = np.array(path)
    assert ((x >= outputs.limits.lower) & (x <= outputs.limits.upper)).all()
    assert np.abs(np.diff(x, axis=0)).max() * 100.0 <= 4.0 + 1e-9
    assert np.abs(np.diff(x, 2, axis=0)).max() * 1e4 <= acceleration + 1e-6


@pytest.mark.parametrize("acceleration", [2.0, 40.0])
def test_a_leap_of_the_wish_is_made_as_fast_as_allowed_and_not_gone_beyond(acceleration: float) -> None:
    outputs = toy_outputs(acceleration)
    guard = Guard(outputs, 100.0)
    guard.start(np.zeros(3))
    goal, path = np.array([0.8, -0.7, 0.001]), []
    for _ in range(400):
        guard(goal)
        path.append(guard.now.copy())
    x = np.array(path)
    assert (np.abs(x) <= np.abs(goal) + 1e-12).all(), "never beyond"
    np.testing.assert_allclose(x[-1], goal, atol=1e-12)
    fastest = 2.0 * np.sqrt(0.8 / acceleration) if 0.8 * acceleration < 16.0 else 0.8 / 4.0 + 4.0 / acceleration
    took = np.argmax(np.abs(x[:, 0] - 0.8) < 1e-6) / 100.0
    assert took == pytest.approx(fastest, abs=0.05)


def test_what_was_cut_once_meets_its_moving_wish_again() -> None:
    """A swing within the limits with one wild sample: soon after it, every sample comes through as it is."""
    outputs = toy_outputs(40.0)
    t = np.arange(300) / 100.0
    rows = -0.5 * np.cos(2.0 * np.pi * t)[:, None] * np.array([1.0, -1.0, 0.5])
    guard = Guard(outputs, 100.0)
    guard.start(rows[0])
    off = []
    for k, row in enumerate(rows):
        guard(np.full(3, 0.9) if k == 120 else row)
        off.append(np.abs(guard.now - row).max())
    assert max(off[:120]) < 1e-12
    assert max(off[120:]) < 0.05
    assert max(off[150:]) < 1e-12


@pytest.mark.parametrize("share", [0.7, 0.95, 1.0])
@pytest.mark.parametrize("late", [{120: 1}, {133: 2}, {120: 4}, {120: 1, 131: 1, 140: 2}])
def test_swings_that_take_all_the_acceleration_are_met_again_after_skipped_samples(share: float, late: dict[int, int]) -> None:
    """Three sizes of swing at once; within 1.2 s every sample comes through as it is, at whatever phase some were skipped."""
    outputs, size = toy_outputs(40.0), np.array([0.02, 0.142, 0.35])
    turn = 2.0 * np.arcsin(0.5 * np.sqrt(share * 40.0 / size) / 100.0)  # the second differences are this share of the limit
    for phase in (0.0, 1.0, 2.0, 3.0):
        rows = size * (np.sin(turn * np.arange(320)[:, None] + phase))
        guard = Guard(outputs, 100.0)
        guard.start(rows[0])
        guard._moved[:] = rows[1] - rows[0]
        k, off = 0, np.zeros((320, 3))
        while k < 320:
            guard(rows[k])
            off[k] = np.abs(guard.now - rows[k])
            k += 1 + late.get(k, 0)
        assert off[110:120].max() < 1e-12
        assert off.max() < 0.45
        assert off[max(late) + 125 :].max() < 1e-12


def sloped_outputs(acceleration: tuple[float, float], slope: float) -> DeviceOutputs:
    """The nod is at most ``slope`` times the yaw."""
    outputs = toy_outputs(40.0)
    knots = np.array([[-1.2, -1.2, -1.2 * slope], [1.0, -1.2, slope]])
    limits = replace(outputs.limits, dependents=((1, 0, knots),), acceleration=np.array([*acceleration, 40.0]))
    return replace(outputs, limits=limits)


@pytest.mark.parametrize("inside", [0.0, 0.02])
@pytest.mark.parametrize("slope", [0.5, 0.9])
@pytest.mark.parametrize("acceleration", [(40.0, 40.0), (40.0, 20.0), (20.0, 40.0)])
def test_what_goes_along_a_dependent_range_is_not_derailed(acceleration: tuple[float, float], slope: float, inside: float) -> None:
    rows = -0.6 * np.cos(0.9 * np.sqrt(20.0 / 0.6) / 100.0 * np.arange(300))[:, None] * np.array([1.0, slope, 0.0])
    rows[:, 1] -= inside
    guard = Guard(sloped_outputs(acceleration, slope), 100.0)
    guard.start(rows[0])
    for row in rows:
        guard(row)
        np.testing.assert_allclose(guard.now, row, atol=2e-9)
    assert guard.cut == 0


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    wishes=st.lists(st.tuples(*[hostile] * 3), min_size=1, max_size=30),
    held=st.integers(1, 12),
    acceleration=st.sampled_from([(40.0, 40.0), (3.0, 40.0), (40.0, 3.0)]),
)
def test_whatever_is_wanted_a_dependent_range_is_kept_with_the_accelerations(
    wishes: list, held: int, acceleration: tuple[float, float]
) -> None:
    outputs = sloped_outputs(acceleration, 0.5)
    guard = Guard(outputs, 100.0)
    guard.start(np.array([0.2, -0.3, 0.0]))
    path = [guard.now.copy(), guard.now.copy()]
    for wish in wishes:
        for _ in range(held):
            guard(np.array(wish))
            path.append(guard.now.copy())
    x = np.array(path)
    assert ((x >= outputs.limits.lower) & (x <= outputs.limits.upper)).all()
    assert outputs.limits.excess(x).max() <= 2e-9
    assert np.abs(np.diff(x, axis=0)).max() * 100.0 <= 4.0 + 1e-9
    assert (np.abs(np.diff(x, 2, axis=0)) * 1e4 <= outputs.limits.acceleration + 1e-4).all()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(wishes=st.lists(st.tuples(*[hostile] * 6), min_size=1, max_size=20), held=st.integers(1, 10))
def test_carriages_keep_their_acceleration_in_the_plane_too(wishes: list, held: int) -> None:
    limits = replace(PUPPET.limits, acceleration=np.array([3.0, 3.0, 3.0, 3.0, 2.0, 2.0]))
    guard = Guard(replace(PUPPET, limits=limits), RATE)
    guard.start(None)
    path = [guard.now.copy(), guard.now.copy()]
    for wish in wishes:
        for _ in range(held):
            guard(np.array(wish))
            path.append(guard.now.copy())
    x = np.array(path)
    v, a = np.diff(x, axis=0) * RATE, np.diff(x, 2, axis=0) * RATE**2
    assert ((x >= limits.lower) & (x <= limits.upper)).all()
    for pair in ([0, 1], [2, 3]):
        assert np.hypot(*v[:, pair].T).max() <= 1.0 + 1e-9
        assert np.hypot(*a[:, pair].T).max() <= 3.0 + 1e-5  # 1e-9 m in second differences at 100 Hz
    assert np.abs(a[:, 4:]).max() <= 2.0 + 1e-6
    assert np.hypot(x[:, 0] - x[:, 2], x[:, 1] - x[:, 3]).min() >= 0.2 - 1e-8


def test_what_is_legal_goes_through_unchanged_and_uncounted() -> None:
    outputs, rows = toy_outputs(), waving()
    guard = Guard(outputs, 100.0)
    guard.start(rows[0])
    for row in rows:
        np.testing.assert_array_equal(guard(row), outputs.counts(row))
    assert guard.cut == guard.wild == 0


def test_cuts_and_wild_numbers_are_counted() -> None:
    guard = Guard(toy_outputs(), 100.0)
    guard.start(np.zeros(3))
    guard(np.array([np.nan, 5.0, 0.01]))
    assert (guard.wild, guard.cut) == (1, 1)
    assert guard.by[1] == pytest.approx(5.0 - 4.0 / 100.0)
    np.testing.assert_allclose(guard.now, [0.0, 0.04, 0.01])


def test_a_servo_far_outside_its_range_is_refused() -> None:
    guard = Guard(toy_outputs(), 100.0)
    with pytest.raises(BadInput, match=r"'nod' stands at 2.000 rad, outside its range"):
        guard.start(np.array([0.0, 2.0, 0.0]))


@pytest.mark.parametrize(("nod", "good"), [(1.34, True), (1.36, False), (-1.54, True), (-1.56, False)])
def test_a_servo_may_stand_outside_its_range_as_far_as_it_may_err_in_following(nod: float, good: bool) -> None:
    """20 degrees: 0.349 rad beyond [-1.2, 1.0]."""
    guard = Guard(outputs_of([performance_of(waving())], device_of()), RATE)
    if good:
        assert guard.start(np.array([0.0, nod, 0.0]))[0][1] == pytest.approx(nod)
    else:
        with pytest.raises(BadInput, match="outside its range"):
            guard.start(np.array([0.0, nod, 0.0]))


def test_a_servo_a_little_outside_its_range_comes_back_at_the_speed_of_its_motor_and_goes_no_further() -> None:
    outputs = toy_outputs()
    guard = Guard(outputs, 100.0)
    stands, inside = guard.start(np.array([0.0, 1.2, -1.3]))
    np.testing.assert_array_equal(stands, [0.0, 1.2, -1.3])
    np.testing.assert_allclose(inside, [0.0, 1.0, -1.2], atol=outputs.resolution.max())
    assert ((inside >= outputs.limits.lower) & (inside <= outputs.limits.upper)).all()
    one = outputs.resolution[0]
    values = outputs.values(guard(np.array([0.0, 9.0, -9.0])))
    np.testing.assert_allclose(values, [0.0, 1.2, -1.3], atol=one, err_msg="no further out, and no leap")
    path = np.array([outputs.values(guard(np.array([0.0, 0.9, -1.25]))) for _ in range(12)])
    assert (np.diff(path[:, 1]) <= one).all()
    assert (np.abs(np.diff(path, axis=0)) <= 4.0 / 100.0 + one).all()
    np.testing.assert_allclose(path[0], [0.0, 1.16, -1.26], atol=one)
    np.testing.assert_allclose(path[-1], [0.0, 0.9, -1.25], atol=one)
    guard(np.array([0.0, 0.9, 0.0]))
    for _ in range(20):
        values = outputs.values(guard(np.array([0.0, 9.0, -9.0])))
    assert values[1] <= 1.0, "once inside, the range is the range"
    assert values[2] >= -1.25 - one
    guard(np.zeros(3))
    for _ in range(20):
        values = outputs.values(guard(np.array([0.0, 9.0, -9.0])))
    assert values[2] >= -1.2


def beyond_its_dependent_range(rng: np.random.Generator) -> np.ndarray:
    """A place (k,) with the head up to 0.34 rad beyond what its yaw allows."""
    place = rng.uniform(NAO.limits.lower, NAO.limits.upper)
    index, on, knots = NAO.limits.dependents[0]
    low, high = np.interp(place[on], knots[:, 0], knots[:, 1]), np.interp(place[on], knots[:, 0], knots[:, 2])
    place[index] = high + rng.uniform(0.0, 0.34) if rng.random() < 0.5 else low - rng.uniform(0.0, 0.34)
    return place


@pytest.mark.parametrize(
    ("acceleration", "seed"), [(60.0, 32), (60.0, 160), (60.0, 47), (20.0, 240), (20.0, 96), (20.0, 190), (5.0, 372)]
)
def test_from_beyond_its_dependent_range_the_head_goes_no_farther_whatever_is_wanted(acceleration: float, seed: int) -> None:
    """Motors that brake slowly: what they come back to, they keep, also while they brake."""
    outputs = replace(NAO, limits=replace(NAO.limits, acceleration=np.full(3, acceleration)))
    rng = np.random.default_rng(seed)
    guard = Guard(outputs, RATE)
    guard.start(wish := beyond_its_dependent_range(rng))
    leaps = rng.integers(4) == 1
    excess = [float(NAO.limits.excess(guard.now).max())]
    for k in range(120):
        if k % rng.integers(1, 20) == 0:
            wish = rng.uniform(NAO.limits.lower - 1.0, NAO.limits.upper + 1.0)
            if leaps:
                wish = np.where(rng.random(3) < 0.5, NAO.limits.lower, NAO.limits.upper)
        guard(wish)
        excess.append(max(0.0, float(NAO.limits.excess(guard.now).max())))
    assert np.diff(excess).max() <= 2e-9


def test_from_beyond_its_dependent_range_slow_motors_bring_the_head_back() -> None:
    outputs = replace(NAO, limits=replace(NAO.limits, acceleration=np.full(3, 5.0)))
    for seed in (1, 2, 3):
        guard = Guard(outputs, RATE)
        _, inside = guard.start(beyond_its_dependent_range(np.random.default_rng(seed)))
        for _ in range(200):
            guard(inside)
        np.testing.assert_allclose(guard.now, inside, atol=1e-6)
        assert NAO.limits.excess(guard.now).max() <= 1e-8


def test_beyond_its_dependent_range_the_head_comes_back_without_a_leap() -> None:
    place = np.array([1.5, 0.0, 0.0])
    index, on, knots = NAO.limits.dependents[0]
    place[index] = np.interp(place[on], knots[:, 0], knots[:, 2]) + 0.2
    guard = Guard(NAO, RATE)
    stands, inside = guard.start(place)
    np.testing.assert_allclose(stands, place)
    assert NAO.limits.excess(inside)[index] <= 1e-9
    reach, excess = NAO.limits.velocity / RATE, [0.2]
    for _ in range(30):
        before = guard.now.copy()
        guard(inside)
        assert (np.abs(guard.now - before) <= reach + 1e-12).all()
        excess.append(NAO.limits.excess(guard.now)[index])
    assert (np.diff(excess) <= 1e-9).all()
    assert excess[-1] <= 1e-9
    np.testing.assert_allclose(guard.now, inside, atol=1e-9)


@pytest.mark.parametrize(("count", "good"), [(4095 + 30, True), (4095 + 60, False), (-30, True), (-60, False)])
def test_a_servo_outside_what_it_can_be_told_would_leap_and_is_refused(count: int, good: bool) -> None:
    """The range of the character goes beyond that of the servo here; 1 % of it are 41 counts."""
    wide = character_of()
    wide = wide.changed(joints=tuple(one.changed(range=(-4.0, 4.0)) for one in wide.joints))
    outputs = outputs_of([performance_of(waving(), who=wide)], device_of())
    guard = Guard(outputs, 100.0)
    place = outputs.values(np.array([2048.0, float(count), 2048.0]))
    if good:
        guard.start(place)
        assert guard.counts[1] == np.clip(count, 0, 4095)
        return
    with pytest.raises(BadInput, match=r"'nod' stands at .* rad, where its servo cannot be commanded to be"):
        guard.start(place)


def test_beyond_a_soft_limit_it_comes_back_too() -> None:
    soft = device_of().servos["nod"].changed(soft_max=2300)
    device = device_of(servos=dict(device_of().servos) | {"nod": soft})
    outputs = outputs_of([performance_of(0.5 * waving(), who=character_of(acceleration=None))], device)
    guard = Guard(outputs, 100.0)
    guard.start(outputs.values(np.array([2048.0, 2400.0, 2048.0])))
    told = [int(guard(np.zeros(3))[1]) for _ in range(20)]
    assert told[0] == pytest.approx(2400 - 0.04 / outputs.resolution[1], abs=1.0)
    assert (np.diff(told) <= 0).all()
    assert max(int(guard(np.ones(3))[1]) for _ in range(20)) == 2300


def test_a_wheel_stops_when_nobody_knows_what_it_shall_do() -> None:
    who = character_of(velocity=6.0, acceleration=30.0)
    speeds = tuple(Channel(n, "velocity", "rad/s", 100.0, np.zeros(4)) for n in NAMES)
    show = performance_of(np.zeros((4, 3)), who=who).changed(channels=speeds)
    outputs = outputs_of([show], described_device([show], "dry-run"))
    guard = Guard(outputs, 100.0)
    guard.start(None)
    for _ in range(100):
        guard(np.full(3, 50.0))
    np.testing.assert_allclose(guard.now, 6.0, atol=1e-2)
    steps = [guard.now[0]]
    for _ in range(30):
        guard(np.full(3, np.nan))
        steps.append(guard.now[0])
    assert steps[-1] == 0.0
    assert np.abs(np.diff(steps)).max() <= 30.0 / 100.0 + 1e-12


@pytest.mark.parametrize("top", [601, 733, 900, 1023])
@pytest.mark.parametrize("reverse", [False, True])
def test_at_the_ends_of_the_range_rounding_goes_inwards(top: int, reverse: bool) -> None:
    servo = ServoCalibration(position_min=0, position_max=top, neutral_deg=180.0, range_deg=360.0, reverse=reverse)
    outputs = outputs_of([performance_of(waving())], device_of(servos=dict.fromkeys(NAMES, servo)))
    for far, end in ((1e9, 1.0), (-1e9, -1.2)):
        guard = Guard(outputs, 100.0)
        guard.start(None)
        for _ in range(60):
            values = outputs.values(guard(np.full(3, far)))
        assert ((values >= -1.2 - 1e-9) & (values <= 1.0 + 1e-9)).all()
        assert (np.abs(values - end) < outputs.resolution).all(), "and as far as whole counts reach"
