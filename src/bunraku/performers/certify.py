"""The certificate common to all performers: computed from the problem, never copied from the solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bunraku.character import Character
from bunraku.mechanics.measures.motion import measure_motion, wish_at
from bunraku.mechanics.tree import Tree
from bunraku.motion import Certificate, Check, JointCurves, Mark
from bunraku.optimization.solution import Status
from bunraku.rhythm.timing import timing_checks


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
    verification recomputes both. ``checks``, ``notes`` and ``figures`` are the performer's own; a promise among them that the file
    does not tell, the verdict calls not checked. ``tree`` spares compiling it again.
    A status that is not good is noted as its sentence.
    """
    measured = measure_motion(character, wish, positions, tree)
    wished = None if wish is None else JointCurves(positions.names, positions.rate, wish_at(character, wish, positions))
    timing = timing_checks(wished, positions, words)
    said = () if status.good else (status.sentence,)
    return Certificate(
        status, (*measured.checks, *timing, *checks), (*said, *notes, *measured.notes), {**measured.figures, **(figures or {})}
    )
