"""A performance holds together: channels, wish and motion name, sample and order the same."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.errors import BadInput
from bunraku.motion import Certificate, Channel, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status

VALUES = np.arange(12.0).reshape(6, 2) / 10
CHANNELS = tuple(Channel(name, "position", "rad", 50.0, VALUES[:, j]) for j, name in enumerate("ab"))


def performance(**parts: object) -> Performance:
    robot = Character(
        name="c",
        bodies=(Body(name="a"), Body(name="b")),
        joints=(
            Joint(name="a", kind="hinge", parent="world", child="a"),
            Joint(name="b", kind="hinge", parent="a", child="b"),
        ),
        motors=(Motor(name="a", coordinate="a"), Motor(name="b", coordinate="b")),
    )
    curves = JointCurves(("a", "b"), 50.0, VALUES)
    fields = {
        "character": robot,
        "clip_name": "clip",
        "channels": CHANNELS,
        "wish": curves,
        "motion": curves,
        "certificate": Certificate(Status.CONVERGED, ()),
        "provenance": Provenance("test", {}, {}, {}),
    }
    return Performance(**(fields | parts))  # type: ignore[arg-type]


def test_one_that_fits_gives_its_positions() -> None:
    np.testing.assert_array_equal(performance().positions().values, VALUES)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"wish": JointCurves(("b", "a"), 50.0, VALUES)}, "the wish is for b, a, the position channels are a, b"),
        ({"wish": JointCurves(("a",), 50.0, VALUES[:, :1])}, "the wish is for a, the"),
        ({"wish": JointCurves(("a", "b"), 25.0, VALUES)}, "the wish has 6 samples at 25 Hz"),
        ({"wish": JointCurves(("a", "b"), 50.0, VALUES[:4])}, "the wish has 4 samples at 50 Hz"),
        ({"motion": JointCurves(("a", "b"), 50.0, VALUES[:4])}, "the motion has 4 samples"),
        ({"channels": CHANNELS[:1] * 2}, "drive 'a'"),
        ({"channels": (CHANNELS[0], Channel("b", "position", "rad", 50.0, VALUES[:3, 1]))}, "'b' has 3 samples"),
    ],
)
def test_what_does_not_fit_is_refused(parts: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        performance(**parts)
