"""Everything of a character that is drawn, over time: computed once, so that playing it only indexes arrays; and picking of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array
from bunraku.character import Character, free_base
from bunraku.errors import BadInput
from bunraku.geometry.rotations import matrix_of_quaternion
from bunraku.mechanics.dynamics.initial import make_consistent
from bunraku.mechanics.measures.balance import planted
from bunraku.mechanics.systems.character_system import character_system
from bunraku.mechanics.systems.loops import loop_gaps
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import JointCurves, Performance
from bunraku.stage.figure.figure import Figure, Placed
from bunraku.stage.figure.parts import PART_COLOR, SKIN_COLOR, Bent, Deforming, How, bend, sampled_surface, unbent

Small = NDArray[np.float32]
Which = Literal["motion", "wish", "commanded", "before"]

FRAME_RATE = 60.0
"""The most frames a second that are drawn."""

SKIN_RATE = 30.0
"""The most frames a second of a character with a skin: every one holds all its points."""


@dataclass(frozen=True, eq=False)
class DrawnMotion:
    """What is drawn at ``times`` (m,) [s], arrays float32, lengths in metres.

    ``placed``: the solids of ``figure`` by kind; ``strings`` (m, s, 2, 3): ends at the carriage and at the hook; ``rods``: the
    flexible parts; ``skin``; ``com`` (m, 3): the centre of mass; ``frames`` (m, k, 3): frames and end effectors called ``names``;
    ``lower`` and ``upper`` (m, 3): corners of the box around the character, its carriages and strings left out.
    ``notes``: what is not as it should be, in sentences.
    """

    figure: Figure
    times: Array
    placed: dict[str, Placed]
    strings: Small
    rods: tuple[Deforming, ...]
    skin: Deforming | None
    com: Small
    names: tuple[str, ...]
    frames: Small
    lower: Array
    upper: Array
    notes: tuple[str, ...] = ()

    @property
    def duration(self) -> float:
        """Time of the last frame [s]."""
        return float(self.times[-1])

    @property
    def surfaces(self) -> tuple[Deforming, ...]:
        """All that deforms: the flexible parts, then the skin."""
        return self.rods if self.skin is None else (*self.rods, self.skin)

    def at(self, time: float) -> int:
        """The frame nearest to a time [s]."""
        k = int(np.searchsorted(self.times, time))
        if k == 0:
            return 0
        if k == len(self.times):
            return k - 1
        return k if self.times[k] - time <= time - self.times[k - 1] else k - 1


def drawn(
    performance: Performance, *, which: Which = "motion", figure: Figure | None = None, times: ArrayLike | None = None
) -> DrawnMotion:
    """A performance, drawn.

    ``which``: its "motion" as planned; the "wish" (the plan where there is none), other coordinates as in the motion, flexible
    parts at rest in every pose; what is "commanded", flexible parts unbent; or "before", what a flexible character would do if the
    wish itself were played (for others the wish). ``figure`` spares making it again. Flexible characters are simulated (`bent`).
    Given ``times`` (k,) [s], only the samples on both sides of each are drawn.
    """
    figure = Figure(performance.character) if figure is None else figure
    chosen = _frames(figure, len(performance.motion.values), performance.rate) if times is None else _about(performance, times)
    times = chosen / performance.rate
    if performance.character.flexibles and which != "commanded":
        curves = performance.sent() if which == "motion" else performance.wish_or_plan()
        how: How = "resting" if which == "wish" else "swinging"
        return _assembled(figure, times, bend(figure.model, figure.bodies, figure.parts, curves, times, how), None)
    q = figure.configurations(*_known(figure, performance.motion, chosen))
    if which == "motion" or (which != "commanded" and performance.wish is None):
        surface = performance.surface
        return _rigid(figure, times, q, None if surface is None else sampled_surface(surface, times))
    commands = which == "commanded" and any(channel.kind == "position" for channel in performance.channels)
    over = performance.sent() if commands else performance.wish
    q = q if over is None else _overlaid(figure, q, over, chosen)
    return _rigid(figure, times, q)


def drawn_curves(character: Character, curves: JointCurves, *, figure: Figure | None = None) -> DrawnMotion:
    """Joint curves on a character, home for what they leave open; curves of nothing the character has are left out.

    The first foot of a character that stands on feet stays where it is at home, and loops stay closed. Flexible parts are unbent.
    """
    figure = Figure(character) if figure is None else figure
    chosen = _frames(figure, len(curves.values), curves.rate)
    names, values = _known(figure, curves, chosen)
    q, note = _planted(figure, names, figure.configurations(names, values)), ""
    if character.loops:
        q, note = closed(character, figure.names, q, names)
    return _rigid(figure, chosen / curves.rate, q, note=note)


def drawn_pose(character: Character, q: ArrayLike | None = None, *, figure: Figure | None = None) -> DrawnMotion:
    """One frame: the character at ``q`` (nq,) of the figure's coordinates (its own, then x, y of each carriage), or at home."""
    figure = Figure(character) if figure is None else figure
    pose = figure.home if q is None else np.asarray(q, dtype=np.float64)
    if pose.shape == (len(character.coordinates),) and pose.shape != figure.home.shape:
        pose = np.concatenate([pose, figure.home[len(pose) :]])
    if pose.shape != figure.home.shape:
        raise BadInput(f"a pose of shape {pose.shape} arrived; ({len(figure.names)},) numbers are needed")
    return _rigid(figure, np.zeros(1), pose[None, :])


