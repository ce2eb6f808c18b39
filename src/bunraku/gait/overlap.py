"""What footfalls allow: no foot lifts while it is in the air, something always stands, and all feet stand between swings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from bunraku.errors import BadInput
from bunraku.gait.feet import Feet

Swings = Sequence[tuple[int, float, float]]
SUPPORT = 0.06
"""The least share of the cycle with every foot on the ground between two swings."""
NEAR = 1e-9


def airborne(swings: Swings, phase: float, periodic: bool) -> tuple[int, ...]:
    """The end effectors in the air at a phase in [0, 1], of swings (index, start, end)."""
    indices = {j for j, start, end in swings if start < phase < end or (periodic and start < phase + 1.0 < end)}
    return tuple(sorted(indices))


def check_swings(swings: Swings, names: Sequence[str], periodic: bool, *, flight: bool = False) -> None:
    """Refuse footfalls that no body can make, of the end effectors ``names``; unless ``flight``, something always stands."""
    _check_own_overlap(swings, names, periodic)
    for begin, until in () if flight else _spans(swings, periodic):
        if len(airborne(swings, 0.5 * (begin + until), periodic)) == len(names):
            raise BadInput(
                f"all of {', '.join(names[:8])} are in the air from {begin:.3g} to {until:.3g} of the duration; "
                "keep at least one on the ground"
            )


def swing_notes(swings: Swings, names: Sequence[str], feet: Feet, periodic: bool, support: float = SUPPORT) -> tuple[str, ...]:
    """What is possible but risky: a foot that lifts as another lands, parts of one foot lifting alone, the base's own wheels.

    ``support``: the least share of the duration with every foot on the ground between two swings.
    """
    notes = []
    starts = sorted({start for _, start, _ in swings})
    for begin in starts:
        before = [
            end - shift for _, start, end in swings for shift in ((0.0, 1.0) if periodic else (0.0,)) if start - shift < begin
        ]
        pause = begin - max(before, default=-1.0)
        if pause < support - NEAR:
            who = ", ".join(names[j] for j, start, _ in swings if start == begin)
            notes.append(
                f"{who} lifts at {begin:.3g}, {max(0.0, pause):.2g} of the duration after the swing before it; "
                f"with {support:.2g} or more on all feet in between a walk survives its replay"
            )
    for foot in feet.feet:
        own = [{(start, end) for k, start, end in swings if k == j} for j in foot.effectors]
        if any(one != own[0] for one in own):
            notes.append(f"the end effectors of the foot {foot.body!r} do not swing together")
    if any(j in feet.fixed for j, _, _ in swings):
        notes.append("an end effector on the base body swings: the whole body has to tilt or jump for it")
    return tuple(notes)


def _check_own_overlap(swings: Swings, names: Sequence[str], periodic: bool) -> None:
    """Refuse a foot that leaves the ground while it is in the air."""
    for j, name in enumerate(names):
        own = sorted((start, end) for k, start, end in swings if k == j)
        line = own + ([(own[0][0] + 1.0, own[0][1] + 1.0)] if periodic and own else [])
        for (a, b), (c, _) in pairwise(line):
            if c < b - NEAR or b - a >= 1.0 - NEAR:
                raise BadInput(f"{name!r} swings from {a:g} to {b:g} and again from {c:g}, while still in the air; shorten one")


def _spans(swings: Swings, periodic: bool) -> list[tuple[float, float]]:
    """The intervals of [0, 1] between successive lift-offs and touch-downs."""
    events = {0.0, 1.0}
    for _, start, end in swings:
        events |= {start, end % 1.0 if periodic else min(end, 1.0)}
    return [(a, b) for a, b in pairwise(sorted(events)) if b - a > NEAR]
