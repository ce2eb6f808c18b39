"""The speech performer as a whole: limits, symmetry, held and coupled joints, dependent ranges, intensity, checkpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.character import Body, Character, Coupling, DependentRange, Joint, Motor
from bunraku.errors import BadInput
from bunraku.formats.checkpoint import Checkpoint
from bunraku.formats.registry import built_in, read_character, read_clip
from bunraku.mechanics.measures.travel import excess_travel
from bunraku.motion import Clip, JointCurves, MotionLimits
from bunraku.optimization.monitor import Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.performer import make_performer
from bunraku.rhythm.strokes import gesture_peaks


def arm(**motor: float) -> Character:
    """Three hinges in a row on a fixed base; the third follows the first."""
    names = ("a", "b", "c")
    bodies = tuple(Body(name=name, mass=0.2, inertia=(1e-3, 1e-3, 1e-3, 0.0, 0.0, 0.0)) for name in ("base", *names))
    joints = [Joint(name="root", kind="fixed", parent="world", child="base")]
    for parent, child in zip(("base", "a", "b"), names, strict=True):
        joints.append(Joint(name=child, kind="hinge", parent=parent, child=child, axis=(0, 1, 0), range=(-2.0, 2.0)))
    motors = tuple(Motor(name=name, coordinate=name, rate=50.0, velocity=2.0, **motor) for name in ("a", "b"))
    return Character(
        name="arm",
        bodies=bodies,
        joints=tuple(joints),
        motors=motors,
        couplings=(Coupling(driver="a", follower="c", ratio=-0.5, offset=0.1),),
        dependent_ranges=(DependentRange(coordinate="b", on="a", knots=((-2.0, -0.5, 0.5), (0.0, -1.5, 1.5), (2.0, -0.5, 0.5))),),
        groups={"second": ("b",)},
    )


def waving(frequency: float = 1.0, amplitude: float = 1.0, seconds: float = 4.0) -> Clip:
    t = np.arange(int(seconds * 50) + 1) / 50.0
    wave = amplitude * np.sin(2 * np.pi * frequency * t)
    return Clip("wave", joints=JointCurves(("a", "b"), 50.0, np.column_stack([wave, 1.4 * wave])))


def test_limits_hold_and_dependent_range_is_taken_at_the_performed_driver() -> None:
    performance = make_performer("speech").perform(arm(), waving())
    limits = MotionLimits.of(arm())
    excess = limits.excess(performance.positions().values, 50.0)
    assert excess.relative <= 1e-9
    assert limits.excess(performance.wish.values, 50.0).count("velocity") > 10
    assert limits.excess(performance.wish.values, 50.0).count("range") > 10
    assert performance.certificate.status is Status.CONVERGED


def test_follower_follows() -> None:
    motion = make_performer("speech").perform(arm(), waving()).motion
    np.testing.assert_allclose(motion.column("c"), -0.5 * motion.column("a") + 0.1, atol=1e-15)


def test_feasible_wish_comes_back_unchanged() -> None:
    slow = waving(frequency=0.2, amplitude=0.3)
    performance = make_performer("speech").perform(arm(), slow)
    np.testing.assert_array_equal(performance.positions().values, performance.wish.values)


def test_mirror_symmetry() -> None:
    plain = make_performer("speech").perform(arm(), waving()).positions().values
    mirrored = make_performer("speech").perform(arm(), waving(amplitude=-1.0)).positions().values
    np.testing.assert_allclose(mirrored, -plain, atol=1e-7)


@pytest.mark.parametrize("limits", [{"acceleration": 30.0}, {"acceleration": 30.0, "jerk": 900.0}])
def test_acceleration_and_jerk_limits_hold(limits: dict[str, float]) -> None:
    character = arm(**limits)
    performance = make_performer("speech").perform(character, waving(frequency=0.8))
    excess = MotionLimits.of(character).excess(performance.positions().values, 50.0)
    assert excess.velocity.max() <= 1e-9
    assert excess.acceleration.max() <= 1e-9
    assert excess.jerk.max(initial=0.0) <= 1e-9 * 50**3
    assert MotionLimits.of(character).excess(performance.wish.values, 50.0).count("velocity") > 0


def test_held_group_stays_home() -> None:
    performance = make_performer("speech", {"held": ("second",)}).perform(arm(), waving())
    assert np.ptp(performance.positions().column("b")) == 0.0
    assert np.ptp(performance.positions().column("a")) > 0.5


def test_compression_is_chosen_by_excess_travel() -> None:
    character = arm()
    limits = MotionLimits.of(character)
    fast, mild = waving(frequency=2.0, amplitude=0.9), waving(frequency=0.36, amplitude=0.9)
    assert excess_travel(fast.joints.values, 50.0, limits)[0] > 0.2 > excess_travel(mild.joints.values, 50.0, limits)[0] > 0.0
    names = [check.name for check in make_performer("speech").perform(character, fast).certificate.checks]
    assert "least gesture scale" in names
    noted = make_performer("speech").perform(character, waving(frequency=0.36, amplitude=0.9)).certificate
    assert any("eq. 7): a" in note for note in noted.notes)


def test_excess_travel_closed_form() -> None:
    limits = MotionLimits.of(arm())
    ramp = np.zeros((20, 2))
    ramp[5:11, 0] = np.arange(6) * 0.1
    ramp[11:, 0] = 0.5
    assert excess_travel(ramp, 50.0, limits)[0] == pytest.approx(5 * (0.1 - 0.04))


@pytest.mark.parametrize("name", [name for name in built_in("clip") if read_clip(name).audio is not None and name != "full-show"])
def test_intensity_is_monotone_and_keeps_the_time(name: str) -> None:
    clip = read_clip(name)
    character = next(
        who
        for who in map(read_character, ("nao", "humanoid"))
        if clip.joints is not None and set(clip.joints.names) <= set(who.driven)
    )
    sizes: list[tuple[float, float]] = []
    peaks = gesture_peaks(make_performer("speech").perform(character, clip).wish)
    assert sum(map(len, peaks.values())) > 10
    for factor in (0.3, 0.7, 1.0, 1.25, 1.5):
        performance = make_performer("speech", {"intensity": factor}).perform(character, clip)
        assert MotionLimits.of(character).excess(performance.positions().values, performance.rate).relative <= 1e-9
        assert abs(performance.certificate.check("lag").value) <= 0.010
        sizes.append((np.ptp(performance.wish.values, axis=0).sum(), np.ptp(performance.positions().values, axis=0).sum()))
        found = gesture_peaks(performance.wish, prominence=0.03)
        for joint, times in peaks.items():
            assert all(np.abs(found[joint] - time).min() <= 1.0 / performance.rate + 1e-9 for time in times)
    assert np.all(np.diff(sizes, axis=0) > 0)


def test_baselines_do_what_they_say() -> None:
    character, clip = arm(), waving()
    assert make_performer("reference").perform(character, clip).certificate.holds is False
    for name in ("clamp", "stretch"):
        limits = MotionLimits.of(character)
        assert limits.excess(make_performer(name).perform(character, clip).positions().values, 50.0).velocity.max() <= 1e-9
    assert make_performer("stretch").perform(character, clip).duration > clip.duration + 0.1


class _CancelAfter(Monitor):
    def __init__(self, joint: str) -> None:
        self.joint, self.stop = joint, False

    def report(self, event: Event) -> None:
        self.stop = self.stop or event.message == self.joint

    @property
    def cancelled(self) -> bool:
        return self.stop


def test_cancel_keeps_a_legal_best_so_far() -> None:
    performance = make_performer("speech").perform(arm(), waving(), monitor=_CancelAfter("a"))
    assert performance.certificate.status is Status.CANCELLED
    assert MotionLimits.of(arm()).excess(performance.positions().values, 50.0).velocity.max() <= 1e-9


def test_checkpoint_resumes_to_the_same_result(tmp_path: Path) -> None:
    character, clip = read_character("nao"), read_clip("not-done-yet")
    whole = make_performer("speech").perform(character, clip)
    trail = Checkpoint(tmp_path / "trail", "key")
    make_performer("speech").perform(character, clip, checkpoint=trail)
    saved = trail.load()
    assert saved is not None
    assert 0 < len(saved["done"]) < len(character.driven)
    resumed = make_performer("speech").perform(character, clip, checkpoint=trail)
    np.testing.assert_array_equal(resumed.positions().values, whole.positions().values)
    assert resumed.certificate == whole.certificate


@pytest.mark.parametrize(
    ("clip", "words"),
    [
        (Clip("empty"), "no joint curves"),
        (Clip("odd", joints=JointCurves(("tail",), 50.0, np.zeros((3, 1)))), "tail"),
        (Clip("still", joints=JointCurves(("a",), 50.0, np.zeros((3, 1))), held=("a",)), "held"),
        (Clip("who", joints=JointCurves(("a",), 50.0, np.zeros((3, 1))), held=("wings",)), "wings"),
    ],
)
def test_bad_wishes_are_refused_by_name(clip: Clip, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        make_performer("speech").perform(arm(), clip)


def test_chosen_acceleration_is_stated_certified_and_kept() -> None:
    performance = make_performer("speech", {"acceleration": 25.0, "jerk": 700.0}).perform(arm(), waving(frequency=0.8))
    limits = MotionLimits.of(performance.character)
    assert set(limits.acceleration) == {25.0}
    assert set(limits.jerk) == {700.0}
    assert limits.excess(performance.positions().values, 50.0).relative <= 1e-9
    assert limits.excess(performance.wish.values, 50.0).count("acceleration") > 0


def test_a_home_outside_the_range_is_brought_inside() -> None:
    character = arm()
    joints = tuple(joint.changed(range=(0.5, 2.0)) if joint.name == "b" else joint for joint in character.joints)
    clip = Clip("one", joints=JointCurves(("a",), 50.0, np.zeros((10, 1))))
    performance = make_performer("speech").perform(character.changed(joints=joints, dependent_ranges=()), clip)
    assert set(performance.positions().column("b")) == {0.5}
    assert any("home is outside" in note for note in performance.certificate.notes)


def test_phrases_are_heard_when_none_are_marked() -> None:
    clip = read_clip("stop-it")
    performance = make_performer("speech").perform(read_character("nao"), clip.changed(phrases=()))
    assert len(performance.phrases) == len(clip.phrases)
    np.testing.assert_allclose([p.start for p in performance.phrases], [p.start for p in clip.phrases], atol=0.1)


@pytest.mark.parametrize("name", ["speech", "reference", "clamp", "stretch", "ruckig", "toppra"])
def test_one_sample_is_a_pose_and_no_motion(name: str) -> None:
    clip = Clip("pose", joints=JointCurves(("a",), 50.0, np.full((1, 1), 0.3)))
    with pytest.raises(BadInput, match="a single sample, a pose; a motion has at least two"):
        make_performer(name).perform(arm(), clip)


@pytest.mark.parametrize("name", ["ruckig", "toppra"])
def test_peers_keep_the_velocity_but_not_the_time(name: str) -> None:
    pytest.importorskip(name)
    character, clip = arm(), waving(frequency=0.5)
    performance = make_performer(name).perform(character, clip)
    excess = MotionLimits.of(character).excess(performance.positions().values, 50.0)
    assert (excess.velocity / 2.0).max() <= 0.05
    ours = make_performer("speech").perform(character, clip)
    assert abs(performance.certificate.check("lag").value) > abs(ours.certificate.check("lag").value)


def test_options_are_checked() -> None:
    with pytest.raises(BadInput, match="none of auto, never, always"):
        make_performer("speech", {"compression": "sometimes"})
    with pytest.raises(BadInput, match="intensity"):
        make_performer("speech", {"intensity": 2.0})
    with pytest.raises(BadInput, match="position_weight"):
        make_performer("speech", {"position_wait": 2.0})


def test_a_smoothed_aim_is_judged_by_the_whole_wish() -> None:
    wild, speech = waving(frequency=9.0, amplitude=0.01), make_performer("speech", {"smooth": 3.0})
    performance = speech.perform(arm(), wild)
    assert performance.wish.column("a") == pytest.approx(wild.joints.column("a"), abs=1e-12), "the wish stays the artist's"
    assert performance.positions().column("a").std() < 0.2 * wild.joints.column("a").std()
    followed = performance.certificate.check("motion followed")
    assert followed.broken
    assert followed.value < 0.3
    slow = make_performer("speech", {"smooth": 6.0}).perform(arm(), waving(0.3, 0.3)).certificate
    assert slow.check("motion followed").value > 0.98
    assert any("judged by the whole wish" in note for note in slow.notes)


def test_intensity_scales_wish_and_aim_alike() -> None:
    wish, aim = waving(0.3, 0.3), make_performer("speech", {"smooth": 6.0, "intensity": 0.5})
    performance = aim.perform(arm(), wish)
    assert performance.wish.column("a") == pytest.approx(0.5 * wish.joints.column("a"), abs=1e-12)
    assert performance.certificate.check("motion followed").value > 0.95


def test_a_place_of_many_turns_asks_whether_it_is_in_degrees() -> None:
    performer = make_performer("speech")
    notes = performer.perform(arm(), waving(0.3, 40.0)).certificate.notes
    assert any("are these degrees? Then name the column a_deg" in note for note in notes)
    assert not any("degrees" in note for note in performer.perform(arm(), waving(0.3, 3.0)).certificate.notes)
