"""The certificate common to all performers: computed from the problem, never copied from the solver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bunraku.character import Character
from bunraku.mechanics.measures import measure_motion
from bunraku.mechanics.tree import Tree
from bunraku.motion import Certificate, Check, JointCurves
from bunraku.optimization.solution import Status

__all__ = ["certify"]


def certify(
    character: Character,
    wish: JointCurves,
    positions: JointCurves,
    *,
    status: Status = Status.CONVERGED,
    checks: Sequence[Check] = (),
    notes: Sequence[str] = (),
    figures: Mapping[str, float] | None = None,
    tree: Tree | None = None,
) -> Certificate:
    """What ``positions``, sent to the motors at their rate, promise: the common measures of `mechanics.measures`, then ``checks``.

    ``checks``, ``notes`` and ``figures`` are the performer's own, after the common ones. ``tree`` spares compiling it again.
    A status that is not good is noted as its sentence.
    """
    measured = measure_motion(character, wish, positions, tree)
    said = () if status.good else (status.sentence,)
    return Certificate(
        status, measured.checks + tuple(checks), (*said, *notes, *measured.notes), {**measured.figures, **(figures or {})}
    )
