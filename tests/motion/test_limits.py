"""The one measure of limit violation: finite differences at the motor rate."""

from __future__ import annotations

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


def test_disjoint_ranges_are_refused() -> None:
    with pytest.raises(BadInput, match="do not overlap"):
        MotionLimits.of(character(motors=(Motor(name="x", coordinate="x", range=(5.0, 6.0)),)))
