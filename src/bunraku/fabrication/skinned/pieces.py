"""The pieces a skin is cast in: one a limb, two for the torso. Planes cut them, at the hips and through the torso's middle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from bunraku.arrays import Array
from bunraku.character import PATCHES, SkinMesh
from bunraku.errors import BadInput
from bunraku.fabrication.shaping import MM, Solid, triangles
from bunraku.fabrication.skinned.layout import Layout
from bunraku.fabrication.skinned.shell import SkinShell, cleaned, offset
from bunraku.system.names import safe_name

_STEP = 2.0
_CLOSE = 70.0
_CRUMB = 1.0
_AROUND = 0.5


@dataclass(frozen=True)
class Plane:
    """All points x with ``normal`` (3,) · x = ``offset`` [mm]."""

    normal: Array
    offset: float

    def height(self, points: Array) -> Array:
        """How far (n,) points (n, 3) are above it."""
        return points @ self.normal - self.offset

    def above(self, solid: Solid) -> Solid:
        """What of a solid is above."""
        return solid.trim_by_plane(self.normal.tolist(), self.offset)

    def flipped(self) -> Plane:
        """The same plane seen from the other side."""
        return Plane(-self.normal, -self.offset)


@dataclass(frozen=True)
class SkinPiece:
    """A piece to cast: its ``rubber``, what its outer surface encloses up to its cuts (``outer``) and the room inside (``core``).

    ``opening`` is the plane of the cut through which the core comes out; its normal points out of the piece. ``path`` (k, 3) [mm]
    leads through a limb from its opening to its sole; None for a half of the torso. ``cuts`` are all planes it ends at.
    """

    name: str
    rubber: Solid
    outer: Solid
    core: Solid
    opening: Plane
    cuts: tuple[Plane, ...]
    path: Array | None = None

    @property
    def file(self) -> str:
        """The name of its file."""
        return safe_name(f"{self.name.replace(' ', '-')}.stl")


@dataclass(frozen=True)
class PartedSkin:
    """The pieces of a skin, limbs in their order, then the torso's halves; the torso's whole room and the plane that cuts it."""

    pieces: tuple[SkinPiece, ...]
    torso_room: Solid
    torso_cut: Plane


def skin_pieces(layout: Layout, shell: SkinShell) -> PartedSkin:
    """Cut a skin into its pieces."""
    pieces, planes = [], []
    outer, inner, rubber = shell.outer, shell.inner, shell.rubber
    wide = offset(shell.outer, _AROUND)
    for number, limb in enumerate(layout.limbs):
        plane = limb_plane(layout, number)
        beyond = nearest_part(plane.above(wide).decompose(), limb.sole)  # larger than the limb: only the plane cuts
        leg, room, skin = (_largest(solid ^ beyond) for solid in (shell.outer, shell.inner, shell.rubber))
        start = limb.hinges[0].place - plane.normal * float(plane.normal @ limb.hinges[0].place - plane.offset)
        path = np.array([start, *(hinge.place for hinge in limb.hinges if plane.height(hinge.place) > 0.0), limb.sole])
        pieces.append(SkinPiece(f"skin {limb.name}", skin, leg, room, plane.flipped(), (plane.flipped(),), path))
        outer, inner, rubber = outer - beyond, inner - beyond, rubber - beyond
        planes.append(plane)
    outer, inner, rubber = _largest(outer), _largest(inner), cleaned(rubber, _CRUMB)
    middle = torso_plane(outer)
    words = ("upper", "lower") if abs(middle.normal[2]) > 0.7 else ("left", "right")
    for half, word in zip((middle, middle.flipped()), words, strict=True):
        whole, room, skin = (_largest(half.above(solid)) for solid in (outer, inner, rubber))
        pieces.append(SkinPiece(f"skin torso {word}", skin, whole, room, half.flipped(), (half.flipped(), *planes)))
    return PartedSkin(tuple(pieces), inner, middle)


def limb_plane(layout: Layout, number: int) -> Plane:
    """Where a limb's skin is cut from the torso's, the normal down the limb.

    Across the limb, as near to the torso as the torso's own glue lets it; from there outwards in steps until what is beyond the
    plane and hangs together with the sole holds no other sole and none of the torso's glue.
    """
    limb = layout.limbs[number]
    place = limb.hinges[0].place
    following = [hinge.place for hinge in limb.hinges[1:] if np.linalg.norm(hinge.place - place) > 30.0] + [limb.sole]
    w = (following[0] - place) / np.linalg.norm(following[0] - place)
    torso = np.concatenate([layout.glue.get(body, np.zeros((0, 3))) for body in layout.torso])
    along = (torso - place) @ w
    beside = np.linalg.norm(torso - place - along[:, None] * w, axis=1)
    reached = along[(beside < _CLOSE) & (along < 20.0)]
    start = float(max(np.max(reached, initial=-40.0) + 2.0, -40.0))
    for s in np.arange(start, float(np.linalg.norm(following[0] - place)), _STEP):
        plane = Plane(w, float(w @ place + s))
        if _isolates(layout, number, plane):
            return plane
    raise BadInput(
        f"no plane across the limb {limb.name!r} parts its skin from the torso's; its glue and that of the torso overlap"
    )


def _isolates(layout: Layout, number: int, plane: Plane) -> bool:
    mesh = layout.mesh
    corners = mesh.cells[:, :4]
    cells = corners[(plane.height(MM * mesh.nodes)[corners] > 0.0).any(axis=1)]
    n = len(mesh.nodes)
    ends = np.concatenate([cells[:, [0, k]] for k in (1, 2, 3)])
    _, label = connected_components(coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n)), directed=False)
    touched = np.zeros(n, dtype=bool)
    touched[cells] = True
    own = _sole_corners(mesh, number, touched)
    if not len(own):
        return False
    mine = touched & (label == label[own[0]])
    strange = [_sole_corners(mesh, other, touched) for other in range(mesh.soles) if other != number]
    torso = [i for i, body in enumerate(mesh.bodies) if body in layout.torso]
    glued = mesh.glue_node[np.isin(mesh.glue_body, torso)]
    return not any(mine[nodes].any() for nodes in strange) and not mine[glued].any()


def _sole_corners(mesh: SkinMesh, number: int, touched: NDArray[np.bool_]) -> NDArray[np.int64]:
    nodes = mesh.sole_node[mesh.sole_patch // PATCHES == number]
    return nodes[touched[nodes]]


def nearest_part(parts: list[Solid], point: Array) -> Solid:
    """Of some solids that whose corners come nearest to a point."""
    return min(parts, key=lambda part: float(np.linalg.norm(triangles(part)[0] - point, axis=1).min()))


def _largest(solid: Solid) -> Solid:
    """The largest connected part: crumbs of rounding are left out; anything larger than a crumb is an error of the cut."""
    parts = sorted(solid.decompose(), key=lambda part: float(part.volume()))
    if not parts:
        raise BadInput("a cut through the skin leaves nothing on one side; check where its limbs begin")
    if len(parts) > 1 and float(parts[-2].volume()) > 1e-3 * float(parts[-1].volume()) + _CRUMB:
        raise BadInput(
            "a cut through the torso's skin leaves more than one piece on a side; a limb begins too far inside the torso"
        )
    return parts[-1]


def torso_plane(outer: Solid) -> Plane:
    """The plane that halves the torso: through its middle line or at some height, whichever lets both halves out of a mould best.

    The least Σ A_k max(0, -n_k · d_k) over triangles of area A_k and normal n_k counts, d_k being the way their half comes out of
    its mould: area that hooks behind itself, seen along that way.
    """
    x, t = triangles(outer)
    a, b, c = (x[t[:, i]] for i in range(3))
    vector, middle = np.cross(b - a, c - a) / 2.0, (a + b + c) / 3.0
    low, high = x.min(axis=0), x.max(axis=0)
    choices = [Plane(np.array([0.0, 1.0, 0.0]), float((low[1] + high[1]) / 2.0))]
    choices += [Plane(np.array([0.0, 0.0, 1.0]), float(z)) for z in np.linspace(0.75 * low[2] + 0.25 * high[2], high[2], 12)[:-1]]
    best, least = choices[0], np.inf
    for plane in choices:
        side = np.sign(plane.height(middle))
        hooked = float(np.maximum(0.0, -side * (vector @ plane.normal)).sum())
        parts = [sorted(float(p.volume()) for p in half.above(outer).decompose()) for half in (plane, plane.flipped())]
        whole = all(len(p) == 1 or p[-2] < 1e-3 * p[-1] + _CRUMB for p in parts if p) and all(parts)
        if whole and hooked < least - 1e-9:
            best, least = plane, hooked
    return best
