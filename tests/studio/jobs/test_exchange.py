"""Nouns and arrays as files: what arrives is what was sent, and nothing that could be executed is read."""

from __future__ import annotations

import io

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.coupled.known_skins import skin_of
from bunraku.motion import JointCurves
from bunraku.stage.figure.figure import Figure
from bunraku.stage.figure.motion import drawn_curves
from bunraku.studio.jobs.drawn_file import read_drawn, write_drawn
from bunraku.studio.jobs.exchange import read_arrays, read_curves, read_who, write_arrays, write_curves, written


def test_a_skinned_character_is_the_same_without_its_skin_beside_it(tmp_path):
    beetle = read_character("beetle")
    path = written("character", beetle, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["character.character.yaml"]
    found = read_who(path, tmp_path)
    assert found == beetle
    assert np.array_equal(skin_of(found).nodes, skin_of(beetle).nodes)


def test_a_clip_arrives_as_it_was(tmp_path):
    slalom = read_clip("slalom")
    assert read_clip(written("clip", slalom, tmp_path)).gait == slalom.gait


def test_other_arguments_stay_as_they_are(tmp_path):
    assert written("steps", 3, tmp_path) == 3
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("lasting", [True, False])
def test_curves_come_back(tmp_path, lasting):
    curves = JointCurves(("knee", "Fuß"), 60.0, np.random.default_rng(1).normal(size=(7, 2)))
    write_curves(tmp_path / "curves.npz", curves, lasting=lasting)
    found = read_curves(tmp_path / "curves.npz")
    assert found.names == curves.names
    assert found.rate == 60.0
    assert np.array_equal(found.values, curves.values)


def test_pickled_arrays_are_refused(tmp_path):
    evil = io.BytesIO()
    np.savez(evil, names=np.array([{"a": 1}], dtype=object), rate=60.0, values=np.zeros((2, 1)))
    (tmp_path / "evil.npz").write_bytes(evil.getvalue())
    with pytest.raises(BadInput):
        read_curves(tmp_path / "evil.npz")
    with pytest.raises((BadInput, ValueError)):
        write_arrays(tmp_path / "out.npz", {"a": np.array([{"a": 1}], dtype=object)}, compressed=False)
    assert not (tmp_path / "out.npz").exists()


def test_arrays_that_are_no_curves_are_named(tmp_path):
    write_arrays(tmp_path / "a.npz", {"values": np.zeros((2, 1))}, compressed=False)
    assert read_arrays(tmp_path / "a.npz")["values"].shape == (2, 1)
    with pytest.raises(BadInput, match="no joint curves"):
        read_curves(tmp_path / "a.npz")


def test_what_is_drawn_comes_back(tmp_path):
    puppet = read_character("marionette")
    names = puppet.coordinates[:3]
    drawn = drawn_curves(puppet, JointCurves(names, 30.0, 0.1 * np.random.default_rng(2).normal(size=(5, 3))))
    write_drawn(tmp_path / "a.drawn.npz", drawn)
    found = read_drawn(tmp_path / "a.drawn.npz", Figure(puppet))
    for name in ("times", "strings", "com", "frames", "lower", "upper"):
        assert np.array_equal(getattr(found, name), getattr(drawn, name))
        assert getattr(found, name).dtype == getattr(drawn, name).dtype
    assert list(found.placed) == list(drawn.placed)
    for kind, placed in drawn.placed.items():
        assert np.array_equal(found.placed[kind].wxyz, placed.wxyz)
        assert np.array_equal(found.placed[kind].positions, placed.positions)
    assert found.names == drawn.names
    assert found.notes == drawn.notes
    write_arrays(tmp_path / "b.npz", {"times": np.zeros(2)})
    with pytest.raises(BadInput, match="missing"):
        read_drawn(tmp_path / "b.npz", Figure(puppet))
