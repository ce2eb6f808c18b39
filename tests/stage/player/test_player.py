"""Whole shows on a machine in memory: what it is told, when it is stopped, and what the record says."""

from __future__ import annotations

import gc
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.stage.player.conftest import NAMES, TIME, Memory, Scripted, character_of, device_of, performance_of, waving

from bunraku.errors import BadInput
from bunraku.motion import Audio, Channel
from bunraku.stage.devices.device import Device
from bunraku.stage.player.clock import MonotonicClock, SimulatedSoundClock
from bunraku.stage.player.cues import Cue, Cues
from bunraku.stage.player.described import described_device
from bunraku.stage.player.log import log_bytes
from bunraku.stage.player.player import Player, _Run, _Stop
from bunraku.stage.player.program import Show
from bunraku.stage.player.record import PlayRecord
from bunraku.stage.servos import ServoCalibration

pytestmark = pytest.mark.usefixtures("punctual")


def played(show: Show, driver: Memory, cues: dict[int, Cue] | None = None, **fields: object) -> tuple[Player, PlayRecord]:
    player = Player(show, device_of(**fields))
    with Scripted(cues) as script:
        return player, player.run(driver, MonotonicClock(), script)


def follows(sent: list) -> np.ndarray | None:
    """A machine that is where it was told to be; at first at home."""
    return sent[-1].astype(float) if sent else np.full(3, 2048.0)


def within(player: Player, counts: np.ndarray) -> None:
    """Nothing sent is outside range, velocity or acceleration, but for the rounding to counts."""
    outputs = player.outputs
    assert ((counts >= outputs.count_low) & (counts <= outputs.count_high)).all()
    values = outputs.values(counts)
    assert (np.abs(np.diff(values, axis=0)) <= 4.0 / 100.0 + outputs.resolution).all()
    assert (np.abs(np.diff(values, 2, axis=0)) <= 40.0 / 1e4 + 2.0 * outputs.resolution).all()


def fine(**fields: object) -> Device:
    """A dry run finely divided: second differences of counts are accelerations to 1.6 rad/s^2."""
    servo = ServoCalibration(position_min=0, position_max=32_000, neutral_deg=70.0, range_deg=140.0, reverse=True)
    return device_of(servos=dict.fromkeys(NAMES, servo), **fields)


def swinging(cycles: float) -> np.ndarray:
    """A swing of 35 rad/s^2 that begins and ends in full motion, (n, 3)."""
    w = 35.0 / 3.0  # a peak of 3 rad/s and 35 rad/s^2
    t = np.arange(round(cycles * 2.0 * np.pi / w * 100.0) + 1) / 100.0
    return 35.0 / w**2 * np.sin(w * t)[:, None] * np.array([1.0, -1.0, 0.5])


def accelerations(player: Player, driver: Memory) -> np.ndarray:
    x = player.outputs.values(driver.counts)
    rest = np.array([x[0], x[0]])
    return np.diff(np.vstack([rest, x, x[-1:], x[-1:]]), 2, axis=0) * 1e4


@pytest.mark.parametrize(("cycles", "loops"), [(2.0, 1), (2.0, 3), (1.3, 3), (1.75, 2)])
def test_what_begins_and_ends_moving_is_led_to_and_on_within_its_accelerations(cycles: float, loops: int) -> None:
    driver, player = Memory(), Player(Show(performance_of(swinging(cycles)), loops=loops), fine())
    with Scripted() as cues:
        record = player.run(driver, MonotonicClock(), cues)
    assert record.played == ("hello",) * loops
    assert record.cut == 0, record.sentences
    assert np.abs(accelerations(player, driver)).max() <= 40.0 + 1.6


@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_cue_said_twice_in_a_period_is_as_gentle_as_once(times: int) -> None:
    class Doubled(Scripted):
        def wait(self, until: float, spin: float) -> list[Cue]:
            return super().wait(until, spin) * times

    driver, player = Memory(), Player(Show(performance_of(swinging(3.0))), fine())
    with Doubled({80: Cue("cue", "OSC", "main")}) as cues:
        record = player.run(driver, MonotonicClock(), cues)
    assert len(record.cues) == times
    assert record.played == ("hello", "hello")
    assert record.cut == 0
    assert np.abs(accelerations(player, driver)).max() <= 40.0 + 1.6


