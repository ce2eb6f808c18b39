"""What is wrong with a surface, counted: open, crowded, twisted edges, handles, faces that cross, and what is there twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.geometry.surfaces.crossings import crossing_faces
from bunraku.geometry.surfaces.surface import Surface
from bunraku.geometry.surfaces.topology import boundary_loops, components, edges_of, genus, pinched_vertices


@dataclass(frozen=True)
class SurfaceReport:
    """What `check_surface` counts.

    ``genus`` is the number of handles of every component, -1 where one is not closed; ``volume`` [m³] is negative when faces look
    inwards; ``crossings`` counts pairs of faces, -1 when they were not looked for.
    """

    vertices: int
    faces: int
    components: int
    genus: tuple[int, ...]
    area: float
    volume: float
    holes: int
    open_edges: int
    crowded_edges: int
    twisted_edges: int
    pinched_vertices: int
    duplicate_vertices: int
    degenerate_faces: int
    duplicate_faces: int
    crossings: int

    @property
    def watertight(self) -> bool:
        """Whether every edge has exactly two faces that run along it opposite ways."""
        return not (self.open_edges or self.crowded_edges or self.twisted_edges)

    @property
    def sound(self) -> bool:
        """Whether it bounds a solid: watertight, facing outwards, nothing pinched, without area or crossing."""
        faults = self.pinched_vertices + self.degenerate_faces + self.duplicate_faces + max(self.crossings, 0)
        return self.watertight and self.volume > 0.0 and faults == 0

    def faults(self) -> str:
        """What is wrong in words, or an empty text."""
        words = [
            f"{count} {name}"
            for count, name in (
                (self.holes, "holes"),
                (self.crowded_edges, "edges with more than two faces"),
                (self.twisted_edges, "edges between faces that look opposite ways"),
                (self.pinched_vertices, "pinched vertices"),
                (self.degenerate_faces, "faces without area"),
                (self.duplicate_faces, "faces that are there twice"),
                (max(self.crossings, 0), "pairs of faces that cross"),
            )
            if count
        ]
        return ", ".join([*words, *(["it is inside out"] if self.watertight and self.volume <= 0.0 else [])])


def check_surface(surface: Surface, *, crossings: bool = True) -> SurfaceReport:
    """Count what is wrong; the search for ``crossings`` takes most of the time and may be left out."""
    whole = surface.faces[~degenerate_faces(surface)]
    if not len(whole):
        whole = surface.faces
    edges = edges_of(whole)
    label = components(whole)
    handles = []
    for number in range(int(label.max()) + 1):
        faces = whole[label == number]
        handles.append(genus(faces) if edges_of(faces).closed else -1)
    used = surface.vertices[np.unique(surface.faces)]
    return SurfaceReport(
        vertices=len(surface.vertices),
        faces=len(surface.faces),
        components=len(handles),
        genus=tuple(handles),
        area=surface.area(),
        volume=surface.volume(),
        holes=len(boundary_loops(whole)) if edges.open.any() else 0,
        open_edges=int(edges.open.sum()),
        crowded_edges=int(edges.crowded.sum()),
        twisted_edges=int(edges.twisted.sum()),
        pinched_vertices=len(pinched_vertices(whole)),
        duplicate_vertices=len(used) - len(np.unique(used, axis=0)),
        degenerate_faces=len(surface.faces) - len(whole),
        duplicate_faces=int(duplicate_faces(surface).sum()),
        crossings=len(crossing_faces(surface)) if crossings else -1,
    )


def degenerate_faces(surface: Surface) -> NDArray[np.bool_]:
    """Which faces (m,) name a vertex twice, or have an area below 1e-14 of the size squared."""
    f = surface.faces
    twice = (f[:, 0] == f[:, 1]) | (f[:, 1] == f[:, 2]) | (f[:, 2] == f[:, 0])
    return twice | (surface.face_areas() <= 1e-14 * surface.size**2)


def duplicate_faces(surface: Surface) -> NDArray[np.bool_]:
    """Which faces (m,) have the same three vertices, in any order, as one before them."""
    _, first = np.unique(np.sort(surface.faces, axis=1), axis=0, return_index=True)
    doubled = np.ones(len(surface.faces), dtype=bool)
    doubled[first] = False
    return doubled
