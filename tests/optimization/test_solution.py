"""How computations ended: the end of a whole is the worst of its parts, in whatever order they come."""

from __future__ import annotations

from itertools import permutations

from bunraku.optimization.solution import Status, worst


def test_the_worst_end_counts_in_any_order() -> None:
    """What stalled may be a success, so it must not hide what ended at its limit."""
    for parts in permutations((Status.STALLED, Status.MAX_ITERATIONS, Status.CONVERGED)):
        assert worst(parts) is Status.MAX_ITERATIONS
    assert worst((Status.INFEASIBLE, Status.CANCELLED)) is Status.CANCELLED
    assert worst((Status.STALLED, Status.CONVERGED)) is Status.STALLED
    assert worst(()) is Status.CONVERGED
