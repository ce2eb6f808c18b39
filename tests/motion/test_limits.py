"""The one measure of limit violation: finite differences at the motor rate."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bunraku.character import Body, Character, Coupling, DependentRange, Joint, Motor
from bunraku.errors import BadInput
from bunraku.motion import MotionLimits


def character(**parts: object) -> Character:
    bodies = tuple(Body(name=name) for name in ("base", "x", "y", "z"))
    joints = [Joint(name="root", kind="fixed", parent="world", child="base")]
    joints += [Joint(name=name, kind="hinge", parent="base", child=name, range=(-1.0, 2.0)) for name in ("x", "y", "z")]
    motors = (
        Motor(name="x", coordinate="x", range=(-0.5, 3.0), velocity=2.0, acceleration=10.0, jerk=100.0),
        Motor(name="y", coordinate="y"),
    )
    return Character(**({"name": "c", "bodies": bodies, "joints": tuple(joints), "motors": motors} | parts))


def test_ranges_intersect_and_followers_pass_theirs_on() -> None:
    limits = MotionLimits.of(character())
    assert (limits.lower[0], limits.upper[0]) == (-0.5, 2.0)
    coupled = MotionLimits.of(character(couplings=(Coupling(driver="x", follower="z", ratio=-2.0, offset=1.0),)))
    assert coupled.lower[0] == pytest.approx(max(-0.5, (2.0 - 1.0) / -2.0))
    assert coupled.upper[0] == pytest.approx(min(2.0, (-1.0 - 1.0) / -2.0))
    assert np.isinf(limits.velocity[1])


def test_polynomials_have_the_derivatives_that_are_measured() -> None:
    limits, rate = MotionLimits.of(character()), 50.0
    t = np.arange(40) / rate
    for order, exact in ((1, 2.5), (2, 12.0), (3, 120.0)):
        curve = exact * t**order / {1: 1.0, 2: 2.0, 3: 6.0}[order]
        excess = limits.excess(np.column_stack([curve, 0 * t]), rate)
        kind = {1: "velocity", 2: "acceleration", 3: "jerk"}[order]
        limit = getattr(limits, kind)[0]
        np.testing.assert_allclose(getattr(excess, kind)[:, 0], exact - limit, rtol=1e-6, atol=1e-7)
        assert excess.count(kind) == len(t) - order


def test_dependent_range_is_interpolated_and_held_outside() -> None:
    dependent = DependentRange(coordinate="y", on="x", knots=((0.0, -1.0, 1.0), (1.0, 0.0, 0.5)))
    limits = MotionLimits.of(character(dependent_ranges=(dependent,)))
    lower, upper = limits.bounds(np.array([[-0.4, 0.0], [0.5, 0.0], [2.0, 0.0]]))
    np.testing.assert_allclose(lower[:, 1], [-1.0, -0.5, 0.0])
    np.testing.assert_allclose(upper[:, 1], [1.0, 0.75, 0.5])


KNOTS = ((-1.0, -0.8, 0.6), (0.0, -0.4, 0.9), (2.0, 0.1, 0.3))


def in_range(coordinate: float, on: float) -> bool:
    low, high = (np.interp(on, [knot[0] for knot in KNOTS], [knot[side] for knot in KNOTS]) for side in (1, 2))
    return bool(low - 1e-9 <= coordinate <= high + 1e-9)


@pytest.mark.parametrize("ratio", [2.0, -0.5])
@pytest.mark.parametrize(("coordinate", "on"), [("z", "y"), ("y", "z")])
def test_a_follower_hands_its_dependent_range_to_its_driver(coordinate: str, on: str, ratio: float) -> None:
    # z follows x; the range that relates z and y must come out as one that relates x and y, whichever depends on which
    wide = [Joint(name=name, kind="hinge", parent="base", child=name) for name in ("x", "y", "z")]
    robot = character(
        joints=(Joint(name="root", kind="fixed", parent="world", child="base"), *wide),
        motors=(Motor(name="x", coordinate="x"), Motor(name="y", coordinate="y")),
        couplings=(Coupling(driver="x", follower="z", ratio=ratio, offset=0.1),),
        dependent_ranges=(DependentRange(coordinate=coordinate, on=on, knots=KNOTS),),
    )
    limits = MotionLimits.of(robot)
    rng, seen = np.random.default_rng(3), set()
    for x, y in rng.uniform(-2.5, 2.5, (400, 2)):
        values = {"y": y, "z": ratio * x + 0.1}
        good = in_range(values[coordinate], values[on])
        assert bool(limits.excess(np.array([[x, y]]), 50.0).range.max() <= 1e-9) is good
        seen.add(good)
    assert seen == {True, False}


def test_a_range_on_a_coordinate_that_nothing_drives_is_the_one_at_home() -> None:
    dependent = DependentRange(coordinate="y", on="z", knots=KNOTS)
    limits = MotionLimits.of(character(dependent_ranges=(dependent,), home={"z": 1.0}))
    assert not limits.dependents
    assert (limits.lower[1], limits.upper[1]) == (pytest.approx(-0.15), pytest.approx(0.6))


def test_a_still_coordinate_must_keep_its_dependent_range() -> None:
    kept = DependentRange(coordinate="z", on="x", knots=((-0.5, -1.0, 1.0), (2.0, -0.1, 0.1)))
    assert not MotionLimits.of(character(dependent_ranges=(kept,))).dependents
    for low, high in ((-1.0, 0.0), (0.0, 1.0)):
        edge = DependentRange(coordinate="z", on="x", knots=((-0.5, -1.0, 1.0), (2.0, low, high)))
        assert not MotionLimits.of(character(dependent_ranges=(edge,))).dependents, "at the end of its range it still keeps it"
    above = DependentRange(coordinate="z", on="x", knots=((-0.5, -1.0, 1.0), (2.0, -0.2, -0.1)))
    with pytest.raises(BadInput, match="no motor drives 'z'"):
        MotionLimits.of(character(dependent_ranges=(above,)))
    broken = DependentRange(coordinate="z", on="x", knots=((-0.5, -1.0, 1.0), (2.0, 0.1, 0.2)))
    with pytest.raises(BadInput, match="no motor drives 'z'"):
        MotionLimits.of(character(dependent_ranges=(broken,)))


def test_a_range_on_the_motor_itself_becomes_a_fixed_one_or_is_refused() -> None:
    # z = x: -1 <= x <= 0.5 - 0.5 z holds up to x = 1/3
    coupled = (Coupling(driver="x", follower="z"),)
    one = DependentRange(coordinate="x", on="z", knots=((-2.0, -1.0, 1.5), (2.0, -1.0, -0.5)))
    limits = MotionLimits.of(character(couplings=coupled, dependent_ranges=(one,)))
    assert not limits.dependents
    assert (limits.lower[0], limits.upper[0]) == (-0.5, pytest.approx(1 / 3))
    pieces = DependentRange(coordinate="x", on="z", knots=((-1.0, -1.0, 1.0), (0.0, 0.5, 1.0), (1.0, 0.9, 1.0)))
    with pytest.raises(BadInput, match="in pieces"):
        MotionLimits.of(character(couplings=coupled, dependent_ranges=(pieces,)))


def test_a_range_on_a_floating_base_is_refused() -> None:
    free = [Joint(name="root", kind="free", parent="world", child="base")]
    free += [Joint(name=name, kind="hinge", parent="base", child=name) for name in ("x", "y", "z")]
    dependent = DependentRange(coordinate="y", on="root.tz", knots=KNOTS)
    with pytest.raises(BadInput, match="floating base"):
        MotionLimits.of(character(joints=tuple(free), dependent_ranges=(dependent,)))


def test_choosing_without_what_a_range_depends_on_takes_it_at_home() -> None:
    dependent = DependentRange(coordinate="y", on="x", knots=KNOTS)
    limits = MotionLimits.of(character(dependent_ranges=(dependent,), home={"x": 1.0}))
    chosen = limits.chosen(("y",))
    assert (chosen.lower[0], chosen.upper[0]) == (pytest.approx(-0.15), pytest.approx(0.6))
    assert limits.chosen(("y", "x")).dependents[0][:2] == (0, 1)
    homeless = dataclasses.replace(limits, home=None)
    with pytest.raises(BadInput, match="choose both"):
        homeless.chosen(("y",))
    np.testing.assert_array_equal(limits.completed(("y",), np.array([[0.2], [0.3]])), [[1.0, 0.2], [1.0, 0.3]])


def test_disjoint_ranges_are_refused() -> None:
    with pytest.raises(BadInput, match="do not overlap"):
        MotionLimits.of(character(motors=(Motor(name="x", coordinate="x", range=(5.0, 6.0)),)))
