"""Slip, windows and clearance on the ground, against closed forms."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from bunraku.character import Body, Pose, Shape
from bunraku.motion import HeightField
from bunraku.verification.ground.clearance import least_clearance
from bunraku.verification.ground.heights import ground_height, ground_normal, terrain_of
from bunraku.verification.ground.measures import slips, window_of, window_velocity

N, RATE, RADIUS = 11, 10.0, 0.05


def slipped(kind: str, *, height: float = RADIUS, velocity=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0), carried: float = 1.0) -> float:
    """How far one end effector slips in 1 s, its axle along y, its velocity and turn the same all the time."""
    tip = SimpleNamespace(kind=kind, radius=RADIUS, spins=kind in ("passive", "active"))
    plan = SimpleNamespace(character=SimpleNamespace(end_effectors=(tip,)), terrain=None, rate=RATE)
    axis = (0.0, 0.0, 1.0) if kind == "sole" else (0.0, 1.0, 0.0)
    center = np.tile([0.0, 0.0, 0.0 if kind == "sole" else height], (N, 1, 1))
    linear, angular, along = (np.tile(one, (N, 1, 1)) for one in (velocity, turn, axis))
    record = SimpleNamespace(center=center, axis=along, linear=linear, angular=angular, contact=np.full((N, 1), carried))
    return float(slips(plan, record)[0])


@pytest.mark.parametrize("kind", ["ball", "welded"])
def test_what_rolls_does_not_slip_and_what_slides_does(kind: str) -> None:
    """Forward along x a wheel turns about y: its lowest point stands."""
    assert slipped(kind, velocity=(0.3, 0.0, 0.0), turn=(0.0, 0.3 / RADIUS, 0.0)) == pytest.approx(0.0, abs=1e-12)
    assert slipped(kind, velocity=(0.3, 0.0, 0.0)) == pytest.approx(0.3)
    assert slipped(kind, velocity=(0.3, 0.4, 0.0)) == pytest.approx(0.5)
    assert slipped(kind, velocity=(0.3, 0.0, 0.0), turn=(0.0, -0.3 / RADIUS, 0.0)) == pytest.approx(0.6)
    assert slipped(kind, velocity=(0.0, 0.0, 0.4)) == pytest.approx(0.0, abs=1e-12), "up and down is no slip"


def test_a_wheel_that_spins_slips_sideways_only() -> None:
    assert slipped("passive", velocity=(0.3, 0.0, 0.0)) == pytest.approx(0.0, abs=1e-12)
    assert slipped("active", velocity=(0.3, -0.4, 0.0)) == pytest.approx(0.4)


def test_a_sole_slips_while_the_ground_carries_it() -> None:
    assert slipped("sole", velocity=(0.3, 0.4, 0.0), turn=(0.0, 9.0, 0.0)) == pytest.approx(0.5)
    assert slipped("sole", velocity=(0.3, 0.4, 0.0), carried=0.0) == 0.0


@pytest.mark.parametrize(("above", "way"), [(0.0009, 0.2), (0.0011, 0.0), (-0.002, 0.2)])
def test_up_to_a_millimetre_above_it_is_on_the_ground(above: float, way: float) -> None:
    assert slipped("ball", height=RADIUS + above, velocity=(0.2, 0.0, 0.0)) == pytest.approx(way)


@pytest.mark.parametrize(
    ("swings", "period", "rate", "length"),
    [(False, 0.6, 100.0, 0.1), (True, 0.6, 100.0, 0.05), (True, 2.4, 100.0, 0.1), (False, 0.6, 5.0, 0.2), (True, 0.6, 10.0, 0.1)],
)
def test_windows_are_a_tenth_of_a_second_or_a_twelfth_of_a_cycle(swings: bool, period: float, rate: float, length: float) -> None:
    assert window_of(SimpleNamespace(swings=swings, period=period, rate=rate)) == pytest.approx(length)


def test_velocities_over_windows_are_slopes() -> None:
    t = np.arange(30) / 20.0
    np.testing.assert_allclose(window_velocity(np.column_stack([3.0 * t, t**2]), 20.0, 0.2)[:, 0], 3.0)
    np.testing.assert_allclose(window_velocity(np.column_stack([3.0 * t, t**2]), 20.0, 0.2)[:, 1], 2.0 * t[:-4] + 0.2)
    assert len(window_velocity(t, 20.0, 0.001)) == 29
    np.testing.assert_allclose(window_velocity(t, 20.0, 90.0), [1.0])


SHAPES = [
    (Shape(kind="sphere", size=(0.1,)), 0.0, 0.1),
    (Shape(kind="capsule", size=(0.02, 0.1)), 0.0, 0.12),
    (Shape(kind="capsule", size=(0.02, 0.1)), np.pi / 2, 0.02),
    (Shape(kind="cylinder", size=(0.03, 0.1)), 0.0, 0.1),
    (Shape(kind="cylinder", size=(0.03, 0.1)), np.pi / 2, 0.03),
    (Shape(kind="ellipsoid", size=(0.02, 0.05, 0.1)), np.pi / 2, 0.05),
    (Shape(kind="box", size=(0.02, 0.05, 0.1)), 0.0, 0.1),
    (Shape(kind="box", size=(0.02, 0.05, 0.1)), np.pi / 2, 0.05),
]


def hovering(shape: Shape, angle: float, terrain: HeightField | None = None) -> SimpleNamespace:
    """A body with a shape 0.3 m above the origin, turned about x, that comes down by 0.1 m in the third sample."""
    c, s = np.cos(angle), np.sin(angle)
    rotation = np.tile(np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]), (4, 1, 1, 1))
    position = np.tile([0.0, 0.0, 0.3], (4, 1, 1))
    position[2, 0, 2] = 0.2
    tree = SimpleNamespace(nodes={"lamp": 0}, poses=lambda q: (rotation, position))
    character = SimpleNamespace(bodies=(Body(name="lamp", shapes=(shape,)),), end_effectors=())
    return SimpleNamespace(tree=tree, q=np.zeros((4, 1)), character=character, terrain=terrain, rate=10.0)


@pytest.mark.parametrize(("shape", "angle", "reach"), SHAPES)
def test_clearance_is_the_height_less_how_far_a_shape_reaches_down(shape: Shape, angle: float, reach: float) -> None:
    least, where = least_clearance(hovering(shape, angle))
    assert least == pytest.approx(0.2 - reach)
    assert where == "lamp at 0.20 s"


def test_clearance_counts_from_the_slope_below() -> None:
    """On a slope of 45 degrees through the origin the middle is 0.2 cos(45) from it."""
    slope = HeightField((-1.0, -1.0), 1.0, np.tile([-1.0, 0.0, 1.0], (3, 1)).T)
    assert ground_height(slope, np.array([0.5]), np.array([0.0]))[0] == pytest.approx(0.5)
    least, _ = least_clearance(hovering(Shape(kind="sphere", size=(0.05,)), 0.0, slope))
    assert least == pytest.approx(0.2 * np.sqrt(0.5) - 0.05)
    shifted = Shape(kind="sphere", size=(0.05,), pose=Pose(position=(0.0, 0.0, 0.1)))
    assert least_clearance(hovering(shifted, 0.0, slope))[0] == pytest.approx(0.3 * np.sqrt(0.5) - 0.05)


def test_without_terrain_the_ground_is_level_at_zero() -> None:
    x = np.zeros((2, 3))
    np.testing.assert_array_equal(ground_height(None, x, 1.0), np.zeros((2, 3)))
    np.testing.assert_array_equal(ground_normal(None, x, 1.0), np.tile([0.0, 0.0, 1.0], (2, 3, 1)))


@pytest.mark.parametrize("said", ["hills", {"origin": (0, 0), "spacing": 1.0}, {"origin": (0, 0), "spacing": "wide", "heights": 0}])
def test_a_damaged_terrain_is_refused(said: object) -> None:
    from bunraku.errors import BadInput

    performance = SimpleNamespace(provenance=SimpleNamespace(options={"terrain": said}), clip_name="walk")
    with pytest.raises(BadInput, match="the terrain of 'walk'"):
        terrain_of(performance)
