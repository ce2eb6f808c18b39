"""A performer written by following the guide of `Performer`: through every door, with certificate, flags and widgets."""

from __future__ import annotations

import dataclasses
import typing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

import numpy as np
import pytest

import bunraku
from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.cli.main import _run
from bunraku.motion import Certificate, Clip, JointCurves
from bunraku.optimization.monitor import Monitor
from bunraku.performers.certify import certify
from bunraku.performers.fit import REGISTRY, Fit, Suitability
from bunraku.performers.performer import Memory, Performer, Task, Uncertified, option
from bunraku.performers.servo import play_servos
from bunraku.rhythm.resample import resampled

MINE = Fit(
    "mine",
    f"{__name__}:MeanPerformer",
    lambda character, clip: Suitability(0.3 if character.motors and clip.joints else 0.0, "a running mean suits what servos move"),
    kernels=lambda character: ("measures",),
    needs=("clip.joints", "character.motors"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeanPerformer(Performer[JointCurves, Array]):
    """A running mean over the wish."""

    fit: ClassVar[Fit] = MINE
    samples: int = option(5, "how many samples the mean is of", low=1, high=99)
    ends: Literal["held", "mirrored"] = option("held", "what the mean sees beyond the ends")

    def state(self, character: Character, clip: Clip, monitor: Monitor) -> Task[JointCurves]:
        """The wish at the motor rate."""
        return Task(character, clip, resampled(clip.need_joints("the performer mine"), character.motors[0].rate))

    def solve(self, task: Task[JointCurves], monitor: Monitor, memory: Memory) -> Array:
        """The mean of each column."""
        n, mode = self.samples, "edge" if self.ends == "held" else "reflect"
        padded = np.pad(task.problem.values, ((n // 2, n - 1 - n // 2), (0, 0)), mode=mode)  # type: ignore[call-overload]
        mean: Array = np.lib.stride_tricks.sliding_window_view(padded, n, axis=0).mean(axis=2)
        return mean

    def play(self, task: Task[JointCurves], solution: Array) -> Uncertified:
        """Positions."""
        return play_servos(task.character, task.problem, JointCurves(task.problem.names, task.problem.rate, solution))

    def certify(self, task: Task[JointCurves], solution: Array, played: Uncertified, monitor: Monitor) -> Certificate:
        """The common measures."""
        return certify(task.character, played.wish, played.positions, words=task.clip.words)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line that makes it known."""
    monkeypatch.setitem(REGISTRY, "mine", f"{__name__}:MINE")


def test_it_performs_through_every_door_with_the_same_bytes(tmp_path: Path, doors: tuple[Any, ...]) -> None:
    first, *others = doors
    expected = first("nao", "not-done-yet", "mine", {"samples": 9, "ends": "mirrored"}, tmp_path)
    for door in others:
        assert door("nao", "not-done-yet", "mine", {"samples": 9, "ends": "mirrored"}, tmp_path) == expected, door.__name__
    assert first("nao", "not-done-yet", "mine", {"samples": 3}, tmp_path) != expected


def test_it_is_certified_and_says_where_it_came_from() -> None:
    made = bunraku.perform("nao", "not-done-yet", performer="mine", samples=9, once=True)
    wish = made.wish.values
    np.testing.assert_allclose(made.positions().values[20], wish[16:25].mean(axis=0), atol=1e-12)
    names = [check.name for check in made.certificate.checks]
    assert {"velocity excess", "lag", "self-collision clearance"} <= set(names)
    assert made.provenance.performer == "mine"
    assert made.provenance.options == {"samples": 9, "ends": "held"}


def test_its_options_are_flags_with_their_ranges(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert _run(["perform", "--options", "--performer", "mine"]) == 0
    said = "".join(capsys.readouterr())
    assert "--samples" in said
    assert "how many samples the mean is of" in said
    refused = ["perform", "nao", "not-done-yet", "--performer", "mine", "-o", str(tmp_path / "x.performance.npz"), "--samples"]
    assert _run([*refused, "100"]) == 2
    assert "samples = 100 must be from 1 to 99" in capsys.readouterr().err


def test_its_options_are_widgets_of_the_studio(monkeypatch: pytest.MonkeyPatch) -> None:
    from bunraku.studio.page import optimize

    shown: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {}

    class Gui:
        def __getattr__(self, kind: str) -> Any:
            def add(label: str, *values: Any, **more: Any) -> SimpleNamespace:
                shown[label] = (kind, values, more)
                return SimpleNamespace(value=values[0])

            return add

    document = SimpleNamespace(performer="mine", options={"samples": 7})
    ui = SimpleNamespace(gui=Gui(), changed=lambda *_, **__: None, session=SimpleNamespace(document=document))
    monkeypatch.setattr(optimize, "Typed", lambda *_: None)
    tab = object.__new__(optimize.OptimizeTab)
    tab._ui = typing.cast(Any, ui)
    tab._fill(typing.cast(Any, document))
    kind, values, more = shown["samples"]
    assert (kind, values, more["min"], more["max"]) == ("add_number", (7,), 1, 99)
    assert shown["ends"][:2] == ("add_dropdown", (("held", "mirrored"),))
    assert more["hint"] == "how many samples the mean is of"
