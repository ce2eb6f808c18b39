"""The contract of verification: the judge of one physics, what its replay leaves, and the verdict.

To add a physics, write ``ROOM/judge.py`` with a `Judge`, and give it a line in `verify.JUDGES` with a cheap test of what it judges.
A judge supplies five parts, which `Judge.verify` calls in this order:

1. ``recompute``: checks and figures that need no replay; what was wished, planned or sent is compared with itself;
2. ``build``: the foreign model, once: a replay under other servos, floors or rates sets them on this model;
3. ``replay``: the channels played in it, with the servos that the motors state; several trials are rows of one `Replay`;
4. ``judge``: checks and figures of that replay;
5. ``pictures``: what is worth a look, with or without a replay.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from bunraku.errors import BadInput
from bunraku.motion import Check, JointCurves, Performance, checks_table
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.optimization.threads import one_thread
from bunraku.verification.foreign import without_log_file
from bunraku.verification.wording import broken_lines, counted, first_line, is_proven, verdict_lines

REPLAY = "replay in other physics"
"""The check that says that nothing was replayed."""
NOT_REPLAYED = "It was NOT replayed: no physics but our own has judged it."


class Picture(NamedTuple):
    """A figure, the name of its file, what it shows, and whether a report shows it last."""

    name: str
    figure: Any
    caption: str
    last: bool = False


Findings = tuple[list[Check], dict[str, float]]
"""Checks, and flat figures that go with them."""


class Replay(ABC):
    """What foreign physics made of a performance, over all trials: what reports, pages, studio and plots ask of it."""

    played: bool = True
    """Whether any foreign physics could simulate this character."""

    @property
    @abstractmethod
    def motion(self) -> JointCurves | None:
        """The character's coordinates from the first sample of the performance on, in the trial that counts; None if not kept.

        A replay that fell ends early.
        """

    @property
    @abstractmethod
    def rows(self) -> Sequence[tuple[str, dict[str, float]]]:
        """Every trial in words, with the figures by which trials are compared; nothing when there is but one."""


Foreign = TypeVar("Foreign")
Played = TypeVar("Played", bound=Replay)


class Judge(ABC, Generic[Foreign, Played]):
    """Judges one performance. ``kept``: a replay that was made before and is found again by ``recompute``, if any."""

    recomputed: ClassVar[str]
    """What is computed again, in words."""
    replayed: ClassVar[str]
    """What is replayed, in words."""

    def __init__(self, performance: Performance, *, full_order: bool = False) -> None:
        self.performance, self.full_order = performance, full_order
        self.kept: Played | None = None

    @abstractmethod
    def recompute(self, monitor: Monitor) -> Findings:
        """What needs no replay."""

    @abstractmethod
    def build(self) -> Foreign:
        """The foreign model; BadInput when this character cannot be simulated."""

    @abstractmethod
    def replay(self, foreign: Foreign, monitor: Monitor) -> Played:
        """The channels played in the foreign model."""

    @abstractmethod
    def judge(self, replay: Played) -> Findings:
        """What the replay promises, the worst of all trials."""

    @abstractmethod
    def pictures(self, replay: Replay | None) -> Iterator[Picture]:
        """Pictures of the performance, and of a replay of this judge where there is one."""

    @one_thread
    def verify(self, *, replay: bool = True, monitor: Monitor = SILENT) -> Verdict:
        """All checks; a replay that cannot be made is a check that does not hold.

        The thread is bounded here, where the judge's libraries are loaded, and not before.
        """
        checks, figures = self.recompute(monitor)
        checks = [*_own_words(self.performance, checks), *checks]
        seen = self.kept
        if not replay:
            checks.append(Check.not_checked(REPLAY, "verify it with the replay"))
        else:
            try:
                with without_log_file():
                    seen = self.replay(self.build(), monitor)
            except BadInput as error:
                checks.append(Check("replay", math.nan, threshold=0.0, note=str(error)))
            else:
                more, numbers = self.judge(seen)
                checks, figures = [*checks, *more], figures | numbers
        holds = is_proven(checks)
        return Verdict(holds, tuple(checks), seen, figures | {"verified": float(holds)}, self)

    def how(self, replay: Replay | None) -> str:
        """How the performance was verified, in words; also when it was not replayed."""
        from importlib.metadata import version

        if replay is None or not replay.played:
            return f"{self.recomputed} {NOT_REPLAYED}"
        return f"{self.recomputed} {self.replayed} MuJoCo's version here: {version('mujoco')}."


@dataclass(frozen=True)
class Verdict:
    """Whether every promise holds, the checks, the replay if there was one, flat figures, and the judge, who knows the pictures.

    ``trials``: what many drawn worlds say (`trials.outcome.Trials`), where they were asked for.
    """

    holds: bool
    checks: tuple[Check, ...]
    replay: Replay | None
    figures: dict[str, float]
    judge: Judge[Any, Any] = field(repr=False, compare=False)
    trials: Any = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return "\n".join([self.sentence, *broken_lines(self.checks), counted(self.checks)])

    def _repr_html_(self) -> str:
        return checks_table(self.sentence, self.checks)

    @property
    def sentence(self) -> str:
        """The verdict in one line: what is proven or broken, and what was not checked."""
        return first_line(self.checks, proven=self.holds)

    def lines(self, *, everything: bool = False) -> list[str]:
        """The verdict in words: the sentence, what is broken and what helps, the checks, and a last line that counts them."""
        return verdict_lines(self.checks, proven=self.holds, everything=everything)

    def pictures(self) -> Iterator[Picture]:
        """Pictures of the performance and of its replay."""
        return self.judge.pictures(self.replay)


def _own_words(performance: Performance, judged: Sequence[Check]) -> list[Check]:
    """What the performance says of itself: that it converged, and which promises that nothing here ``judged`` it says it breaks.

    What was not checked here is not judged: its word counts then.
    """
    certificate, known = performance.certificate, {check.name for check in judged if check.state != "not checked"}
    broken = [check.name for check in certificate.checks if check.stands_against and check.name not in known]
    return [
        Check("status", 0.0 if certificate.status.settled else 1.0, threshold=0.0, note=certificate.status.sentence),
        Check("promises broken in the certificate", len(broken), threshold=0, note=", ".join(broken)),
    ]
