"""From a character and its gait to a motion problem: samples, contacts, travel, targets, ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.building.mirror import mirror_map
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.gait.patterns import PATTERNS, REST, FootfallPattern, contacts, fewest_samples, footfalls, swing_heights
from bunraku.mechanics.centroidal.model import CentroidalModel, centroidal_model
from bunraku.mechanics.centroidal.spots import ground_spots
from bunraku.motion import Gait
from bunraku.performers.locomotion.footing import moved_standing, standing_pose
from bunraku.performers.locomotion.problem import Ends, MotionProblem, Waypoint, Weights

COUNTED_FRICTION = 0.7
"""The share of an end effector's friction that a plan counts on unless the gait says otherwise: a margin for other floors."""

MOST_SAMPLES = 20_000
"""Most samples of a plan."""

CLEARANCE = 0.005
"""Distance [m] that everything but wheels and feet keeps from the ground."""

COARSE = 0.1
"""Longest step [s] of the first plan; a cycle has at least twelve."""

SWING_STEPS, CYCLE_STEPS = 14, 48
"""The shortest swing and a cycle with swings have at least so many steps: a rule in time would resolve long cycles worse."""

FEW, FINER = 30, 4
"""Up to so many samples are planned at once; more are refined from a plan with a quarter of them."""

LONGEST = 4.0
"""A motion that happens once and takes longer [s] is weighed per sample like one of this length."""


def _cycles_within(gait: Gait, pattern: FootfallPattern) -> float:
    """How many cycles of a named footfall pattern a motion goes through, standing at its ends included."""
    if gait.periodic or not pattern.swings or gait.pattern not in PATTERNS:
        return 1.0
    return gait.cycles + REST * ((gait.start == "rest") + (gait.end == "rest"))


def _resolving(pattern: FootfallPattern, within: float) -> int:
    """The fewest steps that resolve the swings of ``within`` cycles; none without swings. Even, for cycles that are halved.

    A motion that happens once has `CYCLE_STEPS` for each cycle within it and does not resolve its swings more: with `SWING_STEPS`
    for each the step up of a walker (429 samples instead of 265) stalls at 4e-5 after 1000 steps instead of converging in 300.
    """
    shortest = min((end - start for _, start, end in pattern.swings), default=0.0)
    if not shortest:
        return 0
    steps = int(np.ceil(max(CYCLE_STEPS * within, SWING_STEPS / shortest if pattern.periodic else 0.0) - 1e-9))
    return steps + steps % 2