def _frames(figure: Figure, count: int, rate: float) -> NDArray[np.int64]:
    """Which of ``count`` samples are drawn: every so many, and the last."""
    most = FRAME_RATE if figure.skin is None else SKIN_RATE
    chosen = np.arange(0, count, max(1, ceil(rate / most - 1e-9)))
    return chosen if chosen[-1] == count - 1 else np.append(chosen, count - 1)


def _about(performance: Performance, times: ArrayLike) -> NDArray[np.int64]:
    """The samples of a performance just before and just after some times [s]."""
    place = np.clip(np.asarray(times, dtype=np.float64) * performance.rate, 0.0, len(performance.motion.values) - 1)
    return np.unique(np.concatenate([np.floor(place + 1e-9), np.ceil(place - 1e-9)])).astype(np.int64)


def _known(figure: Figure, curves: JointCurves, chosen: NDArray[np.int64]) -> tuple[tuple[str, ...], Array]:
    """Names and values of those curves that pose the figure."""
    kept = [j for j, name in enumerate(curves.names) if name in figure.names]
    return tuple(curves.names[j] for j in kept), curves.values[chosen][:, kept]


def _overlaid(figure: Figure, q: Array, curves: JointCurves, chosen: NDArray[np.int64]) -> Array:
    """Configurations ``q`` (m, nq) with curves in place of some coordinates; followers follow, the first foot stays."""
    names, values = _known(figure, curves, chosen)
    whole = q.copy()
    whole[:, [figure.names.index(name) for name in names]] = values
    return _planted(figure, names, figure.configurations(figure.names, whole))


def _planted(figure: Figure, names: tuple[str, ...], q: Array) -> Array:
    """The same on its first foot, if it stands on feet, does not walk, and no curve of ``names`` moves its base."""
    base = free_base(figure.character)
    if base is None or figure.character.end_effectors or any(axis.name in names for axis in base.axes):
        return q
    return planted(figure.character, figure.tree, q)


def _rigid(figure: Figure, times: Array, q: Array, skin: Deforming | None = None, note: str = "") -> DrawnMotion:
    R, p = figure.poses(q)
    if skin is None and figure.skin is not None:
        skin = Deforming("skin", figure.skin.points(R, p), figure.skin.faces, SKIN_COLOR)
    return _assembled(figure, times, unbent(figure.bodies, figure.parts, R, p), skin, note)


def _assembled(figure: Figure, times: Array, bent: Bent, skin: Deforming | None, note: str = "") -> DrawnMotion:
    names, frames = figure.points(bent.R, bent.p)
    moment, mass = figure.moment(bent.R, bent.p) + bent.moment, figure.mass
    com = moment / mass if mass > 0.0 else bent.p.mean(axis=1)
    rods = tuple(
        Deforming(part.name, points, part.faces.astype(np.int32), PART_COLOR)
        for part, points in zip(figure.parts, bent.surfaces, strict=True)
    )
    lower, upper = figure.box(bent.R, bent.p)
    for one in (*rods, *(() if skin is None else (skin,))):
        lower = np.minimum(lower, one.points.min(axis=1))
        upper = np.maximum(upper, one.points.max(axis=1))
    strings = figure.strings(bent.R, bent.p)
    return DrawnMotion(
        figure, times, figure.placed(bent.R, bent.p), _small(strings), rods, skin, _small(com), names, _small(frames),
        lower, upper, (*figure.notes, *((note,) if note else ())),
    )  # fmt: skip


