"""A folding region: the slab of a limb whose surface becomes structured rings with gear teeth cut into the body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput


@dataclass(frozen=True)
class FoldRegion:
    """The part of a limb between the planes ``center`` -+ ``length``/2 along ``axis``, made of rings of ``around`` points.

    ``center`` (3,) [m] lies inside the limb, ``axis`` (3,) points along it (normalized here), ``length`` [m]. ``teeth`` grooves of
    ``depth`` [m] are cut into the body, crests stay on the surface, and both ends are uncut; ``teeth`` = 0 gives smooth rings.
    ``wall`` [m] is the thickness of the skin here, measured normal to flanks, crests and valleys. ``profile`` is "trapezoid" (four
    rings a tooth) or "triangle" (two rings a tooth, sharp crests and valleys); ``flank_rows`` and ``flat_rows`` rows make up a
    flank and a crest or valley (the bending of a flank changes sign in its middle, so one row is much too stiff). The first and
    the last groove are half a crest away from the ends, or, ``bare``, begin and end there: the skin outside is their crest.
    ``rows`` is the number of rows of a region without teeth (0: as many as make the cells square).
    """

    center: ArrayLike
    axis: ArrayLike
    length: float
    teeth: int
    depth: float
    wall: float
    around: int
    profile: str = "trapezoid"
    rows: int = 0
    flank_rows: int = 1
    flat_rows: int = 1
    bare: bool = False

    def __post_init__(self) -> None:
        center, axis = np.array(self.center, dtype=np.float64), np.array(self.axis, dtype=np.float64)
        if center.shape != (3,) or axis.shape != (3,) or not np.isfinite([center, axis]).all() or not np.linalg.norm(axis) > 0.0:
            raise BadInput(f"a fold has centre {center} and axis {axis}; a point (3,) and a direction (3,) are needed")
        axis /= np.linalg.norm(axis)
        for name in ("length", "wall"):
            value = getattr(self, name)
            if not np.isfinite(value) or value <= 0.0:
                raise BadInput(f"the {name} of a fold is {value}; a positive length in metres is needed")
        if self.teeth < 0 or self.around < 5 or min(self.rows, self.flank_rows - 1, self.flat_rows - 1) < 0:
            raise BadInput(
                f"a fold has {self.teeth} teeth, {self.around} points a ring, {self.rows} rows, {self.flank_rows} a flank, "
                f"{self.flat_rows} a flat; at least 0, 5, 0, 1, 1 are needed"
            )
        if self.teeth and not (np.isfinite(self.depth) and self.depth > 0.0):
            raise BadInput(f"the depth of a fold with {self.teeth} teeth is {self.depth}; a positive length in metres is needed")
        if self.profile not in ("trapezoid", "triangle"):
            raise BadInput(f'the profile of a fold is {self.profile!r}; "trapezoid" or "triangle" is accepted')
        object.__setattr__(self, "center", center)
        object.__setattr__(self, "axis", axis)
        if self.teeth:
            fold_profile(self)

    @property
    def middle(self) -> Array:
        """The centre as an array (3,) [m]."""
        return np.asarray(self.center, dtype=np.float64)

    @property
    def direction(self) -> Array:
        """The axis as a unit vector (3,)."""
        return np.asarray(self.axis, dtype=np.float64)


def fold_profile(fold: FoldRegion, radius: float = 0.0) -> tuple[Array, Array]:
    """Stations s (k,) [m] along the axis, -length/2 to length/2, and the cut (k,) [m] into the body at each; 0 at both ends.

    Trapezoid: flanks of length f along the axis, a quarter of the pitch, inclined by a = atan(depth / f); flats that measure f on
    the middle surface of the wall w, so crest = f + w tan(a/2) and valley = f - w tan(a/2) outside, the other way round inside.
    With n teeth 4 n f = length; ``bare`` ones, which want half a crest at either end, have 4 n f - crest = length. A region without
    teeth has rows about as long as the edges of a ring of the given ``radius``.
    """
    L = fold.length
    if not fold.teeth:
        rows = fold.rows or max(1, round(L / max(2.0 * np.pi * radius / fold.around, 1e-9 + L / 64)))
        return np.linspace(-L / 2, L / 2, rows + 1), np.zeros(rows + 1)
    p = L / fold.teeth
    starts = -L / 2 + p * np.arange(fold.teeth)
    if fold.profile == "triangle":
        s = np.append(np.column_stack([starts, starts + p / 2]).ravel(), L / 2)
        return _subdivided(s, np.append(np.tile([0.0, fold.depth], fold.teeth), 0.0), fold)
    f, shift = _flank(fold)
    if shift > 0.7 * f:
        raise BadInput(
            f"a fold of {fold.teeth} teeth, depth {fold.depth * 1e3:.1f} mm and wall {fold.wall * 1e3:.1f} mm does not fit into "
            f"{L * 1e3:.1f} mm: the inner crests would close; use fewer teeth, a thinner wall or a longer region"
        )
    valley = f - shift
    middles = 4.0 * f * (np.arange(fold.teeth) - 0.5 * (fold.teeth - 1))
    s = (middles[:, None] + np.array([-valley / 2 - f, -valley / 2, valley / 2, valley / 2 + f])).ravel()
    cut = np.tile([0.0, fold.depth, fold.depth, 0.0], fold.teeth)
    if not fold.bare:
        s, cut = np.concatenate([[-L / 2], s, [L / 2]]), np.concatenate([[0.0], cut, [0.0]])
    s[[0, -1]] = -L / 2, L / 2
    return _subdivided(s, cut, fold)


def _flank(fold: FoldRegion) -> tuple[float, float]:
    """Length f [m] of a flank along the axis, and by how much crests are longer and valleys shorter, w tan(a/2) [m]."""
    f = shift = fold.length / (4 * fold.teeth)
    for _ in range(50):
        shift = fold.wall * np.tan(0.5 * np.arctan2(fold.depth, f))
        f = (fold.length + (f + shift if fold.bare else 0.0)) / (4 * fold.teeth)
    return float(f), float(shift)


def _subdivided(s: Array, cut: Array, fold: FoldRegion) -> tuple[Array, Array]:
    """Flanks and flats divided into their rows; the half crests at both ends stay whole."""
    flat = np.diff(cut) == 0.0
    rows = np.where(flat, fold.flat_rows, fold.flank_rows)
    rows[[0, -1]] = np.where(flat[[0, -1]], 1, rows[[0, -1]])
    at = np.concatenate([[0.0], *(i + np.arange(1, n + 1) / n for i, n in enumerate(rows.tolist()))])
    return np.interp(at, np.arange(len(s)), s), np.interp(at, np.arange(len(s)), cut)


def fold_frame(fold: FoldRegion) -> tuple[Array, Array]:
    """Unit vectors u, v (3,), (3,) across the axis a with u x v = a; u is as near as it can be to the axis of least |a|."""
    a = fold.direction
    u = np.eye(3)[int(np.argmin(np.abs(a)))]
    u = u - a * (a @ u)
    u /= np.linalg.norm(u)
    return u, np.cross(a, u)
