"""Single mends of a surface, each of which returns the surface and how much it changed."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.geometry.surfaces.surface import Surface
from bunraku.geometry.surfaces.topology import edges_of, pinched_vertices


def merged(surface: Surface, tolerance: float) -> tuple[Surface, int]:
    """Vertices no further apart than ``tolerance`` [m] become one, the first of them; unused ones are dropped."""
    used, numbers = np.unique(surface.faces, return_inverse=True)
    points = surface.vertices[used]
    pairs = cKDTree(points).query_pairs(tolerance, output_type="ndarray")
    graph = coo_matrix((np.ones(len(pairs), dtype=np.int8), (pairs[:, 0], pairs[:, 1])), shape=(len(points),) * 2)
    label = connected_components(graph, directed=False)[1]
    _, first, place = np.unique(label, return_index=True, return_inverse=True)
    faces = np.asarray(place)[np.asarray(numbers)].reshape(-1, 3)
    return Surface(points[first], faces), len(points) - len(first)


def without_doubles(surface: Surface) -> tuple[Surface, int]:
    """Without faces that name a vertex twice, and of faces with the same vertices: one, or none when half look the other way."""
    f = surface.faces
    f = f[(f[:, 0] != f[:, 1]) & (f[:, 1] != f[:, 2]) & (f[:, 2] != f[:, 0])]
    if not len(f):
        raise BadInput("all faces of the surface have no area; nothing is left")
    ordered = np.sort(f, axis=1)
    start = np.argmin(f, axis=1)
    second = np.take_along_axis(f, ((start + 1) % 3)[:, None], axis=1)[:, 0]
    turn = np.where(second == ordered[:, 1], 1, -1)
    _, first, place = np.unique(ordered, axis=0, return_index=True, return_inverse=True)
    place = np.asarray(place).ravel()
    sums = np.bincount(place, weights=turn, minlength=len(first))
    agreeing = np.flatnonzero(turn == np.sign(sums)[place])
    kept = np.zeros(len(f), dtype=bool)
    kept[agreeing[np.unique(place[agreeing], return_index=True)[1]]] = True
    if not kept.any():
        raise BadInput("all faces of the surface lie on each other in pairs; nothing is left")
    return Surface(surface.vertices, f[kept]), len(surface.faces) - int(kept.sum())


def oriented(surface: Surface) -> tuple[Surface, int]:
    """Faces that meet in an edge look the same way: within each sheet the minority, by area, is turned over.

    A sheet is what hangs together over edges of exactly two faces. BadInput for a sheet with one side only (a Möbius band).
    """
    f = surface.faces
    m, n = len(f), int(f.max()) + 1
    sides = np.concatenate([f[:, [0, 1]], f[:, [1, 2]], f[:, [2, 0]]])
    key = sides.min(axis=1) * n + sides.max(axis=1)
    order = np.argsort(key, kind="stable")
    _, start, count = np.unique(key[order], return_index=True, return_counts=True)
    two = start[count == 2]
    a, b = order[two], order[two + 1]
    same = sides[a, 0] == sides[b, 0]
    a, b = a % m, b % m
    graph = coo_matrix((np.ones(2 * len(a)), (np.r_[a, b], np.r_[b, a])), shape=(m, m)).tocsr()
    sheets = connected_components(graph, directed=False)[1]
    sign = np.zeros(m, dtype=np.int64)
    differs = {(min(p, q), max(p, q)) for p, q in zip(a[same].tolist(), b[same].tolist(), strict=True)}
    if not differs:
        return surface, 0
    for sheet in np.unique(sheets[a[same]]):
        root = int(np.argmax(sheets == sheet))
        visited, before = breadth_first_order(graph, root, directed=False)
        sign[root] = 1
        for face in visited[1:].tolist():
            parent = int(before[face])
            sign[face] = -sign[parent] if (min(face, parent), max(face, parent)) in differs else sign[parent]
    sign[sign == 0] = 1
    if ((sign[a] * sign[b] < 0) != same).any():
        raise BadInput("the surface has one side only (like a Möbius band), so it encloses nothing; give a surface with an inside")
    area = np.bincount(sheets, weights=sign * surface.face_areas())
    sign *= np.where(area[sheets] < 0.0, -1, 1)
    faces = np.where((sign < 0)[:, None], f[:, ::-1], f)
    return Surface(surface.vertices, faces), int((sign < 0).sum())


def without_fins(surface: Surface) -> tuple[Surface, int]:
    """Without sheets of less than 1 % of the area that end in open edges and hang on others by an edge of more than two faces."""
    f = surface.faces
    edges = edges_of(f)
    if not edges.crowded.any() or not edges.open.any():
        return surface, 0
    m, n = len(f), int(f.max()) + 1
    sides = np.concatenate([f[:, [0, 1]], f[:, [1, 2]], f[:, [2, 0]]])
    key = sides.min(axis=1) * n + sides.max(axis=1)
    place = np.searchsorted(edges.ends[:, 0] * n + edges.ends[:, 1], key)
    face = np.tile(np.arange(m), 3)
    order = np.argsort(place, kind="stable")
    two = np.flatnonzero((place[order][:-1] == place[order][1:]) & ~edges.crowded[place[order][:-1]])
    a, b = face[order[two]], face[order[two + 1]]
    sheet = connected_components(coo_matrix((np.ones(len(a)), (a, b)), shape=(m, m)), directed=False)[1]
    area = np.bincount(sheet, weights=surface.face_areas())
    hangs, ends = np.zeros(len(area), dtype=bool), np.zeros(len(area), dtype=bool)
    hangs[sheet[face[edges.crowded[place]]]] = True
    ends[sheet[face[edges.open[place]]]] = True
    fin = (hangs & ends & (area < 0.01 * area.sum()))[sheet]
    return Surface(surface.vertices, f[~fin]), int(fin.sum())


def facing_out(surface: Surface, label: Indices) -> tuple[Surface, int]:
    """Every component, by ``label`` (m,), that encloses a negative volume is turned over; how many were."""
    a, b, c = (surface.corners[:, i] - surface.bounds.mean(axis=0) for i in range(3))
    volume = np.bincount(label, weights=np.einsum("ij,ij->i", a, np.cross(b, c)))
    wrong = volume < 0.0
    faces = np.where(wrong[label][:, None], surface.faces[:, ::-1], surface.faces)
    return Surface(surface.vertices, faces), int(wrong.sum())


def unpinched(surface: Surface) -> tuple[Surface, int]:
    """Every vertex where several fans of faces meet becomes one vertex for each fan, at the same place."""
    vertices, faces = surface.vertices.copy(), surface.faces.copy()
    pinched = pinched_vertices(faces)
    for vertex in pinched.tolist():
        rows = np.flatnonzero((faces == vertex).any(axis=1))
        others = [set(faces[row].tolist()) - {vertex} for row in rows]
        left = set(range(len(rows)))
        fan_number = 0
        while left:
            fan = [left.pop()]
            for member in fan:
                touching = [k for k in left if others[k] & others[member]]
                fan += touching
                left -= set(touching)
            if fan_number:
                chosen = rows[fan]
                faces[chosen] = np.where(faces[chosen] == vertex, len(vertices), faces[chosen])
                vertices = np.concatenate([vertices, vertices[vertex : vertex + 1]])
            fan_number += 1
    return Surface(vertices, faces), len(pinched)


def hole_sizes(surface: Surface, loops: list[Indices]) -> Array:
    """How far [m] across each hole is: the largest distance between two vertices of its loop."""
    sizes = []
    for loop in loops:
        points = surface.vertices[loop[:: 1 + len(loop) // 2000]]
        sizes.append(float(pdist(points).max()))
    return np.array(sizes)


def with_holes_filled(surface: Surface, loops: list[Indices]) -> Surface:
    """Every loop of more than three edges is filled by faces around a new vertex in its middle, weighted by the edges' lengths."""
    vertices, faces = [surface.vertices], [surface.faces]
    number = len(surface.vertices)
    for loop in loops:
        after = np.roll(loop, -1)
        if len(loop) == 3:
            faces.append(loop[None])
            continue
        ends = surface.vertices[loop], surface.vertices[after]
        weight = np.linalg.norm(ends[1] - ends[0], axis=1)
        vertices.append((0.5 * (ends[0] + ends[1]) * weight[:, None]).sum(axis=0, keepdims=True) / weight.sum())
        faces.append(np.stack([loop, after, np.full(len(loop), number)], axis=1))
        number += 1
    return Surface(np.concatenate(vertices), np.concatenate(faces))
