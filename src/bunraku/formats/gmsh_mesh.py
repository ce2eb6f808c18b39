"""Tetrahedra from gmsh: .msh files, versions 2.2 and 4.1, ASCII, linear or quadratic, with physical surfaces as patches.

Written is version 2.2.
"""

from __future__ import annotations

import numpy as np

from bunraku.errors import BadInput
from bunraku.formats.mesh_text import MeshText, gathered, whole_numbers
from bunraku.geometry.tet_mesh import TetMesh

TETRAHEDRA, TRIANGLES = {4: 4, 11: 10}, {2: 3, 9: 6}
IGNORED = {1: 2, 8: 3, 15: 1, 3: 4, 10: 9, 16: 8}
FROM_GMSH = [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]


class _Read:
    """What has been read so far."""

    def __init__(self) -> None:
        self.names: dict[tuple[int, int], str] = {}
        self.physical: dict[tuple[int, int], list[int]] = {}
        self.points: list[list[float]] = []
        self.number: dict[int, int] = {}
        self.cells: dict[int, list[list[int]]] = {4: [], 10: []}
        self.faces: dict[str, list[list[int]]] = {}
        self.elements = False


def read_gmsh(data: bytes, *, file: str) -> TetMesh:
    """A mesh from the bytes of a .msh file in metres.

    Patches have the names of physical surfaces (or ``physical-3``, ``surface-7`` when they have none).
    """
    text, read = MeshText(data, file=file), _Read()
    if text.filled("$MeshFormat") != "$MeshFormat":
        raise text.wrong("the file does not start with $MeshFormat; a gmsh .msh file is needed")
    words = text.filled("the version").split()
    if len(words) != 3 or words[0] not in ("2.2", "4.1"):
        raise text.wrong(f"version {' '.join(words)[:40]!r} is not read; save as version 2.2 or 4.1 (gmsh -format msh41)")
    if words[1] != "0":
        raise text.wrong("the file is binary; save it as ASCII (without -bin)")
    new = words[0] == "4.1"
    _end(text, "MeshFormat")
    readers = {"$PhysicalNames": _names, "$Entities": _entities}
    readers |= {"$Nodes": _nodes_4 if new else _nodes_2, "$Elements": _elements_4 if new else _elements_2}
    while text.left:
        section = text.line("a section")
        if not section:
            continue
        if not section.startswith("$") or section.startswith("$End"):
            raise text.wrong(f"{section[:40]!r} stands where a section such as $Nodes must begin")
        if section in readers:
            readers[section](text, read)
            _end(text, section[1:])
        else:
            while text.line(f"$End{section[1:41]}") != f"$End{section[1:]}":
                pass
    if not read.points or not read.elements:
        raise BadInput("has no $Nodes or no $Elements; a mesh has both", file=file)
    return gathered(np.array(read.points), read.cells, read.faces, file=file)


def _end(text: MeshText, section: str) -> None:
    line = text.filled(f"$End{section}")
    if line != f"$End{section}":
        raise text.wrong(f"{line[:40]!r} stands where $End{section} is expected; the counts above do not agree with the lines")


def _names(text: MeshText, read: _Read) -> None:
    (count,) = text.row("the number of names", 1)
    for _ in range(text.announced(count, "names")):
        words = text.filled("a physical name").split(maxsplit=2)
        if len(words) != 3:
            raise text.wrong('a physical name is written: dimension tag "name"')
        dimension, tag = whole_numbers(words[:2], text, "a physical name")
        read.names[dimension, tag] = words[2].strip('"')[:200]


def _entities(text: MeshText, read: _Read) -> None:
    counts = text.row("the numbers of entities", 4)
    for dimension, count in enumerate(counts):
        for _ in range(text.announced(count, "entities")):
            words = text.filled("an entity").split()
            first = 4 if dimension == 0 else 7
            if len(words) <= first:
                raise text.wrong("an entity is written: tag, its box, the number of physical groups, the groups")
            tag, many = whole_numbers([words[0], words[first]], text, "an entity")
            groups = whole_numbers(words[first + 1 : first + 1 + max(many, 0)], text, "the groups of an entity")
            if len(groups) != many:
                raise text.wrong(f"an entity announces {many} groups and names {len(groups)}")
            read.physical[dimension, tag] = groups


def _add_node(text: MeshText, read: _Read, tag: int, words: list[str]) -> None:
    if tag in read.number:
        raise text.wrong(f"node {tag} occurs twice; every node needs a number of its own")
    read.number[tag] = len(read.points)
    read.points.append(text.decimals(words, f"node {tag}"))