def test_a_dry_show_sends_a_way_and_then_every_sample_of_the_file(show) -> None:
    driver = Memory(follows)
    player, record = played(Show(show), driver)
    rows = player.outputs.counts(waving())
    np.testing.assert_array_equal(driver.counts[-len(rows) :], rows)
    within(player, driver.counts)
    way = player.outputs.values(driver.counts[: -len(rows)])
    assert np.abs(np.diff(way, axis=0)).max() * 100.0 <= 0.5 * 4.0 + 0.2, "the way in is gentle"
    np.testing.assert_allclose(way[0], 0.0, atol=2e-3)
    assert record.ended == "the show is over"
    assert not record.stopped
    assert driver.released == 0
    assert record.tape.ticks == len(driver.sent)
    np.testing.assert_array_equal(record.tape.counts, driver.counts)
    assert (record.cut, record.wild, record.missed) == (0, 0, 0)
    assert gc.isenabled()


@pytest.mark.parametrize(("at_end", "released"), [("hold", 0), ("release", 1)])
def test_what_is_done_at_the_end_is_as_the_device_says(show, at_end: str, released: int) -> None:
    driver = Memory(follows)
    _, record = played(Show(show), driver, at_end=at_end)
    assert (driver.released, record.stopped, record.stop_ms) == (released, False, None)


def test_the_way_in_begins_where_the_machine_stands(show) -> None:
    def elsewhere(sent: list) -> np.ndarray:
        return sent[-1].astype(float) if sent else np.array([1500.0, 2300.0, 2500.0])

    driver = Memory(elsewhere)
    player, _ = played(Show(show), driver)
    assert np.abs(driver.counts[0] - [1500, 2300, 2500]).max() <= 1
    within(player, driver.counts)


@pytest.mark.parametrize("count", [2048 + 800, 2048 - 950])
def test_a_machine_that_stands_outside_its_range_is_led_back_gently(show, count: int) -> None:
    """1.0 rad are 652 counts, -1.2 rad are -782: it stands some 10 degrees beyond."""

    def beyond(sent: list) -> np.ndarray:
        return sent[-1].astype(float) if sent else np.array([2048.0, float(count), 2048.0])

    driver = Memory(beyond)
    player, record = played(Show(show), driver)
    one = player.outputs.resolution[1]
    path = player.outputs.values(np.vstack([[2048, count, 2048], driver.counts]))[:, 1]
    assert np.abs(np.diff(path)).max() * 100.0 <= 0.5 * 4.0 + 100.0 * one, "half of what its motor could do"
    assert np.abs(path).max() == np.abs(path[0])
    assert (record.stopped, record.cut) == (False, 0)
    np.testing.assert_array_equal(driver.counts[-1], player.outputs.counts(waving()[-1]))


def test_an_output_without_a_channel_comes_back_into_its_range_and_stays() -> None:
    player = Player(Show(performance_of(waving())), device_of())
    player._tables["main"][:, 1] = np.nan
    driver = Memory(lambda sent: sent[-1].astype(float) if sent else np.array([2048.0, 2848.0, 2048.0]))
    with Scripted() as cues:
        record = player.run(driver, MonotonicClock(), cues)
    assert record.cut == 0
    assert driver.counts[-1, 1] == player.outputs.count_high[1]


def test_without_a_report_it_begins_at_home_and_says_so(show) -> None:
    driver = Memory()
    player, record = played(Show(show), driver)
    assert np.abs(driver.counts[0] - player.outputs.counts(np.zeros(3))).max() <= 1
    assert any("does not say where it stands" in note for note in record.notes)


