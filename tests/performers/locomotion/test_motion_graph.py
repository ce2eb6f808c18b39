"""The motion graph of gaits: any path through it is one motion without a seam, and it survives the replay."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.motion import Gait
from bunraku.performers.locomotion.motion_graph import build_gait_graph, common_step
from bunraku.performers.locomotion.path import played_path
from bunraku.verification.ground.replay import replay_on_ground

GAITS = {
    "stand": Gait(0.6, distance=(0.0, 0.0), turn=0.0),
    "swizzle": Gait(1.2, distance=(0.5, 0.0), turn=0.0),
    "turn": Gait(1.2, distance=(0.44, 0.077), turn=float(np.deg2rad(20.0))),
}


@pytest.fixture(scope="module")
def graph():
    return build_gait_graph(read_character("swizzlebot"), GAITS)


def test_a_common_step_divides_all_durations():
    walker = read_character("walker")
    gaits = {"crawl": Gait(1.2, "crawl", distance=(0.12, 0.0)), "slow": Gait(1.6, "crawl", distance=(0.1, 0.0))}
    assert common_step(walker, gaits) == pytest.approx(1.2 / 78)
    gaits["odd"] = Gait(1.2 * np.sqrt(0.5), "crawl", distance=(0.1, 0.0))
    with pytest.raises(BadInput, match=r"no step of time divides.*odd"):
        common_step(walker, gaits)


def test_a_random_path_of_twenty_edges_has_no_jump(graph):
    path = graph.graph.wander("stand", 20, seed=3)
    assert len(path) == 21
    assert set(path) == set(GAITS)
    pose, speed = graph.jump(path)
    assert pose <= 1e-6
    assert speed <= 1e-6


def test_the_track_is_what_the_motion_graph_plays(graph):
    """Shifts chained plan by plan, against curves put end to end by the graph itself, which never sees a shift."""
    path = graph.graph.wander("stand", 12, seed=5)
    track, played = graph.track(path), graph.graph.play(path)
    q = track.q[track.margin : len(track.q) - track.margin]
    values = played.values - 0.0
    start = track.model.home[[0, 1, 3]] - values[0, [0, 1, 3]]
    c, s = np.cos(start[2]), np.sin(start[2])
    dx, dy = (values[:, :2] - values[0, :2]).T
    values[:, 0], values[:, 1] = track.model.home[0] + c * dx - s * dy, track.model.home[1] + s * dx + c * dy
    values[:, 3] += start[2]
    np.testing.assert_allclose(q, values, atol=1e-6)


def test_rows_of_a_path_hold_at_every_sample(graph):
    """Second differences are those of one smooth motion: none at a seam is larger than within the plans."""
    track = graph.track(graph.graph.wander("stand", 20, seed=3))
    second = np.abs(np.diff(track.q, 2, axis=0)).max(axis=1)
    inside = max(
        float(np.abs(np.diff(plan.samples(-1, plan.problem.samples)[:, : track.model.nq], 2, axis=0)).max()) for plan in graph.plans
    )
    assert second.max() <= inside * (1.0 + 1e-6)


def test_a_path_survives_the_replay_and_stays_on_its_way(graph):
    performance = played_path(graph, ("stand", "swizzle", "turn", "swizzle", "stand"))
    assert performance.certificate.status.good
    assert performance.certificate.figures["edges"] == 4.0
    replay = replay_on_ground(performance, gain=1.0, friction=0.6)
    assert not replay.fell
    assert replay.figures["velocity_error"] <= 0.06
    assert replay.figures["distance_error"] <= 0.05


def test_what_cannot_be_a_graph_is_refused():
    walker = read_character("walker")
    with pytest.raises(BadInput, match="two periodic gaits"):
        build_gait_graph(walker, {"stand": GAITS["stand"]})
