"""Performers in a chain: the wish stays the artist's, the certificate covers both, and the file alone can be judged."""

from __future__ import annotations

import dataclasses
import typing

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.performance_npz import read_performance_npz, write_performance_npz
from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.measures.motion import wish_at
from bunraku.motion import Clip, JointCurves, Mark
from bunraku.motion.limits import MotionLimits
from bunraku.optimization.monitor import Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.choose import choose_performer, taken_as_rigid
from bunraku.performers.performer import make_performer, options_of, performer_class
from bunraku.verification.verify import verify

OPTIONS = {"points": 50, "step_ms": 4.0, "max_iterations": 6}


@pytest.fixture(scope="module")
def quick_turn():
    """A turn by 40 degrees in 80 ms, faster than the rod's motor, on a word."""
    t = np.arange(161) / 100.0
    angle = np.radians(40.0) * np.interp(t, [0.0, 0.4, 0.48, 1.6], [0.0, 0.0, 1.0, 1.0])
    return Clip("now", joints=JointCurves(("shoulder",), 100.0, angle[:, None]), words=(Mark("now", 0.35, 0.7, 0.48),))


@pytest.fixture(scope="module")
def chained(rod_character, quick_turn):
    """Performed by a motor that is as fast as the rod's and five times as strong."""
    motor = rod_character.motors[0].changed(stall_torque=15.0, no_load_speed=20.0, continuous_torque=5.0)
    return make_performer("speech+vibration", OPTIONS).perform(rod_character.changed(motors=(motor,)), quick_turn)


def test_the_wish_of_the_whole_is_the_artists(chained, quick_turn, rod_character):
    assert np.abs(np.diff(quick_turn.joints.values, axis=0)).max() * 100.0 > 6.0
    wanted = wish_at(rod_character, quick_turn.joints, chained.positions())
    np.testing.assert_allclose(chained.wish.values, wanted, atol=1e-12)
    excess = MotionLimits.of(rod_character).excess(chained.positions().values, chained.rate)
    assert excess.relative == 0.0


def test_vibration_alone_refuses_what_the_chain_performs(rod_character, quick_turn):
    with pytest.raises(BadInput, match="its motor reaches 6"):
        make_performer("vibration", OPTIONS).perform(rod_character, quick_turn)


def test_the_certificate_covers_both(chained):
    certificate = chained.certificate
    names = [check.name for check in certificate.checks]
    assert len(set(names)) == len(names)
    assert "excess travel of the wish" in names
    assert "speech: lag" in names
    assert any(name.startswith("vibration: tracked error") for name in names)
    assert certificate.check("hits moved").threshold == 0.02
    assert certificate.check("lag").threshold is None
    assert "of this part of the chain" in certificate.check("speech: lag").note
    assert certificate.check("speech: lag").threshold is None
    assert certificate.status is Status.CONVERGED
    assert certificate.holds, [check.sentence for check in certificate.checks if check.stands_against]
    figures = certificate.figures
    assert figures["rms_error_after_m"] < 0.5 * figures["rms_error_before_m"]
    assert figures["velocity_violations_before"] > 0
    assert figures["vibration: rms_error_before_m"] != figures["rms_error_before_m"]


def test_the_file_alone_is_judged_as_a_whole(chained):
    again = read_performance_npz(write_performance_npz(chained), file="now.performance.npz")
    verdict = verify(again, replay=False)
    assert verdict.holds, verdict.sentence
    assert verdict.figures["rms_error_after_m"] == pytest.approx(chained.certificate.figures["rms_error_after_m"], rel=1e-9)
    other = JointCurves(again.wish.names, again.rate, again.wish.values * 0.9)
    assert not verify(again.changed(wish=other), replay=False).holds


def test_provenance_lists_the_chain(chained):
    told = chained.provenance
    assert told.performer == "speech+vibration"
    assert set(told.inputs) == {"character", "clip", "after speech"}
    assert list(told.options) == ["speech", "vibration"]
    assert told.options["vibration"]["points"] == 50
    assert "points" not in told.options["speech"]


