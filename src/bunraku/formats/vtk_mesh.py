"""Tetrahedra from VTK: legacy .vtk files (versions 2 to 5.1) and .vtu files, ASCII, linear or quadratic."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.formats.mesh_text import MeshText, gathered, whole_numbers
from bunraku.formats.xml_tree import Element, read_xml
from bunraku.geometry.tet_mesh import TetMesh

TETRAHEDRA = {10: 4, 24: 10}
IGNORED = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 9, 21, 22, 23, 28, 30, 34, 35, 36})


def read_vtk(data: bytes, *, file: str) -> TetMesh:
    """A mesh from the bytes of a legacy .vtk file in metres; cells of fewer dimensions are left out.

    Such files name no patches: :func:`bunraku.geometry.tet_mesh.with_patch` finds them by place.
    """
    text = MeshText(data, file=file)
    if not text.line("the header").startswith("# vtk DataFile"):
        raise text.wrong("the file does not start with '# vtk DataFile'; a legacy VTK file is needed")
    text.line("the title")
    form = text.line("ASCII").upper()
    if form != "ASCII":
        raise text.wrong(f"the file is {form[:20]!r}; save it as ASCII")
    if text.filled("DATASET").split() != ["DATASET", "UNSTRUCTURED_GRID"]:
        raise text.wrong("the file holds no unstructured grid; save DATASET UNSTRUCTURED_GRID")
    points: list[str] = []
    offsets: list[int] = []
    connections: list[int] = []
    kinds: list[int] = []
    while text.left:
        words = text.line("a section").split()
        if not words:
            continue
        head = words[0].upper()
        if head in ("CELL_DATA", "POINT_DATA"):
            break
        if head == "POINTS":
            points = text.stream(3 * _count(text, words, 1), "POINTS")
        elif head == "CELLS":
            offsets, connections = _cells(text, words)
        elif head == "CELL_TYPES":
            kinds = whole_numbers(text.stream(_count(text, words, 1), "CELL_TYPES"), text, "CELL_TYPES")
        elif head == "FIELD":
            for _ in range(text.announced(_count(text, words, 2), "field arrays")):  # each: name, components, tuples, type
                array = text.filled("a field array").split()
                text.stream(_count(text, array, 1) * _count(text, array, 2), "a field array")
        elif head == "METADATA":
            while text.left and text.line("the end of the metadata"):
                pass
        else:
            raise text.wrong(f"{words[0][:40]!r} stands where POINTS, CELLS or CELL_TYPES must begin")
    values = np.array(text.decimals(points, "POINTS")).reshape(-1, 3)
    return _assembled(values, offsets, connections, kinds, file)


def read_vtu(data: bytes, *, file: str) -> TetMesh:
    """A mesh from the bytes of a .vtu file of one piece with ``format="ascii"``; otherwise as :func:`read_vtk`."""
    root = read_xml(data, file=file, root=("VTKFile",), with_text=("DataArray",))
    if root.get("type") != "UnstructuredGrid":
        raise root.wrong(f"the type is {root.get('type')[:40]!r}; UnstructuredGrid is needed")
    pieces = [element for element in root.walk() if element.tag == "Piece"]
    if len(pieces) != 1:
        raise root.wrong(f"there are {len(pieces)} pieces; a mesh of one piece is needed")
    points, cells = pieces[0].first("Points"), pieces[0].first("Cells")
    if points is None or cells is None:
        raise pieces[0].wrong("Points or Cells are missing; a mesh has both")
    coordinates = _array(points.first("DataArray"), points, None)
    named = {
        name: next((a for a in cells.all("DataArray") if a.get("Name") == name), None)
        for name in ("connectivity", "offsets", "types")
    }
    connections, ends, kinds = (_array(array, cells, name) for name, array in named.items())
    if coordinates.size % 3:
        raise points.wrong(f"{coordinates.size} coordinates are given; three a point are needed")
    for name, array in (("connectivity", connections), ("offsets", ends), ("types", kinds)):
        if not (array == np.floor(array)).all() or (np.abs(array) > 2**53).any():
            raise cells.wrong(f"{name} holds a number that is no whole number")
    starts = [0, *ends.astype(np.int64).tolist()]
    whole = connections.astype(np.int64).tolist(), kinds.astype(np.int64).tolist()
    return _assembled(coordinates.reshape(-1, 3), starts, *whole, file)


def _array(element: Element | None, parent: Element, name: str | None) -> Array:
    if element is None:
        raise parent.wrong(f"the DataArray {name or 'of the coordinates'} is missing")
    if element.get("format", "ascii") != "ascii":
        raise element.wrong(f"its format is {element.get('format')[:20]!r}; save the file as ASCII")
    try:
        values = np.array([float(word) for word in element.text.split()])
    except ValueError as error:
        raise element.wrong("its text holds something that is no number") from error
    if not np.isfinite(values).all() or (np.abs(values) > 1e18).any():
        raise element.wrong("its text holds a number that is not finite (or absurdly large)")
    return values


def _count(text: MeshText, words: list[str], place: int) -> int:
    if len(words) <= place:
        raise text.wrong(f"{words[0]} must be followed by a number")
    (count,) = whole_numbers([words[place]], text, words[0])
    if count < 0:
        raise text.wrong(f"{words[0]} {count}: a count must not be negative")
    return count


def _cells(text: MeshText, words: list[str]) -> tuple[list[int], list[int]]:
    """Offsets (cells + 1) and connections, from either form of the section CELLS."""
    count, size = _count(text, words, 1), _count(text, words, 2)
    first = text.stream(1, "CELLS") if count else ["0"]
    if first[0].upper() == "OFFSETS":
        text.stream(1, "the type of OFFSETS")
        offsets = whole_numbers(text.stream(count, "OFFSETS"), text, "OFFSETS")
        if text.stream(2, "CONNECTIVITY")[0].upper() != "CONNECTIVITY":
            raise text.wrong("CONNECTIVITY must follow OFFSETS")
        return offsets, whole_numbers(text.stream(size, "CONNECTIVITY"), text, "CONNECTIVITY")
    flat = whole_numbers(first + text.stream(max(size - 1, 0), "CELLS"), text, "CELLS")
    offsets, connections, at = [0], [], 0
    for _ in range(count):
        if at >= len(flat) or flat[at] < 0 or at + flat[at] >= len(flat):
            raise text.wrong("CELLS: the counts of nodes do not agree with the size of the list")
        connections += flat[at + 1 : at + 1 + flat[at]]
        at += 1 + flat[at]
        offsets.append(len(connections))
    return offsets, connections


def _assembled(points: Array, offsets: list[int], connections: list[int], kinds: list[int], file: str) -> TetMesh:
    if len(offsets) != len(kinds) + 1 or not kinds:
        raise BadInput(f"has {max(len(offsets) - 1, 0)} cells and {len(kinds)} cell types; one type a cell is needed", file=file)
    if offsets[0] != 0 or offsets[-1] != len(connections) or any(b < a for a, b in pairwise(offsets)):
        raise BadInput("the offsets of the cells do not rise from 0 to the length of the connectivity", file=file)
    if connections and not 0 <= min(connections) <= max(connections) < len(points):
        raise BadInput(f"a cell names a point that is not there; points are 0 to {len(points) - 1}", file=file)
    cells: dict[int, list[list[int]]] = {4: [], 10: []}
    for number, kind in enumerate(kinds):
        nodes = connections[offsets[number] : offsets[number + 1]]
        if kind in IGNORED:
            continue
        if kind not in TETRAHEDRA:
            raise BadInput(f"cell {number} has type {kind}; tetrahedra (types 10 and 24) are needed", file=file)
        if len(nodes) != TETRAHEDRA[kind]:
            raise BadInput(f"cell {number} of type {kind} has {len(nodes)} nodes; {TETRAHEDRA[kind]} are needed", file=file)
        cells[TETRAHEDRA[kind]].append(nodes)
    return gathered(points, cells, {}, file=file)
