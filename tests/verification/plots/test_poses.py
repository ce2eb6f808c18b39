"""The strip of poses: bones keep their length in every picture, wish and performance stand where they should."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.registry import read_character, read_clip
from bunraku.performers.marionette.performer import MarionettePerformer
from bunraku.verification.plots.figure import DONE, LIMIT
from bunraku.verification.plots.poses import BEHIND, draw_poses


@pytest.fixture(scope="module")
def performance():
    return MarionettePerformer().perform(read_character("double-pendulum"), read_clip("wide-swing"))


def lines(figure, color: str) -> np.ndarray:
    """The drawn sticks of a color (count, 2 ends, 2)."""
    from matplotlib import pyplot
    from matplotlib.colors import to_hex

    drawn = [line.get_xydata() for line in figure.axes[0].lines if to_hex(line.get_color()) == color]
    pyplot.close(figure)
    return np.array(drawn).reshape(-1, 2, 2)


def test_links_keep_their_length_and_stand_at_their_angles(performance) -> None:
    done = lines(draw_poses(performance, count=5), DONE).reshape(5, 3, 2, 2)  # bracket to shoulder, upper link, lower link
    along = done[:, :, 1] - done[:, :, 0]
    assert np.linalg.norm(along[:, 0], axis=1) == pytest.approx(np.zeros(5), abs=1e-12)
    assert np.linalg.norm(along[:, 1:], axis=2) == pytest.approx(np.full((5, 2), 0.3), rel=1e-9)
    shoulder = performance.motion.column("shoulder")[[0, 115, 230, 345, 460]]
    drawn = np.arctan2(along[:, 1, 0], -along[:, 1, 1])
    assert drawn == pytest.approx(shoulder, abs=1e-9)


def test_what_was_wished_stands_behind(performance) -> None:
    behind = lines(draw_poses(performance, count=5), BEHIND).reshape(5, 3, 2, 2)
    upper = behind[:, 1, 1] - behind[:, 1, 0]
    assert np.arctan2(upper[:, 0], -upper[:, 1]) == pytest.approx(
        performance.wish.column("shoulder")[[0, 115, 230, 345, 460]], abs=1e-9
    )


def test_strings_begin_at_their_hooks_and_point_at_their_carriages() -> None:
    arm, clip = read_character("puppet-arm"), read_clip("arm-wave")
    figure = draw_poses(MarionettePerformer(duration=0.3).perform(arm, clip), count=2)
    thread = lines(figure, LIMIT)
    carriage = arm.carriages[0].home
    start, end = thread[0]
    toward = np.array([carriage[0], carriage[2]]) - start
    along = end - start
    assert along[0] * toward[1] == pytest.approx(along[1] * toward[0], abs=1e-3)
    assert 0.0 < along[1] < toward[1]