def test_loops_lead_back_gently_and_a_closed_loop_does_not_pause(show) -> None:
    driver = Memory(follows)
    player, record = played(Show(show, loops=3), driver)
    assert record.played == ("hello",) * 3
    within(player, driver.counts)
    back = np.concatenate([waving(), waving()[::-1][1:]])
    driver = Memory(follows)
    player, record = played(Show(performance_of(back), loops=3), driver)
    rows = player.outputs.counts(np.concatenate([back, back[1:], back[1:]]))
    np.testing.assert_array_equal(driver.counts[-len(rows) :], rows)


def test_another_rate_of_the_device_takes_as_long() -> None:
    driver = Memory(follows)
    _, record = played(Show(performance_of(waving(1.0))), driver, rate_hz=80.0)
    last = len(driver.sent) - 1 - np.flatnonzero(np.abs(np.diff(driver.counts[::-1], axis=0)).max(axis=1) > 0)[0]
    assert record.tape.ticks / 80.0 == pytest.approx(1.0 + 0.30, abs=0.08)
    assert last >= 0


@pytest.mark.parametrize("at", [0, 3, 40, 70])
def test_a_stop_ends_it_within_the_period_and_the_machine_is_released(show, at: int) -> None:
    driver = Memory(follows)
    _, record = played(Show(show), driver, {at: Cue("estop", "the space key")})
    assert len(driver.sent) == at, "no command after the stop"
    assert driver.released == 1
    assert record.stopped
    assert record.ended == "emergency stop by the space key"
    assert record.stop_ms is not None
    assert record.sentences[0].startswith("STOPPED: emergency stop by the space key (machine released")


def test_a_stop_is_heard_while_the_machine_keeps_one_waiting(show) -> None:
    """An answer that comes late by 50 ms: the stop does not wait for it, and other cues are not lost."""
    said = [Cue("cue", "OSC", "nobody"), Cue("estop", "the space key")]

    class Late(Memory):
        steps = 0

        def measure(self) -> np.ndarray | None:
            for _ in range(25 if len(self.sent) == 30 else 0):
                TIME.now += 0.002
                self.steps += 1
                self.waiting()
            return follows(self.sent)

    class Pressed(Scripted):
        def read(self) -> list[Cue]:
            return [said.pop(0)] if said and driver.steps in (1, 4) else []

    driver, player = Late(), Player(Show(show), device_of())
    with Pressed() as cues:
        record = player.run(driver, MonotonicClock(), cues)
    assert record.ended == "emergency stop by the space key"
    assert (driver.steps, len(driver.sent), driver.released) == (4, 30, 1)
    assert driver.hear is None
    said, driver = [Cue("cue", "OSC", "nobody")], Late()
    with Pressed() as cues:
        record = player.run(driver, MonotonicClock(), cues)
    assert not record.stopped
    assert "no performance called 'nobody'" in record.notes[-1]


def test_the_record_has_units_and_says_who_ended_the_show(show) -> None:
    def behind(sent: list) -> np.ndarray:
        place = follows(sent)
        assert place is not None
        return place + np.array([0.0, 40.0, 0.0])

    _, record = played(Show(show, loops=2), Memory(behind), {30: Cue("cue", "OSC", "nobody"), 40: Cue("stop", "a key")})
    assert (record.ended, record.stopped) == ("a cue ended the show (a key)", False)
    assert [cue.split(": ", 1)[1] for cue in record.cues] == ["stop by a key"]
    assert [note.split(": ", 1)[1] for note in record.notes] == [
        f"no performance called 'nobody'; there are main, {show.clip_name}"
    ]
    said = " ".join(record.sentences)
    worst = max(record.following, key=lambda name: record.following[name])
    assert worst == "nod"
    assert f"largest following error {record.following['nod']:.3g} rad of 'nod'" in said
    one = replace(record, cut=1, wild=2, cut_by={"yaw": 0.25}, ignored=1)
    assert "1 value cut to the limits, most 0.25 rad of 'yaw'; 2 values were no numbers" in one.sentences
    assert "ignored 1 OSC message that was no cue" in one.sentences


