import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.clip_file import ModesTrack
from bunraku.formats.clip_yaml import read_clip_yaml
from bunraku.formats.registry import read_clip, write_clip

SHOW = """bunraku: clip/1
name: show
modes:
  duration_s: 6
  sequence:
  - {primitive: puppet-walk, start_s: 0}
  - {primitive: nod, start_s: 3}
  primitives:
  - name: nod
    rate_hz: 20
    joints: {keys_deg: {base.ry: [[0, 0], [0.5, 10], [1, 0]]}}
    stroke_s: 0.5
  accents:
  - {time_s: 4.0, primitive: nod}
  - {time_s: 900 , primitive: puppet-walk, moment_s: 0.5}
"""
GOOD = SHOW.replace("time_s: 900 ", "time_ms: 900")


def test_a_choreography_is_read_with_its_primitives():
    show = read_clip_yaml(GOOD.encode(), file="show.clip.yaml").modes
    assert [(mode.primitive, mode.start) for mode in show.modes] == [("puppet-walk", 0.0), ("nod", 3.0)]
    assert show.primitive("puppet-walk").built_in
    nod = show.primitive("nod")
    assert nod.curves.column("base.ry")[10] == pytest.approx(np.radians(10.0))
    assert [show.moment(accent) for accent in show.accents] == [0.5, 0.5]
    assert show.accents[1].time == pytest.approx(0.9)


def test_what_is_written_is_read_again_the_same(tmp_path):
    clip = read_clip_yaml(GOOD.encode(), file="show.clip.yaml")
    write_clip(tmp_path / "again.clip.yaml", clip)
    again = read_clip(tmp_path / "again.clip.yaml")
    one, two = clip.modes, again.modes
    assert (two.duration, two.modes, two.accents) == (one.duration, one.modes, one.accents)
    for a, b in zip(one.primitives, two.primitives, strict=True):
        assert (a.name, a.stroke, a.built_in, a.curves.names, a.curves.rate) == (
            b.name,
            b.stroke,
            b.built_in,
            b.curves.names,
            b.curves.rate,
        )
        np.testing.assert_array_equal(a.curves.values, b.curves.values)
    write_clip(tmp_path / "third.clip.yaml", again)
    assert (tmp_path / "third.clip.yaml").read_bytes() == (tmp_path / "again.clip.yaml").read_bytes()


def test_a_primitive_may_lie_in_a_file_beside(tmp_path):
    write_clip(tmp_path / "mine.clip.yaml", read_clip("puppet-bow"))
    own = "  primitives:\n  - {name: nod, file: mine.clip.yaml}\n  accents:"
    head, tail = GOOD.split("  primitives:")[0], GOOD.split("  accents:")[1].replace("time_s: 4.0", "time_s: 4.5")
    (tmp_path / "show.clip.yaml").write_text(head + own + tail)
    show = read_clip(tmp_path / "show.clip.yaml").modes
    np.testing.assert_array_equal(show.primitive("nod").curves.values, read_clip("puppet-bow").joints.values)
    assert show.primitive("nod").stroke == read_clip("puppet-bow").phrases[0].stroke
    assert not show.primitive("nod").built_in


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("primitive: puppet-walk, start_s: 0", "primitive: puppet-wolk, start_s: 0", 6, "did you mean puppet-walk"),
        ("primitive: puppet-walk, start_s: 0", "primitive: puppet-walk, start_s: 1", 6, "begins with it at 0"),
        ("start_s: 3", "start_s: 0", 7, "starts must rise"),
        ("start_s: 3", "start_s: 7", 7, "outside the show"),
        ("start_s: 3", "start_s: .nan", 7, "finite"),
        ("start_s: 3", "start: 3", 7, "start_s"),
        ("stroke_s: 0.5", "stroke_s: 5", 9, "stroke"),
        ("time_s: 4.0", "time_s: 40", 14, "outside the show"),
        ("primitive: nod}", "primitive: nod, moment_s: 3}", 14, "lasts from 0 to 1 s"),
        ("primitive: nod}", "primitive: nod, width_s: 0}", 14, "greater than 0"),
        ("primitive: nod}", "primitive: nod, coordinates: [l_knee]}", 14, "does not move"),
        ("primitive: nod}", "primitive: no-problem, moment_s: 99}", 14, "lasts from"),
        ("rate_hz: 20", "file: a.csv", 9, "either a file or joints"),
        ("duration_s: 6", "duration_s: -1", 4, "greater than 0"),
        ("duration_s: 6", "duration_s: 6\n  beat: 3", 5, "beat"),
    ],
)
def test_bad_entries_are_refused_with_their_line(old, new, line, words):
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    with pytest.raises(BadInput, match=words) as caught:
        read_clip_yaml(text.encode(), file="show.clip.yaml")
    assert f"show.clip.yaml, line {line}" in str(caught.value), str(caught.value)


def test_an_empty_sequence_is_refused_with_its_line_and_in_the_schema():
    text = GOOD.split("  sequence:")[0] + "  sequence: []\n"
    with pytest.raises(BadInput, match="the sequence is empty; list at least one primitive") as caught:
        read_clip_yaml(text.encode(), file="show.clip.yaml")
    assert "show.clip.yaml, line 5, modes.sequence" in str(caught.value), str(caught.value)
    assert "Tuple" not in str(caught.value)
    assert ModesTrack.model_json_schema()["properties"]["sequence"]["minItems"] == 1


def test_a_choreography_is_no_primitive(tmp_path):
    (tmp_path / "inner.clip.yaml").write_text(GOOD)
    (tmp_path / "show.clip.yaml").write_text(
        GOOD.split("  primitives:")[0] + "  primitives:\n  - {name: nod, file: inner.clip.yaml}\n"
    )
    with pytest.raises(BadInput, match="itself a choreography"):
        read_clip(tmp_path / "show.clip.yaml")
    with pytest.raises(BadInput, match="no joint curves"):
        read_clip_yaml(GOOD.replace("puppet-walk", "marionette-show").encode(), file="x")
