"""Surfaces in performance files: they come back to 8 micrometres, the bytes repeat, damage is refused, old files are read."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.errors import BadInput
from bunraku.formats.archive import pack, unpack
from bunraku.formats.performance_npz import STEP, read_performance_npz, write_performance_npz
from bunraku.motion import Certificate, Channel, JointCurves, Performance, Provenance, SurfaceMotion
from bunraku.optimization.solution import Status

FACES = np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32)


def performance(surface: SurfaceMotion | None) -> Performance:
    curves = JointCurves(("j",), 50.0, np.zeros((5, 1)))
    return Performance(
        Character(
            name="arm",
            bodies=(Body(name="a", mass=1.0),),
            joints=(Joint(name="j", kind="hinge", parent="world", child="a"),),
            motors=(Motor(name="m", coordinate="j"),),
        ),
        "clip",
        (Channel("j", "position", "rad", 50.0, curves.values[:, 0]),),
        curves,
        curves,
        Certificate(Status.CONVERGED, (), ()),
        Provenance("skin", {}, {}, {}),
        surface=surface,
    )


def walk(frames: int = 30, speed: float = 0.5, rate: float = 25.0) -> SurfaceMotion:
    rng = np.random.default_rng(8)
    t = np.arange(frames)[:, None, None] / rate
    wobble = 0.02 * np.sin(9.0 * t + rng.uniform(0.0, 6.0, (1, 40, 3)))
    return SurfaceMotion(FACES, rate, rng.uniform(-1.0, 1.0, (1, 40, 3)) + wobble + speed * t * np.array([1.0, 0.0, 0.0]))


def test_a_surface_comes_back_and_its_bytes_repeat() -> None:
    before = walk()
    data = write_performance_npz(performance(before))
    again = read_performance_npz(data, file="p")
    assert again.surface is not None
    assert again.surface.rate == 25.0
    np.testing.assert_array_equal(again.surface.faces, FACES)
    assert again.surface.points.dtype == np.float32
    assert np.abs(again.surface.points - before.points).max() <= 0.5 * STEP + 1e-7
    assert write_performance_npz(again) == data


def test_a_surface_that_races_comes_back_in_coarser_steps() -> None:
    before = walk(frames=8, speed=100.0)  # 4 m a frame
    again = read_performance_npz(write_performance_npz(performance(before)), file="p").surface
    assert again is not None
    assert np.abs(again.points - before.points).max() <= 0.5 * 16 * STEP + 1e-5


def test_one_frame_is_a_surface_too() -> None:
    again = read_performance_npz(write_performance_npz(performance(walk(frames=1))), file="p").surface
    assert again is not None
    assert again.points.shape == (1, 40, 3)


def test_a_performance_without_surface_says_nothing_of_it() -> None:
    data = write_performance_npz(performance(None))
    header = json.loads(unpack(data, file="p")["header"].tobytes())
    assert "surface" not in header
    assert read_performance_npz(data, file="p").surface is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda h, a: a.update(surface_faces=a["surface_faces"] + 38), "it has 0 to 39"),
        (lambda h, a: a.update(surface_faces=a["surface_faces"].astype(np.float64)), "a surface has other ones"),
        (lambda h, a: a.update(surface_start=a["surface_start"][:, :2]), "a surface has other ones"),
        (lambda h, a: a.update(surface_changes=a["surface_changes"][:, :30]), "has changes of shape"),
        (lambda h, a: a.update(surface_changes=a["surface_changes"].astype(np.int32)), "a surface has other ones"),
        (lambda h, a: a.update(surface_start=np.full((40, 3), 2**31 - 1, dtype=np.int32)), "farther than"),
        (lambda h, a: a.pop("surface_start"), "missing or not announced"),
        (lambda h, a: h.pop("surface"), "missing or not announced"),
        (lambda h, a: h["surface"].update(step=0), "in steps of 0"),
        (lambda h, a: h["surface"].update(step=1 << 40), "in steps of"),
        (lambda h, a: h["surface"].update(rate_hz=-1.0), "between 0 and 100000"),
        (lambda h, a: h["surface"].update(more=1), "more"),
    ],
)
def test_a_damaged_surface_is_refused(change, said) -> None:
    arrays: dict[str, Any] = dict(unpack(write_performance_npz(performance(walk())), file="p"))
    header = json.loads(arrays.pop("header").tobytes())
    change(header, arrays)
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with pytest.raises(BadInput, match=said):
        read_performance_npz(pack(arrays | {"header": text}), file="p")