def test_a_log_reads_back_to_the_counts_that_were_sent(show) -> None:
    player, record = played(Show(show), Memory(follows))
    names, *rows = log_bytes(record.tape, player.outputs).decode().splitlines()
    assert names == "time_s,yaw_rad,nod_rad,wave_rad,lateness_ms"
    table = np.array([row.split(",") for row in rows], dtype=float)
    np.testing.assert_array_equal(player.outputs.counts(table[:, 1:-1]), record.tape.counts)
    np.testing.assert_allclose(table[:, 0], record.tape.times, atol=1e-6)


def test_a_lost_machine_ends_it_and_is_released_all_the_same(show) -> None:
    driver = Memory(follows, lost_at=25)
    _, record = played(Show(show), driver)
    assert (len(driver.sent), driver.released, record.stopped) == (25, 1, True)
    assert "memory: the device is gone" in record.ended


def test_a_servo_that_is_where_the_plan_has_it_follows_without_error() -> None:
    """Its commands are 0.1 rad beyond the plan, so that it gives the planned torque; it is not late by that."""
    plain = performance_of(waving(2.0, size=0.5))
    ahead = plain.changed(channels=tuple(Channel(c.name, c.kind, c.unit, c.rate, c.values + 0.1) for c in plain.channels))
    outputs = Player(Show(ahead), device_of()).outputs
    short = outputs.counts(np.full(3, 0.1)) - outputs.counts(np.zeros(3))

    def held_back(sent: list) -> np.ndarray:
        """Of every command after the first ones, which lead there, 0.1 rad is missing."""
        return sent[-1] - short * min(len(sent) / 40.0, 1.0) if sent else np.full(3, 2048.0)

    _, record = played(Show(ahead), Memory(held_back))
    assert not record.stopped
    assert max(record.following.values(), default=0.0) < 0.06
    _, late = played(Show(plain), Memory(held_back))
    assert min(late.following.values()) > 0.07


def test_a_blocked_servo_ends_it(show) -> None:
    def stuck(sent: list) -> np.ndarray:
        return np.array([sent[-1][0], sent[-1][1], 2048.0]).astype(float) if sent else np.full(3, 2048.0)

    _, free = played(Show(performance_of(waving(2.0, size=0.5))), Memory(stuck))
    assert not free.stopped, "0.25 rad is less than the bar of 20 degrees"
    lately = waving(2.0, size=0.5)[-20:, 2]
    assert free.following["wave"] == pytest.approx(lately.min(), abs=2e-3), "from the nearest of what it was told in 200 ms"
    driver = Memory(stuck)
    player, record = played(Show(performance_of(waving(2.0, size=1.2))), driver)
    assert record.stopped
    assert record.ended.startswith("'wave' reports 0.00")
    told = player.outputs.values(driver.counts)[:, 2]
    lately = told[-20:]
    assert lately.min() == pytest.approx(np.radians(20.0), abs=0.02), "stopped in the period in which it became too much"


def test_a_machine_that_reports_nonsense_is_stopped(show) -> None:
    def mad(sent: list) -> np.ndarray:
        return np.array([np.nan, 2048.0, 2048.0]) if len(sent) > 10 else follows(sent)  # type: ignore[return-value]

    driver = Memory(mad)
    _, record = played(Show(show), driver)
    assert record.stopped
    assert len(driver.sent) == 11
    assert "'yaw' reports nan" in record.ended


@pytest.mark.parametrize(("pause", "few"), [(0.025, False), (0.5, True)])
def test_missed_deadlines_stop_it_and_a_single_one_is_caught_up(show, pause: float, few: bool) -> None:
    class Slow(Memory):
        def send(self, counts: np.ndarray) -> None:
            super().send(counts)
            if len(self.sent) == 20:
                TIME.now += pause

    driver = Slow(follows)
    player, record = played(Show(show), driver, missed_deadlines=20)
    if few:
        assert record.stopped
        assert "deadlines in a row were missed" in record.ended
        assert (len(driver.sent), driver.released) == (21, 1)
    else:
        assert record.ended == "the show is over"
        assert (record.missed, record.skipped) == (1, 1), "the next one is 15 ms late: it is left out"
        np.testing.assert_array_equal(driver.counts[-1], player.outputs.counts(waving()[-1]))
    within(player, driver.counts)


