"""The ``modes`` and ``gait`` tracks of a clip file, read and written; modes with the primitives they name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bunraku.formats.clip_file import (
    AccentEntry,
    GaitTrack,
    JointsTrack,
    ModeEntry,
    ModesTrack,
    PrimitiveEntry,
    TargetEntry,
    TerrainTrack,
)
from bunraku.formats.files import read_reference
from bunraku.formats.places import Where, known_names, located
from bunraku.formats.yaml_file import read_yaml
from bunraku.motion import Accent, Choreography, Clip, Gait, JointCurves, Mode, Primitive, Swing, Target
from bunraku.motion.terrain import HeightField

Curves = Callable[[JointsTrack, float, Path | None, Where], JointCurves]


def read_modes(track: ModesTrack, folder: Path | None, where: Where, curves: Curves) -> Choreography:
    """The choreography of a track; primitives that it does not define itself are built-in clips of that name.

    ``curves`` makes joint curves of a joints track, its rate, the folder and its place.
    """
    own = {entry.name: (i, entry) for i, entry in enumerate(track.primitives)}
    if len(own) < len(track.primitives):
        raise where.at("primitives").wrong("two primitives have the same name; rename one")
    named = [(entry.primitive, where.at("sequence", i)) for i, entry in enumerate(track.sequence)]
    named += [(entry.primitive, where.at("accents", i)) for i, entry in enumerate(track.accents)]
    primitives: dict[str, Primitive] = {}
    for name, place in named:
        if name in primitives:
            continue
        if name in own:
            index, entry = own[name]
            primitives[name] = _defined(entry, folder, where.at("primitives", index), curves)
        else:
            primitives[name] = _built_in(name, tuple(own), place.at("primitive"))
    library = tuple(primitives.values())
    modes: tuple[Mode, ...] = ()
    for i, step in enumerate(track.sequence):  # not empty: ModesTrack
        modes = (*modes, Mode(step.primitive, step.start))
        with located(where.file, where.at("sequence", i).place):
            show = Choreography(track.duration, library, modes)
    accents: tuple[Accent, ...] = ()
    for i, a in enumerate(track.accents):
        with located(where.file, where.at("accents", i).place):
            accents = (*accents, Accent(a.time, a.primitive, a.moment, a.width, a.weight, a.coordinates))
            show = Choreography(track.duration, library, modes, accents)
    return show


def samples_track(curves: JointCurves) -> JointsTrack:
    """Joint curves as samples inside a file."""
    return JointsTrack(samples_si={name: tuple(curves.column(name).tolist()) for name in curves.names})


def written_modes(show: Choreography) -> ModesTrack:
    """The track of a choreography: built-in primitives by name, others with their samples inside."""
    return ModesTrack(
        duration=show.duration,
        sequence=tuple(ModeEntry(**vars(mode)) for mode in show.modes),
        primitives=tuple(
            PrimitiveEntry(name=one.name, rate=one.curves.rate, joints=samples_track(one.curves), stroke=one.stroke)
            for one in show.primitives
            if not one.built_in
        ),
        accents=tuple(AccentEntry(**vars(accent)) for accent in show.accents),
    )


def _defined(entry: PrimitiveEntry, folder: Path | None, where: Where, curves: Curves) -> Primitive:
    if entry.file is None:
        assert entry.joints is not None  # noqa: S101 (PrimitiveEntry: either of them)
        with located(where.file, where.place):
            return Primitive(entry.name, curves(entry.joints, entry.rate, folder, where.at("joints")), entry.stroke)
    from bunraku.formats.clip_yaml import read_clip_yaml

    place = where.at("file")
    if not entry.file.lower().endswith((".yaml", ".yml")):
        raise place.wrong(f"a primitive comes from a .clip.yaml file, not {entry.file[:100]!r}")
    data = read_reference(entry.file, folder, place)
    if "modes" in read_yaml(data, file=entry.file, kind="clip").data:
        raise place.wrong(f"{entry.file[:100]!r} is itself a choreography; a primitive has joint curves")
    inner = None if folder is None else (folder / entry.file).parent
    return _primitive(entry.name, read_clip_yaml(data, file=entry.file, folder=inner), place, stroke=entry.stroke)


def _built_in(name: str, own: tuple[str, ...], where: Where) -> Primitive:
    from bunraku.formats.registry import built_in, read_clip

    library = tuple(one for one in built_in("clip") if one.startswith("puppet-"))
    if name not in built_in("clip"):
        raise where.wrong(f"there is no primitive {name[:100]!r}; {known_names(name, (*own, *library))}")
    return _primitive(name, read_clip(name), where, built_in=True)


def _primitive(name: str, clip: Clip, where: Where, *, stroke: float | None = None, built_in: bool = False) -> Primitive:
    if clip.joints is None:
        raise where.wrong(f"the clip {name!r} has no joint curves; a primitive needs them")
    own = next((mark.stroke for mark in clip.phrases if mark.stroke is not None), None)
    with located(where.file, where.place):
        return Primitive(name, clip.joints, own if stroke is None else stroke, built_in)


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
