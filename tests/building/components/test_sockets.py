"""Sockets: they are on the surface, look outward, come in mirrored pairs, and keep their names."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.building.character_geometry import home_frames, zero_frames
from bunraku.building.components.attach import attached
from bunraku.building.components.piece import blank_character
from bunraku.building.components.placing import of_pose
from bunraku.building.components.sockets import MOST, Socket, inside, sockets
from bunraku.character import Character, Shape
from bunraku.formats.registry import read_character

NAMES = ["car", "walker", "humanoid", "dancer", "marionette", "nao", "monster-quick", "hand"]


@pytest.mark.parametrize("name", NAMES)
def test_sockets_are_bounded_differ_and_lie_outside_of_every_shape(name: str) -> None:
    character = read_character(name)
    found = sockets(character)
    assert len({one.name for one in found}) == len(found) <= MOST
    frames = home_frames(character)
    for one in found:
        R, p = frames[one.body]
        turn, place = of_pose(one.pose)
        ahead = p + R @ (place + 0.0015 * turn[:, 2])
        for body in character.bodies:
            S, q = frames[body.name]
            for shape in body.shapes:
                T, r = of_pose(shape.pose)
                assert one.kind == "world" or not inside(shape, ((ahead - q - S @ r) @ (S @ T))[None])[0], (one.name, body.name)


@pytest.mark.parametrize("name", ["car", "walker", "humanoid", "marionette"])
def test_twins_are_mirror_images_of_each_other(name: str) -> None:
    character = read_character(name)
    frames, found = zero_frames(character), {one.name: one for one in sockets(character)}
    paired = [one for one in found.values() if one.twin]
    assert len(paired) > 0.9 * len(found)
    for one in paired:
        twin = found[one.twin]
        assert twin.kind == one.kind
        places, normals = [], []
        for each in (one, twin):
            R, p = frames[each.body]
            turn, place = of_pose(each.pose)
            places.append(p + R @ place)
            normals.append(R @ turn[:, 2])
        np.testing.assert_allclose(places[0] * [1.0, -1.0, 1.0], places[1], atol=1e-6)
        np.testing.assert_allclose(normals[0] * [1.0, -1.0, 1.0], normals[1], atol=1e-6)


def socket(character: Character, name: str) -> Socket:
    """The socket of that name."""
    return {one.name: one for one in sockets(character)}[name]


def test_the_faces_of_a_box_are_called_after_their_sides() -> None:
    box = blank_character(size=(0.2, 0.1, 0.04))
    for name, place, normal in (
        ("body left", (0.0, 0.05, 0.0), (0.0, 1.0, 0.0)),
        ("body below", (0.0, 0.0, -0.02), (0.0, 0.0, -1.0)),
        ("body front", (0.1, 0.0, 0.0), (1.0, 0.0, 0.0)),
        ("body right back", (-0.08, -0.05, 0.0), (0.0, -1.0, 0.0)),
        ("body top front left", (0.08, 0.03, 0.02), (0.0, 0.0, 1.0)),
    ):
        one = socket(box, name)
        np.testing.assert_allclose(one.pose.position, place, atol=1e-12)
        np.testing.assert_allclose(of_pose(one.pose)[0][:, 2], normal, atol=1e-12)
    assert socket(box, "body left front").twin == "body right front"
    assert socket(box, "body top").twin == "body top"


def test_names_stay_when_something_is_attached_and_covered_ones_go() -> None:
    box = blank_character()
    before = {one.name: one for one in sockets(box)}
    made = attached(box, "body top", "controller")
    after = {one.name: one for one in sockets(made)}
    assert set(before) - set(after) == {"body top"}
    assert all(after[name] == before[name] for name in set(before) & set(after))
    assert after["payload 1 top"].kind == "face"


def test_a_motor_offers_its_horn_and_a_wheel_its_axle() -> None:
    made = attached(blank_character(), "body left", "MG995R", name="m")
    horn = socket(made, "m horn")
    R, p = zero_frames(made)[horn.body]
    place = p + R @ np.array(horn.pose.position)
    np.testing.assert_allclose(place, (0.0, 0.05 + 0.038 + 0.004 + 0.003, 0.0), atol=1e-9)  # case, horn, printed plate
    wheel = attached(made, "m horn", "driven wheel 60 mm", name="w")
    assert "m horn" not in {one.name for one in sockets(wheel)}
    assert socket(wheel, "w left").kind == "axle"


@pytest.mark.parametrize(
    ("shape", "within", "outside"),
    [
        (Shape(kind="box", size=(1.0, 2.0, 3.0)), (0.9, -1.9, 2.9), (1.1, 0.0, 0.0)),
        (Shape(kind="sphere", size=(1.0,)), (0.6, 0.6, 0.5), (0.6, 0.6, 0.6)),
        (Shape(kind="ellipsoid", size=(1.0, 2.0, 3.0)), (0.5, 1.0, 1.5), (0.6, 1.2, 1.8)),
        (Shape(kind="cylinder", size=(1.0, 2.0)), (0.7, 0.7, 1.9), (0.0, 0.0, 2.1)),
        (Shape(kind="capsule", size=(1.0, 2.0)), (0.0, 0.0, 2.9), (0.8, 0.0, 2.8)),
    ],
)
def test_inside(shape: Shape, within: tuple[float, float, float], outside: tuple[float, float, float]) -> None:
    np.testing.assert_array_equal(inside(shape, np.array([within, outside])), [True, False])
