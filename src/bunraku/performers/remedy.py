"""Remedies: what a performer can change when verification finds a promise broken.

To give a performer remedies, write ``performers/NAME/remedies.py`` with a `Remedies` and name it in the `Fit` as "module:NAME". It
imports no solver. The flow asks it after a performance that is not proven, applies the first remedy that was not tried to the best
attempt so far, performs and proves again.

A remedy changes how the wish is performed, or makes it less by a little (`LEAST`); much less is another wish, which is only said.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from bunraku.character import Character
from bunraku.gait.pace import at_pace, pace, way
from bunraku.motion import Check, Clip, Performance
from bunraku.motion.excerpt import at_tempo

LEAST = 0.7
"""Remedies leave at least this share of the size or speed of a wish."""

SPEEDS = (0.85, LEAST)
"""Shares of the speed that was asked of a gait."""


@dataclass(frozen=True)
class Remedy:
    """Another attempt: the ``options`` that change, a ``clip`` if the wish itself does, and what is said of it.

    ``words``: what was changed, as the end of a sentence: "acceleration limited to 60 rad/s^2"; ``of``: what that is about. Another
    of the same takes its place. ``character``: with what is assumed of it and not stated, which the words tell as well.
    ``only``: the limbs of a captured motion that are still wished, where others are held at home.
    """

    words: str
    of: str
    options: Mapping[str, Any] = field(default_factory=dict)
    clip: Clip | None = None
    character: Character | None = None
    only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attempted:
    """An attempt that is not proven: who performed what with which options, the performance, and the checks against it.

    ``checks``: all of certificate and verdict; ``figures`` those of the verdict. ``wish``, ``asked``: the clip and the options of
    the first attempt, before any remedy; ``remedies`` those that are in it.
    """

    character: Character
    clip: Clip
    options: Mapping[str, Any]
    performance: Performance
    checks: Sequence[Check]
    figures: Mapping[str, float]
    wish: Clip
    asked: Mapping[str, Any]
    remedies: Sequence[Remedy] = ()

    @property
    def against(self) -> tuple[Check, ...]:
        """The checks that stand against it."""
        return tuple(check for check in self.checks if check.stands_against)

    def is_against(self, *beginnings: str) -> bool:
        """Whether a check whose name begins like one of these stands against it."""
        return any(check.name.startswith(beginnings) for check in self.against)


def smaller(clip: Clip, character: Character, share: float, names: Collection[str] | None = None) -> Clip:
    """The clip with a ``share`` of the size of its joint curves about home: of all, or of those of these ``names``."""
    joints = clip.need_joints("a smaller wish")
    chosen = np.array([names is None or name in names for name in joints.names], dtype=bool)
    home = np.array([character.home.get(name, 0.0) for name in joints.names])
    values = np.where(chosen, home + share * (joints.values - home), joints.values)
    return clip.changed(joints=replace(joints, values=values))


def sized(attempt: Attempted, share: float) -> Remedy:
    """The wished motion at a ``share`` of its size, in the time that it takes in the attempt."""
    played = attempt.wish.duration / max(attempt.clip.duration, 1e-9)
    clip = smaller(at_tempo(attempt.wish, played), attempt.character, share)
    return Remedy(f"the motion at {100 * share:.3g} % of its size about home", "size", clip=clip)


def at_speed(attempt: Attempted, share: float) -> Remedy | None:
    """The attempted gait at a ``share`` of the speed that was wished; None for what goes nowhere."""
    wished, gait = attempt.wish.gait, attempt.clip.gait
    if wished is None or gait is None or not pace(wished):
        return None
    slower = at_pace(gait, wished, share)
    words = f"{100 * share:.3g} % of the speed ({way(slower) / slower.duration:.2g} m/s)"
    return Remedy(words, "speed", clip=attempt.clip.changed(gait=slower))


def slower_gaits(attempt: Attempted) -> list[Remedy]:
    """The attempted gait at `SPEEDS` below its own."""
    wished, gait = attempt.wish.gait, attempt.clip.gait
    if wished is None or gait is None:
        return []
    slower = (at_speed(attempt, share) for share in SPEEDS if pace(gait) > share * pace(wished) + 1e-9)
    return [remedy for remedy in slower if remedy is not None]


class Remedies(ABC):
    """What a performer can change. ``add_up``: each is applied on top of the last, not on top of the best attempt so far."""

    add_up: ClassVar[bool] = False

    @abstractmethod
    def against(self, attempt: Attempted) -> Sequence[Remedy]:
        """What may mend the checks that stand against an attempt, the one that costs the wish least first; none if none can."""

    @abstractmethod
    def lesser(self, attempt: Attempted, share: float) -> Remedy | None:
        """The same wish with ``share`` (0 to 1) of its size, speed or distance, said in words; None where it cannot be made less.

        The nearest wish that can be proven is searched by bisection over the share.
        """
