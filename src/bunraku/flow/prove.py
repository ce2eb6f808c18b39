"""Perform and prove: verification judges the result; where a promise is broken the performer's remedies are tried until none is.

Every attempt is kept; the best is what comes back, with what was changed said in plain words. When nothing helps, the nearest wish
that holds is searched by bisection over its size, and said too.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.flow.ahead import compile_for_verification
from bunraku.flow.perform import Checkpoints, Options, Performed, attempt, perform
from bunraku.motion import Check, Clip
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.fit import fit_of
from bunraku.performers.remedy import Attempted, Remedies, Remedy
from bunraku.retargeting.rig_map import RigMap
from bunraku.verification.verifier import Verdict
from bunraku.verification.verify import verify


@dataclass(frozen=True)
class Effort:
    """How much is done for a proof: at most so many ``attempts``, and no further one after ``share`` times the first's seconds.

    ``search``: how many wishes are tried when the nearest one that holds is searched.
    """

    attempts: int = 5
    share: float = 8.0
    search: int = 4


ONCE = Effort(attempts=0, search=0)
EFFORTS: Mapping[str, Effort] = {"once": ONCE, "usual": Effort(), "high": Effort(attempts=12, share=40.0, search=7)}


@dataclass(frozen=True)
class _Take:
    """One attempt: what was changed for it, the performance, its verdict, and how long it took [s of the wall clock]."""

    words: str
    options: Mapping[str, Any]
    performed: Performed
    verdict: Verdict
    seconds: float

    @property
    def proven(self) -> bool:
        """Whether verdict and certificate hold."""
        return self.verdict.holds and self.performed.performance.certificate.holds

    @property
    def against(self) -> tuple[Check, ...]:
        """The checks that stand against it."""
        checks = {check.name: check for check in (*self.performed.performance.certificate.checks, *self.verdict.checks)}
        return tuple(check for check in checks.values() if check.stands_against)

    @property
    def rank(self) -> tuple[float, float]:
        """How far from proven: the number of checks against it, then how far beyond their thresholds they are."""
        excess = [abs(check.value - (check.threshold or 0.0)) / max(abs(check.threshold or 0.0), 1e-3) for check in self.against]
        return float(len(excess)), sum(min(one, 10.0) if one == one else 10.0 for one in excess)


@dataclass(frozen=True)
class Proved:
    """The best attempt, all of them in their order, and the nearest wish that would hold, where it was searched and found."""

    best: _Take
    takes: tuple[_Take, ...]
    nearest: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def performed(self) -> Performed:
        """The best attempt's performance, which says what was changed."""
        return self.best.performed

    @property
    def verdict(self) -> Verdict:
        """The best attempt's verdict."""
        return self.best.verdict


def prove(
    character: Character,
    clip: Clip,
    performer: str = "",
    *,
    options: Options | None = None,
    rig: RigMap | None = None,
    effort: Effort | None = None,
    checkpoints: Checkpoints | None = None,
    monitor: Monitor = SILENT,
) -> Proved:
    """Perform, verify, apply remedies, until it holds or no remedy is left or the ``effort`` is spent."""
    effort = effort or Effort()
    began = time.perf_counter()
    first = perform(character, clip, performer, options=options, rig=rig, checkpoints=checkpoints, monitor=monitor)
    given = dict((options(first.choice.name) if callable(options) else options) or {})
    take = _judged("", given, first, began, monitor)
    takes, best, tried = [take], take, {""}
    remedies = remedies_of(first.choice.name)
    spent = take.seconds
    while not best.proven and remedies is not None and len(takes) <= effort.attempts and not _over(first, monitor):
        remedy = next((one for one in remedies.against(_attempted(character, best)) if one.words not in tried), None)
        if remedy is None or spent > effort.share * takes[0].seconds:
            break
        tried.add(remedy.words)
        monitor.report(Event("remedy", None, f"not proven ({_why(best)}); trying again: {remedy.words}", note=True))
        take = _again(character, best, remedy, monitor)
        spent += take.seconds
        if not monitor.cancelled:
            takes.append(take)
            best = min(best, take, key=lambda one: (not one.proven, *one.rank))
    nearest = ""
    if not best.proven and remedies is not None and not _over(first, monitor):
        nearest, more = _nearest(character, best, remedies, effort, takes[0].seconds, monitor)
        takes += more
    return Proved(_said(best, nearest), tuple(takes), nearest)


