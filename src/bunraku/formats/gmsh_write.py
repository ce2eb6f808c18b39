"""Tetrahedra for gmsh: .msh files, version 2.2, ASCII, with patches as physical surfaces."""

from __future__ import annotations

from bunraku.formats.gmsh_mesh import FROM_GMSH
from bunraku.geometry.tet_mesh import TetMesh

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
