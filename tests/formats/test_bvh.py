"""BVH: forward kinematics against an independent evaluation, every oddity of real files, and honest refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.bvh import read_bvh
from bunraku.formats.skeleton_units import COMMON_UNITS, guessed_metres_per_unit
from bunraku.motion import SkeletonMotion

FILES = ["cmu_02_05.bvh", "cmu_18_08.bvh", "cmu_18_11.bvh", "cmu_18_15.bvh", "cmu_79_06.bvh", "pybvh_test2.bvh"]
TO_Z_UP = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])


def world_positions(skeleton: SkeletonMotion, frame: int) -> dict[str, Any]:
    """Places of bones and end sites by chaining local poses."""
    places: dict[str, Any] = {}
    poses: list[Any] = []
    for bone, parent in enumerate(skeleton.parents):
        R, p = (np.eye(3), np.zeros(3)) if parent < 0 else poses[parent]
        poses.append((R @ skeleton.rotations[frame, bone], p + R @ skeleton.translations[frame, bone]))
        places[skeleton.names[bone]] = poses[-1][1]
        if skeleton.names[bone] in skeleton.tips:
            places[skeleton.names[bone] + " end"] = poses[-1][1] + poses[-1][0] @ np.array(skeleton.tips[skeleton.names[bone]])
    return places


def independent_positions(text: str, frame: int) -> tuple[dict[str, Any], int]:
    """The same from the words of the file, recursively, in the file's own unit and axes: no code shared with the reader."""
    words = text.replace("{", " { ").replace("}", " } ").split()
    motion = words.index("MOTION")
    start = words.index("Time:") + 2
    assert start > motion
    cursor = iter(words[:motion])
    tree: list[Any] = []
    stack: list[Any] = []
    for word in cursor:
        if word in ("ROOT", "JOINT", "End"):
            stack.append({"name": next(cursor), "end": word == "End", "children": [], "channels": []})
        elif word == "OFFSET":
            stack[-1]["offset"] = [float(next(cursor)) for _ in range(3)]
        elif word == "CHANNELS":
            stack[-1]["channels"] = [next(cursor) for _ in range(int(next(cursor)))]
        elif word == "}":
            node = stack.pop()
            (stack[-1]["children"] if stack else tree).append(node)
    columns = sum(len(n["channels"]) for n in _walk(tree))
    numbers = iter(float(w) for w in words[start + frame * columns : start + (frame + 1) * columns])
    places: dict[str, Any] = {}

    def place(node: Any, T: Any, parent: str) -> None:
        move = np.eye(4)
        move[:3, 3] = node["offset"]
        for channel in node["channels"]:
            value, axis, step = next(numbers), "XYZ".index(channel[0]), np.eye(4)
            if channel.endswith("position"):
                step[axis, 3] = value
            else:
                c, s = np.cos(np.radians(value)), np.sin(np.radians(value))
                i, j = [(1, 2), (2, 0), (0, 1)][axis]
                step[i, i], step[i, j], step[j, i], step[j, j] = c, -s, s, c
            move = move @ step
        T = T @ move
        places[parent + " end" if node["end"] else node["name"]] = T[:3, 3]
        for child in node["children"]:
            place(child, T, node["name"])

    for root in tree:
        place(root, np.eye(4), "")
    return places, (len(words) - start) // columns


def _walk(nodes: list[Any]) -> list[Any]:
    return [found for node in nodes for found in [node, *_walk(node["children"])]]