def _small(values: Array) -> Small:
    return np.ascontiguousarray(values, dtype=np.float32)


OPEN = 1e-4
"""A loop whose ends are farther apart than this [m] is open."""


def closed(character: Character, names: Sequence[str], q: Array, held: Sequence[str]) -> tuple[Array, str]:
    """Configurations ``q`` (m, nq) of coordinates ``names``, moved where loops are open; ``held`` coordinates stay.

    Each frame starts from what the last one changed. Frames that cannot be closed stay as near as they come; the sentence says how
    many they are, empty when all are closed to `OPEN`.
    """
    followers = {coupling.follower for coupling in character.couplings}
    kept = [name for name in held if name not in followers]
    try:
        system = character_system(character, kinematic=kept)
    except BadInput as error:
        return q, f"the loops of the character are not closed: {error}"
    solved, lost = q.copy(), 0
    joints = [names.index(name) for name in character.coordinates]
    tree = compile_tree(character)
    place = [names.index(name) if name in names else -1 for name in system.names]
    inside = [i for i, j in enumerate(place) if j >= 0]
    there = [place[i] for i in inside]
    start, more = system.home.copy(), np.zeros(len(inside))
    for k in range(len(q)):
        start[inside] = q[k, there] + more
        settled = make_consistent(system, start, tolerance=1e-9)
        if settled.status.good:
            solved[k, there] = settled.q[inside]
            more = solved[k, there] - q[k, there]
        lost += max((gap for gap, _ in loop_gaps(character, tree, solved[k, joints]).values()), default=0.0) > OPEN
    return solved, f"the loops of the character stay open in {lost} of {len(q)} frames" if lost else ""


@dataclass(frozen=True, eq=False)
class Picked:
    """The ``body`` that was met, the ``point`` (3,) [m] in the world, and the same in the body's frame, ``local`` (3,)."""

    body: str
    point: Array
    local: Array


def picked(motion: DrawnMotion, frame: int, origin: ArrayLike, direction: ArrayLike) -> Picked | None:
    """What a ray meets first at a frame; None when it passes by.

    Every solid counts as its box, so a ball is met a little early at its corners. In the box's own axes, scaled to half lengths of
    one, the ray o + t d is between the faces of axis i for t from (-1 - o_i) / d_i to (1 - o_i) / d_i (or the other way round).
    """
    o, d = np.asarray(origin, dtype=np.float64), np.asarray(direction, dtype=np.float64)
    d = d / np.linalg.norm(d)
    best: tuple[float, Picked] | None = None
    for kind, placed in motion.placed.items():
        solids = motion.figure.solids[kind]
        if not len(solids):
            continue
        R = matrix_of_quaternion(placed.wxyz[frame].astype(np.float64))
        scale = np.maximum(solids.scale, 1e-9)
        local_o = np.einsum("nij,ni->nj", R, o - placed.positions[frame]) / scale
        local_d = np.einsum("nij,i->nj", R, d) / scale
        local_d = np.where(np.abs(local_d) < 1e-12, 1e-12, local_d)
        one, two = (-1.0 - local_o) / local_d, (1.0 - local_o) / local_d
        enter, leave = np.minimum(one, two).max(axis=1), np.maximum(one, two).min(axis=1)
        hit = np.flatnonzero((enter <= leave) & (leave > 0.0))
        if len(hit):
            first = hit[int(np.argmin(np.maximum(enter[hit], 0.0)))]
            t = float(max(enter[first], 0.0))
            if best is None or t < best[0]:
                point = o + t * d
                inside = R[first].T @ (point - placed.positions[frame, first])
                local = matrix_of_quaternion(solids.quaternion[first]) @ inside + solids.position[first]
                best = (t, Picked(motion.figure.bodies[int(solids.body[first])], point, local))
    return None if best is None else best[1]
