"""Replays of one performance in several worlds: the usual one, the worst of each figure, which fell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar

from bunraku.motion import JointCurves
from bunraku.verification.verifier import Replay
from bunraku.verification.worlds import World


class WorldReplay(Protocol):
    """A replay in one ``world``; ``reason``: why it fell, empty if it did not."""

    @property
    def world(self) -> World:
        """In which."""

    @property
    def described(self) -> str:
        """The world in words."""

    @property
    def reason(self) -> str:
        """Why it fell, or nothing."""

    @property
    def fell(self) -> bool:
        """Whether it fell."""

    @property
    def motion(self) -> JointCurves | None:
        """The coordinates from the first sample of the performance on."""

    @property
    def figures(self) -> Mapping[str, float]:
        """Flat figures."""


One = TypeVar("One", bound=WorldReplay)


@dataclass(frozen=True)
class WorldReplays(Replay, Generic[One]):
    """Replays in all worlds, first the usual one; ``complete``: none missing. ``COMPARED``: what compares them."""

    COMPARED: ClassVar[tuple[str, ...]]

    replays: tuple[One, ...]
    complete: bool

    @property
    def usual(self) -> One:
        """The replay in the usual world, with everything as stated."""
        return self.replays[0]

    @property
    def motion(self) -> JointCurves | None:
        """The motion in the usual world."""
        return self.usual.motion

    @property
    def rows(self) -> list[tuple[str, dict[str, float]]]:
        """Every replay."""
        return [(one.described, {key: one.figures[key] for key in self.COMPARED}) for one in self.replays]

    @property
    def fell(self) -> bool:
        """Whether one of them fell."""
        return any(replay.fell for replay in self.replays)

    @property
    def reason(self) -> str:
        """Why the first that fell did, in which world; or nothing."""
        return next((f"{replay.reason} ({replay.described})" for replay in self.replays if replay.fell), "")


def worst_replay(replays: Sequence[One], name: str) -> One:
    """The replay in which a figure is largest; one in which it is not a number is the worst of all."""

    def size(replay: One) -> float:
        value = replay.figures[name]
        return math.inf if math.isnan(value) else value

    return max(replays, key=size)
