"""What a notebook shows of characters, clips, performances, certificates and verdicts: small tables, text escaped."""

from __future__ import annotations

from math import nan
from xml.etree import ElementTree

import numpy as np

from bunraku.character import Body, Character, Joint, Motor
from bunraku.motion import Certificate, Channel, Check, Clip, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.verification.verify import verify

CHECKS = (
    Check("kept", 0.5, "rad", 1.0),
    Check("information", 3.0),
    Check("open", nan, threshold=0.0, note="add <limits> & retry"),
    Check("lost", 2.0, "m", 1.0),
)


def rows(shown: object) -> list[list[str]]:
    """The caption and the cells of what a notebook would show; it is well-formed."""
    table = ElementTree.fromstring(shown._repr_html_())
    return [[table.findtext("caption") or ""], *([cell.text or "" for cell in row] for row in table.findall("tr"))]


def arm() -> Character:
    return Character(
        name="<arm>",
        bodies=(Body(name="link", mass=0.1, inertia=(1e-4, 1e-4, 1e-4, 0, 0, 0)),),
        joints=(Joint(name="turn", kind="hinge", parent="world", child="link", axis=(0, 1, 0)),),
        motors=(Motor(name="turn", coordinate="turn"),),
    )


def still() -> Performance:
    curves = JointCurves(("turn",), 100.0, np.zeros((101, 1)))
    channels = (Channel("turn", "position", "rad", 100.0, np.zeros(101)),)
    return Performance(
        arm(), "a & b", channels, curves, curves, Certificate(Status.CONVERGED, CHECKS), Provenance("test", {}, {}, {})
    )


def test_characters_and_clips_say_what_they_are_made_of() -> None:
    assert rows(arm()) == [["Character '<arm>'"], ["bodies", "1"], ["joints", "1"], ["motors", "1"]]
    clip = Clip("<nod>", joints=JointCurves(("turn",), 100.0, np.zeros((101, 1))))
    assert rows(clip) == [["Clip '<nod>'"], ["tracks", "joints"], ["length", "1 s"]]


def test_certificates_show_their_promises_what_is_wrong_first() -> None:
    caption, *cells = rows(still().certificate)
    assert caption == [f"Certificate: {Status.CONVERGED.sentence}"]
    assert [cell[:2] for cell in cells] == [["broken", "lost"], ["not checked", "open"], ["holds", "kept"]]
    assert "add <limits> & retry" in cells[1][4]
    assert cells[0][2:4] == ["2 m", "\u2264 1"]


def test_performances_and_verdicts_are_a_table_each() -> None:
    performance = still()
    shown = dict(rows(performance)[1:])
    assert (shown["clip"], shown["character"], shown["channels"]) == ("a & b", "<arm>", "1 at 100 Hz")
    assert shown["promises"].startswith("1 promises hold, 1 are broken, 1 were not checked")
    verdict = verify(performance, replay=False)
    caption, *cells = rows(verdict)
    assert caption == [verdict.sentence]
    assert {name for state, name, *_ in cells if state == "broken"} == {c.name for c in verdict.checks if c.state == "broken"}
