"""What mesh files in text have in common: words and numbers by line, tetrahedra gathered into a mesh, polygons as triangles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.formats.files import check_size, decoded
from bunraku.formats.places import located
from bunraku.geometry.tet_checks import check_mesh
from bunraku.geometry.tet_mesh import TetMesh, boundary_faces

MAX_MESH_BYTES = 128 * 1024 * 1024
LARGEST = 1e12


class MeshText:
    """The lines of a file, read once from top to bottom; errors name the line."""

    def __init__(self, data: bytes, *, file: str) -> None:
        check_size(data, file=file, limit=MAX_MESH_BYTES)
        self.file = file
        self._lines = decoded(data, file=file).splitlines()
        self._at = 0
        self._words: list[str] = []

    @property
    def left(self) -> int:
        """How many lines are left."""
        return len(self._lines) - self._at

    def wrong(self, message: str) -> BadInput:
        """An error at the line read last."""
        return BadInput(message, file=self.file, place=self.place)

    @property
    def place(self) -> str:
        """The line read last."""
        return f"line {max(self._at, 1)}"

    def line(self, what: str) -> str:
        """The next line, without blanks around it, even when it is empty."""
        if self._words:
            raise self.wrong(
                f"{what} is expected, but {' '.join(self._words)[:40]!r} is left over; the counts do not agree with the numbers"
            )
        if self._at >= len(self._lines):
            raise self.wrong(f"the file ends where {what} is expected; it has been cut short")
        self._at += 1
        return self._lines[self._at - 1].strip()

    def filled(self, what: str) -> str:
        """The next line that is not empty."""
        while True:
            line = self.line(what)
            if line:
                return line

    def row(self, what: str, count: int | None = None) -> list[int]:
        """The whole numbers of the next filled line, ``count`` of them when it is given."""
        words = self.filled(what).split()
        if count is not None and len(words) != count:
            raise self.wrong(f"{what}: {len(words)} words arrived, {count} whole numbers are needed")
        return whole_numbers(words, self, what)

    def decimals(self, words: Sequence[str], what: str) -> list[float]:
        """Finite numbers from words."""
        try:
            values = [float(word) for word in words]
        except ValueError as error:
            raise self.wrong(f"{what}: {' '.join(words)[:60]!r} holds something that is no number") from error
        if not all(abs(value) <= LARGEST for value in values):
            raise self.wrong(f"{what}: {' '.join(words)[:60]!r} is not finite (or beyond {LARGEST:g})")
        return values

    def stream(self, count: int, what: str) -> list[str]:
        """The next ``count`` words, over as many lines as they take."""
        if count > 40 * len(self._lines) + sum(map(len, self._lines[self._at :])):
            raise self.wrong(f"{what}: {count} numbers are announced, more than the file can hold")
        words: list[str] = []
        while len(words) < count:
            if not self._words:
                self._words = self.line(what).split()
            need = count - len(words)
            words += self._words[:need]
            self._words = self._words[need:]
        return words

    def announced(self, count: int, what: str) -> int:
        """A number of lines to come, which the file must have."""
        if not 0 <= count <= self.left:
            raise self.wrong(f"{count} {what} are announced, but {self.left} lines are left; the file has been cut short")
        return count


def whole_numbers(words: Sequence[str], text: MeshText, what: str) -> list[int]:
    """Whole numbers of at most 2^53 from words."""
    try:
        values = [int(word) for word in words]
    except ValueError as error:
        raise text.wrong(f"{what}: {' '.join(words)[:60]!r} holds something that is no whole number") from error
    if not all(abs(value) <= 2**53 for value in values):
        raise text.wrong(f"{what}: {' '.join(words)[:60]!r} is too large")
    return values


def gathered(
    points: Array, tetrahedra: Mapping[int, list[list[int]]], faces: Mapping[str, list[list[int]]], *, file: str
) -> TetMesh:
    """A checked mesh from points (n, 3), cells by their number of nodes, and named faces; points of no cell are dropped.

    Faces inside the solid, and those of another order than the cells, belong to no patch.
    """
    kinds = [width for width, rows in tetrahedra.items() if rows]
    if len(kinds) != 1:
        fault = "no tetrahedron" if not kinds else "linear and quadratic tetrahedra mixed"
        raise BadInput(f"holds {fault}; a mesh of tetrahedra of one order is needed", file=file)
    cells = np.array(tetrahedra[kinds[0]], dtype=np.int64)
    used, numbered = np.unique(cells, return_inverse=True)
    place = np.full(len(points), -1, dtype=np.int64)
    place[used] = np.arange(len(used))
    with located(file):
        mesh = TetMesh(points[used], np.asarray(numbered).reshape(cells.shape))
    mesh = check_mesh(mesh, file=file)
    return replace(mesh, patches=_patches(mesh, faces, place))


def _patches(mesh: TetMesh, faces: Mapping[str, list[list[int]]], place: Indices) -> dict[str, Indices]:
    """Named faces as the boundary faces they are, seen from outside."""
    width = 3 if mesh.order == 1 else 6
    surface = boundary_faces(mesh)
    row_of = {tuple(face): row for row, face in enumerate(np.sort(surface[:, :3], axis=1).tolist())}
    patches = {}
    for name, rows in faces.items():
        own = [np.sort(place[row[:3]]).tolist() for row in rows if len(row) == width]
        numbers = sorted({row_of[tuple(face)] for face in own if tuple(face) in row_of})
        if numbers:
            patches[name] = surface[numbers]
    return patches


def triangulated(vertices: Array, polygons: Sequence[Sequence[int]]) -> Indices:
    """Triangles (m, 3) that fill ``polygons`` of numbers of ``vertices`` (n, 3), in their order.

    Corners are cut off one after the other (ears): each time the one with the largest smallest angle among those that bulge
    outwards and hold no other corner, seen along the polygon's mean normal.
    """
    triangles: list[Sequence[int]] = []
    for polygon in polygons:
        if len(polygon) == 3:
            triangles.append(polygon)
        else:
            triangles += _ears(vertices, list(polygon))
    return np.array(triangles, dtype=np.int64).reshape(-1, 3)


def _ears(vertices: Array, polygon: list[int]) -> list[list[int]]:
    points = vertices[polygon]
    normal = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    length = float(np.linalg.norm(normal))
    if length == 0.0:
        return [[polygon[0], polygon[i], polygon[i + 1]] for i in range(1, len(polygon) - 1)]
    axis = np.eye(3)[int(np.argmin(np.abs(normal)))]
    u = np.cross(axis, normal / length)
    flat = np.stack([points @ u, points @ np.cross(normal / length, u)], axis=1)
    left = list(range(len(polygon)))
    ears = []
    while len(left) > 3:
        scores = [_ear_score(flat, left, i) for i in range(len(left))]
        best = int(np.argmax(scores))
        before, here, after = left[best - 1], left[best], left[(best + 1) % len(left)]
        ears.append([polygon[before], polygon[here], polygon[after]])
        left.pop(best)
    return [*ears, [polygon[i] for i in left]]


def _ear_score(flat: Array, left: list[int], i: int) -> float:
    """The sine of the smallest angle of the corner i, less 2 when it bulges inwards or holds another corner."""
    names = [left[i - 1], left[i], left[(i + 1) % len(left)]]
    a, b, c = flat[names]
    sides = np.array([b - a, c - b, a - c])
    lengths = np.maximum(np.hypot(sides[:, 0], sides[:, 1]), 1e-300)
    area = sides[0, 0] * sides[1, 1] - sides[0, 1] * sides[1, 0]
    sine = float(area * lengths.min() / np.prod(lengths))
    others = flat[[k for k in left if k not in names]]
    held = np.ones(len(others), dtype=bool)
    for corner, side in zip((a, b, c), sides, strict=True):
        held &= side[0] * (others[:, 1] - corner[1]) - side[1] * (others[:, 0] - corner[0]) > 0.0
    return sine - 2.0 if area <= 0.0 or held.any() else sine
