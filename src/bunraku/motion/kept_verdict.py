"""The verdict that stays with a performance, so that nobody has to replay it again to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bunraku.motion.certificate import Check, checks_table, stated


@dataclass(frozen=True)
class KeptVerdict:
    """What verification found: whether every promise holds, in a ``sentence``, with checks and flat figures.

    ``key``: the hash of all that was judged and of who judged it. A performance with another one was changed since, and its verdict
    says nothing about it.
    """

    holds: bool
    sentence: str
    checks: tuple[Check, ...]
    key: str
    figures: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"{self.sentence}\n{stated(self.checks)}"

    def _repr_html_(self) -> str:
        return checks_table(self.sentence, self.checks)
