"""STEP (ISO 10303-21, AP214) of closed solids with flat faces: what CAD programs read as a body, not as loose triangles.

Triangles of one plane become one face, bounded by an outer loop and a loop for every hole in it; corners in the middle of a
straight edge are left out. Every edge is written once and used by its two faces in opposite directions, so the shell is closed by
construction. Round walls stay the flat facets they are drawn with. Lengths in millimetres.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import hypot
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.formats.atomic import write_atomically

Loop = list[int]
FLAT = 1e-4
"""How far [mm] a corner of a face may be from its plane."""
_STRAIGHT = 1e-5
_ALIGNED = 0.9


@dataclass(frozen=True)
class FlatFace:
    """A face: its plane through ``origin`` (3,) with unit ``normal`` (3,) outwards and the direction ``across`` (3,) in it.

    ``loops`` are numbers of corners, the outer loop first, counter-clockwise seen from outside, then the holes, clockwise.
    """

    origin: Array
    normal: Array
    across: Array
    loops: tuple[Loop, ...]


def flat_faces(vertices: ArrayLike, triangles: ArrayLike) -> list[FlatFace]:
    """The flat faces of a closed mesh: ``vertices`` (n, 3) [mm] and ``triangles`` (m, 3) of numbers, outside counter-clockwise.

    Raises BadInput when an edge is not shared by exactly two triangles, in opposite directions.
    """
    x = np.asarray(vertices, dtype=float)
    t = np.asarray(triangles, dtype=np.int64)
    twin = _twins(t)
    region, planes = _regions(x, t, twin)
    loops = _loops(t, twin, region)
    kept = _corners(x, loops)
    faces = []
    for (origin, normal), rings in zip(planes, loops, strict=True):
        thinned = [[v for v in loop if kept[v]] for loop in rings]
        thinned = [loop for loop in thinned if len(loop) >= 3]
        if len(thinned) > 1:
            thinned.sort(key=lambda loop: -_area(x, loop, normal))
        if thinned:
            first = x[thinned[0][1]] - x[thinned[0][0]]
            across = first - normal * float(first @ normal)
            faces.append(FlatFace(origin, normal, across / np.linalg.norm(across), tuple(thinned)))
    return faces


def step_bytes(vertices: ArrayLike, triangles: ArrayLike, name: str = "part") -> bytes:
    """The file's content: one solid called ``name``, a MANIFOLD_SOLID_BREP of plane ADVANCED_FACEs."""
    x = np.asarray(vertices, dtype=float)
    lines = _Lines()
    label = "".join(letter if " " <= letter <= "~" and letter not in "'\\" else "_" for letter in name)
    shell = _shell(lines, x, flat_faces(x, triangles))
    solid = lines.add(f"MANIFOLD_SOLID_BREP('{label}',#{shell})")
    _product(lines, solid, label)
    head = (
        "ISO-10303-21;\nHEADER;\n"
        "FILE_DESCRIPTION(('solid with flat faces, millimetres'),'2;1');\n"
        f"FILE_NAME('{label}','',(''),(''),'bunraku','bunraku','');\n"
        "FILE_SCHEMA(('AUTOMOTIVE_DESIGN { 1 0 10303 214 1 1 1 1 }'));\n"
        "ENDSEC;\nDATA;\n"
    )
    return (head + "".join(lines.text) + "ENDSEC;\nEND-ISO-10303-21;\n").encode("ascii")


def write_step(path: str | Path, vertices: ArrayLike, triangles: ArrayLike, name: str = "part") -> None:
    """Write a closed mesh [mm] as a STEP file, all at once."""
    write_atomically(path, step_bytes(vertices, triangles, name))


def _twins(t: Indices) -> Indices:
    """For half-edge 3 k + i, from corner i of triangle k to the next, the half-edge that runs back."""
    start, end = t.reshape(-1), np.roll(t, -1, axis=1).reshape(-1)
    n = int(t.max(initial=0)) + 1
    forth, back = start * n + end, end * n + start
    order = np.argsort(forth, kind="stable")
    place = np.searchsorted(forth[order], back)
    place = np.minimum(place, len(order) - 1)
    twin: Indices = order[place] if len(order) else order
    if not len(t) or len(np.unique(forth)) < len(forth) or not np.array_equal(forth[twin], back):
        raise BadInput(
            "an edge of the mesh is not shared by two triangles that run along it both ways; only closed solids have a STEP"
        )
    return twin


