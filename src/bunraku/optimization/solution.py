"""How a numerical method ended: one enumeration for all solvers, each member carrying a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Status(Enum):
    """The end of a computation. ``Status.CONVERGED.sentence`` is fit for a report."""

    CONVERGED = "converged"
    MAX_ITERATIONS = "max-iterations"
    STALLED = "stalled"
    INFEASIBLE = "infeasible"
    CANCELLED = "cancelled"

    @property
    def sentence(self) -> str:
        """A whole sentence saying what this end means."""
        return _SENTENCES[self]

    @property
    def good(self) -> bool:
        """Whether the result is the answer rather than only the best so far."""
        return self is Status.CONVERGED

    @property
    def settled(self) -> bool:
        """Whether nothing better was within reach: converged, or no step improved. With every promise kept that is success."""
        return self in (Status.CONVERGED, Status.STALLED)


def worst(statuses: Iterable[Status]) -> Status:
    """The end of a whole whose parts ended so; of no parts, converged."""
    return max(statuses, key=_SEVERITY.index, default=Status.CONVERGED)


_SEVERITY = [Status.CONVERGED, Status.STALLED, Status.MAX_ITERATIONS, Status.INFEASIBLE, Status.CANCELLED]
_SENTENCES = {
    Status.CONVERGED: "The optimum was found within the stated tolerance.",
    Status.MAX_ITERATIONS: "The iteration limit was reached; this is the best result so far.",
    Status.STALLED: "No step improved the result any further before the tolerance was met; this is the best found.",
    Status.INFEASIBLE: "No motion satisfies all limits at once; this is the least violating one found.",
    Status.CANCELLED: "Cancelled on request; this is the best result so far.",
}
