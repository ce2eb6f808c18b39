"""Sampled motion: joint curves and mocap skeletons. Uniform in time, starting at t = 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput


def frozen_array(values: object, shape: tuple[int | None, ...], what: str) -> Array:
    """A read-only float copy of ``values`` with the given shape (None: any length), finite throughout."""
    array = np.array(values, dtype=np.float64)
    if array.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, array.shape, strict=True)):
        expected = " x ".join("any" if n is None else str(n) for n in shape)
        raise BadInput(f"{what} has shape {array.shape}; {expected} is needed")
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise BadInput(f"{what} holds {array[place]} at {place}; only finite numbers can be performed")
    array.setflags(write=False)
    return array


@dataclass(frozen=True)
class JointCurves:
    """Coordinate values over time [rad or m]: ``values[k, j]`` is coordinate ``names[j]`` at time k / rate."""

    names: tuple[str, ...]
    rate: float
    values: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        if len(set(self.names)) < len(self.names):
            raise BadInput(f"joint curves name {_twice(self.names)!r} twice; each joint has one curve")
        if not 0.0 < self.rate <= 100_000.0:
            raise BadInput(f"a sampling rate of {self.rate} Hz cannot be used; give one between 0 and 100000")
        object.__setattr__(self, "values", frozen_array(self.values, (None, len(self.names)), "the joint curves"))
        if len(self.values) < 1:
            raise BadInput("the joint curves hold no sample; at least one is needed")

    @property
    def duration(self) -> float:
        """Time of the last sample [s]."""
        return (len(self.values) - 1) / self.rate

    @property
    def times(self) -> Array:
        """Sample times [s]."""
        return np.arange(len(self.values)) / self.rate

    def column(self, name: str) -> Array:
        """The curve of one coordinate."""
        try:
            return self.values[:, self.names.index(name)]
        except ValueError:
            raise BadInput(f"there is no curve for {name!r}; there are {', '.join(self.names[:12])}") from None

    def chosen(self, names: Sequence[str]) -> JointCurves:
        """The curves of those names, in that order."""
        columns = [self.column(name) for name in names]
        return JointCurves(tuple(names), self.rate, np.column_stack(columns) if columns else np.zeros((len(self.values), 0)))


@dataclass(frozen=True)
class SkeletonMotion:
    """A captured skeleton in motion, world z up, metres.

    Bone ``b`` has parent ``parents[b]`` (-1: world, parents first), ``offsets[b]`` in its parent's frame at rest, and at
    frame k the local pose (``translations[k, b]``, ``rotations[k, b]``) in its parent. ``tips`` maps bones that end in an
    end site to the end's position in the bone's frame. ``scaled`` is false when the file gave no unit and metres are a guess.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    offsets: Array
    rate: float
    translations: Array
    rotations: Array
    tips: dict[str, tuple[float, float, float]]
    scaled: bool = False

    def __post_init__(self) -> None:
        bones, frames = len(self.names), len(self.translations)
        object.__setattr__(self, "offsets", frozen_array(self.offsets, (bones, 3), "skeleton offsets"))
        object.__setattr__(self, "translations", frozen_array(self.translations, (None, bones, 3), "skeleton translations"))
        object.__setattr__(self, "rotations", frozen_array(self.rotations, (frames, bones, 3, 3), "skeleton rotations"))
        if not 0.0 < self.rate <= 100_000.0:
            raise BadInput(f"a frame rate of {self.rate} Hz cannot be used; give one between 0 and 100000")
        if any(not -1 <= parent < index for index, parent in enumerate(self.parents)):
            raise BadInput("a bone stands before its parent; list parents first")

    @property
    def duration(self) -> float:
        """Time of the last frame [s]."""
        return (len(self.translations) - 1) / self.rate


def _twice(names: tuple[str, ...]) -> str:
    return next(name for name in names if names.count(name) > 1)
