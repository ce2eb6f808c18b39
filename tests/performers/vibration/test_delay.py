"""A servo's delay is planned for: commands are sent ahead of the motion by it, and the motion is that of a prompt motor."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.flexible.judge import judge
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.motion import Clip, JointCurves
from bunraku.performers.performer import make_performer

DELAY = 0.03


@pytest.fixture(scope="module")
def coarse(rod_character):
    """The short rod in few cells."""
    part = rod_character.flexibles[0]
    return rod_character.changed(flexibles=(part.changed(shape=part.shape.changed(cell=0.02)),))


@pytest.fixture(scope="module")
def late(coarse):
    """The same with a motor that follows 30 ms late."""
    return coarse.changed(motors=(coarse.motors[0].changed(delay=DELAY),))


@pytest.fixture(scope="module")
def played(coarse, late):
    """A smooth turn by 20 degrees, still for 0.4 s before and after, performed in two iterations; without delay, and with."""
    t = np.arange(71) / 50.0
    s = np.clip((t - 0.4) / 0.6, 0.0, 1.0)
    angle = np.radians(20.0) * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    clip = Clip("turn", joints=JointCurves(("shoulder",), 50.0, angle[:, None]))
    performer = make_performer("vibration", {"points": 20, "step_ms": 4.0, "max_iterations": 2})
    return tuple(performer.perform(character, clip) for character in (coarse, late))


def test_commands_are_sent_ahead_by_the_delay(played) -> None:
    """The channel at t is that of the prompt motor at t + delay: three samples of 10 ms ahead, the last one held."""
    prompt, ahead = (performance.positions() for performance in played)
    assert prompt.rate == ahead.rate == 100.0
    assert np.ptp(prompt.values) > np.radians(15.0)
    np.testing.assert_allclose(ahead.values[:-3], prompt.values[3:], atol=1e-12)
    np.testing.assert_allclose(ahead.values[-3:], prompt.values[-1:].repeat(3, axis=0), atol=1e-12)
    np.testing.assert_array_equal(played[0].wish.values, played[1].wish.values)


def test_the_motion_is_that_of_a_prompt_motor(played, coarse, late) -> None:
    """To 1e-3 of the motion; the same commands to a motor whose delay was not stated come too early."""
    first, second = flexible_system(coarse), flexible_system(late)
    wish = played[0].wish
    prompt = judge(first, wish, played[0].positions(), ("ball",)).after.seen.positions
    shifted = judge(second, wish, played[1].positions(), ("ball",)).after.seen.positions
    unstated = judge(first, wish, played[1].positions(), ("ball",)).after.seen.positions
    travel = np.linalg.norm(prompt[-1] - prompt[0])
    assert travel > 0.15
    assert np.abs(shifted - prompt).max() < 1e-3 * travel
    assert np.abs(unstated - prompt).max() > 0.05 * travel
