"""A closed surface made hollow: an inner surface at a chosen depth, and a check of the wall between the two.

The inner surface is where the signed distance d (negative inside) and the thickness t meet: d(x) + t(x) = 0, on a grid that is fine
only near it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.surfaces.distance import closest_points, sampled, signed_distance
from bunraku.geometry.surfaces.isosurface import isosurface
from bunraku.geometry.surfaces.surface import Surface, joined
from bunraku.geometry.surfaces.topology import components, edges_of, genus

Thickness = float | Callable[[Array], Array]


@dataclass(frozen=True)
class Hollow:
    """The ``outer`` surface, the ``inner`` one (facing the wall, away from the cavity's middle), and the wall between them.

    ``wall`` (k,) [m] is the distance to the outer surface from every vertex and face middle of the inner one, ``asked`` (k,) the
    thickness asked for there. ``solid`` is the share of the outer area that has no cavity within twice the thickness behind it.
    """

    outer: Surface
    inner: Surface
    wall: Array
    asked: Array
    solid: float

    @property
    def shell(self) -> Surface:
        """Both as the surface of the wall: the inner one is turned over, so that its normals point into the cavity."""
        return joined([self.outer, self.inner.flipped()])

    @property
    def thinnest(self) -> float:
        """The smallest wall as a share of what was asked for."""
        return float((self.wall / self.asked).min())

    def figures(self) -> dict[str, float]:
        """Smallest, 5 %, median and largest wall [m], and the smallest as a share of what was asked for."""
        low, five, middle, high = np.percentile(self.wall, [0.0, 5.0, 50.0, 100.0])
        return {"min": float(low), "p5": float(five), "median": float(middle), "max": float(high), "share": self.thinnest}


def hollow(surface: Surface, thickness: Thickness, *, spacing: float, slope: float = 0.5, solid: float = 0.0) -> Hollow:
    """Make a closed surface hollow, with a wall of ``thickness`` [m]: a number, or a function of places (k, 3) that returns (k,).

    ``spacing`` [m] of the grid, at most half the wall; ``slope``: how much the thickness changes a metre at most; ``solid``: the
    share of the area where the part may be too thin to be hollow. BadInput says where it is thinner than two walls, and when the
    cavity falls apart or has other handles than the surface.
    """
    if not edges_of(surface.faces).closed:
        raise BadInput("a surface with open or crowded edges cannot be made hollow; repair it first")

    def asked(points: Array) -> Array:
        return np.broadcast_to(np.asarray(thickness(points) if callable(thickness) else thickness, dtype=np.float64), len(points))

    t = asked(surface.vertices)
    if not t.min() > 0.0 or spacing > 0.5 * t.min():
        raise BadInput(
            f"a wall of {1e3 * t.min():g} mm on a grid of {1e3 * spacing:g} mm; a grid of at most half the wall is needed"
        )
    low, high = surface.bounds
    grid = sampled(
        lambda points: signed_distance(surface, points) + asked(points),
        low - spacing,
        high + spacing,
        spacing,
        band=(1.0 + slope) * spacing,
        slope=1.0 + slope,
    )
    if not (grid.values < 0.0).any():
        raise BadInput(
            f"no place is deeper inside than {1e3 * t.min():g} mm; the part is too thin to be hollow, take a thinner wall"
        )
    inner = isosurface(grid.values, origin=grid.origin, spacing=spacing)
    _check_cavity(surface, inner)
    share = _check_solid(surface, inner, t, spacing, solid)
    places = np.concatenate([inner.vertices, inner.corners.mean(axis=1)])
    return Hollow(surface, inner, closest_points(surface, places)[0], asked(places), share)


def _check_cavity(outer: Surface, inner: Surface) -> None:
    label = components(inner.faces)
    pieces = [inner.part(label == number) for number in range(int(label.max()) + 1)]
    if len(pieces) > 1:
        small = min(pieces, key=lambda piece: piece.volume())
        raise BadInput(
            f"the cavity falls into {len(pieces)} parts, the smallest with {1e6 * small.volume():.3g} ml around "
            f"{_place(small.center())}; the part is thinner than two walls in between: take a thinner wall there"
        )
    label = components(outer.faces)
    handles = sum(genus(outer.faces[label == number]) for number in range(int(label.max()) + 1))
    if genus(inner.faces) != handles:
        raise BadInput(
            f"the cavity has {genus(inner.faces)} handles where the surface has {handles}; take a finer grid, or a thinner wall"
        )


def _check_solid(outer: Surface, inner: Surface, t: Array, spacing: float, allowed: float) -> float:
    """The share of the area with no cavity within two walls; BadInput when it is more than ``allowed``."""
    reach = closest_points(inner, outer.vertices)[0]
    far = reach > 2.0 * t + 2.0 * spacing
    area = np.bincount(outer.faces.ravel(), weights=np.repeat(outer.face_areas() / 3.0, 3), minlength=len(outer.vertices))
    share = float(area[far].sum() / area.sum())
    if share > allowed:
        worst = int(np.argmax(np.where(far, reach / t, 0.0)))
        raise BadInput(
            f"the part is thinner than two walls of {1e3 * t[worst]:.3g} mm on {100 * share:.2g} % of its area, most near "
            f"{_place(outer.vertices[worst])}, where the cavity is {1e3 * reach[worst]:.3g} mm away; take a thinner wall there"
        )
    return share


def _place(point: Array) -> str:
    return "({:.0f}, {:.0f}, {:.0f}) mm".format(*(1e3 * point))
