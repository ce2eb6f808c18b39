"""What is compiled ahead by doors that do more than perform once: judging, many runs, timing a choreography."""

from __future__ import annotations

from collections.abc import Iterable

from bunraku.character import Character
from bunraku.flow import compiling
from bunraku.motion import Performance
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.performers.fit import fit_of


def compile_for(performer: str, character: Character, monitor: Monitor = SILENT) -> None:
    """Compile what a performer needs whose solution is asked for by itself."""
    compiling.compile_ahead(*fit_of(performer).kernels(character), monitor=monitor)


def compile_for_runs(runs: Iterable[tuple[Character | None, str, bool]], *, verify: bool) -> None:
    """Compile what many runs need, once: who performs (None: refused), by which performer, whether a capture is retargeted."""
    groups: set[str] = set()
    for who, performer, captured in runs:
        groups |= {"retargeting"} if captured else set()
        if who is not None:
            groups |= {*fit_of(performer).kernels(who), *(("measures",) if verify else ())}
    compiling.compile_ahead(*groups)


def compile_for_verification(performance: Performance, monitor: Monitor = SILENT) -> None:
    """Compile what judging a performance needs."""
    dynamic = ("control", "collisions", "steps")
    rigid = ("bending",) if performance.character.flexibles else ("measures",)
    compiling.compile_ahead(*(dynamic if performance.dynamic else rigid), monitor=monitor)


def compile_for_choreography() -> None:
    """Compile what finding the times of a show needs."""
    compiling.compile_ahead("control", "steps", "curvature")
