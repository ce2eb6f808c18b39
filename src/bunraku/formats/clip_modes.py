"""The ``modes`` track of a clip file: reading it, with the primitives it names, and writing it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bunraku.formats.clip_file import AccentEntry, JointsTrack, ModeEntry, ModesTrack, PrimitiveEntry
from bunraku.formats.files import read_reference
from bunraku.formats.places import Where, known_names, located
from bunraku.formats.yaml_file import read_yaml
from bunraku.motion import Accent, Choreography, Clip, JointCurves, Mode, Primitive

Curves = Callable[[JointsTrack, float, Path | None, Where], JointCurves]


def read_modes(track: ModesTrack, folder: Path | None, where: Where, curves: Curves) -> Choreography:
    """The choreography of a track; primitives that it does not define itself are built-in clips of that name.

    ``curves`` makes joint curves of a joints track, its rate, the folder and its place.
    """
    own = {entry.name: (i, entry) for i, entry in enumerate(track.primitives)}
    if len(own) < len(track.primitives):
        raise where.at("primitives").wrong("two primitives have the same name; rename one")
    wanted = [(entry.primitive, where.at("sequence", i)) for i, entry in enumerate(track.sequence)]
    wanted += [(entry.primitive, where.at("accents", i)) for i, entry in enumerate(track.accents)]
    primitives: dict[str, Primitive] = {}
    for name, place in wanted:
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
