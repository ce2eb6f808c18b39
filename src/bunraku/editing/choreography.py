"""A choreography edited by hand: borders dragged, primitives added, removed and exchanged, accents moved. All return a new one."""

from __future__ import annotations

import math
from dataclasses import replace

from bunraku.errors import BadInput
from bunraku.motion.choreography import Choreography, Mode, Primitive

SHORTEST = 0.1
"""No mode becomes shorter than this [s] by hand."""


def moved_border(show: Choreography, mode: int, time: float) -> Choreography:
    """The show with mode ``mode`` (from 1 on) beginning at ``time`` [s], or as near to it as its neighbours leave 0.1 s each."""
    _known(show, mode)
    if mode == 0:
        raise BadInput("the first mode begins with the show at 0 s; drag the border of a later one")
    if not math.isfinite(time):
        raise BadInput(f"mode {mode} goes to {time} s; give a finite time")
    low, high = show.modes[mode - 1].start, _end(show, mode)
    gap = min(SHORTEST, (high - low) / 2.0)
    start = min(max(time, low + gap), high - gap)
    return replace(show, modes=_exchanged(show.modes, mode, replace(show.modes[mode], start=start)))


def added_mode(show: Choreography, primitive: str | Primitive, at: int) -> Choreography:
    """The show with one mode more, the ``at``-th from then on.

    It takes the second half of the one before it; as the new first one, the first half of the old. A `Primitive` that the show does
    not know yet joins its primitives.
    """
    if not 0 <= at <= len(show.modes):
        raise BadInput(f"a mode at place {at} of {len(show.modes)} arrived; give 0 to {len(show.modes)}")
    name, primitives = primitive if isinstance(primitive, str) else primitive.name, show.primitives
    if isinstance(primitive, Primitive) and all(one.name != name for one in primitives):
        primitives = (*primitives, primitive)
    split = max(at - 1, 0)
    start, end = show.modes[split].start, _end(show, split)
    if end - start < 2.0 * SHORTEST:
        raise BadInput(
            f"{show.modes[split].primitive!r} lasts {end - start:.2g} s; make it longer than {2 * SHORTEST:g} s to part it"
        )
    middle = 0.5 * (start + end)
    modes = list(show.modes)
    if at == 0:
        modes[0] = replace(modes[0], start=middle)
        modes.insert(0, Mode(name, 0.0))
    else:
        modes.insert(at, Mode(name, middle))
    return replace(show, primitives=primitives, modes=tuple(modes))


def removed_mode(show: Choreography, mode: int) -> Choreography:
    """The show with one mode less; the one before it goes on, and the second becomes the first when that is taken away."""
    _known(show, mode)
    if len(show.modes) == 1:
        raise BadInput("a show has at least one mode; replace the last one instead")
    rest = [*show.modes[:mode], *show.modes[mode + 1 :]]
    rest[0] = replace(rest[0], start=0.0)
    return replace(show, modes=tuple(rest))


def replaced_mode(show: Choreography, mode: int, primitive: str | Primitive) -> Choreography:
    """The show with another primitive in the place of one, at the same times."""
    _known(show, mode)
    name, primitives = primitive if isinstance(primitive, str) else primitive.name, show.primitives
    if isinstance(primitive, Primitive) and all(one.name != name for one in primitives):
        primitives = (*primitives, primitive)
    return replace(show, primitives=primitives, modes=_exchanged(show.modes, mode, replace(show.modes[mode], primitive=name)))


def moved_accent(show: Choreography, index: int, time: float) -> Choreography:
    """The show with an accent of the score at another time [s], inside the show."""
    _accent(show, index)
    if not math.isfinite(time):
        raise BadInput(f"accent {index} goes to {time} s; give a finite time")
    new = replace(show.accents[index], time=min(max(time, 0.0), show.duration))
    return replace(show, accents=tuple(new if k == index else one for k, one in enumerate(show.accents)))


def _end(show: Choreography, mode: int) -> float:
    return show.modes[mode + 1].start if mode + 1 < len(show.modes) else show.duration


def _exchanged(modes: tuple[Mode, ...], index: int, new: Mode) -> tuple[Mode, ...]:
    return tuple(new if k == index else mode for k, mode in enumerate(modes))


def _known(show: Choreography, mode: int) -> None:
    if not 0 <= mode < len(show.modes):
        raise BadInput(f"mode {mode} of {len(show.modes)} arrived; they count from 0")


def _accent(show: Choreography, index: int) -> None:
    if not 0 <= index < len(show.accents):
        raise BadInput(f"accent {index} of {len(show.accents)} arrived; they count from 0")