def _regions(x: Array, t: Indices, twin: Indices) -> tuple[Indices, list[tuple[Array, Array]]]:
    """Triangles of one plane gathered, the largest first: the region of each triangle, and origin and normal of each region."""
    product = np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]])
    doubled = np.linalg.norm(product, axis=1)
    longest = np.sqrt(((x[t] - x[np.roll(t, -1, axis=1)]) ** 2).sum(axis=2).max(axis=1))
    thin = doubled < FLAT * longest  # a needle lies in the plane of whichever neighbour takes it
    normals = product / np.maximum(doubled, 1e-300)[:, None]
    neighbours = (twin // 3).reshape(-1, 3)
    region = np.full(len(t), -1, dtype=np.int64)
    planes: list[tuple[Array, Array]] = []
    for seed in np.argsort(-doubled, kind="stable"):
        if region[seed] >= 0:
            continue
        origin, normal = x[t[seed, 0]], normals[seed]
        region[seed] = len(planes)
        waiting = [int(seed)] if doubled[seed] > 0.0 else []
        while waiting:
            for other in neighbours[waiting.pop()]:
                if region[other] >= 0 or not (thin[other] or normals[other] @ normal > _ALIGNED):
                    continue
                if np.abs((x[t[other]] - origin) @ normal).max() <= FLAT:
                    region[other] = len(planes)
                    waiting.append(int(other))
        planes.append((origin, normal))
    return region, planes


def _loops(t: Indices, twin: Indices, region: Indices) -> list[list[Loop]]:
    """The loops around every region: from a border half-edge to the next one about its end, inside the region."""
    border = region[np.arange(len(twin)) // 3] != region[twin // 3]
    loops: list[list[Loop]] = [[] for _ in range(int(region.max()) + 1)]
    done = ~border
    flat = t.reshape(-1)
    for start in np.flatnonzero(border):
        if done[start]:
            continue
        loop, at = [], int(start)
        while not done[at]:
            done[at] = True
            loop.append(int(flat[at]))
            at = 3 * (at // 3) + (at + 1) % 3
            while not border[at]:
                back = int(twin[at])
                at = 3 * (back // 3) + (back + 1) % 3
        loops[region[start // 3]].append(loop)
    return loops


def _corners(x: Array, loops: list[list[Loop]]) -> NDArray[np.bool_]:
    """Which vertices are corners of faces: not those where only one straight edge passes."""
    ends: dict[int, set[int]] = {}
    uses: Counter[int] = Counter()
    for loop in (loop for face in loops for loop in face):
        for before, here, after in zip(loop[-1:] + loop[:-1], loop, loop[1:] + loop[:1], strict=True):
            ends.setdefault(here, set()).update((before, after))
            uses[here] += 1
    kept = np.zeros(len(x), dtype=bool)
    for vertex, near in ends.items():
        kept[vertex] = len(near) != 2 or uses[vertex] != 2 or not _straight(x, vertex, near)
    for loop in (loop for face in loops for loop in face):  # a loop needs three corners, in both of its faces
        for vertex in loop:
            if sum(bool(kept[v]) for v in loop) >= 3:
                break
            kept[vertex] = True
    return kept


def _straight(x: Array, vertex: int, near: set[int]) -> bool:
    (px, py, pz), (qx, qy, qz) = ((x[other] - x[vertex]).tolist() for other in near)
    if px * qx + py * qy + pz * qz >= 0.0:
        return False
    cross = hypot(py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx)
    return cross < _STRAIGHT * hypot(px - qx, py - qy, pz - qz)


def _area(x: Array, loop: Loop, normal: Array) -> float:
    """The area inside a loop seen against ``normal``: negative for a hole."""
    points = x[loop] - x[loop[0]]
    return float(np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0) @ normal) / 2.0


class _Lines:
    """The entities written so far, each a line with its number."""

    def __init__(self) -> None:
        self.text: list[str] = []

    def add(self, entity: str) -> int:
        self.text.append(f"#{len(self.text) + 1}={entity};\n")
        return len(self.text)

    def triple(self, kind: str, v: Array) -> int:
        return self.add(f"{kind}('',({_real(v[0])},{_real(v[1])},{_real(v[2])}))")


def _real(value: float) -> str:
    text = f"{value:.9g}".upper()
    return text if "." in text else text.replace("E", ".E") if "E" in text else text + "."


def _shell(lines: _Lines, x: Array, faces: list[FlatFace]) -> int:
    corners: dict[int, tuple[int, int]] = {}
    edges: dict[tuple[int, int], int] = {}

    def corner(number: int) -> tuple[int, int]:
        if number not in corners:
            point = lines.triple("CARTESIAN_POINT", x[number])
            corners[number] = point, lines.add(f"VERTEX_POINT('',#{point})")
        return corners[number]

    def edge(start: int, end: int) -> int:
        low, high = min(start, end), max(start, end)
        if (low, high) not in edges:
            (point, first), (_, last) = corner(low), corner(high)
            way = x[high] - x[low]
            direction = lines.triple("DIRECTION", way / np.linalg.norm(way))
            vector = lines.add(f"VECTOR('',#{direction},1.)")
            line = lines.add(f"LINE('',#{point},#{vector})")
            edges[low, high] = lines.add(f"EDGE_CURVE('',#{first},#{last},#{line},.T.)")
        return lines.add(f"ORIENTED_EDGE('',*,*,#{edges[low, high]},.{'T' if start == low else 'F'}.)")

    written = []
    for face in faces:
        bounds = []
        for number, loop in enumerate(face.loops):
            around = ",".join(f"#{edge(a, b)}" for a, b in zip(loop, loop[1:] + loop[:1], strict=True))
            ring = lines.add(f"EDGE_LOOP('',({around}))")
            bounds.append(lines.add(f"FACE_{'OUTER_' if number == 0 else ''}BOUND('',#{ring},.T.)"))
        point = lines.triple("CARTESIAN_POINT", face.origin)
        normal, across = lines.triple("DIRECTION", face.normal), lines.triple("DIRECTION", face.across)
        place = lines.add(f"AXIS2_PLACEMENT_3D('',#{point},#{normal},#{across})")
        plane = lines.add(f"PLANE('',#{place})")
        written.append(lines.add(f"ADVANCED_FACE('',({','.join(f'#{b}' for b in bounds)}),#{plane},.T.)"))
    return lines.add(f"CLOSED_SHELL('',({','.join(f'#{face}' for face in written)}))")


def _product(lines: _Lines, solid: int, label: str) -> None:
    """What AP214 wants around a solid: a product with a shape, and units."""
    add = lines.add
    context = add("APPLICATION_CONTEXT('core data for automotive mechanical design processes')")
    add(f"APPLICATION_PROTOCOL_DEFINITION('international standard','automotive_design',2000,#{context})")
    about = add(f"PRODUCT_CONTEXT('',#{context},'mechanical')")
    product = add(f"PRODUCT('{label}','{label}','',(#{about}))")
    add(f"PRODUCT_RELATED_PRODUCT_CATEGORY('part',$,(#{product}))")
    formation = add(f"PRODUCT_DEFINITION_FORMATION('','',#{product})")
    view = add(f"PRODUCT_DEFINITION_CONTEXT('part definition',#{context},'design')")
    definition = add(f"PRODUCT_DEFINITION('design','',#{formation},#{view})")
    shape = add(f"PRODUCT_DEFINITION_SHAPE('','',#{definition})")
    length = add("(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.))")
    angle = add("(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.))")
    solid_angle = add("(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT())")
    exact = add(f"UNCERTAINTY_MEASURE_WITH_UNIT(LENGTH_MEASURE(1.E-04),#{length},'distance_accuracy_value','')")
    units = add(
        f"(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNCERTAINTY_ASSIGNED_CONTEXT((#{exact}))"
        f"GLOBAL_UNIT_ASSIGNED_CONTEXT((#{length},#{angle},#{solid_angle}))REPRESENTATION_CONTEXT('',''))"
    )
    origin = lines.triple("CARTESIAN_POINT", np.zeros(3))
    up, forward = lines.triple("DIRECTION", np.array([0.0, 0.0, 1.0])), lines.triple("DIRECTION", np.array([1.0, 0.0, 0.0]))
    frame = add(f"AXIS2_PLACEMENT_3D('',#{origin},#{up},#{forward})")
    model = add(f"ADVANCED_BREP_SHAPE_REPRESENTATION('{label}',(#{frame},#{solid}),#{units})")
    add(f"SHAPE_DEFINITION_REPRESENTATION(#{shape},#{model})")
