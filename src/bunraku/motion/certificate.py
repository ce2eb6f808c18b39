"""The certificate: what a performance promises, each promise a number against a threshold, computed from the problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan, nan

from bunraku.character import html_table
from bunraku.optimization.solution import Status


@dataclass(frozen=True)
class Check:
    """One promise: ``value`` (in ``unit``) must not exceed ``threshold``; ``at_least`` turns it round. No threshold: information.

    A promise is in one of four states. It *holds* or is *broken*; it *does not apply* (``applies`` false: a robot that is bolted
    down cannot fall); or it was *not checked*. Then ``missing`` says what to add so that it can be; a value that is not a number
    though nothing is missing is a failure of the judge, and counts against the whole.
    """

    name: str
    value: float
    unit: str = ""
    threshold: float | None = None
    at_least: bool = False
    note: str = ""
    applies: bool = True
    missing: str = ""

    @classmethod
    def not_applicable(cls, name: str, why: str) -> Check:
        """A promise that cannot be broken by this character or clip, and why."""
        return cls(name, nan, threshold=0.0, note=why, applies=False)

    @classmethod
    def not_checked(cls, name: str, missing: str, note: str = "") -> Check:
        """A promise that nothing judged, and what to add so that it can be."""
        return cls(name, nan, threshold=0.0, note=note, missing=missing)

    @property
    def state(self) -> str:
        """One of "holds", "broken", "does not apply" and "not checked"; nothing when there is no threshold."""
        if self.threshold is None:
            return ""
        if not self.applies:
            return "does not apply"
        if self.missing or isnan(self.value):
            return "not checked"
        kept = self.value >= self.threshold if self.at_least else self.value <= self.threshold
        return "holds" if kept else "broken"

    @property
    def holds(self) -> bool:
        """Whether the promise was judged and is kept; true when there is no threshold."""
        return self.state in ("holds", "")

    @property
    def broken(self) -> bool:
        """Whether the promise was judged and is not kept."""
        return self.state == "broken"

    @property
    def stands_against(self) -> bool:
        """Whether this keeps the whole from being proven: it is broken, or should have been judged and could not be."""
        return self.broken or (self.state == "not checked" and not self.missing)

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        """The check as a row of a table: state, name, value with its unit, threshold, note."""
        judged = self.state in ("holds", "broken", "")
        sign = "≥" if self.at_least else "≤"
        threshold = f"{sign} {self.threshold:.4g}" if judged and self.threshold is not None else ""
        value = f"{self.value:.4g} {self.unit}".strip() if judged else ""
        return self.state, self.name, value, threshold, self._remark

    @property
    def sentence(self) -> str:
        """The check in words."""
        remark = f"; {self._remark}" if self._remark else ""
        if self.state in ("not checked", "does not apply"):
            return f"{self.name}: {self.state.upper() if self.state == 'not checked' else self.state}{remark}"
        threshold = "" if self.threshold is None else f" ({'at least' if self.at_least else 'at most'} {self.threshold:g})"
        verdict = {"holds": ": holds", "broken": ": DOES NOT HOLD"}.get(self.state, "")
        return f"{self.name} = {self.value:.4g}{' ' + self.unit if self.unit else ''}{threshold}{verdict}{remark}"

    @property
    def _remark(self) -> str:
        return "; ".join(part for part in (self.note, self.missing and f"to check it: {self.missing}") if part)


@dataclass(frozen=True)
class Certificate:
    """All promises of one performance, the convergence status, and notes that a reader must see."""

    status: Status
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    figures: dict[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Certificate: {self.status.sentence}\n{stated(self.checks)}"

    def _repr_html_(self) -> str:
        return checks_table(f"Certificate: {self.status.sentence}", self.checks)

    @property
    def holds(self) -> bool:
        """Whether the computation settled, also where no step improved any further, and no promise stands against it."""
        return self.status.settled and not any(check.stands_against for check in self.checks)

    def check(self, name: str) -> Check:
        """The check of that name."""
        return next(check for check in self.checks if check.name == name)


STATES = ("broken", "not checked", "holds", "does not apply")
"""The states of a promise, in the order in which a reader wants to see them."""


def checks_table(caption: str, checks: tuple[Check, ...]) -> str:
    """The promises as a table for notebooks, those that are broken or were not checked first."""
    promises = [check.cells for check in checks if check.state]
    return html_table(caption, sorted(promises, key=lambda cells: STATES.index(cells[0])))


def stated(checks: tuple[Check, ...]) -> str:
    """A few lines: how many promises hold, then each that is broken or was not checked."""
    counts = {state: sum(check.state == state for check in checks) for state in STATES}
    head = f"{counts['holds']} promises hold, {counts['broken']} are broken, {counts['not checked']} were not checked"
    return "\n".join([head, *(f"  {check.sentence}" for check in checks if check.state in ("broken", "not checked"))])