def _nodes_2(text: MeshText, read: _Read) -> None:
    (count,) = text.row("the number of nodes", 1)
    for _ in range(text.announced(count, "nodes")):
        words = text.filled("a node").split()
        if len(words) != 4:
            raise text.wrong(f"a node is written: number x y z; {len(words)} words arrived")
        _add_node(text, read, whole_numbers(words[:1], text, "a node")[0], words[1:])


def _nodes_4(text: MeshText, read: _Read) -> None:
    blocks = text.row("the numbers of nodes", 4)[0]
    for _ in range(text.announced(blocks, "blocks of nodes")):
        dimension, _, parametric, count = text.row("a block of nodes", 4)
        tags = [text.row("the number of a node", 1)[0] for _ in range(text.announced(count, "nodes"))]
        width = 3 + (dimension if parametric else 0)
        for tag in tags:
            words = text.filled("a node").split()
            if len(words) != width:
                raise text.wrong(f"node {tag} has {len(words)} numbers; {width} are needed")
            _add_node(text, read, tag, words[:3])


def _elements_2(text: MeshText, read: _Read) -> None:
    (count,) = text.row("the number of elements", 1)
    read.elements = True
    for _ in range(text.announced(count, "elements")):
        row = text.row("an element")
        if len(row) < 3 or row[2] < 0 or len(row) < 3 + row[2]:
            raise text.wrong("an element is written: number type tags nodes")
        tags = row[3 : 3 + row[2]]
        group, surface = (tags[0] if tags else 0), (tags[1] if len(tags) > 1 else 0)
        names = [_name(read, group)] if group else [f"surface-{surface}"]
        _add_element(text, read, row[1], row[3 + row[2] :], names)


def _elements_4(text: MeshText, read: _Read) -> None:
    blocks = text.row("the numbers of elements", 4)[0]
    read.elements = True
    for _ in range(text.announced(blocks, "blocks of elements")):
        dimension, entity, kind, count = text.row("a block of elements", 4)
        groups = read.physical.get((dimension, entity), [])
        names = [_name(read, abs(group)) for group in groups] or [f"surface-{entity}"]
        for _ in range(text.announced(count, "elements")):
            _add_element(text, read, kind, text.row("an element")[1:], names)


def _name(read: _Read, group: int) -> str:
    return read.names.get((2, group), f"physical-{group}")


def _add_element(text: MeshText, read: _Read, kind: int, tags: list[int], names: list[str]) -> None:
    width = (TETRAHEDRA | TRIANGLES | IGNORED).get(kind)
    if width is None:
        raise text.wrong(f"element type {kind} is not read; mesh the solid with linear or quadratic tetrahedra (types 4, 11)")
    if len(tags) != width:
        raise text.wrong(f"an element of type {kind} has {width} nodes; {len(tags)} arrived")
    if kind in IGNORED:
        return
    unknown = [tag for tag in tags if tag not in read.number]
    if unknown:
        raise text.wrong(f"an element names node {unknown[0]}, which is not among the nodes")
    nodes = [read.number[tag] for tag in tags]
    if kind in TETRAHEDRA:
        read.cells[width].append([nodes[i] for i in FROM_GMSH[:width]])
    else:
        for name in names:
            read.faces.setdefault(name, []).append(nodes)


_KINDS = {1: (2, 4), 2: (9, 11)}
"""gmsh's numbers for triangles and tetrahedra, by the order of the mesh."""


def gmsh_bytes(mesh: TetMesh) -> bytes:
    """The bytes of a .msh file in metres; reading it gives the same mesh (:func:`bunraku.formats.gmsh_mesh.read_gmsh`)."""
    names = sorted(mesh.patches)
    triangle, tetrahedron = _KINDS[mesh.order]
    solid = len(names) + 1
    rows = [(triangle, group, face) for group, name in enumerate(names, 1) for face in (mesh.patches[name] + 1).tolist()]
    rows += [(tetrahedron, solid, cell) for cell in (mesh.cells[:, FROM_GMSH[: mesh.cells.shape[1]]] + 1).tolist()]
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", str(len(names))]
    lines += [f'2 {group} "{name}"' for group, name in enumerate(names, 1)]
    lines += ["$EndPhysicalNames", "$Nodes", str(len(mesh.nodes))]
    lines += [f"{i} {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(mesh.nodes.tolist(), 1)]
    lines += ["$EndNodes", "$Elements", str(len(rows))]
    lines += [f"{i} {kind} 2 {group} {group} {' '.join(map(str, nodes))}" for i, (kind, group, nodes) in enumerate(rows, 1)]
    return "\n".join([*lines, "$EndElements", ""]).encode()