def stages(gait: Gait, pattern: FootfallPattern) -> tuple[int, ...]:
    """Numbers of samples from coarse to fine.

    A cycle that only rolls is planned with 12 and refined to 24, one with swinging feet refined to 48 or what gives its shortest
    swing 14 steps, whatever its duration; motions that happen once, from a step of 0.1 s on, or from 12 for each time that they go
    through a footfall pattern, to 48 for each. ``gait.samples`` fixes the last; up to `FEW` it is the only one, otherwise each
    begins with a quarter of them.
    """
    ends = 0 if gait.periodic else 1
    halves = 2 if gait.symmetric else 1
    least = fewest_samples(pattern)
    within = _cycles_within(gait, pattern)
    first = int(np.ceil(max(12.0 * within, gait.duration / COARSE) - 1e-9))
    while first + ends < least:
        first *= 2
    finest = first * (2 if not pattern.swings else 4 if first <= 12.5 * within else 2)
    if gait.periodic or gait.pattern in PATTERNS:  # swings of its own, once within a longer motion, are left as they are
        finest = max(finest, _resolving(pattern, within))
    last = gait.samples or finest + ends
    if last > MOST_SAMPLES:
        raise BadInput(f"{gait.duration:g} s would take {last} samples; give fewer (samples, at most {MOST_SAMPLES}) or less time")
    if last < least:
        raise BadInput(f"{gait.samples} samples are too few for the swings of {gait.pattern!r}; give {least} or more, or 0")
    if last % halves or (last // halves) < 6:
        raise BadInput(f"{last} samples cannot be halved for half-cycle symmetry; give an even number of 12 or more")
    counts = [last]
    first += first % halves
    while counts[0] > FEW and counts[0] > first + ends:
        coarser = max(first, int(np.ceil((counts[0] - ends) / FINER)))
        counts.insert(0, coarser + coarser % halves + ends)
    return tuple(counts)


def state_problem(
    character: Character,
    gait: Gait,
    *,
    samples: int,
    pattern: FootfallPattern | None = None,
    model: CentroidalModel | None = None,
    weights: Weights | None = None,
    least_force: float = 0.5,
    ends: Ends | None = None,
) -> MotionProblem:
    """The problem with that many ``samples`` of the whole motion; ``ends`` replaces those that the gait describes."""
    model = model or centroidal_model(character, locked=gait.locked)
    pattern = pattern or footfalls(character, gait)
    touching, heights = contacts(pattern, samples), swing_heights(pattern, samples, gait.swing_height)
    step = gait.duration / (samples if gait.periodic else samples - 1)
    distance = gait.distance or (None, None)
    travel = tuple(np.nan if part is None else float(part) for part in (*distance, gait.turn))
    if gait.symmetric:
        ends = Ends(mirror=_mirror(character, model))
        half = samples // 2
        tip_of = (ends.mirror[0][model.nq :: 3] - model.nq) // 3 if ends.mirror is not None else np.arange(model.n_tips)
        if not np.array_equal(touching[half:], touching[:half][:, tip_of]):
            raise BadInput(f"the footfalls of {gait.pattern!r} are not the same half a cycle later with left and right exchanged")
        touching, heights = touching[:half], heights[:half]
    elif ends is None:
        ends = Ends() if gait.periodic else _at_rest(model, gait)
    weights = weights or Weights()
    if not gait.periodic:
        part = min(1.0 / _cycles_within(gait, pattern), LONGEST / gait.duration)
        weights = weights.paced(samples - 1, part * (samples - 1)) if part < 1.0 else weights
    friction = np.full(model.n_tips, gait.friction) if gait.friction is not None else COUNTED_FRICTION * model.friction
    return MotionProblem(
        model,
        touching,
        heights,
        step,
        gait.periodic,
        (travel[0], travel[1], travel[2]),
        ends,
        weights,
        friction,
        least_force,
        tuple(_waypoints(model, gait, step, len(touching))),
        gait.terrain,
        spots=ground_spots(character, model, CLEARANCE),
    )


def _at_rest(model: CentroidalModel, gait: Gait) -> Ends:
    """Standing at home at both ends, on the ground that is there; on terrain the wished distance says where the end is."""
    first = last = model.home
    if gait.terrain is not None:
        x, y = gait.distance or (None, None)
        first = standing_pose(model, gait.terrain, model.home)
        last = moved_standing(model, gait.terrain, (x or 0.0, y or 0.0), gait.turn or 0.0)
    forces = np.zeros(3 * model.n_tips)
    start, end = gait.start == "rest", gait.end == "rest"
    return Ends(
        start=first if start else None,
        before=np.concatenate([first, forces]) if start else None,
        end=last if end else None,
        after=np.concatenate([last, forces]) if end else None,
    )


def _waypoints(model: CentroidalModel, gait: Gait, step: float, samples: int) -> Sequence[Waypoint]:
    waypoints = []
    for target in gait.targets:
        if gait.symmetric and target.time > 0.5 * gait.duration:
            raise BadInput(
                f"the target of {target.what!r} at {target.time:g} s lies in the second half of a cycle that mirrors its first; "
                "give it in the first half, or drop the symmetry"
            )
        if target.what == "com":
            what = -1
        elif target.what == "base":
            what = -2
        elif target.what in model.tip_names:
            what = model.tip_names.index(target.what)
        else:
            known = ", ".join(("com", "base", *model.tip_names))
            raise BadInput(f"there is no {target.what!r} to bring to a target; known: {known}")
        at = min(target.time / step, samples - (1e-9 if gait.periodic else 1.0))
        sample = min(int(at), samples - 1)
        share = at - sample
        if abs(share) < 1e-9 or (not gait.periodic and sample == samples - 1):
            share = 0.0
        weight = tuple(0.0 if part is None else target.weight for part in target.place)
        place = tuple(0.0 if part is None else float(part) for part in target.place)
        waypoints.append(Waypoint(sample, share, what, (place[0], place[1], place[2]), (weight[0], weight[1], weight[2])))
    return waypoints


def _mirror(character: Character, model: CentroidalModel) -> tuple[NDArray[np.int64], Array]:
    """Permutation and sign (nv,) of the unknowns of one sample under the exchange of left and right."""
    mirror = mirror_map(character)
    other, turned = mirror.of(model.names)
    order, sign = list(other), list(turned)
    for name in model.tip_names:
        k = model.tip_names.index(mirror.end_effectors[name])
        order += [model.nq + 3 * k + a for a in range(3)]
        sign += [1.0, -1.0, 1.0]
    return np.array(order, dtype=np.int64), np.array(sign, dtype=np.float64)