def remedies_of(performer: str) -> Remedies | None:
    """The remedies of a performer, or those of the first member of a chain that has any."""
    for name in performer.split("+"):
        where = fit_of(name).remedies
        if where:
            module, _, attribute = where.partition(":")
            found: Remedies = getattr(importlib.import_module(module), attribute)
            return found
    return None


def _judged(words: str, options: Mapping[str, Any], performed: Performed, began: float, monitor: Monitor) -> _Take:
    compile_for_verification(performed.performance)
    verdict = verify(performed.performance, monitor=monitor)
    return _Take(words, options, performed, verdict, time.perf_counter() - began)


def _again(character: Character, last: _Take, remedy: Remedy, monitor: Monitor) -> _Take:
    """The remedy applied to the best attempt so far; a remedy that is refused leaves that attempt as it was."""
    began = time.perf_counter()
    options = {**last.options, **remedy.options}
    words = "; ".join(part for part in (last.words, remedy.words) if part)
    prepared = last.performed.prepared
    if remedy.clip is not None:
        prepared = replace(prepared, clip=remedy.clip)
    try:
        performed = attempt(character, prepared, last.performed.choice, options, monitor=monitor)
    except BadInput as error:
        monitor.report(Event("remedy", None, f"refused: {error}", note=True))
        return replace(last, seconds=time.perf_counter() - began)
    return _judged(words, options, performed, began, monitor)


def _attempted(character: Character, take: _Take) -> Attempted:
    checks = {check.name: check for check in (*take.performed.performance.certificate.checks, *take.verdict.checks)}
    clip, performance = take.performed.prepared.clip, take.performed.performance
    return Attempted(character, clip, take.options, performance, tuple(checks.values()), take.verdict.figures)


def _nearest(
    character: Character, best: _Take, remedies: Remedies, effort: Effort, first: float, monitor: Monitor
) -> tuple[str, list[_Take]]:
    """The largest share of the wish that was proven, in words, by bisection; and the attempts that were made for it."""
    low, high, words, takes = 0.0, 1.0, "", []
    clock = time.perf_counter()
    for _ in range(effort.search):
        if monitor.cancelled or time.perf_counter() - clock > effort.share * first:
            break
        share = 0.5 * (low + high)
        remedy = remedies.lesser(_attempted(character, best), share)
        if remedy is None:
            break
        monitor.report(Event("nearest wish", None, f"trying {remedy.words}", note=True))
        take = _again(character, best, remedy, monitor)
        takes.append(take)
        if take.proven:
            low, words = share, remedy.words
        else:
            high = share
    return words, takes


def _said(take: _Take, nearest: str) -> _Take:
    """The attempt, its performance saying what was changed to prove it, or what would be possible."""
    notes = [f"changed to prove it: {take.words}"] if take.words else []
    notes += [f"the nearest wish that was proven: {nearest}"] if nearest else []
    if not notes:
        return take
    performance = take.performed.performance
    certificate = replace(performance.certificate, notes=(*notes, *performance.certificate.notes))
    return replace(take, performed=replace(take.performed, performance=replace(performance, certificate=certificate)))


def _over(performed: Performed, monitor: Monitor) -> bool:
    return monitor.cancelled or performed.performance.certificate.status is Status.CANCELLED


def _why(take: _Take) -> str:
    names: Sequence[str] = [check.name for check in take.against]
    return ", ".join(names[:3]) or take.performed.performance.certificate.status.sentence
