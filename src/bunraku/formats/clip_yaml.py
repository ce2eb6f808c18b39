"""Clip files: YAML with the tracks of a clip, some of which may lie in other files of the same folder."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TypeVar

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.formats.bvh import read_bvh
from bunraku.formats.clip_file import AudioTrack, ClipFile, EmphasisEntry, Interpolation, JointsTrack, MarkEntry, SkeletonTrack
from bunraku.formats.clip_tracks import read_gait, read_modes, samples_track, written_gait, written_modes
from bunraku.formats.csv_curves import read_csv
from bunraku.formats.files import read_reference
from bunraku.formats.gltf import read_gltf
from bunraku.formats.places import Where, located
from bunraku.formats.units import build, from_si
from bunraku.formats.wav import audio_from_wav, wav_bytes
from bunraku.formats.yaml_file import dump_yaml, read_yaml
from bunraku.geometry.monotone import monotone
from bunraku.motion import Audio, Clip, Emphasis, JointCurves, Mark, SkeletonMotion

T = TypeVar("T")
MAX_KEYED_SAMPLES = 5_000_000


def read_clip_yaml(data: bytes, *, file: str, folder: Path | None = None) -> Clip:
    """The clip of a file that starts with ``bunraku: clip/1``; the files it names are read from ``folder`` and nowhere else."""
    yaml = read_yaml(data, file=file, kind="clip")
    track = build(ClipFile, yaml.data, file=file, lines=yaml.lines)
    top = yaml.where
    return Clip(
        track.name,
        joints=None if track.joints is None else _joints(track.joints, track.rate, folder, top.at("joints")),
        skeleton=None if track.skeleton is None else _skeleton(track.skeleton, folder, top.at("skeleton")),
        audio=None if track.audio is None else _audio(track.audio, folder, top.at("audio")),
        words=tuple(Mark(**dict(mark)) for mark in track.words),
        phrases=tuple(Mark(**dict(mark)) for mark in track.phrases),
        held=track.held,
        mood=track.mood,
        source=track.source,
        modes=None if track.modes is None else read_modes(track.modes, folder, top.at("modes"), _joints),
        emphasis=tuple(Emphasis(**dict(part)) for part in track.emphasis),
        gait=None if track.gait is None else read_gait(track.gait, top.at("gait")),
        only=track.only,
    )


def write_clip_yaml(clip: Clip, name: str) -> dict[str, bytes]:
    """The files of a clip by name, the YAML file ``name`` last: joint curves as samples inside it, the voice as WAV beside it."""
    if clip.skeleton is not None:
        raise BadInput("a captured skeleton stays in its own file; retarget it first, or refer to that file by hand", file=name)
    stem = name.removesuffix(".yaml").removesuffix(".yml").removesuffix(".clip")
    parts: dict[str, bytes] = {}
    audio = None
    if clip.audio is not None:
        audio = AudioTrack(file=f"{stem}.wav")
        parts[audio.file] = wav_bytes(clip.audio)
    content = ClipFile(
        name=clip.name,
        mood=clip.mood,
        rate=clip.joints.rate if clip.joints is not None else 50.0,
        joints=None if clip.joints is None else samples_track(clip.joints),
        audio=audio,
        words=tuple(MarkEntry(**vars(mark)) for mark in clip.words),
        phrases=tuple(MarkEntry(**vars(mark)) for mark in clip.phrases),
        held=clip.held,
        modes=None if clip.modes is None else written_modes(clip.modes),
        emphasis=tuple(EmphasisEntry(**vars(part)) for part in clip.emphasis),
        gait=None if clip.gait is None else written_gait(clip.gait),
        only=clip.only,
        source=clip.source,
    )
    return parts | {name: dump_yaml("clip", from_si(content))}


def interpolated(times: Array, values: Array, at: Array, kind: Interpolation) -> Array:
    """Key values (k,) at rising ``times`` (k,) interpolated at ``at`` (n,), the end values held outside.

    ``smooth``: the cubic spline with continuous second derivative and zero velocity at both ends; ``monotone``: piecewise cubic
    Hermite (Fritsch-Carlson slopes), continuous velocity, never beyond neighbouring keys; ``linear``: straight lines.
    """
    inside = np.clip(at, times[0], times[-1])
    if len(times) == 1:
        return np.full(len(at), values[0])
    with np.errstate(all="ignore"):
        if kind == "smooth":
            from scipy.interpolate import CubicSpline  # half the time of a start

            curve: Array = CubicSpline(times, values, bc_type="clamped")(inside)
        elif kind == "monotone":
            curve = monotone(times, values, inside)
        else:
            curve = np.interp(inside, times, values)
    return curve


def _joints(track: JointsTrack, rate: float, folder: Path | None, where: Where) -> JointCurves:
    if track.file is not None:
        data = read_reference(track.file, folder, where.at("file"))
        if not track.file.lower().endswith(".csv"):
            raise where.at("file").wrong(f"joint curves come from a .csv file, not {track.file[:100]!r}")
        return _checked(read_csv(data, file=track.file, rate=rate).joints, where)
    with located(where.file, where.place):
        if track.samples_si:
            return JointCurves(tuple(track.samples_si), rate, np.array(list(track.samples_si.values())).T)
        last = max(keys[-1][0] for keys in track.keys.values())
        duration = last if track.duration is None else track.duration
        frames = math.ceil(duration * rate - 1e-6) + 1
        if frames * len(track.keys) > MAX_KEYED_SAMPLES:
            raise where.wrong(f"{duration:g} s at {rate:g} Hz for {len(track.keys)} joints are more samples than can be made")
        at = np.arange(frames) / rate
        columns = [
            interpolated(*np.array(keys, dtype=np.float64).T, at, track.interpolation)  # type: ignore[call-arg]
            for keys in track.keys.values()
        ]
        return JointCurves(tuple(track.keys), rate, np.column_stack(columns))


def _skeleton(track: SkeletonTrack, folder: Path | None, where: Where) -> SkeletonMotion:
    data = read_reference(track.file, folder, where.at("file"))
    name = track.file.lower()
    if name.endswith(".bvh"):
        return _checked(read_bvh(data, file=track.file, metres_per_unit=track.metres_per_unit).skeleton, where)
    if name.endswith((".gltf", ".glb")):
        if track.metres_per_unit is not None:
            raise where.at("metres_per_unit").wrong("a glTF file is in metres by its standard; leave this out")
        inner = None if folder is None else (folder / track.file).parent
        return _checked(read_gltf(data, file=track.file, folder=inner).skeleton, where)
    raise where.at("file").wrong(f"a skeleton comes from a .bvh, .gltf or .glb file, not {track.file[:100]!r}")


def _audio(track: AudioTrack, folder: Path | None, where: Where) -> Audio:
    if not track.file.lower().endswith(".wav"):
        raise where.at("file").wrong(f"the voice comes from a .wav file, not {track.file[:100]!r}")
    return audio_from_wav(read_reference(track.file, folder, where.at("file")), file=track.file)


def _checked(track: T | None, where: Where) -> T:
    if track is None:
        raise where.wrong("the file holds nothing that can be used here")
    return track
