"""Beginning a clip, keys placed by hand, and the performer after something else was opened: without a browser."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from bunraku.assets.examples import DEMOS
from bunraku.editing.keys import keys_of
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character, read_clip
from bunraku.motion import Clip, JointCurves
from bunraku.studio.document import EMPTY, Document
from bunraku.studio.edits.registry import Edit, apply
from bunraku.studio.page.gallery import GROUPS
from bunraku.studio.page.going import held_joints
from bunraku.studio.page.placed_keys import MOST, PlacedKeys
from bunraku.studio.project import Project
from bunraku.studio.widgets.curves import curves_view


def made(*edits: tuple[str, dict[str, object]], start: Document = EMPTY) -> Document:
    document = start
    for name, arguments in edits:
        document = apply(document, Edit(name, arguments))
    return document


CART = (
    ("open.blank", {}),
    ("component.add", {"socket": "body left front", "component": "Dynamixel XM430-W210", "dimensions": {}}),
    ("component.add", {"socket": "left motor 1 horn", "component": "driven wheel 60 mm", "dimensions": {}}),
)


def test_a_new_character_on_wheels_gets_a_gait() -> None:
    document = made(*CART, ("clip.begin", {"kind": "gait"}))
    assert document.clip is not None
    gait = document.clip.gait
    assert gait is not None
    assert gait.pattern == "roll"
    assert gait.distance is not None
    assert gait.distance[0] > 0.01


def test_examples_are_those_of_the_gallery() -> None:
    with pytest.raises(BadInput, match=r"'hand' is no example of the studio, but bunraku demo hand shows it; there are ") as error:
        made(("open.example", {"name": "hand"}))
    opened = str(error.value).partition("there are ")[2].split(", ")
    shown = [name for name, one in DEMOS.items() if one.character and one.performer.split("+")[-1] in GROUPS.values()]
    assert opened == shown


def test_curves_are_begun_at_home() -> None:
    document = made(("open.example", {"name": "speech"}), ("clip.begin", {"kind": "curves", "duration": 2.5}))
    who, clip = document.need_character(), document.need_clip()
    assert clip.joints is not None
    assert clip.joints.names == who.driven
    assert clip.duration == pytest.approx(2.5)
    assert np.array_equal(clip.joints.values, np.tile([who.home.get(name, 0.0) for name in who.driven], (251, 1)))
    assert clip.audio is None
    puppet = made(("open.example", {"name": "marionette"}), ("clip.begin", {"kind": "curves"}))
    assert puppet.need_clip().need_joints("here").names == puppet.need_character().coordinates


def test_what_cannot_be_begun_is_refused_in_words() -> None:
    speaker = made(("open.example", {"name": "speech"}))
    for arguments, words in (
        ({"kind": "gait"}, "feet or wheels"),
        ({"kind": "song"}, "gait or curves"),
        ({"kind": "curves", "duration": 1e9}, "0.1 to 600"),
        ({"kind": "curves", "duration": -1.0}, "0.1 to 600"),
    ):
        with pytest.raises(BadInput, match=words):
            apply(speaker, Edit("clip.begin", arguments))
    with pytest.raises(BadInput, match="no character"):
        made(("clip.begin", {"kind": "curves"}))
    with pytest.raises(BadInput, match="add a motor"):
        apply(EMPTY.changed(base=made(("open.blank", {"base": "fixed"})).base), Edit("clip.begin", {"kind": "curves"}))


def test_a_performer_that_cannot_is_left_behind(tmp_path: Path) -> None:
    walker = made(("open.example", {"name": "swizzlebot"}))
    assert walker.performer == "locomotion"
    begun = apply(walker, Edit("clip.begin", {"kind": "curves"}))
    assert (begun.performer, dict(begun.options)) == ("", {})
    other = made(("open.character", {"source": "nao"}), ("open.clip", {"source": "not-done-yet"}), start=walker)
    assert other.performer == ""
    same = apply(walker, Edit("open.clip", {"source": "swizzle"}))
    assert same.performer == "locomotion"  # what still suits was chosen, and stays
    Project(tmp_path).save(same)
    assert Project(tmp_path).load() == same.changed(sources=Project(tmp_path).load().sources)


def curves(values: object) -> JointCurves:
    return JointCurves(("HeadYaw",), 100.0, np.asarray(values, dtype=np.float64)[:, None])


def test_a_placed_key_can_be_dragged_and_stays() -> None:
    flat = curves(np.zeros(401))
    document = EMPTY.changed(base=read_character("nao"), clip=Clip("flat", joints=flat))
    assert keys_of(flat, "HeadYaw").samples == (0, 400)
    placed = PlacedKeys()
    placed.follow(document.need_clip())
    placed.place("HeadYaw", 200)
    keys = placed.on(flat, "HeadYaw")
    assert keys.samples == (0, 200, 400)
    edit = Edit("keys.move", {"joint": "HeadYaw", "key": 1, "time": 2.5, "value": 0.4, "keys": list(keys.samples)})
    moved = apply(document, edit).need_clip()
    assert moved.joints is not None
    assert moved.joints.column("HeadYaw")[250] == pytest.approx(0.4)
    assert moved.joints.column("HeadYaw").argmax() == 250
    placed.move("HeadYaw", keys, 1, 2.5)
    placed.follow(moved)
    assert 250 in placed.on(moved.joints, "HeadYaw").samples
    assert 200 not in placed._samples["HeadYaw"]
    placed.remove("HeadYaw", 250)
    assert placed.on(flat, "HeadYaw").samples == (0, 400)


def test_placed_keys_are_bounded_rising_and_of_one_clip() -> None:
    flat = curves(np.zeros(401))
    placed = PlacedKeys()
    placed.follow(Clip("one", joints=flat))
    for sample in (5, *range(400, 300, -1)):
        placed.place("HeadYaw", sample)
    samples = placed.on(flat, "HeadYaw").samples
    assert len(samples) <= MOST + 2
    assert all(a < b for a, b in pairwise(samples))
    placed.follow(Clip("one", joints=curves(np.zeros(300))))
    assert placed.on(curves(np.zeros(300)), "HeadYaw").samples == (0, 299)


def test_keys_that_are_none_are_refused() -> None:
    document = EMPTY.changed(base=read_character("nao"), clip=Clip("flat", joints=curves(np.zeros(401))))
    for keys in ([0, 200], [200, 100, 400], [0], [1, 400]):
        for edit in ("keys.move", "keys.remove"):
            more = {"time": 1.0, "value": 0.1} if edit == "keys.move" else {}
            with pytest.raises(BadInput, match="keys"):
                apply(document, Edit(edit, {"joint": "HeadYaw", "key": 1, "keys": keys, **more}))


def test_a_curve_that_stands_still_has_room_for_its_keys() -> None:
    row = curves_view(read_character("nao"), curves(np.zeros(401)), ("HeadYaw",)).rows[0]
    assert row.low < -0.5 < 0.5 < row.high
    moving = curves_view(read_character("nao"), curves(np.linspace(0.0, 0.1, 401)), ("HeadYaw",)).rows[0]
    assert moving.high - moving.low < 0.2


def test_joints_that_a_gait_holds_are_pressed() -> None:
    document = made(("open.example", {"name": "agilebot-slalom"}), ("joint.lock", {"joint": "LF.knee"}))
    gait = document.need_clip().gait
    assert gait is not None
    text = held_joints(document.need_character(), gait)
    assert text.count('data-click="joint.lock"') == 16  # four joints a leg; the wheels have to turn
    assert 'aria-pressed="true" data-click="joint.lock" data-joint="LF.knee"' in text
    assert text.count('aria-pressed="true"') == 1
    assert "axle" not in text


def test_names_of_joints_stay_names() -> None:
    who = read_character("swizzlebot")
    odd = '"><script>x</script>'
    motor = who.motors[0]
    joints = tuple(j.changed(name=odd) if j.name == motor.coordinate else j for j in who.joints)
    strange = who.changed(joints=joints, motors=(motor.changed(coordinate=odd), *who.motors[1:]), home={}, groups={})
    gait = read_clip("swizzle").gait
    assert gait is not None
    text = held_joints(strange, gait)
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
