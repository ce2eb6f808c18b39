"""Perform and prove: verification judges the result; where a promise is broken the performer's remedies are tried until none is.

Every attempt is kept; the best comes back with its verdict, and with what was changed and what that cost in plain words. When
nothing helps, the nearest wish that holds is searched by bisection over its size, and said too.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.flow.ahead import compile_for_verification
from bunraku.flow.attempts import Attempt, cost, share_kept
from bunraku.flow.perform import Checkpoints, Options, Performed, attempt, perform
from bunraku.motion import Clip, Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.fit import fit_of
from bunraku.performers.remedy import Attempted, Remedies, Remedy
from bunraku.retargeting.rig_map import RigMap


@dataclass(frozen=True)
class Effort:
    """How much is done for a proof: at most so many more ``attempts``, all within ``share`` times what the first one took.

    Time is CPU time of this process, which a busy machine does not shorten: the same wish ends the same.

    ``judge``: whether anything is verified at all; ``search``: how many lesser wishes are tried when no remedy helps, which may
    take what the attempts left, and that is `SPARED` of all at least.
    """

    judge: bool = True
    attempts: int = 6
    share: float = 8.0
    search: int = 4


EFFORTS: Mapping[str, Effort] = {
    "once": Effort(judge=False, attempts=0, search=0),
    "verify": Effort(attempts=0, search=0),
    "usual": Effort(),
    "high": Effort(attempts=16, share=40.0, search=7),
}
"""Performed once; performed once and verified; with remedies; with more of them."""

SPARED = 0.3
"""The share of the time that attempts leave for the search of the nearest wish."""


@dataclass(frozen=True)
class Proved:
    """The best attempt, all of them in their order, what was changed for the best and what that cost, and the nearest wish.

    ``nearest`` says which lesser wish was proven, where it was searched and found; its attempt is among the ``takes``.
    """

    best: Attempt
    takes: tuple[Attempt, ...]
    changed: str = ""
    nearest: str = ""

    @property
    def performed(self) -> Performed:
        """The best attempt, with who performed it and why."""
        return self.best.performed

    @property
    def holds(self) -> bool:
        """Whether the best attempt is proven; where nobody judged, whether its certificate holds."""
        return self.best.proven if self.best.verdict is not None else self.performance.certificate.holds

    @property
    def performance(self) -> Performance:
        """The best performance, which says what was changed and carries its verdict."""
        return self.best.performance


def effort_of(name: str) -> Effort:
    """The effort of a name."""
    if name not in EFFORTS:
        raise BadInput(f"the effort {name!r} arrived; there are {', '.join(EFFORTS)}")
    return EFFORTS[name]


def prove(
    character: Character,
    clip: Clip,
    performer: str = "",
    *,
    options: Options | None = None,
    rig: RigMap | None = None,
    effort: str | Effort = "usual",
    checkpoints: Checkpoints | None = None,
    monitor: Monitor = SILENT,
) -> Proved:
    """Perform, verify, apply remedies, until it holds or no remedy is left or the ``effort`` is spent.

    Options are as for `perform`. What was begun when the monitor cancels is dropped; the best so far comes back.
    """
    effort = effort_of(effort) if isinstance(effort, str) else effort
    began = time.process_time()
    asked: list[Mapping[str, Any]] = [{}]

    def given(name: str) -> Mapping[str, Any]:
        asked.append(dict((options(name) if callable(options) else options) or {}))
        return asked[-1]

    performed = perform(character, clip, performer, options=given, rig=rig, checkpoints=checkpoints, monitor=monitor)
    stopped = performed.performance.certificate.status is Status.CANCELLED
    first = _judged(Attempt((), character, asked[-1], performed, None, 0.0), began, monitor, judge=effort.judge and not stopped)
    remedies = remedies_of(performed.choice.name) if effort.attempts or effort.search else None
    if first.proven or first.verdict is None or remedies is None or monitor.cancelled:
        return Proved(first, (first,))
    search = _Search(first, effort, remedies, began + (1.0 + effort.share) * first.seconds, monitor)
    best = search.mended()
    nearest = "" if best.proven or monitor.cancelled else search.nearest(best)
    return _said(Proved(best, tuple(search.takes), nearest=nearest), first)


def remedies_of(performer: str) -> Remedies | None:
    """The remedies of a performer, those of all members of a chain; None if there are none."""
    found = []
    for name in fit_of(performer).name.split("+"):
        where = fit_of(name).remedies
        if where:
            module, _, attribute = where.partition(":")
            found.append(getattr(importlib.import_module(module), attribute))
    return None if not found else found[0] if len(found) == 1 else _OfAll(found)


class _OfAll(Remedies):
    """Those of every member of a chain in turn; a member's option that several have goes to all."""

    add_up = True

    def __init__(self, members: list[Remedies]) -> None:
        self._members = members

    def against(self, attempt: Attempted) -> list[Remedy]:
        """The remedies of the first member, then those of the next."""
        return [remedy for member in self._members for remedy in member.against(attempt)]

    def lesser(self, attempt: Attempted, share: float) -> Remedy | None:
        """As the first member makes the wish less that can."""
        return next((less for member in self._members if (less := member.lesser(attempt, share)) is not None), None)


class _Until(Monitor):
    """Passes everything on, and cancels at ``end`` [s of the process's CPU time]."""

    def __init__(self, inner: Monitor, end: float) -> None:
        self._inner, self._end = inner, end

    def report(self, event: Event) -> None:
        """Pass on."""
        self._inner.report(event)

    @property
    def cancelled(self) -> bool:
        """Whether the other says so, or the time is over."""
        return self._inner.cancelled or time.process_time() > self._end


