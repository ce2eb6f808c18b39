"""Feedback: what it computes, and what does not fit together."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import Feedback

RNG = np.random.default_rng(0)
PARTS = {
    "rate": 100.0,
    "coordinates": ("a", "b", "k"),
    "momenta": ("a", "b"),
    "inputs": ("u", "k"),
    "states": RNG.normal(size=(6, 5)),
    "commands": RNG.normal(size=(5, 2)),
    "gains": RNG.normal(size=(5, 2, 5)),
}


def test_on_the_plan_the_command_is_the_plan_s_and_off_it_it_is_linear() -> None:
    feedback = Feedback(**PARTS)
    dx = RNG.normal(size=5)
    np.testing.assert_array_equal(feedback.command(3, feedback.states[3]), feedback.commands[3])
    off = feedback.command(3, feedback.states[3] + dx) - feedback.commands[3]
    np.testing.assert_allclose(off, -PARTS["gains"][3] @ dx, rtol=1e-12)
    assert feedback.steps == 5
    with pytest.raises(ValueError, match="read-only"):
        feedback.gains[0, 0, 0] = 1.0


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"coordinates": ("a", "a", "k")}, "'a' twice among its coordinates"),
        ({"momenta": ("a", "c")}, "momentum of 'c'"),
        ({"inputs": (), "commands": np.zeros((5, 0)), "gains": np.zeros((5, 0, 5))}, "corrects no input"),
        ({"rate": 0.0}, "rate 0"),
        ({"states": np.zeros((6, 4))}, "states has shape"),
        ({"states": np.zeros((1, 5))}, "at least 2"),
        ({"commands": np.zeros((6, 2))}, "commands has shape"),
        ({"gains": np.zeros((5, 5, 2))}, "gains has shape"),
        ({"gains": np.full((5, 2, 5), np.inf)}, "finite"),
    ],
)
def test_what_does_not_fit_is_refused(parts: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Feedback(**(PARTS | parts))  # type: ignore[arg-type]