@pytest.mark.shared
@pytest.mark.parametrize("name", FILES)
def test_real_files_stand_where_an_independent_reading_puts_them(data: Path, name: str) -> None:
    raw = (data / name).read_bytes()
    clip = read_bvh(raw, file=name)
    skeleton = clip.skeleton
    assert skeleton is not None
    unit = 0.01 if name.startswith("pybvh") else 0.0254 / 0.45
    for frame in (0, len(skeleton.translations) // 2):
        expected, frames = independent_positions(raw.decode(), frame)
        found = world_positions(skeleton, frame)
        assert len(skeleton.translations) == frames
        assert set(found) == set(expected)
        for joint, place in expected.items():
            np.testing.assert_allclose(found[joint], TO_Z_UP @ place * unit, atol=1e-9)
    assert skeleton.rate == 120.0
    assert not skeleton.scaled
    heights = [place[2] for place in world_positions(skeleton, len(skeleton.translations) // 2).values()]
    assert 1.2 < max(heights) - min(heights) < 2.0, "a person, in metres, upright along z"


HEAD = "HIERARCHY\nROOT Hips\n{\n OFFSET 0 0 0\n CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"
TAIL = (
    " JOINT Arm\n {\n  OFFSET 0 100 0\n  CHANNELS 3 Xrotation Yrotation Zrotation\n  End Site\n  {\n   OFFSET 0 70 0\n  }\n }\n}\n"
)
ROWS = ["1 2 3 0 0 0 90 0 0", "1 2 3 10 20 30 0 90 0"]


def small(head: str = HEAD, tail: str = TAIL, frames: str = "Frames: 2\nFrame Time: 0.04\n", rows: str = "\n".join(ROWS)) -> bytes:
    return (head + tail + "MOTION\n" + frames + rows + "\n").encode()


def skeleton_of(data: bytes, **options: Any) -> SkeletonMotion:
    skeleton = read_bvh(data, file="f.bvh", **options).skeleton
    assert skeleton is not None
    return skeleton


def test_axes_units_and_rotation_order_in_closed_form() -> None:
    skeleton = skeleton_of(small(), metres_per_unit=0.01)
    assert skeleton.scaled
    np.testing.assert_allclose(skeleton.translations[0, 0], [0.03, 0.01, 0.02])  # (x, y, z) of the file becomes (z, x, y)
    np.testing.assert_allclose(skeleton.offsets[1], [0.0, 0.0, 1.0])  # up
    np.testing.assert_allclose(skeleton.tips["Arm"], [0.0, 0.0, 0.7])
    # a quarter turn about the file's x (our y) brings up (our z) to the file's z (our x)
    np.testing.assert_allclose(skeleton.rotations[0, 1] @ [0, 0, 1.0], [1, 0, 0], atol=1e-15)
    for R in skeleton.rotations.reshape(-1, 3, 3):
        np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(R) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "changed",
    [
        small().replace(b"\n", b"\r\n"),
        small().replace(b"\n", b"\r\n", 7),
        small().replace(b"\n", b" \t\n"),
        small().replace(b" ", b"\t"),
        small().rstrip(),
        small() + b"\n\n  \n",
        small().replace(b"Frames: 2", b"Frames:\t2"),
        small().replace(b"Frames: 2", b"Frames: 3"),
        small().replace(b"Frames: 2", b"Frames: 1"),
        small().replace(b"Frame Time: 0.04", b"Frame Time: .0400000"),
        small().replace(b"0.04\n1 2 3", b"0.04\n1e0 +2.0E+00 30.e-1"),
        small().replace(b" 0 0 0 90 0 0", b" -0.00000 0. -0 90.000000 0 .0"),
        small().replace(b"Xrotation", b"XROTATION"),
        small().replace(b"\n{\n", b" { "),
        b"\xef\xbb\xbf" + small(),
    ],
)
def test_oddities_change_nothing(changed: bytes) -> None:
    expected, found = skeleton_of(small()), skeleton_of(changed)
    assert (found.names, found.parents, found.rate, found.tips) == (expected.names, expected.parents, expected.rate, expected.tips)
    np.testing.assert_array_equal(found.translations, expected.translations)
    np.testing.assert_array_equal(found.rotations, expected.rotations)


def test_zero_length_joints_mixed_orders_and_repeated_names() -> None:
    extra = (
        TAIL[:-2]
        + " JOINT Arm { OFFSET 0 0 0 CHANNELS 3 Zrotation Xrotation Yrotation } JOINT Two Words { OFFSET 1 0 0 CHANNELS 0 } }\n"
    )
    skeleton = skeleton_of(small(tail=extra, rows="1 2 3 0 0 0 90 0 0 0 90 0\n1 2 3 10 20 30 0 90 0 90 90 0"))
    assert skeleton.names == ("Hips", "Arm", "Arm 2", "Two Words")
    assert skeleton.parents == (-1, 0, 0, 0)
    np.testing.assert_allclose(skeleton.rotations[0, 1], skeleton.rotations[0, 2], atol=1e-15)
    # Z then X by 90 degrees: the file's z goes to -y by X, and -y to x by Z; in our axes x goes to y
    np.testing.assert_allclose(skeleton.rotations[1, 2] @ [1.0, 0, 0], [0, 1, 0], atol=1e-15)
    np.testing.assert_array_equal(skeleton.rotations[:, 3], np.broadcast_to(np.eye(3), (2, 3, 3)))


@pytest.mark.parametrize(("given", "rest"), [("0 101 0", "absolute"), ("0 1 0", "added")])
def test_position_channels_on_a_joint_are_absolute_or_added_by_what_they_look_like(given: str, rest: str) -> None:
    tail = TAIL.replace("3 Xrotation", "6 Xposition Yposition Zposition Xrotation")
    skeleton = skeleton_of(small(tail=tail, rows=f"1 2 3 0 0 0 {given} 0 0 0\n1 2 3 0 0 0 {given} 0 0 0"), metres_per_unit=1.0)
    np.testing.assert_allclose(skeleton.translations[:, 1], [[0, 0, 101.0]] * 2, err_msg=rest)


@pytest.mark.parametrize(
    ("data", "said", "line"),
    [
        (b"", "no BVH file", 1),
        (b"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n", "ends before MOTION", None),
        (small().replace(b"OFFSET 0 100 0", b"OFFSET 0 x 0"), "number", 8),
        (small().replace(b"Yposition", b"Ypos"), "channel", 5),
        (small().replace(b"Frames: 2", b"Frames: 9"), "9 frames are declared and 2 follow", 17),
        (small(rows="1 2 3 0 0 0 90 0 0\n1 2 3 0"), "ends within frame 2", None),
        (small(rows="1 2 3 0 0 0 90 0 0\n1 2 3 0 0 0 90 0 zero"), "zero", 20),
        (small(rows="1 2 3 0 0 0 90 0 0\n1 2 3 0 0 nan 90 0 0"), "nan", 20),
        (small(rows="1 2 3 0 0 0 90 0 0\n1 2 3 0 0 1e999 90 0 0"), "1e999", 20),
        (small(frames="Frames: 2\nFrame Time: 0\n"), "cannot be used", 18),
        (small(frames="Frames: -2\nFrame Time: 0.1\n"), "cannot be used", 17),
        (small(frames="Frames: 99999999999\nFrame Time: 0.1\n"), "more than can be read", 17),
        (small(frames=""), "must follow MOTION", None),
        (small(tail=TAIL + "}"), "closes nothing", None),
    ],
)
def test_refusals_name_the_line(data: bytes, said: str, line: int | None) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        read_bvh(data, file="f.bvh")
    assert caught.value.file == "f.bvh"
    assert caught.value.place == f"line {line}" if line else caught.value.place


def test_the_unit_of_a_person_is_guessed_whatever_it_is() -> None:
    for unit in COMMON_UNITS.values():
        for height in (1.45, 1.7, 1.95):
            assert guessed_metres_per_unit(height / unit) == unit
    assert guessed_metres_per_unit(0.0) == 1.0
