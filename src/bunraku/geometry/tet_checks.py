"""Is it a mesh? Inverted and degenerate cells, cracks, unused nodes, loose pieces; and how good its cells are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.tet_mesh import TetMesh, boundary_faces, cell_volumes
from bunraku.geometry.tetrahedra import EDGES, FACES, lattice, shape_gradients


def least_jacobians(mesh: TetMesh) -> Array:
    """The least det(dx/dxi) (m,) [m^3] of every cell over the 20 points of the cubic lattice; a cell is sound when it is positive.

    The determinant of a curved quadratic cell is a cubic polynomial of xi, so 20 values determine it.
    """
    points = lattice(3) if mesh.order == 2 else np.full((1, 3), 0.25)
    J = np.einsum("eai,qaj->eqij", mesh.nodes[mesh.cells], shape_gradients(mesh.order, points))
    return np.linalg.det(J).min(axis=1)


def count_pieces(mesh: TetMesh) -> tuple[int, NDArray[np.int64]]:
    """How many pieces the mesh falls into, and the piece (m,) of every cell; pieces share no node."""
    m, k = mesh.cells.shape
    rows = np.repeat(np.arange(m), k)
    links = coo_array((np.ones(m * k), (rows, m + mesh.cells.ravel())), shape=(m + len(mesh.nodes),) * 2)
    used = np.zeros(m + len(mesh.nodes), dtype=bool)
    used[:m] = True
    used[m + mesh.cells.ravel()] = True
    _, labels = connected_components(links, directed=False)
    _, piece = np.unique(labels[used], return_inverse=True)
    return int(piece.max()) + 1, np.asarray(piece[:m], dtype=np.int64)


def check_mesh(mesh: TetMesh, *, file: str | None = None, one_piece: bool = True) -> TetMesh:
    """The mesh, if it can carry a computation; otherwise an error that names the first offending cell, node or patch.

    It must hang together unless ``one_piece`` is False.
    """
    _check_cells(mesh, file)
    _check_conforming(mesh, file)
    used = np.zeros(len(mesh.nodes), dtype=bool)
    used[mesh.cells] = True
    if not used.all():
        raise BadInput(f"node {int(np.argmin(used))} belongs to no cell ({int((~used).sum())} such nodes); remove them", file=file)
    pieces, piece = count_pieces(mesh)
    if pieces > 1 and one_piece:
        sizes = np.bincount(piece)
        raise BadInput(
            f"the mesh falls into {pieces} pieces that share no node (of {_listed(sizes)} cells); a part must hang together:"
            " merge coincident nodes, or give each piece as a part of its own",
            file=file,
        )
    surface = {tuple(face) for face in np.sort(boundary_faces(mesh)[:, :3], axis=1).tolist()}
    for name, faces in mesh.patches.items():
        inner = [row for row, face in enumerate(np.sort(faces[:, :3], axis=1).tolist()) if tuple(face) not in surface]
        if inner:
            raise BadInput(f"face {inner[0]} of patch {name!r} is no face of the surface; patches name boundary faces", file=file)
    return mesh


def _check_cells(mesh: TetMesh, file: str | None) -> None:
    corners = np.sort(mesh.cells, axis=1)
    repeated = (np.diff(corners, axis=1) == 0).any(axis=1)
    if repeated.any():
        raise BadInput(f"cell {int(np.argmax(repeated))} names a node twice; a tetrahedron has distinct nodes", file=file)
    X = mesh.nodes[mesh.cells[:, :4]]
    size = np.sqrt(sum(((X[:, a] - X[:, b]) ** 2).sum(axis=1) for a, b in EDGES) / 6.0)
    least = least_jacobians(mesh)
    bad = least <= 1e-12 * size**3
    if not bad.any():
        return
    cell, volume = int(np.argmax(bad)), cell_volumes(mesh)
    what = "flat" if abs(least[cell]) <= 1e-12 * size[cell] ** 3 else "inverted"
    how = "curved beyond its corners" if what == "inverted" and volume[cell] > 0 else f"volume {volume[cell]:.3g} m^3"
    advice = "all cells are numbered the other way round: swap two nodes of each" if (volume < 0).all() else "mesh that place anew"
    raise BadInput(f"cell {cell} is {what} ({how}; {int(bad.sum())} of {len(bad)} cells are so); {advice}", file=file)


def _check_conforming(mesh: TetMesh, file: str | None) -> None:
    local = np.array(FACES)[:, :3]
    faces = np.sort(mesh.cells[:, local].reshape(-1, 3), axis=1)
    _, first, count = np.unique(faces, axis=0, return_index=True, return_counts=True)
    if (count > 2).any():
        at = int(first[np.argmax(count > 2)])
        raise BadInput(
            f"face {at % 4} of cell {at // 4} is shared by {int(count.max())} cells; at most two can meet there", file=file
        )
    if mesh.order == 1:
        return
    pairs = np.sort(mesh.cells[:, np.array(EDGES)].reshape(-1, 2), axis=1)
    triples = np.unique(np.column_stack([pairs, mesh.cells[:, 4:].ravel()]), axis=0)
    for columns, fault in ((triples[:, :2], "an edge has two middle nodes"), (triples[:, 2:], "a middle node serves two edges")):
        _, first, count = np.unique(columns, axis=0, return_index=True, return_counts=True)
        if (count > 1).any():
            a, b, _ = triples[first[np.argmax(count > 1)]]
            raise BadInput(f"between nodes {a} and {b}: {fault}; neighbouring cells must share all nodes of their edges", file=file)
    if np.isin(mesh.cells[:, 4:], mesh.cells[:, :4]).any():
        raise BadInput("a node is a corner of one cell and the middle of another's edge; use cells of one order", file=file)


def _listed(sizes: NDArray[np.int64]) -> str:
    words = ", ".join(str(size) for size in sizes[:5])
    return words + (", ..." if len(sizes) > 5 else "")
