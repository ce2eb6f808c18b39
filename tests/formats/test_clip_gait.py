"""The gait track of clip files: read, written, refused with its line, and in the schema."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.clip_yaml import read_clip_yaml
from bunraku.formats.registry import read_clip, write_clip
from bunraku.formats.schema import json_schema
from bunraku.formats.yaml_file import load_yaml
from bunraku.motion import Clip, Gait, Swing, Target
from bunraku.motion.terrain import HeightField

ONCE = """bunraku: clip/1
name: over
gait:
  duration_ms: 3000
  pattern: custom
  periodic: false
  distance_cm: [60, null]
  turn_deg: 20
  swing_height_mm: 20
  swings:
    rf: [0.5, 0.6]
    lf: [[0.1, 0.2], [0.7, 0.8]]
  friction: 0.6
  locked: [neck]
  samples: 37
  targets:
  - {time_s: 1.5, what: com, place_m: [0.05, 0.1, null], weight: 500}
  terrain: {kind: step, height_mm: 15, at_m: 0.3}
"""
CYCLE = """bunraku: clip/1
name: walk
gait: {duration_s: 0.8, pattern: crawl, cycles: 4, distance_m: 0.1, turn_deg: 0, symmetric: true}
"""


def read(text):
    return read_clip_yaml(text.encode(), file="a.clip.yaml")


def test_a_motion_that_happens_once_is_read():
    clip = read(ONCE)
    assert clip.tracks == ("gait",)
    assert clip.duration == 3.0
    assert clip.gait == Gait(
        3.0,
        "custom",
        periodic=False,
        distance=(0.6, None),
        turn=20.0 * math.pi / 180.0,
        swings=(Swing("lf", 0.1, 0.2), Swing("rf", 0.5, 0.6), Swing("lf", 0.7, 0.8)),
        friction=0.6,
        locked=("neck",),
        samples=37,
        targets=(Target(1.5, "com", (0.05, 0.1, None), 500.0),),
        terrain=HeightField.step(0.015, at=0.3),
    )


def test_a_number_goes_straight_on():
    gait = read(CYCLE).gait
    assert gait == Gait(0.8, "crawl", cycles=4, distance=(0.1, 0.0), turn=0.0, symmetric=True)


@pytest.mark.parametrize(
    "text", [ONCE, CYCLE, ONCE.replace("kind: step, height_mm: 15, at_m: 0.3", "kind: slope, angle_deg: 10, length_m: 0.4")]
)
def test_what_is_written_is_read_again_the_same(tmp_path, text):
    clip = read(text)
    write_clip(tmp_path / "again.clip.yaml", clip)
    again = read_clip(tmp_path / "again.clip.yaml")
    assert again.gait == clip.gait
    write_clip(tmp_path / "third.clip.yaml", again)
    assert (tmp_path / "third.clip.yaml").read_bytes() == (tmp_path / "again.clip.yaml").read_bytes()


def test_any_gait_survives_its_file(tmp_path):
    rng = np.random.default_rng(8)
    for k in range(12):
        swings = sorted(
            (Swing(f"e{j}", s, s + 0.1) for j, s in enumerate(rng.uniform(0.0, 0.89, k % 4))), key=lambda one: one.start
        )
        terrain = HeightField(tuple(rng.normal(size=2)), rng.uniform(0.1, 1.0), rng.normal(size=(3, 4))) if k % 3 == 0 else None
        gait = Gait(
            rng.uniform(0.1, 9.0),
            "custom" if swings else "trot",
            periodic=terrain is None,
            cycles=int(rng.integers(1, 9)),
            distance=((rng.normal(), None), (None, rng.normal()), None)[k % 3],
            turn=(rng.normal(), None)[k % 2],
            swings=tuple(swings),
            swing_height=rng.uniform(0.01, 0.1),
            start=("rest", "free")[k % 2],
            end=("free", "rest")[k % 2],
            targets=(Target(0.0, "base", (rng.normal(), None, rng.normal())),) * (k % 3),
            terrain=terrain,
        )
        write_clip(tmp_path / "a.clip.yaml", Clip("a", gait=gait))
        assert read_clip(tmp_path / "a.clip.yaml").gait == gait


def test_slopes_and_grids_are_the_same_ground():
    text = ONCE.replace(
        "{kind: step, height_mm: 15, at_m: 0.3}", "{kind: slope, angle_deg: 10, start_m: 0.1, length_m: 0.4, spacing_cm: 5}"
    )
    slope = HeightField.slope(math.radians(10.0), start=0.1, length=0.4, spacing=0.05)
    assert read(text).gait.terrain == slope
    kerb = ONCE.replace("at_m: 0.3}", "at_m: 0.3, length_m: 0.2}")
    assert read(kerb).gait.terrain == HeightField.step(0.015, at=0.3, length=0.2)
    grid = ONCE.replace(
        "{kind: step, height_mm: 15, at_m: 0.3}", "{kind: grid, spacing_m: 0.5, heights_cm: [[0, 0, 0], [1, 1, 1], [1, 1, 1]]}"
    )
    assert read(grid).gait.terrain.height(9.0, 0.0) == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("duration_ms: 3000", "duration_ms: 0", 4, "greater than 0"),
        ("duration_ms: 3000", "duration: 3", 4, "duration_s"),
        ("rf: [0.5, 0.6]", "rf: [0.6, 0.5]", 11, "it starts in"),
        ("rf: [0.5, 0.6]", "rf: [0.5, 1.6]", 11, "at most one cycle"),
        ("pattern: custom", "pattern: trot", 3, "swings go with the pattern 'custom'"),
        ("periodic: false", "periodic: true", 3, "on terrain give a motion that happens once"),
        ("time_s: 1.5", "time_s: 3.5", 17, "lies outside the gait of 3 s"),
        ("place_m: [0.05, 0.1, null]", "place_m: [0.05, 0.1]", 17, "place"),
        ("weight: 500", "weight: -1", 17, "greater than or equal to 0"),
        ("height_mm: 15, ", "", 18, "a step needs height and at; height is missing"),
        ("height_mm: 15, ", "height_mm: 15, angle_deg: 3, ", 18, "a step has no angle"),
        ("{kind: step, height_mm: 15, at_m: 0.3}", "{kind: grid, spacing_m: 1, heights_m: [[0, 0], [0, 0]]}", 18, "3 by 3"),
        ("{kind: step, height_mm: 15, at_m: 0.3}", "{kind: grid, spacing_m: 1, heights_m: [[0, 0], [0]]}", 18, "different lengths"),
        ("{kind: step, height_mm: 15, at_m: 0.3}", "{kind: slope, angle_deg: 89, length_m: 1}", 18, "less than 1.5"),
        ("samples: 37", "samples: 3", 3, "give 6 to 20000"),
        ("friction: 0.6", "friction: 0", 13, "greater than 0"),
        ("friction: 0.6", "speed: 3", 13, "speed"),
    ],
)
def test_bad_entries_are_refused_with_their_line(old, new, line, words):
    text = ONCE.replace(old, new, 1)
    assert text != ONCE
    with pytest.raises(BadInput, match=words) as caught:
        read(text)
    assert f"a.clip.yaml, line {line}" in str(caught.value), str(caught.value)


def test_the_schema_knows_the_track():
    jsonschema = pytest.importorskip("jsonschema")
    check = jsonschema.Draft202012Validator(json_schema("clip"))
    for good in (ONCE, CYCLE):
        assert check.is_valid(load_yaml(good.encode(), file="f")[0])
    for old, new in (
        ("duration_ms: 3000", "duration: 3"),
        ("kind: step", "kind: hole"),
        ("place_m", "places_m"),
        ("lf: [[0.1", "lf: [[a"),
    ):
        assert not check.is_valid(load_yaml(ONCE.replace(old, new).encode(), file="f")[0]), new
