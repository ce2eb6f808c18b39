"""A skin as solids: its rubber, what its outer surface encloses, and the room inside it. Millimetres, world frame at home."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.character import SkinMesh
from bunraku.errors import BadInput
from bunraku.fabrication.mesh import TriangleMesh
from bunraku.fabrication.shaping import MM, Solid, difference, triangles, union
from bunraku.geometry.tetrahedra import FACES


@dataclass(frozen=True)
class SkinShell:
    """``outer``: all that the outer surface encloses, ``inner``: the room inside, ``rubber``: what is between them."""

    outer: Solid
    inner: Solid
    rubber: Solid


def skin_shell(mesh: SkinMesh) -> SkinShell:
    """The solids of a skin, whose boundary must be two closed surfaces, one inside the other."""
    pieces = _surfaces(corner_faces(mesh))
    volumes = [TriangleMesh(mesh.nodes[t]).volume() for t in pieces]
    if len(pieces) != 2 or min(volumes) >= 0.0 or sum(volumes) <= 0.0:
        raise BadInput(
            f"the skin's boundary has {len(pieces)} closed surfaces of {', '.join(f'{1e6 * v:.0f} cm³' for v in volumes[:4])}; "
            "a skin that can be cast has an outer one and an inner one; make its mesh again"
        )
    out, within = (pieces[i] for i in np.argsort(volumes)[::-1])
    outer = mesh_solid(MM * mesh.nodes, out)
    inner = mesh_solid(MM * mesh.nodes, within[:, ::-1])
    return SkinShell(outer, inner, outer - inner)


def corner_faces(mesh: SkinMesh) -> Indices:
    """The triangles (m, 3) of the skin's boundary, numbers of nodes at corners of its cells, outside counter-clockwise."""
    t = np.concatenate([mesh.cells[:, list(face[:3])] for face in FACES])
    key = np.sort(t, axis=1)
    n = int(key.max(initial=0)) + 1
    code = (key[:, 0] * n + key[:, 1]) * n + key[:, 2]
    _, place, count = np.unique(code, return_inverse=True, return_counts=True)
    return t[count[place] == 1]


def _surfaces(t: Indices) -> list[Indices]:
    """Triangles parted into connected surfaces."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n = int(t.max(initial=0)) + 1
    ends = np.concatenate([t[:, :2], t[:, 1:]])
    _, label = connected_components(coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n)), directed=False)
    return [t[label[t[:, 0]] == which] for which in np.unique(label[t[:, 0]])]


def mesh_solid(vertices: Array, t: Indices) -> Solid:
    """The solid of a closed triangle mesh [mm]; raises BadInput when it is not closed."""
    import manifold3d

    used, numbers = np.unique(t, return_inverse=True)
    mesh = manifold3d.Mesh64(np.ascontiguousarray(vertices[used]), np.ascontiguousarray(numbers.reshape(-1, 3).astype(np.uint64)))
    solid = manifold3d.Manifold(mesh)
    if solid.status() != manifold3d.Error.NoError or solid.is_empty():
        raise BadInput(f"a surface of the skin encloses nothing ({solid.status().name}); make its mesh again")
    return solid


def offset(solid: Solid, by: float) -> Solid:
    """A solid whose faces are moved outwards by ``by`` [mm] (inwards where negative), as `offset_corners` does."""
    x, t = triangles(solid)
    return mesh_solid(offset_corners(x, t, by), t)


def offset_corners(x: Array, t: Indices, by: float) -> Array:
    """The corners (n, 3) of a closed mesh when its faces ``t`` (m, 3) are moved outwards by ``by``.

    Corner x moves by the d that is nearest to n_k · d = by for the normals n_k of its faces, weighted by area (least squares).
    Right where the surface bends little over the distance; in narrow folds the result may go through itself.
    """
    product = np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]])
    doubled = np.linalg.norm(product, axis=1)
    n = product / np.maximum(doubled, 1e-300)[:, None]
    A, b = np.zeros((len(x), 3, 3)), np.zeros((len(x), 3))
    for i in range(3):
        np.add.at(A, t[:, i], doubled[:, None, None] * n[:, :, None] * n[:, None, :])
        np.add.at(b, t[:, i], doubled[:, None] * n)
    values, vectors = np.linalg.eigh(A)
    small = values < 0.02 * values[:, -1:]
    inverse = np.where(small, 0.0, 1.0 / np.where(small, 1.0, values))
    d = np.einsum("nij,nj,nkj,nk->ni", vectors, inverse, vectors, b)
    length = np.linalg.norm(d, axis=1, keepdims=True)
    return x + by * d * np.minimum(1.0, 2.0 / np.maximum(length, 1e-300))


def cleaned(solid: Solid, crumb: float = 20.0) -> Solid:
    """A solid without what rounding leaves behind: connected surfaces that enclose less than ``crumb`` [mm³]."""
    parts = [(part, float(part.volume())) for part in solid.decompose()]
    kept = [(part, volume) for part, volume in parts if abs(volume) > crumb]
    if len(kept) == len(parts) or not kept:
        return solid
    hollows = [_inside_out(part) for part, volume in kept if volume < 0.0]
    return difference(union([part for part, volume in kept if volume > 0.0]), hollows)


def _inside_out(solid: Solid) -> Solid:
    x, t = triangles(solid)
    return mesh_solid(x, t[:, ::-1])


def bodies_of(solid: Solid) -> list[float]:
    """Volumes [mm³] of the connected parts of a solid, the largest first; hollows inside them do not count as parts."""
    return sorted((v for v in (float(part.volume()) for part in solid.decompose()) if v > 0.0), reverse=True)


def printable(solid: Solid, near: float = 2e-3) -> Solid:
    """A solid that stays closed in a file of 32 bits: corners nearer than ``near`` [mm] are one, and none touches another.

    Corners of two sheets at one place would be one in the file, with four triangles at their edges: they draw back into the solid.
    """
    from scipy.spatial import cKDTree

    clean = cleaned(solid.simplify(near))
    for _ in range(4):
        x, t = triangles(clean)
        touching = np.asarray(cKDTree(x).query(x, k=2)[0])[:, 1] < 0.5 * near
        if not touching.any():
            break
        inward = offset_corners(x, t, -10.0 * near)
        clean = cleaned(mesh_solid(np.where(touching[:, None], inward, x), t).simplify(near))
    return clean