class _Search:
    """Further attempts at one wish, until a time; all are kept in ``takes``."""

    def __init__(self, first: Attempt, effort: Effort, remedies: Remedies, end: float, monitor: Monitor) -> None:
        self.takes = [first]
        self._first, self._effort, self._remedies, self._end, self._monitor = first, effort, remedies, end, monitor

    def mended(self) -> Attempt:
        """The best attempt after remedies, each applied to the best one before it, or to the last where they add up."""
        best, tried = self._first, {""}
        base = best
        end = self._end - SPARED * self._effort.share * self._first.seconds
        for left in range(self._effort.attempts, 0, -1):
            remedy = next((one for one in self._remedies.against(self._seen(base)) if one.words not in tried), None)
            if best.proven or remedy is None or self._late(end):
                break
            tried.add(remedy.words)
            self._say(f"not proven ({base.why}); trying again, at most {left} times more: {remedy.words}")
            take = self._again(base, remedy, end)
            if take is not None:
                best = best if take.another else min(best, take, key=lambda one: one.rank)
                base = take if self._remedies.add_up else best
        return best

    def nearest(self, best: Attempt) -> str:
        """The largest share of the wish that is proven, in words, found by bisection; nothing when none was found.

        Where limbs must be left out, all of the rest is tried first. A remedy that was proven and keeps too little is one, too.
        """
        lesser = [take.words for take in self.takes if take.proven and take.another]
        low, high, words = 0.0, 1.0, lesser[-1] if lesser else ""
        whole = self._remedies.lesser(self._seen(best), 1.0)
        share = 1.0 if whole is not None and whole.only else 0.5
        for _ in range(self._effort.search):
            remedy = self._remedies.lesser(self._seen(best), share)
            if remedy is None or self._late(self._end):
                break
            self._say(f"searching the nearest wish that holds: {remedy.words}")
            take = self._again(best, remedy, self._end)
            if take is not None and take.proven:
                low, words = share, remedy.words
            else:
                high = share
            if low == high:
                break
            share = 0.5 * (low + high)
        return words

    def _seen(self, take: Attempt) -> Attempted:
        """What remedies are shown of an attempt."""
        first, figures = self._first, take.verdict.figures if take.verdict is not None else {}
        return Attempted(
            take.character,
            take.performed.prepared.clip,
            take.options,
            take.performance,
            take.checks,
            figures,
            wish=first.performed.prepared.clip,
            asked=first.options,
            remedies=take.remedies,
        )

    def _late(self, end: float) -> bool:
        """Whether the time is over, or not half of what an attempt took is left."""
        most = max(take.seconds for take in self.takes)
        return self._monitor.cancelled or time.process_time() + 0.5 * most > end

    def _again(self, last: Attempt, remedy: Remedy, end: float) -> Attempt | None:
        """The remedy applied to an attempt; None where it is refused or did not come to its end in time."""
        began = time.process_time()
        watch = _Until(self._monitor, end)
        who, options = remedy.character or last.character, {**last.options, **remedy.options}
        prepared = last.performed.prepared
        prepared = prepared if remedy.clip is None else replace(prepared, clip=remedy.clip)
        prepared = prepared.asking_for(remedy.only) if remedy.only else prepared
        try:
            performed = attempt(who, prepared, last.performed.choice, options, monitor=watch)
        except BadInput as error:
            self._say(f"refused: {error}")
            return None
        if performed.performance.certificate.status is Status.CANCELLED:
            return None
        kept = share_kept(self._first.performance, performed.performance)
        take = _judged(Attempt(last.with_remedy(remedy), who, options, performed, None, 0.0, kept), began, watch)
        if watch.cancelled and not take.proven:
            return None
        self.takes.append(take)
        return take

    def _say(self, sentence: str) -> None:
        self._monitor.report(Event("remedy", None, sentence, note=True))


def _judged(take: Attempt, began: float, monitor: Monitor, *, judge: bool = True) -> Attempt:
    """The attempt with its verdict, and the time since it ``began``.

    A verdict that was cancelled before it was whole is not kept with the performance.
    """
    if not judge:
        return replace(take, seconds=time.process_time() - began)
    from bunraku.verification.kept import with_verdict
    from bunraku.verification.verify import verify

    performance = take.performance
    compile_for_verification(performance, monitor)
    judged = with_verdict(performance, verify(performance, monitor=monitor))
    verdict = judged.verdict
    whole = verdict is not None and (verdict.holds or not monitor.cancelled)
    performed = replace(take.performed, performance=judged if whole else performance)
    return replace(take, performed=performed, verdict=verdict, seconds=time.process_time() - began)


def _said(proved: Proved, first: Attempt) -> Proved:
    """The result, its best performance saying what was changed to prove it, or what would be possible."""
    best, changed = proved.best, ""
    if best.words:
        changed = f"{best.words}; what it cost: {cost(first.performance, best.performance)}"
    notes = [f"changed to prove it: {changed}"] if changed else []
    notes += [f"the nearest wish that was proven: {proved.nearest}"] if proved.nearest else []
    certificate = best.performance.certificate
    performance = best.performance.changed(certificate=replace(certificate, notes=(*notes, *certificate.notes)))
    said = replace(best, performed=replace(best.performed, performance=performance))
    takes = tuple(said if take is best else take for take in proved.takes)
    return replace(proved, best=said, takes=takes, changed=changed)
