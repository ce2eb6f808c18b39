"""Tables and lists: checks, worst moments, outline, history."""

from __future__ import annotations

import math

from bunraku.formats.registry import read_character
from bunraku.motion import Check
from bunraku.studio.widgets.checks import checks_table, moments_table
from bunraku.studio.widgets.outline import history, outline
from bunraku.verification.moments import WorstMoment

CHECKS = (
    Check("range excess", 0.0, "rad", 1e-9),
    Check("velocity excess", 0.4, "rad/s", 1e-9, note="knee at 1.230 s"),
    Check("balance margin", 0.02, "m", 0.0, at_least=True, note="nearest to tipping at 0.190 s"),
    Check("rms deviation from the wish", 0.1, "rad"),
    Check("replay", math.nan, "", 0.0),
)


def test_every_check_says_in_words_whether_it_holds_and_the_broken_come_first(read):
    seen = read(checks_table(CHECKS, "certificate"))
    rows = [" ".join(part.strip() for part in row.itertext()) for row in seen.named("tr")]
    assert "1 of 4 promises does not hold, 1 not checked" in seen.words
    assert [row.split(" ")[0] for row in rows] == ["velocity", "replay", "range", "balance", "rms"]
    assert "fails" in rows[0]
    assert "not checked" in rows[1]
    assert "holds" in rows[2]
    assert "≥ 0" in rows[3]
    assert "info" in rows[4]
    assert "holds" not in rows[4]


def test_a_row_with_a_time_jumps_there(read):
    seen = read(checks_table(CHECKS))
    assert [row.get("data-t") for row in seen.named("tr")] == ["1.2300", None, None, "0.1900", None]
    assert len(seen.sending("time.jump")) == 2
    moments = (
        WorstMoment("velocity", "knee", 1.5, 3.0, "rad/s", 4.0),
        WorstMoment("range margin", "hip", 0.25, -0.1, "rad", 0.0, at_least=True),
    )
    rows = read(moments_table(moments)).named("tr")
    assert [row.get("data-t") for row in rows] == ["0.2500", "1.5000"]
    assert "fails" in " ".join(rows[0].itertext())


def test_nothing_promised_and_much_promised(read):
    assert "run the performer" in read(checks_table(())).words
    assert "No limit" in read(moments_table(())).words
    many = read(checks_table(tuple(Check(f"c{k}", 0.0, "", 1.0, note="x" * 100) for k in range(300))))
    assert "and 240 more" in many.words
    assert "300 promises hold" in many.words


def test_the_outline_names_every_part_once(read):
    walker = read_character("walker")
    seen = read(outline(walker, ("joint", "LF.hip")))
    for kind, names in (
        ("body", [body.name for body in walker.bodies]),
        ("joint", [joint.name for joint in walker.joints if joint.kind != "fixed"]),
    ):
        assert sorted(one.get("data-name", "") for one in seen.sending("select", kind=kind)) == sorted(names)
    (chosen,) = seen.sending("select", kind="joint", name="LF.hip")
    assert chosen.get("class") == "here"
    assert "No character" in read(outline(None)).words


def test_a_large_character_is_cut_and_says_so(read):
    hand = read_character("nao")
    more = hand.bodies[-1].name
    bodies = (*hand.bodies, *(hand.bodies[-1].changed(name=f"{more}{k}") for k in range(300)))
    joint = hand.joints[-1]
    joints = (*hand.joints, *(joint.changed(name=f"{joint.name}{k}", child=f"{more}{k}", kind="hinge") for k in range(300)))
    seen = read(outline(hand.changed(bodies=bodies, joints=joints)))
    shown = len(seen.sending("select", kind="body"))
    assert shown <= 250
    assert f"and {len(bodies) - shown} bodies more" in seen.words


def test_the_history_jumps_to_any_state(read):
    seen = read(history(["Opened walker", "Muted <b>hip</b>", "Moved a key"], 2))
    lines = seen.sending("history.jump")
    assert [line.get("data-index") for line in lines] == ["3", "2", "1", "0"]
    assert [line.get("class") for line in lines] == ["gone", "here", None, None]
    assert "Muted <b>hip</b>" in seen.words
    assert "earlier ones" in read(history([f"edit {k}" for k in range(2000)], 2000)).words


def test_texts_stay_texts(read, hostile):
    moment = WorstMoment(hostile, hostile, 1.0, 1.0, hostile, None)
    for text in (
        checks_table((Check(hostile, 1.0, hostile, 0.0, note=hostile),), hostile),
        moments_table((moment,)),
        history([hostile], 1),
        outline(read_character("walker").changed(name="<script>x</script>")),
    ):
        seen = read(text)
        assert not seen.named("script")
        assert not seen.named("img")