def test_options_are_those_of_the_members_and_shared_ones_go_to_all():
    names = {field.name for field in options_of("speech+vibration")}
    assert names == {field.name for one in ("speech", "vibration") for field in options_of(one)}
    made = make_performer("speech,vibration", {"rate": 40.0, "points": 30})
    assert made.name == "speech+vibration"
    assert [one.rate for one in made.performers()] == [40.0, 40.0]
    assert made.performers()[1].points == 30
    hints = typing.get_type_hints(performer_class("speech+vibration"))
    assert all(field.name in hints for field in dataclasses.fields(made))
    with pytest.raises(BadInput, match=r"must be from 0\.3 to 1\.5"):
        make_performer("speech+vibration", {"intensity": 3.0})
    with pytest.raises(BadInput, match="no option 'volume'"):
        make_performer("speech+vibration", {"volume": 3.0})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("speech+opera", "there is no performer 'opera'"),
        ("speech+locomotion", "'locomotion' cannot be part of the chain"),
        ("speech+speech", "names a performer twice"),
        ("speech+", "there is no performer ''"),
    ],
)
def test_chains_that_cannot_be_are_refused_by_name(name, words):
    with pytest.raises(BadInput, match=words):
        make_performer(name)


def test_nobody_in_a_chain_changes_the_time(rod_character, turn_clip):
    with pytest.raises(BadInput, match="nobody changes the time: vibration made"):
        make_performer("speech+vibration", OPTIONS | {"tempo": 0.8}).perform(rod_character, turn_clip)


def test_a_voice_on_a_character_that_bends_chooses_the_chain(rod_character, turn_clip, quick_turn):
    choice = choose_performer(rod_character, quick_turn)
    assert choice.name == "speech+vibration"
    assert "words, without sound, to stay in time with, and 1 part of the character bends" in choice.reason
    assert taken_as_rigid(rod_character, choice.name) == ()
    assert choose_performer(rod_character, turn_clip).name == "vibration"
    assert choose_performer(read_character("nao"), read_clip("no-problem")).name == "speech"
    assert choose_performer(rod_character, quick_turn, "speech, vibration").name == "speech+vibration"


def test_rigid_performers_chain_as_well(quick_turn, rod_character):
    stiff = rod_character.changed(flexibles=(), materials=())
    made = make_performer("clamp+speech").perform(stiff, quick_turn)
    np.testing.assert_allclose(made.wish.values, wish_at(stiff, quick_turn.joints, made.positions()), atol=1e-12)
    assert "clamp: lag" in [check.name for check in made.certificate.checks]
    assert made.certificate.check("lag").threshold == 0.01
    excess = MotionLimits.of(stiff).excess(made.positions().values, made.rate)
    assert excess.relative == 0.0


class Impatient(Monitor):
    """Cancels once the first member has solved."""

    def __init__(self) -> None:
        self.seconds = []

    def report(self, event) -> None:
        self.seconds += [event.figures["solve_s"]] if "solve_s" in event.figures else []

    @property
    def cancelled(self) -> bool:
        return bool(self.seconds)


def test_cancelled_it_returns_the_best_and_says_so(rod_character, quick_turn):
    watch = Impatient()
    made = make_performer("speech+vibration", OPTIONS).perform(rod_character, quick_turn, monitor=watch)
    assert made.certificate.status is Status.CANCELLED
    assert not made.certificate.holds
    assert watch.seconds[-1] == pytest.approx(sum(watch.seconds[:-1]))


@pytest.mark.parametrize("member", ["zv", "zvd-advanced", "lowpass"])
def test_an_option_whose_default_differs_stays_each_members_own(member):
    """Else the solver before a shaper would become that shaper."""
    chain = make_performer(f"vibration+{member}", {"rate": 200.0})
    first, second = chain.performers()
    assert (first.method, second.method) == ("gauss-newton", member)
    assert (first.rate, second.rate) == (200.0, 200.0)
    with pytest.raises(BadInput, match="method"):
        make_performer(f"vibration+{member}", {"method": "gauss-newton"})
