"""Hits against the beat: the lowest point between samples, tips in any frame, what counts as no hit."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.geometry.rotations import axis_angle
from bunraku.mechanics.integrators.driven.outputs import OutputTargets
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Mark
from bunraku.verification.beats import drum_head, find_hits, stick_tip, tip_heights, tip_heights_in_replay

MARKS = (Mark("left hit", 0.8, 1.1, 1.0), Mark("right hit", 1.4, 1.7, 1.5), Mark("bow", 0.0, 1.0, 0.5), Mark("left hit", 0.0, 0.1))


def dips(times, at, depth=0.1):
    """A height with a dip of 60 ms at each time."""
    return 0.5 - sum(depth * np.exp(-0.5 * ((times - one) / 0.03) ** 2) for one in at)


@pytest.mark.parametrize(("rate", "exact"), [(500.0, 1e-4), (100.0, 1e-3)])
def test_hits_are_found_between_samples(rate, exact):
    times = np.arange(round(3.0 * rate) + 1) / rate
    found = find_hits(MARKS, times, {"left hit": dips(times, [1.0123, 2.0]), "right hit": dips(times, [1.4951])})
    assert found.names == ("left hit", "right hit")
    np.testing.assert_allclose(found.errors, [0.0123, -0.0049], atol=exact)
    np.testing.assert_allclose(found.heights, 0.4, atol=1e-3)
    assert found.worst == pytest.approx(0.0123, abs=exact)
    assert "left hit at 1.000 s is +12.3 ms off; 2 hits" in found.sentence


def test_a_stroke_that_is_not_near_its_beat_is_no_hit():
    times = np.arange(301) / 100.0
    found = find_hits(MARKS, times, {"left hit": dips(times, [1.25]), "right hit": dips(times, [1.5])})
    assert np.isinf(found.errors[0])
    assert found.worst == np.inf
    falling = find_hits(MARKS[:1], times, {"left hit": 2.0 - 0.5 * times})
    assert falling.worst == np.inf
    with pytest.raises(BadInput, match="there is no hit to judge"):
        find_hits(MARKS, times, {"kick": times})


def test_the_tip_is_the_far_end_of_the_stick_and_the_drum_is_under_it():
    character = read_character("drummer")
    tree = compile_tree(character)
    at = tree.configuration(tree.home)
    for side, s in (("left", 1.0), ("right", -1.0)):
        frame = next(one for one in character.frames if one.name == f"{side}_hand")
        node = tree.nodes[frame.body]
        tip = at.position[node] + at.rotation[node] @ (np.array(frame.pose.position) + stick_tip(character, frame.name))
        fist = at.position[node]
        assert np.linalg.norm(tip - fist) == pytest.approx(0.16, abs=0.01)  # 17 cm of stick, held a little behind its end
        assert np.hypot(tip[0] - 0.31, tip[1] - 0.085 * s) < 0.072  # over the head of its drum
        assert tip[2] > drum_head(character, "stage")
    assert drum_head(character, "stage") == pytest.approx(0.016 + 0.388)
    with pytest.raises(BadInput, match="no capsule"):
        stick_tip(character, "head")
    with pytest.raises(BadInput, match="no frame 'foot'"):
        stick_tip(character, "foot")
    with pytest.raises(BadInput, match="no cylinder"):
        drum_head(character, "hips")


def test_heights_turn_with_the_frame_and_extrapolate_in_the_replay():
    character = read_character("drummer")
    tip = stick_tip(character, "left_hand")
    angles = np.linspace(0.0, 1.0, 5)
    rotations = np.array([axis_angle([0.0, 1.0, 0.0], angle) for angle in angles])[:, None]
    positions = np.zeros((5, 1, 3))
    positions[:, 0, 2] = 0.4
    wanted = 0.4 - np.sin(angles) * tip[0] + np.cos(angles) * tip[2]
    seen = tip_heights(character, ("left_hand",), OutputTargets(positions, rotations), {"left hit": "left_hand"})
    np.testing.assert_allclose(seen["left hit"], wanted, atol=1e-12)
    runs = [  # heights that err as 1 / links^2
        SimpleNamespace(links=n, positions=positions + np.array([0.0, 0.0, 1.0 / n**2]), rotations=rotations) for n in (6, 12)
    ]
    replay = SimpleNamespace(frames=("left_hand",), runs=runs)
    limit = tip_heights_in_replay(character, replay, {"left hit": "left_hand"})
    np.testing.assert_allclose(limit["left hit"], wanted, atol=1e-12)
