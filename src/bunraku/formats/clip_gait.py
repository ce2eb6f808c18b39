"""The ``gait`` track of a clip file: reading it and writing it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from bunraku.errors import BadInput
from bunraku.formats.clip_file import GaitTrack, TargetEntry, TerrainTrack
from bunraku.formats.places import Where
from bunraku.motion import Gait, Swing, Target
from bunraku.motion.terrain import HeightField

T = TypeVar("T")
Pairs = tuple[tuple[float, float], ...]


def read_gait(track: GaitTrack, where: Where) -> Gait:
    """The gait of a track; what is wrong with it is said with its place in the file."""
    distance = track.distance
    swings: list[Swing] = []
    for name, given in track.swings.items():
        place = where.at("swings", name)
        swings += [_placed(place, lambda n=name, p=pair: Swing(n, *p)) for pair in _pairs(given)]  # type: ignore[misc]
    targets: list[Target] = []
    for i, entry in enumerate(track.targets):
        place = where.at("targets", i)
        if entry.time > track.duration + 1e-9:
            raise place.wrong(
                f"the target at {entry.time:g} s lies outside the gait of {track.duration:g} s; choose an earlier time"
            )
        targets.append(_placed(place, lambda e=entry: Target(e.time, e.what, e.place, e.weight)))  # type: ignore[misc]
    terrain = None if track.terrain is None else _terrain(track.terrain, where.at("terrain"))
    return _placed(
        where,
        lambda: Gait(
            track.duration,
            pattern=track.pattern,
            periodic=track.periodic,
            cycles=track.cycles,
            distance=(distance, 0.0) if isinstance(distance, float) else distance,
            turn=track.turn,
            swings=tuple(sorted(swings, key=lambda swing: (swing.start, swing.end, swing.effector))),
            swing_height=track.swing_height,
            air=track.air,
            start=track.start,
            end=track.end,
            symmetric=track.symmetric,
            samples=track.samples,
            friction=track.friction,
            locked=track.locked,
            targets=tuple(targets),
            terrain=terrain,
        ),
    )


def written_gait(gait: Gait) -> GaitTrack:
    """The track of a gait; its swings in the order of time, its terrain as a grid."""
    swings: dict[str, Pairs] = {}
    for swing in gait.swings:
        swings[swing.effector] = (*swings.get(swing.effector, ()), (swing.start, swing.end))
    ground = gait.terrain
    terrain = None
    if ground is not None:
        heights = tuple(tuple(row) for row in ground.heights.tolist())
        terrain = TerrainTrack(kind="grid", spacing=ground.spacing, origin=ground.origin, heights=heights)
    return GaitTrack(
        duration=gait.duration,
        pattern=gait.pattern,
        periodic=gait.periodic,
        cycles=gait.cycles,
        distance=gait.distance,
        turn=gait.turn,
        swings={name: pairs[0] if len(pairs) == 1 else pairs for name, pairs in swings.items()},
        swing_height=gait.swing_height,
        air=gait.air,
        start=gait.start,
        end=gait.end,
        symmetric=gait.symmetric,
        samples=gait.samples,
        friction=gait.friction,
        locked=gait.locked,
        targets=tuple(TargetEntry(time=t.time, what=t.what, place=t.place, weight=t.weight) for t in gait.targets),
        terrain=terrain,
    )


def _pairs(given: tuple[float, float] | Pairs) -> list[tuple[float, float]]:
    """One swing or several, as a list of (start, end)."""
    if len(given) == 2 and isinstance(given[0], float):
        return [given]  # type: ignore[list-item]
    return list(given)  # type: ignore[arg-type]


def _terrain(track: TerrainTrack, where: Where) -> HeightField:
    fine = {} if track.spacing is None else {"spacing": track.spacing}
    if track.kind == "slope" and track.angle is not None and track.length is not None:
        angle, length = track.angle, track.length
        return _placed(where, lambda: HeightField.slope(angle, start=track.start, length=length, **fine))
    if track.kind == "step" and track.height is not None and track.at is not None:
        height, at = track.height, track.at
        return _placed(where, lambda: HeightField.step(height, at=at, length=track.length, **fine))
    return _placed(where, lambda: HeightField(track.origin, track.spacing or 0.0, track.heights))  # type: ignore[arg-type]


def _placed(where: Where, make: Callable[[], T]) -> T:
    """Make something; an error about it says where in the file it stands."""
    try:
        return make()
    except BadInput as error:
        raise where.wrong(str(error)) from error