def test_idle_cue_main_idle_stop_end(show) -> None:
    idle = performance_of(0.05 * waving(0.3) + 0.1, name="breathing")
    end = performance_of(waving()[::-1] - 0.1, name="bow")
    script = {100: Cue("start", "a key"), 400: Cue("stop", "a key")}
    driver = Memory(follows)
    player, record = played(Show(show, idle=idle, end=end), driver, script)
    names = [record.played[0], *(b for a, b in pairwise(record.played) if a != b)]
    assert names == ["breathing", "hello", "breathing", "bow"]
    within(player, driver.counts)
    np.testing.assert_array_equal(driver.counts[-1], player.outputs.counts(waving()[0] - 0.1))
    assert [text.split(": ")[1] for text in record.cues] == ["start by a key", "stop by a key"]


def test_a_stop_in_full_motion_comes_to_rest_without_a_jerk() -> None:
    fast = performance_of(waving(0.6, size=2.0) - np.array([0.2, 0.0, 0.5]))
    driver = Memory(follows)
    player, record = played(Show(fast, loops=0), driver, {75: Cue("stop", "a key")})
    assert not record.stopped
    within(player, driver.counts)
    values = player.outputs.values(driver.counts)
    acceleration = np.diff(values, 2, axis=0) * 1e4
    assert np.abs(acceleration).max() <= 40.0 + 4.0 * 1e4 * player.outputs.resolution.max()


@pytest.mark.parametrize("cues", [{}, {60: Cue("stop", "a key")}])
def test_wheels_stand_still_when_the_show_is_over(cues: dict) -> None:
    who = character_of(velocity=6.0, acceleration=30.0)
    rows = np.full((80, 3), 2.0) * np.array([1.0, -1.0, 0.5])
    channels = tuple(Channel(n, "velocity", "rad/s", 100.0, rows[:, j]) for j, n in enumerate(NAMES))
    show = performance_of(np.zeros((80, 3)), who=who).changed(channels=channels)
    device, driver = described_device([show], "dry-run"), Memory()
    player = Player(Show(show), device)
    with Scripted(cues) as script:
        record = player.run(driver, MonotonicClock(), script)
    speeds = player.outputs.values(driver.counts)
    assert not record.stopped
    assert np.abs(speeds).max() == pytest.approx(2.0, abs=1e-3)
    np.testing.assert_allclose(speeds[-1], 0.0, atol=player.outputs.resolution.max())
    assert np.abs(np.diff(speeds, axis=0)).max() * 100.0 <= 30.0 + 100.0 * player.outputs.resolution.max()


def test_nobody_there_to_stop_it_is_refused(show) -> None:
    player = Player(Show(show, loops=0), device_of())
    with Cues() as cues, pytest.raises(BadInput, match="ends only when someone stops it"):
        player.run(Memory(), MonotonicClock(), cues)


def test_the_voice_begins_with_the_motion_every_time() -> None:
    voice = Audio(np.zeros(2400), 48_000.0)
    rows = np.linspace(0.0, 0.8, 41)[:, None] * np.ones(3)
    player = Player(Show(performance_of(rows, audio=voice), loops=2), device_of())
    clock, driver = SimulatedSoundClock(), Memory(follows)
    with Scripted() as cues:
        record = player.run(driver, clock, cues)
    first, second = player.outputs.counts(rows[:2])
    starts = [
        k for k in range(len(driver.sent) - 1) if (driver.counts[k] == first).all() and (driver.counts[k + 1] == second).all()
    ]
    times = record.tape.times[starts]
    assert len(clock.sounds) == 2
    np.testing.assert_allclose([at for at, _ in clock.sounds], times, atol=1e-9)


