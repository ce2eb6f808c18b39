"""When a replay on the ground has fallen, by hand: leaning, sunk, touching, unstable."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from bunraku.verification.ground.falls import fall, tilts

N = 5
TIMES = np.arange(N) / 10.0


def upright(lean: float = 0.0, yaw: float = 0.0) -> np.ndarray:
    """Rotations (n, 3, 3) of a base that leans to its side and turns."""
    c, s = np.cos(lean), np.sin(lean)
    side = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    c, s = np.cos(yaw), np.sin(yaw)
    return np.tile(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ side, (N, 1, 1))


def standing(height: float = 1.0, lean: float = 0.0, yaw: float = 0.0, **more: object) -> SimpleNamespace:
    com = np.tile([0.3, -0.2, height], (N, 1))
    own = {"times": TIMES, "qpos": np.zeros((N, 7)), "qvel": np.zeros((N, 6)), "touched": np.inf, "terrain": None}
    return SimpleNamespace(com=com, rotation=upright(lean, yaw), yaw=np.full(N, yaw), **(own | more))


def test_who_moves_as_planned_has_not_fallen() -> None:
    assert fall(standing(lean=0.3, yaw=0.5), standing(lean=0.3, yaw=0.5), "shin") == ""


@pytest.mark.parametrize(("degrees", "fallen"), [(44.0, False), (46.0, True), (-46.0, True)])
def test_more_than_45_degrees_from_the_plan_is_a_fall(degrees: float, fallen: bool) -> None:
    record = standing(lean=0.2)
    record.rotation[3:] = upright(0.2 + np.radians(degrees))[3:]
    reason = fall(standing(lean=0.2), record, "shin")
    assert bool(reason) is fallen
    if fallen:
        assert reason == "the base leans 46 degrees from the plan at 0.30 s"


def test_a_lean_is_seen_from_where_the_base_heads() -> None:
    """Who turned round by a right angle and leans to the same side of its own leans as planned."""
    np.testing.assert_allclose(tilts(standing(lean=0.6), standing(lean=0.6, yaw=np.pi / 2)), 0.0, atol=1e-7)
    np.testing.assert_allclose(tilts(standing(lean=0.6), standing(lean=-0.6)), 1.2)


@pytest.mark.parametrize(("height", "fallen"), [(0.51, False), (0.49, True)])
def test_half_as_high_as_planned_is_a_fall(height: float, fallen: bool) -> None:
    record = standing()
    record.com[2:, 2] = height
    assert fall(standing(), record, "shin") == ("the centre of mass sank to 0.490 m at 0.20 s" if fallen else "")


def test_heights_are_those_above_the_ground() -> None:
    """On a plateau of 1 m a body at 1.4 m is as low as one at 0.4 m on the floor."""
    plateau = SimpleNamespace(height=lambda x, y: np.ones(np.shape(x)))
    plan, record = standing(2.0, terrain=plateau), standing(1.4)
    assert fall(plan, record, "shin").startswith("the centre of mass sank to 0.400 m at 0.00 s")
    record.com[:, 2] = 1.6
    assert fall(plan, record, "shin") == ""


def test_the_first_reason_is_given() -> None:
    record = standing(touched=0.25)
    assert fall(standing(), record, "shin") == "shin, which is no end effector, touches the ground at 0.25 s"
    record.com[3:, 2] = 0.1
    assert fall(standing(), record, "shin").startswith("shin")
    record.com[2:, 2] = 0.1
    assert fall(standing(), record, "shin").startswith("the centre of mass")


@pytest.mark.parametrize(("what", "value"), [("qpos", np.nan), ("qvel", 1.1e4), ("qvel", -1.1e4)])
def test_numbers_out_of_bounds_are_an_unstable_simulation(what: str, value: float) -> None:
    record = standing()
    getattr(record, what)[3, 2] = value
    assert fall(standing(), record, "shin") == "the simulation became unstable"
    record = standing()
    record.qvel[:] = 0.9e4
    assert fall(standing(), record, "shin") == ""
