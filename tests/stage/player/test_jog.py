"""One servo under a person's keys: slow, within its range, and the others still."""

from __future__ import annotations

import numpy as np
import pytest
from tests.stage.player.conftest import Memory, device_of

from bunraku.errors import BadInput
from bunraku.stage.player.jog import SWEEP, Jog
from bunraku.stage.servos import ServoCalibration


def stand(sent: list) -> np.ndarray:
    return np.array([2000.0, 2100.0, 2200.0])


def test_it_goes_slowly_never_beyond_the_pulse_range_and_alone() -> None:
    driver = Memory(stand)
    jog = Jog(device_of(), "nod", driver)
    for _ in range(60):
        jog.press("D")
    for _ in range(600):
        jog.step(0.01)
    counts = driver.counts
    np.testing.assert_array_equal(counts[:, [0, 2]], np.tile([2000, 2200], (600, 1)))
    assert counts[-1, 1] == 4095
    assert np.abs(np.diff(counts[:, 1])).max() <= 4095 / SWEEP * 0.01 + 1
    assert counts[:, 1].max() <= 4095


def test_the_whole_range_takes_four_seconds() -> None:
    jog = Jog(device_of(), "nod", Memory(lambda sent: np.zeros(3)))
    jog.target = 4095
    for _ in range(300):
        jog.step(0.01)
    assert jog.now == pytest.approx(0.75 * 4095)
    for _ in range(100):
        jog.step(0.01)
    assert jog.now == 4095


@pytest.mark.parametrize(("stands", "moved"), [(4135.0, True), (4137.0, False), (-40.0, True), (-42.0, False)])
def test_a_servo_may_stand_one_hundredth_outside_its_range(stands: float, moved: bool) -> None:
    driver = Memory(lambda sent: np.array([2000.0, 2000.0, stands]))
    if moved:
        assert Jog(device_of(), "wave", driver).now == min(max(stands, 0), 4095)
    else:
        with pytest.raises(BadInput, match="would leap"):
            Jog(device_of(), "wave", driver)


def test_a_long_pause_of_the_computer_makes_no_leap() -> None:
    jog = Jog(device_of(), "nod", Memory(stand))
    jog.press("D")
    jog.target = 4095
    jog.step(30.0)
    assert jog.now - 2100 <= 4095 / SWEEP * 0.1
    assert jog.now - 2100 >= 4095 / 4.0 * 0.0999


def test_keys_find_neutral_direction_and_soft_limits() -> None:
    jog = Jog(device_of(), "yaw", Memory(stand))
    jog.press("n")
    assert jog.servo.at_zero == pytest.approx(2000.0)
    assert jog.angle == pytest.approx(0.0)
    jog.press("r")
    assert not jog.servo.reverse
    jog.press("[")
    jog.press("A")
    assert jog.target == 2000, "not below the soft limit just set"
    jog.press("D")
    for _ in range(100):
        jog.step(0.01)
    jog.press("]")
    jog.press("w")
    assert (jog.written, jog.ended) == (True, True)
    found = jog.result.servos["yaw"]
    assert (found.soft_min, found.soft_max) == (2000, 2100)
    assert jog.result.servos["nod"] == device_of().servos["nod"]


@pytest.mark.parametrize("key", [" ", "q"])
def test_letting_go_releases_the_machine_and_writes_nothing(key: str) -> None:
    driver = Memory(stand)
    jog = Jog(device_of(), "yaw", driver)
    keys = iter(["d", key])
    jog.run(lambda: next(keys), lambda text: None)
    assert driver.released == 1
    assert not jog.written


def test_a_servo_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadInput, match="has no servo 'tail'; it has yaw, nod, wave"):
        Jog(device_of(), "tail", Memory(stand))


@pytest.mark.parametrize("place", [0, 2])
def test_a_servo_outside_its_range_would_leap_and_is_refused(place: int) -> None:
    counts = np.array([2000.0, 2100.0, 2200.0])
    counts[place] = 4095 + 60
    driver = Memory(lambda sent: counts)
    with pytest.raises(BadInput, match="outside its \\[0, 4095\\], and would leap"):
        Jog(device_of(), "yaw", driver)
    assert driver.sent == []


def test_keys_are_heard_on_a_slow_device() -> None:
    jog = Jog(device_of(rate_hz=0.01), "yaw", Memory(stand))
    keys = iter(["", " "])
    jog.run(lambda: next(keys), lambda text: None)
    assert jog.ended


def test_sensors_behind_the_servos_are_nobodys_place() -> None:
    driver = Memory(lambda sent: np.array([2000.0, 2100.0, 2200.0, 9.0]))
    jog = Jog(device_of(), "nod", driver)
    jog.step(0.01)
    np.testing.assert_array_equal(driver.sent[-1], [2000, 2100, 2200])


def test_wheels_stand_still_at_first_where_nobody_knows() -> None:
    wheel = ServoCalibration(position_min=0, position_max=1000, span_rad_s=(-2.0, 6.0))
    driver = Memory()
    jog = Jog(device_of(servos={"yaw": ServoCalibration(), "wheel": wheel}), "yaw", driver)
    jog.step(0.01)
    np.testing.assert_array_equal(driver.sent[-1], [375, 250])
