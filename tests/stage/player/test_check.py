"""What is refused before anything moves, in one line that names it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.stage.player.conftest import NAMES, character_of, device_of, performance_of, waving

from bunraku.errors import BadInput
from bunraku.motion import Channel
from bunraku.stage.player.check import checked_values
from bunraku.stage.player.outputs import outputs_of
from bunraku.stage.player.player import Player
from bunraku.stage.player.program import Show
from bunraku.stage.servos import ServoCalibration


def spoilt(j: int, k: int, value: float):
    """A performance whose channel ``j`` holds ``value`` at sample ``k``, put there behind the back of its own checks."""
    values = waving()
    show = performance_of(values)
    column = values[:, j].copy()
    column[k] = value
    channel = Channel(NAMES[j], "position", "rad", 100.0, values[:, j])
    object.__setattr__(channel, "values", column)
    return show.changed(channels=tuple(channel if i == j else c for i, c in enumerate(show.channels)))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.nan, r"channel 'nod' holds nan at 0.200 s; only finite numbers"),
        (np.inf, r"channel 'nod' holds inf at 0.200 s"),
        (-np.inf, r"channel 'nod' holds -inf at 0.200 s"),
        (-0.16, r"channel 'nod' changes its speed at 0.200 s: 72.06 rad/s\^2, beyond the limit of 40"),
        (0.9, r"channel 'nod' jumps by .* at 0.190 s: .* a second, beyond the limit of 4"),
        (1.5, r"channel 'nod' is sent 1.5 rad at 0.200 s, outside the \[-1.199, 0.9996\]"),
        (1e30, r"channel 'nod' is sent 1e\+30 rad"),
    ],
)
def test_one_bad_sample_refuses_the_whole_file(value: float, words: str) -> None:
    with pytest.raises(BadInput, match=words) as caught:
        Player(Show(spoilt(1, 20, value)), device_of())
    assert "\n" not in str(caught.value)


def test_the_servos_own_range_counts_too() -> None:
    narrow = ServoCalibration(
        position_min=0, position_max=4095, soft_max=2200, neutral_deg=180.0, range_deg=360.0, reverse=True, id=9
    )
    device = device_of()
    with pytest.raises(BadInput, match=r"channel 'yaw' is sent 0.2[45]\d* rad"):
        Player(Show(performance_of(waving())), device.changed(servos=device.servos | {"yaw": narrow}))


def test_a_jump_as_fast_as_the_limit_is_no_jump() -> None:
    values, who = np.zeros((20, 3)), character_of(acceleration=None)
    values[10:, 0] = 0.04
    show = performance_of(values, who=who)
    rate, found = checked_values(show, outputs_of([show], device_of()))
    assert rate == 100.0
    np.testing.assert_array_equal(found, values)
    values[10:, 0] = 0.0405
    with pytest.raises(BadInput, match="jumps"):
        checked_values(performance_of(values, who=who), outputs_of([show], device_of()))


def test_a_change_of_speed_beyond_the_acceleration_is_refused_by_name_and_time() -> None:
    zigzag = np.zeros((20, 3))
    zigzag[11::2, 1] = 0.039  # 3.9 rad/s, there and back: 780 rad/s^2
    with pytest.raises(BadInput, match=r"channel 'nod' changes its speed at 0.100 s: 390 rad/s\^2, beyond the limit of 40"):
        Player(Show(performance_of(zigzag)), device_of())
    t = np.arange(9) / 100.0
    for share, good in ((1.0, True), (1.02, False)):
        bent = np.zeros((9, 3))
        bent[:, 1] = 0.5 * share * 40.0 * (t - t[-1]) ** 2 - 0.5
        if good:
            Player(Show(performance_of(bent)), device_of())
        else:
            with pytest.raises(BadInput, match=r"channel 'nod' changes its speed at 0.010 s: 40.8 rad/s\^2"):
                Player(Show(performance_of(bent)), device_of())


def test_a_motor_without_stated_speed_is_not_run_faster_than_a_hobby_servo() -> None:
    who = character_of()
    free = who.changed(motors=tuple(motor.changed(velocity=None) for motor in who.motors))
    values = np.zeros((10, 3))
    values[5:, 0] = 0.13
    with pytest.raises(BadInput, match="beyond the limit of 12"):
        Player(Show(performance_of(values, who=free)), device_of())


def test_servos_without_channel_stay_and_channels_without_servo_are_refused() -> None:
    show = performance_of(waving())
    part = show.changed(channels=show.channels[:1], wish=type(show.wish)(("yaw",), 100.0, show.wish.values[:, :1]))
    _, found = checked_values(part, outputs_of([part], device_of()))
    assert np.isnan(found[:, 1:]).all()
    with pytest.raises(BadInput, match=r"no servo for the channel 'wave'; it has yaw, nod"):
        Player(Show(show), device_of(("yaw", "nod")))
    with pytest.raises(BadInput, match=r"has a servo 'tail', which is no motor of 'toy'"):
        Player(Show(show), device_of((*NAMES, "tail")))


def test_torques_alone_and_speeds_to_a_dynamixel_are_refused_by_name() -> None:
    show = performance_of(waving())
    torque = Channel("yaw", "torque", "N·m", 100.0, np.zeros(51))
    Player(Show(show.changed(channels=(*show.channels, torque))), device_of())
    speed = show.changed(channels=tuple(Channel(n, "velocity", "rad/s", 100.0, np.zeros(51)) for n in NAMES))
    with pytest.raises(BadInput, match=r"channel 'yaw' is a velocity, which the dynamixel driver cannot express"):
        Player(Show(speed), device_of(driver="dynamixel"))
    with pytest.raises(BadInput, match=r"channel 'yaw' is in rad/s, .* give its servo span_rad_s"):
        Player(Show(speed), device_of())
