"""Skins in files: the same mesh back, the same bytes, and what is no skin refused by name."""

import dataclasses

import numpy as np
import pytest

from bunraku.character import SkinMesh
from bunraku.errors import BadInput
from bunraku.formats.archive import pack
from bunraku.formats.registry import read_character
from bunraku.formats.skin_file import read_skin, skin_bytes
from bunraku.mechanics.coupled.known_skins import skin_of


@pytest.fixture(scope="module")
def mesh():
    return skin_of(read_character("beetle-quick"))


def test_round_trip(mesh):
    data = skin_bytes(mesh)
    again = read_skin(data, file="a.skin.npz")
    for field in dataclasses.fields(SkinMesh):
        assert np.array_equal(getattr(again, field.name), getattr(mesh, field.name))
    assert skin_bytes(again) == data


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"glue_node": [-1], "glue_body": [0]}, "name nodes"),
        ({"glue_node": [1, 1], "glue_body": [0, 0]}, "twice"),
        ({"glue_node": [1], "glue_body": [99]}, "bodies"),
        ({"sole_node": [1], "sole_patch": [0], "glue_node": [1], "glue_body": [0]}, "glued and part of a sole"),
        ({"nodes": np.full((5, 3), np.nan)}, "no numbers"),
        ({"cells": np.zeros((3, 4), dtype=int)}, r"\(m, 10\)"),
        ({"region": [0]}, "region"),
    ],
)
def test_a_skin_that_does_not_fit_together_is_refused(mesh, changes, said):
    with pytest.raises(BadInput, match=said):
        dataclasses.replace(mesh, **changes)


def test_what_is_no_skin_is_refused():
    with pytest.raises(BadInput, match="lacks the array 'nodes'"):
        read_skin(pack({"something": np.zeros(3)}), file="b.skin.npz")


def test_a_character_without_skin_has_none():
    with pytest.raises(BadInput, match="has no skin"):
        skin_of(read_character("walker"))