class Told(SimulatedSoundClock):
    """Notes what is asked of it, in order, and which sounds are made ready."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.ready: list[Audio] = []

    def prepare(self, audio: Audio) -> None:
        self.asked.append("prepare")
        self.ready.append(audio)

    def start(self) -> None:
        super().start()
        self.asked.append("start")


def test_every_voice_is_made_ready_before_the_clock_starts() -> None:
    voices = [Audio(np.zeros(480), 48_000.0) for _ in range(3)]
    idle, main, end = (performance_of(waving(0.2), name=name, audio=voice) for name, voice in zip("ime", voices, strict=True))
    player = Player(Show(main, idle=idle, end=end), device_of())
    clock = Told()
    with Scripted({20: Cue("stop", "a key")}) as cues:
        player.run(Memory(follows), clock, cues)
    assert clock.asked == ["prepare"] * 3 + ["start"]
    assert [id(audio) for audio in clock.ready] == [id(audio) for audio in voices]


@pytest.mark.parametrize("loops", [1, 2])
def test_a_voice_longer_than_its_motion_is_heard_to_its_end(loops: int) -> None:
    voice, rows = Audio(np.zeros(38_500), 48_000.0), waving(0.4)  # 0.802 s
    player = Player(Show(performance_of(rows, audio=voice), loops=loops), device_of())
    clock, driver = SimulatedSoundClock(), Memory(follows)
    with Scripted() as cues:
        record = player.run(driver, clock, cues)
    starts = [at for at, _ in clock.sounds]
    assert len(starts) == loops
    assert all(after - at >= voice.duration for at, after in pairwise(starts)), "no voice over the other"
    last = record.tape.times[-1]
    assert voice.duration <= last - starts[-1] < voice.duration + 0.02, "the clock goes on until it is over, and no longer"
    tail = driver.counts[record.tape.times >= starts[-1] + 0.4 - 1e-9]
    np.testing.assert_array_equal(tail, np.tile(player.outputs.counts(rows[-1]), (len(tail), 1)))
    assert len(record.tape.times) == record.tape.ticks == len(driver.sent)


def test_wheels_stand_still_while_the_voice_speaks_on() -> None:
    who = character_of(velocity=6.0, acceleration=30.0)
    channels = tuple(Channel(n, "velocity", "rad/s", 100.0, np.full(40, 2.0)) for n in NAMES)
    voice = Audio(np.zeros(96_000), 48_000.0)
    show = performance_of(np.zeros((40, 3)), who=who, audio=voice).changed(channels=channels)
    driver, player = Memory(), Player(Show(show), described_device([show], "dry-run"))
    with Scripted() as cues:
        player.run(driver, MonotonicClock(), cues)
    speeds = player.outputs.values(driver.counts)
    assert len(speeds) > 200
    np.testing.assert_allclose(speeds[-100:], 0.0, atol=player.outputs.resolution.max())
    assert np.abs(np.diff(speeds, axis=0)).max() * 100.0 <= 30.0 + 100.0 * player.outputs.resolution.max()


def test_a_voice_without_end_is_refused() -> None:
    endless = performance_of(waving(), audio=Audio(np.zeros(1_000), 1e-6))
    with pytest.raises(BadInput, match=r"the voice of 'hello' lasts 1e\+09 s"):
        Player(Show(endless), device_of())


@settings(
    max_examples=25,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    rows=st.lists(st.tuples(*[st.floats(allow_nan=True, allow_infinity=True)] * 3), min_size=2, max_size=40),
    reports=st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 3), min_size=1, max_size=8),
    gain=st.floats(0.0, 0.9),
)
def test_neither_a_corrupted_table_nor_mad_reports_get_anything_else_to_the_wire(rows: list, reports: list, gain: float) -> None:
    """The table is spoilt after all checks, as a broken memory would; reports are near enough not to stop the show."""
    player = Player(Show(performance_of(waving())), device_of(posture_gain=gain, following_deg=180.0))
    player._tables["main"] = np.array(rows)

    def mad(sent: list) -> np.ndarray:
        if not sent:
            return np.full(3, 2048.0)
        return sent[-1] + np.clip(np.array(reports[len(sent) % len(reports)]), -2000.0, 2000.0)

    driver = Memory(mad)
    with Scripted() as cues:
        record = player.run(driver, MonotonicClock(), cues)
    assert len(driver.sent) >= 1
    within(player, driver.counts)
    assert record.stopped or record.tape.ticks == len(driver.sent)


def test_a_flood_of_cues_does_not_hold_up_the_motion(show) -> None:
    """Somebody who sends cues faster than they can be heard: every period still has its command."""

    class Flood(Cues):
        asked = 0

        def wait(self, until: float, spin: float) -> list[Cue]:
            self.asked += 1
            if self.asked > 10**5:
                return [Cue("estop", "a test that would never end")]
            TIME.now = max(TIME.now + 1e-4, until - spin)
            return [Cue("start", "a flood")] * 16

    driver = Memory(follows)
    player = Player(Show(show), device_of())
    with Flood() as cues:
        record = player.run(driver, MonotonicClock(), cues)
    assert record.ended == "the show is over"
    np.testing.assert_array_equal(driver.counts[-1], player.outputs.counts(waving())[-1])
    assert len(record.cues) == 1000


def test_what_could_not_be_released_is_said(show) -> None:
    driver = Memory(follows, lost_at=30)
    driver.held = "desk does not confirm that nod is released; cut the power"
    _, record = played(Show(show), driver)
    assert record.stopped
    assert "NOT RELEASED: desk does not confirm that nod is released; cut the power" in record.notes
    assert any("NOT RELEASED" in line for line in record.sentences)
    driver = Memory(follows)
    _, record = played(Show(show), driver)
    assert not any("NOT RELEASED" in note for note in record.notes)
    driver = Memory(follows)
    driver.held = "nod turns on"
    _, record = played(Show(show), driver, at_end="release")
    assert "NOT RELEASED: nod turns on" in record.notes


def test_an_unexpected_error_releases_the_machine_and_says_what_stays_driven(show) -> None:
    class Surprising(Memory):
        def send(self, counts: np.ndarray) -> None:
            super().send(counts)
            if len(self.sent) == 20:
                raise RuntimeError("nobody thought of this")

    class Sounding(MonotonicClock):
        stopped = 0

        def stop(self) -> None:
            self.stopped += 1

    driver, clock = Surprising(), Sounding()
    driver.held = "nod turns on"
    with Scripted() as cues, pytest.raises(RuntimeError, match="nobody thought of this") as raised:
        Player(Show(show), device_of()).run(driver, clock, cues)
    assert driver.released == 1
    assert len(driver.sent) == 20
    assert clock.stopped == 1
    assert raised.value.__notes__ == ["NOT RELEASED: nod turns on"]


def running(show: object, **fields: object) -> _Run:
    """A run amid a long take, of which a test counts the periods itself."""
    run = _Run(Player(Show(show), device_of(**fields)), Memory(), MonotonicClock(), Scripted(), lambda seconds, role: None)
    run.rows = np.zeros((1000, 3))
    return run


def test_so_many_deadlines_in_a_row_stop_it_and_not_one_less(show) -> None:
    """Late by two and a half periods is two missed; the fifth in a row stops."""
    run = running(show, missed_deadlines=5)
    run._advance(0.025)
    run._advance(0.025)
    with pytest.raises(_Stop, match="5 deadlines in a row were missed, the last by 15"):
        run._advance(0.015)
    assert (run.missed, run.run_of_missed) == (3, 5)


def test_one_command_in_time_begins_the_count_anew(show) -> None:
    run = running(show, missed_deadlines=5)
    for late in (0.025, 0.025, 0.0099, 0.025, 0.025, 0.0, 0.045):
        run._advance(late)
    assert run.run_of_missed == 4
    with pytest.raises(_Stop):
        run._advance(0.0101)


def test_a_device_waits_for_five_and_follows_within_twenty_degrees() -> None:
    servo = ServoCalibration()
    device = Device(name="x", driver="dry-run", servos={"a": servo})
    assert (device.missed_deadlines, device.following_deg, device.following_mm, device.following_ms) == (5, 20.0, 50.0, 200.0)
    assert (device.timeout_ms, device.posture_gain, device.posture_deg) == (20.0, 0.0, 3.0)
