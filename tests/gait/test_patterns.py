"""Footfalls: the named patterns on many feet, what is refused, and their samples."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.gait.feet import feet_of
from bunraku.gait.overlap import SUPPORT
from bunraku.gait.patterns import FootfallPattern, contacts, fewest_samples, footfalls, swing_heights
from bunraku.gait.symmetry import mirror_partners
from bunraku.motion import Gait, Swing


def groups(character, pattern):
    """Names of the end effectors that swing together, in the order of their swings."""
    names = [tip.name for tip in character.end_effectors]
    starts = sorted({start for _, start, _ in pattern.swings})
    return [{names[j] for j, start, _ in pattern.swings if start == one} for one in starts]


def made(character, name, **more):
    return footfalls(character, Gait(1.0, name, **more))


def test_feet_know_their_place(tripod, skater):
    feet = feet_of(tripod)
    assert {foot.body: (foot.side, foot.row) for foot in feet.feet} == {
        "lf_lower": ("left", 0),
        "rf_lower": ("right", 0),
        "tail_lower": ("middle", 1),
    }
    assert feet.fixed == (3,)
    assert feet.feet[0].leg == pytest.approx(0.16)
    assert feet.feet[0].place == pytest.approx((0.09, 0.08))
    assert [foot.effectors for foot in feet_of(skater).feet] == [(0, 1), (2, 3), (4, 5), (6, 7)]


def test_feet_know_their_place_wherever_the_home_pose_stands(walker):
    moved = walker.changed(home={"base.tz": 0.175, "base.tx": 3.0, "base.ty": -5.0, "base.rz": 2.0})
    for a, b in zip(feet_of(walker).feet, feet_of(moved).feet, strict=True):
        assert (a.side, a.row, a.effectors) == (b.side, b.row, b.effectors)
        np.testing.assert_allclose(a.place, b.place, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "order", "share"),
    [
        ("crawl", [{"lh"}, {"lf"}, {"rh"}, {"rf"}], 0.18),
        ("trot", [{"lf", "rh"}, {"rf", "lh"}], 0.30),
        ("pace", [{"lf", "lh"}, {"rf", "rh"}], 0.30),
        ("bound", [{"lf", "rf"}, {"lh", "rh"}], 0.30),
    ],
)
def test_the_named_patterns_of_four_legs(walker, name, order, share):
    pattern = made(walker, name)
    assert groups(walker, pattern) == order
    assert all(end - start == pytest.approx(share) for _, start, end in pattern.swings)
    assert not pattern.notes


def test_both_wheels_of_a_foot_swing_together(skater):
    assert groups(skater, made(skater, "trot")) == [{"lf0", "lf1", "rh0", "rh1"}, {"rf0", "rf1", "lh0", "lh1"}]


def test_a_tripod_walks_one_foot_after_the_other_and_never_lifts_its_belly(tripod):
    for name in ("crawl", "trot"):
        pattern = made(tripod, name)
        assert groups(tripod, pattern) == [{"tail"}, {"lf"}, {"rf"}]
        assert all(end - start == pytest.approx(0.27) for _, start, end in pattern.swings)


def test_six_legs_trot_as_two_tripods(robot):
    legs = {f"{side}{row}": (0.2 - 0.2 * row, y) for row in range(3) for side, y in (("l", 0.1), ("r", -0.1))}
    bug = robot(legs)
    assert groups(bug, made(bug, "trot")) == [{"l0", "r1", "l2"}, {"r0", "l1", "r2"}]
    wave = made(bug, "crawl")
    assert groups(bug, wave) == [{"l2"}, {"l1"}, {"l0"}, {"r2"}, {"r1"}, {"r0"}]
    assert not wave.notes


def test_two_legs_alternate(robot):
    biped = robot({"l": (0.0, 0.06), "r": (0.0, -0.06)})
    for name in ("crawl", "trot", "pace"):
        assert groups(biped, made(biped, name)) == [{"l"}, {"r"}]
    with pytest.raises(BadInput, match=r"all of l, r are in the air from 0\.3 to 0\.7"):
        made(biped, "bound")


@pytest.mark.parametrize("name", ["crawl", "trot", "pace", "bound"])
def test_between_swings_everything_stands_long_enough(walker, tripod, name):
    for character in (walker, tripod):
        swings = sorted({(start, end) for _, start, end in made(character, name).swings})
        following = [*swings[1:], (swings[0][0] + 1.0, 0.0)]
        assert all(b[0] - a[1] >= SUPPORT for a, b in zip(swings, following, strict=True))


def test_rolling_lifts_nothing_and_a_car_cannot_walk(robot, walker):
    assert made(walker, "roll").swings == ()
    sledge = robot({}, belly=True)
    assert made(sledge, "roll").swings == ()
    with pytest.raises(BadInput, match="use the pattern roll"):
        made(sledge, "trot")


def test_a_motion_that_happens_once_repeats_the_pattern_and_stands_at_both_ends(walker):
    pattern = made(walker, "crawl", periodic=False, cycles=3)
    assert len(pattern.swings) == 12
    cycle = 1.0 / 3.5
    assert min(start for _, start, _ in pattern.swings) == pytest.approx((0.25 + 0.035) * cycle)
    assert max(end for _, _, end in pattern.swings) == pytest.approx(1.0 - (0.25 + 0.035) * cycle)
    flags = contacts(pattern, 73)
    assert flags[0].all()
    assert flags[-1].all()
    open_start = made(walker, "crawl", periodic=False, cycles=3, start="free")
    assert min(start for _, start, _ in open_start.swings) == pytest.approx(0.035 / 3.25)


def custom(character, *swings, **more):
    return footfalls(character, Gait(1.0, "custom", swings=tuple(Swing(*one) for one in swings), **more))


@pytest.mark.parametrize(
    ("swings", "more", "words"),
    [
        ([("tail", 0.1, 0.3)], {}, "'tail', which is no end effector; known: lf, rf, lh, rh"),
        ([("lf", 0.1, 0.4), ("lf", 0.3, 0.5)], {}, "'lf' swings from 0.1 to 0.4 and again from 0.3"),
        ([("lf", 0.8, 1.2), ("lf", 0.1, 0.3)], {}, "'lf' swings from 0.8 to 1.2 and again from 1.1"),
        ([("lf", 0.1, 1.1)], {}, "while still in the air"),
        ([("lf", 0.1, 0.4), ("rf", 0.2, 0.5), ("lh", 0.3, 0.6), ("rh", 0.35, 0.7)], {}, "in the air from 0.35 to 0.4"),
        ([("lf", 0.9, 1.3), ("rf", 0.9, 1.3), ("lh", 0.9, 1.3), ("rh", 0.1, 0.5)], {}, "in the air from 0.1 to 0.3"),
        ([("lf", 0.8, 1.2)], {"periodic": False}, "ends at 1.2, after the motion that happens once"),
    ],
)
def test_impossible_footfalls_are_refused_in_one_line(walker, swings, more, words):
    with pytest.raises(BadInput, match=words) as caught:
        custom(walker, *swings, **more)
    assert "\n" not in str(caught.value)


def test_an_unknown_pattern_is_refused(walker):
    with pytest.raises(BadInput, match="'gallop' is not known here; give one of roll, crawl, trot, pace, bound, or custom"):
        made(walker, "gallop")


def test_risky_footfalls_are_noted_not_refused(walker, skater, tripod):
    assert "rf lifts at 0.4, 0 of the duration" in custom(walker, ("lf", 0.1, 0.4), ("rf", 0.4, 0.6)).notes[0]
    assert custom(walker, ("lf", 0.1, 0.4), ("rf", 0.46, 0.6)).notes == ()
    around = custom(walker, ("lf", 0.02, 0.3), ("rf", 0.7, 0.98))
    assert "lf lifts at 0.02, 0.04 of" in around.notes[0]
    assert custom(walker, ("lf", 0.02, 0.3), ("rf", 0.7, 0.98), periodic=False).notes == ()
    assert "do not swing together" in custom(skater, ("lf0", 0.1, 0.4)).notes[0]
    assert "base body" in custom(tripod, ("belly", 0.1, 0.4)).notes[0]


def test_a_foot_may_be_named_by_its_body(skater):
    pattern = custom(skater, ("lf_lower", 0.1, 0.4))
    assert pattern.swings == ((0, 0.1, 0.4), (1, 0.1, 0.4))
    assert pattern.notes == ()


def test_the_side_step_of_the_notes_is_sampled_as_given(walker):
    pattern = custom(
        walker,
        *((foot, s / 36, (s + 4) / 36) for foot, s in zip(("lh", "lf", "rh", "rf"), (3, 7, 11, 15), strict=True)),
        periodic=False,
    )
    flags = contacts(pattern, 37)
    lh = [tip.name for tip in walker.end_effectors].index("lh")
    assert np.flatnonzero(flags[:, lh] == 0).tolist() == [4, 5, 6]
    assert flags.dtype == np.int64
    late = contacts(FootfallPattern("custom", 2, ((0, 0.75, 1.0),), periodic=False), 37)
    assert np.flatnonzero(late[:, 0] == 0).tolist() == list(range(28, 36))
    cycle = contacts(FootfallPattern("custom", 2, ((0, 0.75, 1.0),)), 36)
    assert np.flatnonzero(cycle[:, 0] == 0).tolist() == list(range(28, 36))


@pytest.mark.parametrize("samples", [24, 48, 96])
def test_contacts_shift_with_the_cycle(samples):
    """A swing later by k samples has its flags later by k, around the end of the cycle too."""
    base = contacts(FootfallPattern("custom", 2, ((0, 0.1, 0.35),)), samples)
    for k in (3, samples // 2, samples - 5):
        start = (0.1 + k / samples) % 1.0
        moved = contacts(FootfallPattern("custom", 2, ((0, start, start + 0.25),)), samples)
        np.testing.assert_array_equal(moved, np.roll(base, k, axis=0))


def test_swing_heights_are_the_stated_profile():
    pattern = FootfallPattern("custom", 2, ((1, 0.25, 0.75),))
    heights = swing_heights(pattern, 48, 0.03)
    flags = contacts(pattern, 48)
    np.testing.assert_array_equal(heights > 0.0, flags == 0)
    assert heights[24, 1] == pytest.approx(0.03)
    k = np.arange(25)
    u = k / 24
    np.testing.assert_allclose(heights[12:37, 1], 0.03 * (4.0 * u * (1.0 - u)) ** 2, atol=1e-17)


def test_swing_heights_lift_off_and_land_with_no_speed():
    """The slope at both ends falls in proportion to the step: the profile starts and ends at rest."""
    pattern = FootfallPattern("custom", 2, ((0, 0.2, 0.7),), periodic=False)
    slopes = []
    for samples in (101, 201, 401):
        heights = swing_heights(pattern, samples, 0.02)[:, 0]
        steps = np.flatnonzero(heights)
        slopes.append((heights[steps[0]] * (samples - 1), heights[steps[-1]] * (samples - 1)))
    ratios = np.array(slopes[:-1]) / np.array(slopes[1:])
    np.testing.assert_allclose(ratios, 2.0, rtol=0.1)


def test_half_cycle_symmetry_needs_mirrored_swings(walker, skater, tripod, robot):
    for character in (walker, skater):
        for name in ("crawl", "trot", "pace"):
            assert made(character, name, symmetric=True).swings == made(character, name).swings
        with pytest.raises(BadInput, match="has no mirrored one"):
            made(character, "bound", symmetric=True)
    with pytest.raises(BadInput, match=r"the swing of 'tail' at 0\.0317 has no mirrored one of 'tail' at 0\.532"):
        made(tripod, "crawl", symmetric=True)
    assert made(tripod, "roll", symmetric=True).swings == ()
    lopsided = robot({"l": (0.02, 0.06), "r": (0.0, -0.06)})
    with pytest.raises(BadInput, match="no end effector mirrors 'l'"):
        made(lopsided, "trot", symmetric=True)


def test_mirror_partners_change_sides(skater, tripod):
    names = [tip.name for tip in skater.end_effectors]
    partners = mirror_partners(feet_of(skater), names)
    assert [names[j] for j in partners] == ["rf0", "rf1", "lf0", "lf1", "rh0", "rh1", "lh0", "lh1"]
    names = [tip.name for tip in tripod.end_effectors]
    assert mirror_partners(feet_of(tripod), names) == (1, 0, 2, 3)


def test_too_few_samples_are_refused_and_enough_are_named(walker):
    pattern = made(walker, "crawl")
    need = fewest_samples(pattern)
    assert need == 12
    for samples in range(need, 60):
        flags = contacts(pattern, samples)
        assert (flags == 0).any(axis=0).all()
        assert (flags.sum(axis=1) >= 3).all()
    with pytest.raises(BadInput, match="use 12 or more"):
        contacts(pattern, 7)
    with pytest.raises(BadInput, match="use 12 or more"):
        swing_heights(pattern, 7, 0.02)


def test_feet_stay_in_the_air_for_the_share_that_is_asked_for(walker):
    pattern = made(walker, "trot", air=0.42, periodic=False, cycles=2)
    whole = 2 + 2 * 0.25
    assert all((end - start) * whole == pytest.approx(0.42) for _, start, end in pattern.swings)
    middles = sorted({round((start + end) / 2 * whole, 9) for _, start, end in pattern.swings})
    assert middles == pytest.approx([0.5, 1.0, 1.5, 2.0])
    with pytest.raises(BadInput, match="in the air"):
        made(walker, "trot", air=1.2)
    with pytest.raises(BadInput, match=r"at most 0.5"):
        made(walker, "trot", air=0.6)
    with pytest.raises(BadInput, match="custom"):
        Gait(1.0, "custom", swings=(Swing("LF", 0.1, 0.3),), air=0.3)
