"""The pictures of a report as PNG, with what they show."""

from __future__ import annotations

from bunraku.verification.plots.figure import figure_bytes
from bunraku.verification.verifier import Verdict

Shown = tuple[bytes, str]
"""A PNG and what it shows."""


def shown(verdict: Verdict) -> tuple[list[Shown], list[Shown]]:
    """The pictures that come first, and those that come last."""
    drawn = [(figure_bytes(picture.figure), picture.caption, picture.last) for picture in verdict.pictures()]
    first, last = ([(png, words) for png, words, late in drawn if late is end] for end in (False, True))
    return first, last
