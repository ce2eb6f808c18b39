"""BVH motion capture, as found in the wild.

Tolerated: any mixture of line ends, blanks and tabs, ``Frame Time: .0083333``, scientific notation, `-0.00000`, no final newline, a
frame count that is off by one, zero-length joints, position channels on any joint, any rotation order per joint, joints without
channels, several roots, names that repeat (a number is appended). All frames are kept, also an artificial first one.

A channel line ``c1 c2 c3`` of rotations means R = R(c1) R(c2) R(c3) about the bone's own axes, degrees. Position channels
replace the joint's offset or are added to it; writers disagree, so whichever leaves the joint nearer to its rest place is
taken, per joint. Axes are y up, z forward in the file and become z up, x forward. Lengths become metres by
``metres_per_unit`` or by a guess from the skeleton's height (`skeleton_units`); then ``scaled`` is false in the result.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.formats.files import MAX_NUMBERS, check_size, line_of
from bunraku.formats.poses import rotations_z_up, vectors_z_up
from bunraku.formats.skeleton_units import different_names, guessed_metres_per_unit, rest_height
from bunraku.motion import Clip, SkeletonMotion

MAX_BONES = 10_000
_TOKEN = re.compile(rb"[{}]|[^\s{}]+")
_CHANNEL = re.compile(rb"([xyz])(position|rotation)\Z", re.IGNORECASE)
_COUNT = re.compile(rb"\s*Frames\s*:?\s*(\S+)", re.IGNORECASE)
_MOTION = re.compile(rb"\s*Frames\s*:?\s*(\S+)\s+Frame\s+Time\s*:?\s*(\S+)", re.IGNORECASE)


def read_bvh(data: bytes, *, file: str, folder: Path | None = None, metres_per_unit: float | None = None) -> Clip:
    """A clip with the skeleton motion of a BVH file; ``metres_per_unit`` [m] when it is known."""
    check_size(data, file=file)
    data = data.removeprefix(b"\xef\xbb\xbf")
    hierarchy = _Hierarchy(data, file)
    values, rate = _motion(data, hierarchy)
    offsets = np.array(hierarchy.offsets)
    tips = {bone: np.array(tip) for bone, tip in hierarchy.tips.items()}
    unit = metres_per_unit
    if unit is None:
        unit = guessed_metres_per_unit(rest_height(hierarchy.parents, offsets, tips, 1))
    skeleton = SkeletonMotion(
        names=tuple(hierarchy.names),
        parents=tuple(hierarchy.parents),
        offsets=vectors_z_up(offsets) * unit,
        rate=rate,
        translations=vectors_z_up(_translations(hierarchy, offsets, values)) * unit,
        rotations=rotations_z_up(_rotations(hierarchy, values)),
        tips={hierarchy.names[bone]: _triple(vectors_z_up(tip) * unit) for bone, tip in tips.items()},
        scaled=metres_per_unit is not None,
    )
    return Clip(Path(file).stem or "bvh", skeleton=skeleton, source=f"BVH file {Path(file).name}")


@dataclass
class _Hierarchy:
    """The skeleton of a file: bones with parents first, and for every bone its channels (axis 0-2, turns or not, column)."""

    data: bytes
    file: str
    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    offsets: list[list[float]] = field(default_factory=list)
    channels: list[list[tuple[int, bool, int]]] = field(default_factory=list)
    tips: dict[int, list[float]] = field(default_factory=dict)
    columns: int = 0
    end: int = 0
    _at: int = 0

    def __post_init__(self) -> None:
        tokens = self._tokens()
        stack: list[int] = []  # open bones; a negative entry is the end site of bone -1 - entry
        for token in tokens:
            word = token.upper()
            if word == b"MOTION" and not stack:
                break
            if word in (b"ROOT", b"JOINT", b"END"):
                if stack and stack[-1] < 0:
                    raise self.wrong("a joint inside an end site; an end site has nothing but an OFFSET")
                parent = stack[-1] if stack else -1
                name = self._name(tokens)
                if word == b"END" and parent >= 0:
                    stack.append(-1 - parent)
                    continue
                if len(self.names) >= MAX_BONES:
                    raise self.wrong(f"more than {MAX_BONES} joints")
                stack.append(len(self.names))
                self.names.append((name or f"bone {len(self.names)}")[:150])
                self.parents.append(parent)
                self.offsets.append([0.0, 0.0, 0.0])
                self.channels.append([])
            elif word == b"}":
                if not stack:
                    raise self.wrong("a closing brace that closes nothing")
                stack.pop()
            elif word == b"OFFSET" and stack:
                offset = [self._number(next(tokens, b"")) for _ in range(3)]
                if stack[-1] >= 0:
                    self.offsets[stack[-1]] = offset
                else:
                    self.tips.setdefault(-1 - stack[-1], offset)
            elif word == b"CHANNELS" and stack and stack[-1] >= 0:
                self._channels(stack[-1], tokens)
            elif word != b"HIERARCHY" or self.names:
                raise self.wrong(f"{_shown(token)} is not understood here; ROOT, JOINT, End Site, OFFSET, CHANNELS or MOTION is")
        else:
            raise self.wrong("the file ends before MOTION; it holds no frames" if self.names else "this is no BVH file")
        if not self.columns:
            raise self.wrong("there is no joint with channels before MOTION")
        self.names = list(different_names(self.names))
        self.end = self._at

    def wrong(self, message: str, at: int | None = None) -> BadInput:
        line = line_of(self.data, self._at if at is None else at)
        return BadInput(message, file=self.file, place=f"line {line}")

    def _tokens(self) -> Iterator[bytes]:
        for match in _TOKEN.finditer(self.data):
            self._at = match.end()
            yield match[0]

    def _name(self, tokens: Iterator[bytes]) -> str:
        words: list[bytes] = []
        for token in tokens:
            if token == b"{":
                return b" ".join(words).decode("utf-8", "replace").strip()
            words.append(token)
            if len(words) > 20:
                break
        raise self.wrong("the name of a joint is not followed by an opening brace")

    def _number(self, token: bytes) -> float:
        try:
            value = float(token)
        except ValueError:
            raise self.wrong(f"{_shown(token)} stands where a number is needed") from None
        if not abs(value) < 1e12:
            raise self.wrong(f"the length {_shown(token)} cannot be used")
        return value

    def _channels(self, bone: int, tokens: Iterator[bytes]) -> None:
        count = self._number(next(tokens, b""))
        if count != int(count) or not 0 <= count <= 12 or self.channels[bone]:
            raise self.wrong("a joint has one CHANNELS line with 0 to 12 channels")
        for _ in range(int(count)):
            token = next(tokens, b"")
            match = _CHANNEL.match(token)
            if match is None:
                raise self.wrong(f"the channel {_shown(token)} is not known; Xposition to Zposition and Xrotation to Zrotation are")
            self.channels[bone].append(("xyz".index(match[1].decode().lower()), match[2].lower() == b"rotation", self.columns))
            self.columns += 1


def _motion(data: bytes, hierarchy: _Hierarchy) -> tuple[Array, float]:
    """The table of channel values (frames, columns) and the rate [Hz]."""
    match = _MOTION.match(data, hierarchy.end)
    if match is None:
        count = _COUNT.match(data, hierarchy.end)
        place = hierarchy.end if count is None else count.end()
        after = len(data) - len(data[place:].lstrip())
        raise hierarchy.wrong("'Frames: COUNT' and 'Frame Time: SECONDS' must follow MOTION", after)
    try:
        frames = int(match[1]) if len(match[1]) < 12 else -1
    except ValueError:
        raise hierarchy.wrong("the frame count must be a number", match.start(1)) from None
    try:
        frame_time = float(match[2])
    except ValueError:
        raise hierarchy.wrong("the frame time must be a number", match.start(2)) from None
    if frames < 1 or not 1e-5 <= frame_time <= 1e4:
        raise hierarchy.wrong(f"{frames} frames of {frame_time} s cannot be used", match.start(1 if frames < 1 else 2))
    columns = hierarchy.columns
    if (frames + 1) * max(columns, 12 * len(hierarchy.names)) > MAX_NUMBERS:
        raise hierarchy.wrong(f"{frames} frames of {len(hierarchy.names)} joints are more than can be read", match.start(1))
    if len(data) - match.end() > 64 * (frames + 1) * columns + 65536:
        raise hierarchy.wrong(f"far more numbers follow than the {frames} frames of {columns} channels declared", match.end())
    values = _numbers(data, match.end(), hierarchy)
    rows = len(values) // columns
    if len(values) != rows * columns:
        raise hierarchy.wrong(f"the file ends within frame {rows + 1} of {frames}, which has {columns} channels", len(data))
    if abs(rows - frames) > 1 or rows < 1:
        raise hierarchy.wrong(f"{frames} frames are declared and {rows} follow; the file is cut short or damaged", match.start(1))
    return values.reshape(rows, columns), _rate(frame_time)


def _numbers(data: bytes, start: int, hierarchy: _Hierarchy) -> Array:
    """All numbers from ``start`` on."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            values = np.fromstring(data[start:], dtype=np.float64, sep=" ")
        if np.abs(values).max(initial=0.0) < 1e12:
            return values
    except (ValueError, DeprecationWarning):
        pass
    for match in re.finditer(rb"\S+", data[start:]):
        try:
            usable = abs(float(match[0])) < 1e12
        except ValueError:
            usable = False
        if not usable:
            raise hierarchy.wrong(f"{_shown(match[0])} stands where a number is needed", start + match.start())
    raise hierarchy.wrong("the frames hold something that is no number", start)


