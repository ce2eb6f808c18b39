"""Footfall patterns: which end effectors leave the ground when, by name or as given, checked, and sampled for a plan.

Times are phases, shares of the duration. Rules that make a walk survive its replay: a foot's swing is short enough that at least
`SUPPORT` of the cycle passes between one swing and the next with every foot on the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.gait.feet import Feet, FootGroup, feet_of
from bunraku.gait.overlap import SUPPORT, check_swings, swing_notes
from bunraku.gait.symmetry import check_half_cycle, mirror_partners
from bunraku.motion import Gait

Flags = NDArray[np.int64]
Groups = list[list[FootGroup]]
PATTERNS = ("roll", "crawl", "trot", "pace", "bound")
SHARE = {1: 0.40, 2: 0.30, 3: 0.27, 4: 0.18}
"""Share of the cycle that a swing takes when this many groups of feet swing one after the other."""
REST = 0.25
"""Share of a cycle for which a motion that starts or ends at rest stands before the first and after the last swing."""
NEAR = 1e-9


@dataclass(frozen=True)
class FootfallPattern:
    """Swings by end-effector index: ``swings`` of (index, start, end), phases of the duration; of ``effectors`` of them all.

    ``notes``: what is possible but risky about it, a sentence each. ``periodic``: a swing may run past 1 into the next cycle.
    """

    name: str
    effectors: int
    swings: tuple[tuple[int, float, float], ...] = ()
    periodic: bool = True
    notes: tuple[str, ...] = field(default=(), compare=False)


def footfalls(character: Character, gait: Gait, *, flight: bool = False) -> FootfallPattern:
    """The footfall pattern of a gait for a character: a named one fitted to its feet, or the gait's own swings, checked.

    A motion that happens once repeats a named pattern ``gait.cycles`` times within its duration, with a quarter of a cycle of
    standing at an end at rest. Impossible footfalls raise BadInput; risky ones get a note. ``flight``: all feet may be in the
    air at once.
    """
    n = len(character.end_effectors)
    feet = feet_of(character)
    support = SUPPORT
    if gait.pattern == "custom":
        swings = _own_swings(character, gait, feet)
    elif gait.pattern in PATTERNS:
        swings = named_swings(feet, gait.pattern, character.name, gait.air)
        if not gait.periodic:
            whole = gait.cycles + REST * ((gait.start == "rest") + (gait.end == "rest"))
            before = REST if gait.start == "rest" else 0.0
            swings = [(j, (before + k + a) / whole, (before + k + b) / whole) for k in range(gait.cycles) for j, a, b in swings]
            support = SUPPORT / whole
    else:
        raise BadInput(
            f"the footfall pattern {gait.pattern!r} is not known here; give one of {', '.join(PATTERNS)}, or custom with swings "
            "(best is for perform, which tries them)"
        )
    names = [tip.name for tip in character.end_effectors]
    check_swings(swings, names, gait.periodic, flight=flight)
    if gait.symmetric:
        check_half_cycle(swings, mirror_partners(feet, names), names)
    notes = swing_notes(swings, names, feet, gait.periodic, support)
    return FootfallPattern(gait.pattern, n, tuple(swings), gait.periodic, notes)


def named_swings(feet: Feet, name: str, who: str = "the character", air: float | None = None) -> list[tuple[int, float, float]]:
    """The swings of one cycle of a named pattern: groups of feet, one after the other, each in the middle of its slot.

    "crawl": one foot after the other, each side from hind to front; "trot": diagonals (of three feet: one after the other, of six:
    alternating tripods); "pace": the left, then the right; "bound": the front half of the rows, then the hind half. ``air``: the
    share of the cycle that a swing takes, None: `SHARE`.
    """
    if name == "roll":
        return []
    if not feet.feet:
        raise BadInput(
            f"every end effector of {who!r} sits on its base body, so no foot can leave the ground; use the pattern roll"
        )
    groups = [group for group in _GROUPS[name](feet) if group]
    count = len(groups)
    share = SHARE.get(count, 1.0 / count - SUPPORT) if air is None else air
    if share <= 0.0:
        raise BadInput(f"{count} feet one after the other leave no time to swing; use the pattern trot")
    if share > 1.0 / count:
        raise BadInput(
            f"feet in the air for {share:g} of a cycle in {count} turns; give at most {1.0 / count:.3g}, or custom swings"
        )
    swings = []
    for k, group in enumerate(groups):
        start = (k + 0.5) / count - 0.5 * share
        swings += [(j, round(start, 12), round(start + share, 12)) for foot in group for j in foot.effectors]
    return sorted(swings, key=lambda one: (one[1], one[0]))


def contacts(pattern: FootfallPattern, samples: int, periodic: bool | None = None, *, flight: bool = False) -> Flags:
    """Flags (samples, n_e): 1 where an end effector is on the ground at a sample, 0 in the air.

    Sample i of T stands at phase i / T of a cycle, i / (T - 1) of a motion that happens once. A swing goes from the sample nearest
    to its start, the last on the ground, to the one nearest to its end, the next on the ground. ``flight``: all may be in the air.
    """
    flags = np.ones((samples, pattern.effectors), dtype=np.int64)
    for j, first, length in _sampled(pattern, samples, periodic):
        flags[(first + np.arange(1, length)) % samples, j] = 0
    alone = np.flatnonzero(~flags.any(axis=1))
    if len(alone) and not flight:
        raise BadInput(f"with {samples} samples nothing is on the ground at sample {alone[0]}; use more, or shorter swings")
    return flags


def swing_heights(pattern: FootfallPattern, samples: int, height: float, periodic: bool | None = None) -> Array:
    """Heights (samples, n_e) [m] over the ground that the feet follow, 0 in stance.

    16 w u² (1 - u)² with w the ``height`` [m] and u = k / L the share of the L intervals from the last to the next sample on the
    ground: zero speed at both ends, w in the middle.
    """
    heights = np.zeros((samples, pattern.effectors))
    for j, first, length in _sampled(pattern, samples, periodic):
        k = np.arange(1, length)
        u = k / length
        heights[(first + k) % samples, j] = 16.0 * height * u**2 * (1.0 - u) ** 2
    return heights


def fewest_samples(pattern: FootfallPattern) -> int:
    """The fewest samples with which every swing spans two intervals or more wherever it starts: T s >= 2 for shares s."""
    shortest = min((end - start for _, start, end in pattern.swings), default=1.0)
    return max(6, int(np.ceil(2.0 / shortest - NEAR)) + (0 if pattern.periodic else 1))


def _sampled(pattern: FootfallPattern, samples: int, periodic: bool | None) -> list[tuple[int, int, int]]:
    """(end effector, last sample on the ground, intervals) of every swing."""
    closed = pattern.periodic if periodic is None else periodic
    steps = samples if closed else samples - 1
    sampled = []
    for j, start, end in pattern.swings:
        first, last = int(np.floor(start * steps + 0.5 + NEAR)), int(np.floor(end * steps + 0.5 + NEAR))
        if not closed:
            last = min(last, samples - 1)
        if last - first < 2:
            need = fewest_samples(pattern)
            raise BadInput(f"{samples} samples are too few for a swing of {end - start:.3g} of the duration; use {need} or more")
        sampled.append((j, first, last - first))
    return sampled


def _crawl(feet: Feet) -> Groups:
    order = {"left": 0, "middle": 1, "right": 2}
    if len(feet.feet) == 3:
        order = {"middle": 0, "left": 1, "right": 2}
    return [[foot] for foot in sorted(feet.feet, key=lambda foot: (order[foot.side], -foot.row, -foot.place[1]))]


def _trot(feet: Feet) -> Groups:
    if len(feet.feet) == 3:
        return _crawl(feet)
    even = [foot for foot in feet.feet if _parity(foot) == 0]
    return [even, [foot for foot in feet.feet if _parity(foot) == 1]]


def _parity(foot: FootGroup) -> int:
    """0: with the left foot of the first row; 1: with the right one. Diagonal neighbours share it."""
    return (foot.row + (foot.side == "right")) % 2


def _pace(feet: Feet) -> Groups:
    return [[foot for foot in feet.feet if foot.side == side] for side in ("left", "middle", "right")]


def _bound(feet: Feet) -> Groups:
    half = 0.5 * (feet.rows - 1)
    return [[foot for foot in feet.feet if foot.row <= half], [foot for foot in feet.feet if foot.row > half]]


_GROUPS = {"crawl": _crawl, "trot": _trot, "pace": _pace, "bound": _bound}


def _own_swings(character: Character, gait: Gait, feet: Feet) -> list[tuple[int, float, float]]:
    """The swings that a gait states itself, of end effectors or of whole feet by the body that carries them."""
    names = [tip.name for tip in character.end_effectors]
    whole = {foot.body: foot.effectors for foot in feet.feet}
    swings = []
    for swing in gait.swings:
        if swing.effector in names:
            indices: Sequence[int] = (names.index(swing.effector),)
        elif swing.effector in whole:
            indices = whole[swing.effector]
        else:
            raise BadInput(f"a swing is given for {swing.effector!r}, which is no end effector; known: {', '.join(names[:12])}")
        if not gait.periodic and swing.end > 1.0 + NEAR:
            raise BadInput(
                f"the swing of {swing.effector!r} ends at {swing.end:g}, after the motion that happens once; end it at 1 or before"
            )
        swings += [(j, swing.start, swing.end) for j in indices]
    return sorted(swings, key=lambda one: (one[1], one[0]))
