"""Stance at the playing rate: residuals and their slopes, slip that is gone between the samples, samples that resolve swings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bunraku.formats.registry import read_character
from bunraku.gait.patterns import footfalls
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Clip, Gait, HeightField
from bunraku.performers.locomotion import solve, stance
from bunraku.performers.locomotion.played import play_track
from bunraku.performers.locomotion.solve import plan_motion
from bunraku.performers.locomotion.stance import contact_rows, splined, stand, standing
from bunraku.performers.locomotion.state import stages
from bunraku.performers.locomotion.tipping import Tipping, tipping, tipping_of
from bunraku.performers.locomotion.track import track_of
from bunraku.performers.performer import make_performer

RATE = 200.0


@pytest.fixture(scope="module", params=[("walker", "trot", 24), ("swizzlebot", "roll", 12), ("agilebot", "roll", 12)])
def planned(request):
    robot, pattern, samples = request.param
    character = read_character(robot)
    gait = Gait(0.8, pattern, distance=(0.1, 0.0), turn=0.1, samples=samples)
    return character, track_of(plan_motion(character, gait).plan, 1)


@pytest.fixture
def played(planned):
    _, track = planned
    at = np.arange(161) / RATE
    return track, at, splined(track, at)


@pytest.mark.parametrize("terrain", [None, HeightField.slope(0.15, start=-1.0, length=2.0)], ids=["level", "slope"])
def test_contact_residuals_have_the_slopes_of_their_jacobian(played, terrain: HeightField | None) -> None:
    """Central differences along a random direction, each residual by its own scale: the error falls with the square of the step."""
    track, at, q = played
    on = standing(track, at)

    def residuals(x):
        return contact_rows(track.model, kinematics(track.model, x, terrain, jacobians=True), on, terrain)

    _, J = residuals(q)
    direction = np.random.default_rng(0).standard_normal(q.shape)
    slope, scale = J @ direction.ravel(), np.sqrt(J.multiply(J).sum(axis=1))
    errors = []
    for h in (1e-3, 1e-4):
        difference = (residuals(q + h * direction)[0] - residuals(q - h * direction)[0]) / (2.0 * h)
        errors.append(np.abs(difference - slope) / scale)
    assert errors[1].max() < 1e-6
    assert errors[1].max() == pytest.approx(0.01 * errors[0].max(), rel=0.05)


def test_feet_and_wheels_stay_where_they_stand_between_the_samples(played) -> None:
    track, at, q = played
    on = standing(track, at)
    before, _ = contact_rows(track.model, kinematics(track.model, q, jacobians=True), on, None)
    held = stand(track, at, q)
    after, _ = contact_rows(track.model, held.seen, on, None)
    assert np.abs(after).max() == held.residual < min(1e-6, 0.1 * np.abs(before).max())
    assert np.abs(held.q - q)[:, :6].max() < 1e-4  # the base carries the dynamics
    assert np.abs(held.q - q).max() < 0.05


def test_what_touches_the_ground_does_not_move(planned) -> None:
    """The material point of a foot or wheel that touches, its axle turned as played: R+ R' of its body, by finite differences."""
    character, track = planned
    motion = play_track(character, track, RATE).motion
    tree = compile_tree(character)
    R, p = tree.poses(np.column_stack([motion.column(name) for name in tree.names]))
    on = standing(track, np.arange(len(motion.values)) / RATE)
    up, speeds = np.array([0.0, 0.0, 1.0]), []
    for tip, stands in zip(character.end_effectors, (on[1:] & on[:-1]).T, strict=True):
        b = tree.nodes[tip.body]
        phi = Rotation.from_matrix(R[1:, b] @ np.swapaxes(R[:-1, b], 1, 2)).as_rotvec()
        down = np.tile(-tip.radius * up, (len(R), 1))
        if tip.kind != "ball":
            a = R[:, b] @ np.array(tip.axis)
            t = np.cross(a, up)
            down = tip.radius * np.cross(a, t) / np.linalg.norm(t, axis=1, keepdims=True)
        slide = np.diff(p[:, b] + R[:, b] @ np.array(tip.center), axis=0) + np.cross(phi, 0.5 * (down[1:] + down[:-1]))
        speeds.append(np.abs(slide[stands]).max(initial=0.0) * RATE)
    assert max(speeds) < 2e-5  # m/s, at 0.125 m/s