def _rate(frame_time: float) -> float:
    """Frames per second; a frame time rounded to few digits is taken as the whole rate it stands for, within 1e-4."""
    rate = 1.0 / frame_time
    whole = float(round(rate))
    return whole if whole > 0 and abs(rate - whole) < 1e-4 * whole else rate


def _translations(hierarchy: _Hierarchy, offsets: Array, values: Array) -> Array:
    """Local positions (frames, bones, 3) in the file's unit and axes."""
    places = np.broadcast_to(offsets, (len(values), *offsets.shape)).copy()
    for bone, channels in enumerate(hierarchy.channels):
        moves = {axis: column for axis, turns, column in channels if not turns}
        if moves:
            axes, columns = list(moves), list(moves.values())
            given, rest = values[:, columns], offsets[bone, axes]
            middle = np.median(given, axis=0)
            added = np.linalg.norm(middle) < np.linalg.norm(middle - rest)
            places[:, bone, axes] = given + rest if added else given
    return places


def _rotations(hierarchy: _Hierarchy, values: Array) -> Array:
    """Local rotations (frames, bones, 3, 3) in the file's axes."""
    rotations = np.zeros((len(values), len(hierarchy.names), 3, 3))
    rotations[:] = np.eye(3)
    for bone, channels in enumerate(hierarchy.channels):
        turns = [(axis, column) for axis, turn, column in channels if turn]
        if len(turns) > 6:
            raise hierarchy.wrong(f"the joint {hierarchy.names[bone]!r} has {len(turns)} rotation channels; three are usual", 0)
        R = rotations[:, bone]
        for axis, column in turns:
            angle = np.deg2rad(values[:, column])
            c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
            i, j = (axis + 1) % 3, (axis + 2) % 3
            left, right = R[:, :, i].copy(), R[:, :, j].copy()
            R[:, :, i] = c * left + s * right
            R[:, :, j] = c * right - s * left
    return rotations


def _shown(token: bytes) -> str:
    """A word of the file, for a message."""
    return repr(token[:40].decode("utf-8", "replace"))


def _triple(vector: Array) -> tuple[float, float, float]:
    return (float(vector[0]), float(vector[1]), float(vector[2]))
