"""Emphasis: when it applies, what is refused, and its way through a clip file."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.clip_yaml import read_clip_yaml, write_clip_yaml
from bunraku.motion import Clip, Emphasis, JointCurves


def test_it_applies_from_start_to_end():
    t = np.array([0.0, 2.9, 3.0, 4.0, 5.0, 5.1])
    assert Emphasis("left_hand", 100.0, 3.0, 5.0).active(t).tolist() == [False, False, True, True, True, False]
    assert Emphasis("left_hand", 100.0).active(t).all()


@pytest.mark.parametrize("wrong", [{"weight": -1.0}, {"weight": np.nan}, {"start": 2.0, "end": 1.0}, {"kind": "colour"}])
def test_nonsense_is_refused(wrong):
    with pytest.raises(BadInput, match="emphasis of 'hand'"):
        Emphasis(**{"frame": "hand", "weight": 1.0, **wrong})


def test_a_clip_file_keeps_it():
    parts = (Emphasis("left_hand", 100.0, 3.0, 5.0), Emphasis("glass", 0.05, kind="orientation"))
    clip = Clip("dance", joints=JointCurves(("a",), 50.0, np.zeros((10, 1))), emphasis=parts)
    files = write_clip_yaml(clip, "dance.clip.yaml")
    assert read_clip_yaml(files["dance.clip.yaml"], file="dance.clip.yaml").emphasis == parts
    assert "emphasis" in clip.tracks
    text = (
        "bunraku: clip/1\nname: x\njoints:\n  keys_rad: {a: [[0, 0], [1, 1]]}\n"
        "emphasis: [{frame: left_hand, weight: 100, start_s: 3.0, end_s: 2.0}]\n"
    )
    with pytest.raises(BadInput, match="not after its start"):
        read_clip_yaml(text.encode(), file="x.clip.yaml")
