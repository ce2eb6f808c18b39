"""A surface as it came from a file made into one closed body, or refused with the reason.

Vertices at one place are merged; faces that are there twice or have no area are dropped; faces are turned to look the same way,
outwards; small holes are filled; several closed bodies are united; and where faces cross, the surface is extracted anew around
everything that it goes around at least half a time (its winding number), on a grid. What was done is noted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput, MissingExtra
from bunraku.geometry.surfaces import mending
from bunraku.geometry.surfaces.checks import check_surface
from bunraku.geometry.surfaces.crossings import crossing_faces
from bunraku.geometry.surfaces.distance import closest_points, sampled, signed_distance, winding_number
from bunraku.geometry.surfaces.isosurface import isosurface
from bunraku.geometry.surfaces.surface import Surface, joined
from bunraku.geometry.surfaces.topology import boundary_loops, components, edges_of, genus


@dataclass(frozen=True)
class Repaired:
    """The closed ``surface`` and ``notes`` in words on what was done; none when nothing was."""

    surface: Surface
    notes: tuple[str, ...]


def repaired(surface: Surface, *, largest_hole: float = 0.05, spacing: float | None = None, changed: float = 0.05) -> Repaired:
    """One closed body of what ``surface`` shows, or BadInput that names what is wrong and where.

    Holes up to ``largest_hole`` of the size (the diagonal of the box) are filled. Crossing faces are mended on a grid of
    ``spacing`` [m], a 250th of the size if None, when that leaves the surface where it was: at most the share ``changed`` of
    the new area may lie further than two grid cells from the old, and of the old as far outside the new.
    """
    notes: list[str] = []
    surface, count = mending.merged(surface, 1e-7 * surface.size)
    _note(notes, count, "merged {} vertices with others at the same place")
    surface, count = mending.without_doubles(surface)
    _note(notes, count, "dropped {} faces without area or there twice")
    surface, count = mending.oriented(surface)
    _note(notes, count, "turned over {} faces to look the same way as their neighbours")
    surface, count = mending.without_fins(surface)
    _note(notes, count, "dropped {} faces of fins that stand on an edge and enclose nothing")
    surface = _without_holes(surface, largest_hole, notes)
    surface, count = mending.facing_out(surface, components(surface.faces))
    _note(notes, count, "turned {} bodies that were inside out")
    crowded = int(edges_of(surface.faces).crowded.sum())
    if not crowded:
        surface, count = mending.unpinched(surface)
        _note(notes, count, "took apart {} pinched vertices")
        surface = _one_body(surface, notes)
    crossing = crossing_faces(surface)
    if crowded or len(crossing):
        what = f"{crowded} edges with more than two faces" if crowded else f"{len(crossing)} pairs of faces that cross"
        surface = _extracted_where_small(surface, crossing, what, spacing, changed, notes)
    report = check_surface(surface)
    if not report.sound or report.components != 1:
        raise BadInput(
            f"the surface cannot be repaired: left are {report.faults() or f'{report.components} bodies'}; mend it by hand"
        )
    return Repaired(surface, tuple(notes))


def united(bodies: list[Surface]) -> Surface:
    """The union of closed surfaces, each of which does not cross itself."""
    manifold3d = _manifold3d()
    solids = []
    for body in bodies:
        solid = manifold3d.Manifold(manifold3d.Mesh64(vert_properties=body.vertices.copy(), tri_verts=body.faces.astype(np.uint64)))
        if solid.status() != manifold3d.Error.NoError:
            raise BadInput(f"a body around {_place(body.bounds.mean(axis=0))} is no solid: {solid.status().name}")
        solids.append(solid)
    mesh = manifold3d.Manifold.batch_boolean(solids, manifold3d.OpType.Add).to_mesh64()
    merged, _ = mending.merged(Surface(np.asarray(mesh.vert_properties)[:, :3], np.asarray(mesh.tri_verts).astype(np.int64)), 0.0)
    return mending.without_doubles(merged)[0]


def extracted(surface: Surface, spacing: float) -> Surface:
    """The surface around all places that ``surface`` goes around at least half a time, on a grid of ``spacing`` [m].

    The function is the distance to the surface, negative where the winding number is above one half. Separate crumbs of less than
    a thousandth of the volume are dropped.
    """

    def signed(points: Array) -> Array:
        distance = closest_points(surface, points)[0]
        return np.where(winding_number(surface, points) > 0.5, -distance, distance)

    low, high = surface.bounds
    grid = sampled(signed, low - 2.0 * spacing, high + 2.0 * spacing, spacing, band=spacing)
    extraction = isosurface(grid.values, origin=grid.origin, spacing=spacing)
    label = components(extraction.faces)
    volumes = [extraction.part(label == number).volume() for number in range(int(label.max()) + 1)]
    return extraction.part(np.isin(label, np.flatnonzero(np.array(volumes) > 1e-3 * max(volumes))))


def _without_holes(surface: Surface, largest: float, notes: list[str]) -> Surface:
    edges = edges_of(surface.faces)
    if not edges.open.any():
        return surface
    loops = boundary_loops(surface.faces)
    if not loops:
        spot = _place(surface.vertices[edges.ends[edges.open][0]].mean(axis=0))
        raise BadInput(f"the surface has {int(edges.open.sum())} open edges that go around no hole, one at {spot}; mend it by hand")
    sizes = mending.hole_sizes(surface, loops)
    worst = int(np.argmax(sizes))
    where = _place(surface.vertices[loops[worst]].mean(axis=0))
    holes = f"{len(loops)} hole{'s' * (len(loops) > 1)}, the largest {1e3 * sizes[worst]:.3g} mm across at {where}"
    if sizes[worst] > largest * surface.size:
        raise BadInput(
            f"the surface has {holes}; holes up to {1e3 * largest * surface.size:.3g} mm are filled, close larger ones by hand"
        )
    notes.append(f"filled {holes}")
    return mending.with_holes_filled(surface, loops)


def _one_body(surface: Surface, notes: list[str]) -> Surface:
    """The union of the bodies; crumbs below 1e-4 of the largest are dropped, and what stays apart when it is below 5 %."""
    bodies = _bodies(surface)
    if len(bodies) == 1:
        return bodies[0]
    large = [body for body in bodies if body.volume() > 1e-4 * bodies[0].volume()]
    _note(notes, len(bodies) - len(large), "dropped {} bodies of less than 0.01 % of the volume")
    if len(large) == 1:
        return large[0]
    if any(len(crossing_faces(body, limit=1)) for body in large):
        return joined(large)
    notes.append(f"united {len(large)} bodies")
    parts = _bodies(united(large))
    if len(parts) > 1 and sum(part.volume() for part in parts[1:]) > 0.05 * parts[0].volume():
        listed = ", ".join(f"{1e3 * part.volume():.3g} l around {_place(part.center())}" for part in parts[:3])
        raise BadInput(f"the surface has {len(parts)} separate bodies: {listed}; join them or give one")
    _note(notes, len(parts) - 1, "dropped {} separate bodies of less than 5 % of the volume")
    return parts[0]


def _bodies(surface: Surface) -> list[Surface]:
    """The components, the largest first."""
    label = components(surface.faces)
    parts = [surface.part(label == number) for number in range(int(label.max()) + 1)]
    return sorted(parts, key=lambda part: -part.volume())


def _extracted_where_small(
    surface: Surface, crossing: Indices, what: str, spacing: float | None, changed: float, notes: list[str]
) -> Surface:
    h = surface.size / 250.0 if spacing is None else spacing
    ends = surface.vertices[edges_of(surface.faces).ends[edges_of(surface.faces).crowded]].reshape(-1, 3)
    spots = surface.corners[crossing[:, 0]].mean(axis=1) if len(crossing) else ends
    where = f"{what}, around {_place(spots.mean(axis=0))}, {1e3 * float(np.linalg.norm(np.ptp(spots, axis=0))):.3g} mm wide"
    try:
        extraction = extracted(surface, h)
    except BadInput as error:
        raise BadInput(f"the surface has {where}, and goes around nothing ({error}); mend it by hand") from error
    gap = closest_points(surface, extraction.corners.mean(axis=1))[0]
    new = float(extraction.face_areas()[gap > 2.0 * h].sum() / extraction.area())
    out = signed_distance(extraction, surface.corners.mean(axis=1))
    lost = float(surface.face_areas()[out > 2.0 * h].sum() / surface.area())
    bodies = _bodies(extraction)
    if max(new, lost) > changed or len(bodies) > 1:
        reason = (
            f"{len(bodies)} bodies" if len(bodies) > 1 else f"a surface of which {100 * new:.2g} % is new, {100 * lost:.2g} % lost"
        )
        raise BadInput(f"the surface has {where}; extracting it on a grid of {1e3 * h:.3g} mm gives {reason}: mend it by hand")
    handles = genus(extraction.faces)
    notes.append(
        f"extracted anew on a grid of {1e3 * h:.3g} mm because of {where}" + (f"; it has {handles} handles" if handles else "")
    )
    return extraction


def _note(notes: list[str], count: int, words: str) -> None:
    if count:
        notes.append(words.format(count))


def _place(point: Array) -> str:
    return "({:.0f}, {:.0f}, {:.0f}) mm".format(*(1e3 * point))


def _manifold3d() -> Any:
    try:
        import manifold3d
    except ImportError as error:
        raise MissingExtra("manifold3d", "fabrication", "uniting bodies") from error
    return manifold3d
