"""``bunraku inspect`` of clips that say how to go."""

from __future__ import annotations

import json

import pytest

from bunraku.cli.main import _run


@pytest.mark.parametrize(
    ("clip", "lines"),
    [
        (
            "slalom",
            [
                "roll, 3 cycles of 1.6 s",
                "goal: x 1.07 m, y 0 m, turn 0 deg per cycle",
                "target of com at 0.4 s: y 0.08 m, weight 500",
                "target of com at 1.2 s: y -0.08 m, weight 500",
            ],
        ),
        (
            "step-up",
            [
                "crawl, once in 6.6 s with 5 cycles of footfalls from rest to rest",
                "goal: x 0.5 m, y 0 m, turn 0 deg",
                "terrain: heights from 0 to 0.015 m, 0.02 m apart",
                "friction: 0.5",
            ],
        ),
        ("swizzle-turn", ["roll, 3 cycles of 1.2 s", "goal: turn 20 deg per cycle"]),
    ],
)
def test_the_track_is_said_in_words(capsys, clip, lines):
    assert _run(["inspect", clip, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["tracks"] == "gait"
    assert facts["gait"] == lines
