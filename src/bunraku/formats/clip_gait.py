"""The ``gait`` track of a clip file: reading it and writing it."""

from __future__ import annotations

from bunraku.formats.clip_file import GaitTrack, TargetEntry, TerrainTrack
from bunraku.formats.places import Where, located
from bunraku.motion import Gait, Swing, Target
from bunraku.motion.terrain import HeightField

Pairs = tuple[tuple[float, float], ...]
_ALIKE = (
    *("duration", "pattern", "periodic", "cycles", "turn", "swing_height", "air", "start", "end", "symmetric", "samples"),
    *("friction", "locked"),
)
"""The fields that a gait and its track have alike."""


def read_gait(track: GaitTrack, where: Where) -> Gait:
    """The gait of a track; what is wrong with it is said with its place in the file."""
    swings: list[Swing] = []
    for name, given in track.swings.items():
        with located(where.file, where.at("swings", name).place):
            swings += [Swing(name, *pair) for pair in _pairs(given)]
    targets: list[Target] = []
    for i, entry in enumerate(track.targets):
        place = where.at("targets", i)
        if entry.time > track.duration + 1e-9:
            raise place.wrong(
                f"the target at {entry.time:g} s lies outside the gait of {track.duration:g} s; choose an earlier time"
            )
        with located(where.file, place.place):
            targets.append(Target(entry.time, entry.what, entry.place, entry.weight))
    with located(where.file, where.at("terrain").place):
        terrain = None if track.terrain is None else _terrain(track.terrain)
    with located(where.file, where.place):
        return Gait(
            **{name: getattr(track, name) for name in _ALIKE},
            distance=(track.distance, 0.0) if isinstance(track.distance, float) else track.distance,
            swings=tuple(sorted(swings, key=lambda swing: (swing.start, swing.end, swing.effector))),
            targets=tuple(targets),
            terrain=terrain,
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
        **{name: getattr(gait, name) for name in _ALIKE},
        distance=gait.distance,
        swings={name: pairs[0] if len(pairs) == 1 else pairs for name, pairs in swings.items()},
        targets=tuple(TargetEntry(time=t.time, what=t.what, place=t.place, weight=t.weight) for t in gait.targets),
        terrain=terrain,
    )


def _pairs(given: tuple[float, float] | Pairs) -> list[tuple[float, float]]:
    """One swing or several, as a list of (start, end)."""
    if len(given) == 2 and isinstance(given[0], float):
        return [given]  # type: ignore[list-item]
    return list(given)  # type: ignore[arg-type]


def _terrain(track: TerrainTrack) -> HeightField:
    fine = {} if track.spacing is None else {"spacing": track.spacing}
    if track.kind == "slope" and track.angle is not None and track.length is not None:
        return HeightField.slope(track.angle, start=track.start, length=track.length, **fine)
    if track.kind == "step" and track.height is not None and track.at is not None:
        return HeightField.step(track.height, at=track.at, length=track.length, **fine)
    return HeightField(track.origin, track.spacing or 0.0, track.heights)  # type: ignore[arg-type]