def test_wheels_start_and_end_at_rest_with_the_body() -> None:
    """Half a metre in 0.8 s, planned at steps of 67 ms: the speed that wheels are sent begins and ends at zero."""
    gait = Gait(0.8, "roll", periodic=False, distance=(0.5, 0.0), turn=0.0, samples=13)
    agilebot = read_character("agilebot")
    played = play_track(agilebot, track_of(plan_motion(agilebot, gait).plan), RATE)
    sent = [channel for channel in played.channels if channel.kind == "velocity"]
    assert len(sent) == 4
    torque = {channel.name: channel.values for channel in played.channels if channel.kind == "torque"}
    gain = {motor.coordinate: motor.speed_gain for motor in agilebot.motors}
    speeds = [channel.values - torque[channel.name] / gain[channel.name] for channel in sent]
    assert min(np.abs(speed).max() for speed in speeds) > 10.0  # rad/s
    assert max(abs(speed[0]) for speed in speeds) < 0.2
    assert max(abs(speed[-1]) for speed in speeds) < 0.2


def test_stance_that_is_not_kept_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = Clip("trot", gait=Gait(0.6, "trot", distance=(0.1, 0.0), turn=0.0, samples=12, cycles=1))
    kept = make_performer("locomotion").perform(read_character("walker"), clip).certificate
    assert kept.figures["stance_residual"] < 1e-6
    assert not any("stance is kept" in note for note in kept.notes)
    monkeypatch.setattr(stance, "ROUNDS", 0)
    left = make_performer("locomotion").perform(read_character("walker"), clip).certificate
    assert left.figures["stance_residual"] > 1e-4
    assert any("stance is kept" in note for note in left.notes)


@pytest.mark.parametrize("duration", [0.8, 1.19, 1.21, 1.3, 1.6, 2.5])
@pytest.mark.parametrize(("pattern", "least"), [("trot", 48), ("crawl", 78)])
def test_swings_are_resolved_whatever_the_duration(duration: float, pattern: str, least: int) -> None:
    gait = Gait(duration, pattern, distance=(0.1, 0.0))
    assert stages(gait, footfalls(read_character("walker"), gait))[-1] >= least


def test_a_pendulum_on_one_line_tips_and_one_in_the_middle_does_not() -> None:
    """Feet on a square of 0.2 m; the centre of mass 0.1 m up stands at its edge for half of the time, 0.03 m outside at most."""
    h, step, n = 0.1, 0.01, 100
    feet = np.tile(np.array([[0.1, 0.1, 0.0], [0.1, -0.1, 0.0], [-0.1, 0.1, 0.0], [-0.1, -0.1, 0.0]]), (n, 1, 1))
    com = np.zeros((n, 3))
    com[:, 2] = h
    on = np.ones((n, 4), dtype=bool)
    assert tipping(com, feet, on, step).time == 0.0
    com[50:, 0] = 0.13
    out = tipping(com, feet, on, step)
    assert out.time == pytest.approx(0.5 / np.sqrt(h / 9.81), rel=1e-3)
    assert out.distance == pytest.approx(0.03 / h)
    assert not out.safe
    assert "may tip" in out.note


def test_choosing_and_certifying_measure_tipping_alike() -> None:
    """A walker's trot of 0.6 s, planned with few samples and with all: what `best` judges by is what the certificate says."""
    walker, performer = read_character("walker"), make_performer("locomotion")
    clips = [Clip("trot", gait=Gait(0.6, "trot", distance=(0.1, 0.0), turn=0.0, samples=samples)) for samples in (12, 48)]
    few, whole = (tipping_of(performer.solved(walker, clip)[1].plan) for clip in clips)
    said = performer.perform(walker, clips[1]).certificate.figures
    assert whole.time == pytest.approx(said["tipping_time"], rel=1e-4)
    assert whole.distance == pytest.approx(said["tipping_distance"], rel=1e-4)
    assert few.time == pytest.approx(whole.time, rel=0.1)


@pytest.mark.parametrize(("later", "chosen"), [((2.0, 1.0), 1), ((2.0, 3.0, 2.5), 0)])
def test_the_best_is_judged_again_when_it_is_planned_whole(monkeypatch: pytest.MonkeyPatch, later: tuple, chosen: int) -> None:
    """What looks safe with few samples and is not makes way for the next; when none is safe the least time outside is kept."""
    walker, gait = read_character("walker"), Gait(0.8, "best", distance=(0.1, 0.0), turn=0.0, samples=24)
    patterns = [one.pattern for one in solve.candidates(walker, gait)][: len(later)]
    monkeypatch.setattr(solve, "candidates", lambda *_: [gait.changed(pattern=one) for one in patterns])
    times = iter([1.0] * len(patterns) + list(later))
    monkeypatch.setattr(solve, "tipping_of", lambda _: Tipping(next(times), 0.0, 0.1))
    found = plan_motion(walker, gait)
    order = [entry.split()[0] for entry in found.notes[-1].partition(": ")[2].split("; ")]
    assert found.gait.pattern == order[chosen]
