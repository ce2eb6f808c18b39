"""The certificate: what a performance promises, each promise a number against a threshold, computed from the problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan

from bunraku.character import html_table
from bunraku.optimization.solution import Status


@dataclass(frozen=True)
class Check:
    """One promise: ``value`` (in ``unit``) must not exceed ``threshold``; ``at_least`` turns it round. No threshold: information.

    A promise whose value is not a number was not checked: the ``note`` says what is missing.
    """

    name: str
    value: float
    unit: str = ""
    threshold: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether the promise is kept; true when there is no threshold; never true of a number that is not one."""
        if self.threshold is None:
            return True
        return self.value >= self.threshold if self.at_least else self.value <= self.threshold

    @property
    def checked(self) -> bool:
        """Whether there was anything to judge the promise by; true when there is no threshold."""
        return self.threshold is None or not isnan(self.value)

    @property
    def state(self) -> str:
        """One of "holds", "broken" and "not checked"; nothing when there is no threshold."""
        return "" if self.threshold is None else "not checked" if not self.checked else "holds" if self.holds else "broken"

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        """The check as a row of a table: state, name, value with its unit, threshold, note."""
        threshold = "" if self.threshold is None else f"{'≥' if self.at_least else '≤'} {self.threshold:.4g}"
        return self.state, self.name, f"{self.value:.4g} {self.unit}".strip(), threshold, self.note

    @property
    def sentence(self) -> str:
        """The check in words."""
        if not self.checked:
            return f"{self.name}: NOT CHECKED{f'; {self.note}' if self.note else ''}"
        threshold = "" if self.threshold is None else f" ({'at least' if self.at_least else 'at most'} {self.threshold:g})"
        verdict = "" if self.threshold is None else (": holds" if self.holds else ": DOES NOT HOLD")
        note = f"; {self.note}" if self.note else ""
        return f"{self.name} = {self.value:.4g}{' ' + self.unit if self.unit else ''}{threshold}{verdict}{note}"


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
        """Whether the computation settled, also where no step improved any further, and every promise is kept."""
        return self.status.settled and all(check.holds for check in self.checks)

    def check(self, name: str) -> Check:
        """The check of that name."""
        return next(check for check in self.checks if check.name == name)


def checks_table(caption: str, checks: tuple[Check, ...]) -> str:
    """The promises as a table for notebooks, those that are broken or were not checked first."""
    promises = [check.cells for check in checks if check.state]
    return html_table(caption, sorted(promises, key=lambda cells: cells[0] == "holds"))


def stated(checks: tuple[Check, ...]) -> str:
    """A few lines: how many promises hold, then each that is broken or was not checked."""
    counts = {state: sum(check.state == state for check in checks) for state in ("holds", "broken", "not checked")}
    head = f"{counts['holds']} promises hold, {counts['broken']} are broken, {counts['not checked']} were not checked"
    return "\n".join([head, *(f"  {check.sentence}" for check in checks if check.state in ("broken", "not checked"))])
