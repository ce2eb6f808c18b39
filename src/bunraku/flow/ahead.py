"""What is compiled ahead by doors that do more than perform: judging, and timing a choreography."""

from __future__ import annotations

from bunraku.flow import compiling
from bunraku.motion import Performance


def compile_for_verification(performance: Performance) -> None:
    """Compile what judging a performance needs."""
    dynamic = ("control", "collisions", "steps")
    rigid = ("bending",) if performance.character.flexibles else ("measures",)
    compiling.compile_ahead(*(dynamic if performance.dynamic else rigid))


def compile_for_choreography() -> None:
    """Compile what finding the times of a show needs."""
    compiling.compile_ahead("control", "steps", "curvature")
