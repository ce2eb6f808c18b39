"""The certificate common to all performers: computed from the problem, never copied from the solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bunraku.character import Character
from bunraku.mechanics.measures.motion import measure_motion, wish_at
from bunraku.mechanics.tree import Tree
from bunraku.motion import Certificate, Check, JointCurves, Mark
from bunraku.optimization.solution import Status
from bunraku.rhythm.timing import timing_checks

OWN_WORD = "the performer's own word, not recomputed by verification"
"""Noted at the checks that only the performer can make: they tell how it solved, not what comes out."""


def certify(
    character: Character,
    wish: JointCurves | None,
    positions: JointCurves,
    *,
    words: Sequence[Mark] = (),
    status: Status = Status.CONVERGED,
    checks: Sequence[Check] = (),
    notes: Sequence[str] = (),
    figures: Mapping[str, float] | None = None,
    tree: Tree | None = None,
) -> Certificate:
    """What ``positions``, sent to the motors at their rate, promise: the common measures, the timing, then ``checks``.

    The common measures are those of `mechanics.measures.motion`, the timing that of `rhythm.timing` with the ``words``;
    verification recomputes both. ``checks``, ``notes`` and ``figures`` are the performer's own, and marked so. ``tree`` spares
    compiling it again. A status that is not good is noted as its sentence.
    """
    measured = measure_motion(character, wish, positions, tree)
    wished = None if wish is None else JointCurves(positions.names, positions.rate, wish_at(character, wish, positions))
    timing = timing_checks(wished, positions, words)
    own = tuple(replace(check, note=f"{check.note}; {OWN_WORD}" if check.note else OWN_WORD) for check in checks)
    said = () if status.good else (status.sentence,)
    return Certificate(
        status, measured.checks + timing + own, (*said, *notes, *measured.notes), {**measured.figures, **(figures or {})}
    )
