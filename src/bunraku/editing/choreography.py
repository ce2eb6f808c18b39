"""A choreography edited by hand: borders dragged, primitives added, removed and exchanged, accents moved. All return a new one."""

from __future__ import annotations

import math
from dataclasses import replace

from bunraku.editing.items import at, exchanged, without
from bunraku.errors import BadInput
from bunraku.motion.choreography import Choreography, Mode, Primitive

SHORTEST = 0.1
"""No mode becomes shorter than this [s] by hand."""


def moved_border(show: Choreography, mode: int, time: float) -> Choreography:
    """The show with mode ``mode`` (from 1 on) beginning at ``time`` [s], or as near to it as its neighbours leave 0.1 s each."""
    here = at(show.modes, mode, "mode")
    if mode == 0:
        raise BadInput("the first mode begins with the show at 0 s; drag the border of a later one")
    if not math.isfinite(time):
        raise BadInput(f"mode {mode} goes to {time} s; give a finite time")
    low, high = show.modes[mode - 1].start, _end(show, mode)
    gap = min(SHORTEST, (high - low) / 2.0)
    start = min(max(time, low + gap), high - gap)
    return replace(show, modes=exchanged(show.modes, mode, replace(here, start=start)))


def added_mode(show: Choreography, primitive: str | Primitive, place: int) -> Choreography:
    """The show with one mode more, the ``place``-th from then on.

    It takes the second half of the one before it; as the new first one, the first half of the old. A `Primitive` that the show does
    not know yet joins its primitives.
    """
    if not 0 <= place <= len(show.modes):
        raise BadInput(f"a mode at place {place} of {len(show.modes)} arrived; give 0 to {len(show.modes)}")
    name, primitives = _joined(show, primitive)
    split = max(place - 1, 0)
    start, end = show.modes[split].start, _end(show, split)
    if end - start < 2.0 * SHORTEST:
        raise BadInput(
            f"{show.modes[split].primitive!r} lasts {end - start:.2g} s; make it longer than {2 * SHORTEST:g} s to part it"
        )
    middle, modes = 0.5 * (start + end), list(show.modes)
    if place == 0:
        modes[0] = replace(modes[0], start=middle)
    modes.insert(place, Mode(name, middle if place else 0.0))
    return replace(show, primitives=primitives, modes=tuple(modes))


def removed_mode(show: Choreography, mode: int) -> Choreography:
    """The show with one mode less; the one before it goes on, and the second becomes the first when that is taken away."""
    rest = without(show.modes, mode, "mode")
    if not rest:
        raise BadInput("a show has at least one mode; replace the last one instead")
    return replace(show, modes=(replace(rest[0], start=0.0), *rest[1:]))


def replaced_mode(show: Choreography, mode: int, primitive: str | Primitive) -> Choreography:
    """The show with another primitive in the place of one, at the same times."""
    here, (name, primitives) = at(show.modes, mode, "mode"), _joined(show, primitive)
    return replace(show, primitives=primitives, modes=exchanged(show.modes, mode, replace(here, primitive=name)))


def moved_accent(show: Choreography, index: int, time: float) -> Choreography:
    """The show with an accent of the score at another time [s], inside the show."""
    accent = at(show.accents, index, "accent")
    if not math.isfinite(time):
        raise BadInput(f"accent {index} goes to {time} s; give a finite time")
    new = replace(accent, time=min(max(time, 0.0), show.duration))
    return replace(show, accents=exchanged(show.accents, index, new))


def _end(show: Choreography, mode: int) -> float:
    return show.modes[mode + 1].start if mode + 1 < len(show.modes) else show.duration


def _joined(show: Choreography, primitive: str | Primitive) -> tuple[str, tuple[Primitive, ...]]:
    """The name of a primitive, and the show's primitives with it among them."""
    if isinstance(primitive, str):
        return primitive, show.primitives
    known = any(one.name == primitive.name for one in show.primitives)
    return primitive.name, show.primitives if known else (*show.primitives, primitive)
