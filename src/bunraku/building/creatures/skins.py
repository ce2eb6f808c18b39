"""The skin round a mechanism: folds at its joints, thick flat soles, glue where the bracing units are, patches under the feet.

A zone is the part of a skin over one body: a piece that is left of it when the folds are taken out. What skins are made of, and
what they weigh, stands here too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from bunraku.arrays import Array, Indices
from bunraku.building.creatures.mechanism import TORSO, Mechanism
from bunraku.character import PATCHES, ElasticMaterial, SkinMesh
from bunraku.errors import BadInput
from bunraku.geometry.shells.fold_region import FoldRegion
from bunraku.geometry.shells.shell import Shell, make_shell
from bunraku.geometry.shells.sole import SoleShell
from bunraku.geometry.surfaces.surface import Surface
from bunraku.geometry.tet_mesh import TetMesh, cell_volumes
from bunraku.geometry.tetrahedra import EDGES

SOLE = "sole "
"""Mark of the underside of a foot: ``sole 0`` and so on."""


@dataclass(frozen=True)
class Zones:
    """``inner`` and ``outer``: nodes of the inner and outer surface over each body or sole; ``area`` [m²] of its outside.

    ``faces`` (F,) numbers the zone of each face of the shell, -1 in folds and soles, in the order of ``names``; ``folded`` lists
    the faces of the folds at joints. Nodes below ``corner_count`` are corners.
    """

    inner: dict[str, Indices]
    outer: dict[str, Indices]
    area: dict[str, float]
    names: tuple[str, ...]
    faces: Indices
    folded: Indices
    corner_count: int


def skin_zones(shell: Shell, bodies: Sequence[str]) -> Zones:
    """The zones of a shell whose fold r has ``bodies[r]`` below it, in the direction of its axis.

    A zone is a connected piece of the surface without the faces between the rings of folds and without the soles' undersides. It
    belongs to the body below the fold whose last ring borders on it; the one that is below no fold is the torso.
    """
    F, V = shell.faces, len(shell.outer)
    folded = np.zeros(len(F), dtype=bool)
    for ring in shell.rings:
        ends = np.isin(F, ring[0]).all(axis=1) | np.isin(F, ring[-1]).all(axis=1)
        folded |= np.isin(F, ring).all(axis=1) & ~ends
    under = [np.isin(F, sole).all(axis=1) for sole in shell.soles]
    piece = _pieces(F, ~(folded | np.any(under, axis=0)) if under else ~folded)
    owner = _owners(shell, bodies, piece)
    middles = _middles(shell)
    corners = shell.outer[F]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    chosen = {name: piece == k for k, name in owner.items()} | {f"{SOLE}{k}": faces for k, faces in enumerate(under)}
    soles = np.concatenate([np.zeros(0, dtype=np.int64), *(_nodes_over(F[faces] + V, middles) for faces in under)])
    inner = {name: _nodes_over(F[faces] + V, middles) for name, faces in chosen.items()}
    inner |= {name: np.setdiff1d(nodes, soles) for name, nodes in inner.items() if not name.startswith(SOLE)}
    outer = {name: _nodes_over(F[faces], middles) for name, faces in chosen.items()}
    size = {name: float(area[faces].sum()) for name, faces in chosen.items()}
    names = tuple(owner[k] for k in range(len(owner)))
    return Zones(inner, outer, size, names, piece, np.flatnonzero(folded), 2 * V)


def _owners(shell: Shell, bodies: Sequence[str], piece: Indices) -> dict[int, str]:
    """The body of each piece of the surface."""
    owner: dict[int, str] = {}
    for ring, body in zip(shell.rings, bodies, strict=True):
        touching = np.unique(piece[(piece >= 0) & np.isin(shell.faces, ring[-1]).any(axis=1)])
        if len(touching) != 1:
            raise BadInput(f"the skin below the fold above {body!r} is in {len(touching)} pieces; move the folds apart")
        if int(touching[0]) in owner:
            raise BadInput(
                f"the skin below {body!r} is also that below {owner[int(touching[0])]!r}; let every fold go round one limb"
            )
        owner[int(touching[0])] = body
    left = sorted(set(range(int(piece.max()) + 1)) - set(owner))
    if len(left) != 1:
        raise BadInput(f"the skin has {len(left)} pieces that are below no fold; the torso is one: let folds point away from it")
    owner[left[0]] = TORSO
    return owner


def _pieces(faces: Indices, kept: NDArray[np.bool_]) -> Indices:
    """The connected piece (F,) of each kept face, -1 for the others."""
    chosen = np.flatnonzero(kept)
    sides = np.sort(faces[chosen][:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    key = sides[:, 0] * (int(faces.max()) + 1) + sides[:, 1]
    order = np.argsort(key, kind="stable")
    same = np.flatnonzero(key[order][1:] == key[order][:-1])
    a, b = order[same] // 3, order[same + 1] // 3
    n = len(chosen)
    label = connected_components(coo_matrix((np.ones(len(a)), (a, b)), shape=(n, n)), directed=False)[1]
    labels = np.full(len(faces), -1, dtype=np.int64)
    labels[chosen] = label
    return labels


def _middles(shell: Shell) -> dict[tuple[int, int], int]:
    """The node in the middle of each edge, by its corners."""
    cells = shell.mesh.cells
    middles: dict[tuple[int, int], int] = {}
    for column, (a, b) in enumerate(EDGES, start=4):
        pairs = np.sort(cells[:, [a, b]], axis=1)
        middles.update(zip(map(tuple, pairs.tolist()), cells[:, column].tolist(), strict=True))
    return middles


def _nodes_over(faces: Indices, middles: dict[tuple[int, int], int]) -> Indices:
    sides = np.unique(np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    between = np.array([middles[a, b] for a, b in sides.tolist()], dtype=np.int64)
    return np.concatenate([np.unique(faces), np.sort(between)])


RUBBER = ElasticMaterial(
    name="rubber",
    young=1.32e6,
    poisson=0.46,
    density=1100.0,
    strain_damping=0.005,
    source="such that a smooth tube of 4 mm stalls a motor of 1.96 N·m at 20 degrees; Poisson's ratio of the study of printed "
    "creatures; damping ours",
)
"""The skin."""

SOFT = RUBBER.changed(name="soft rubber", young=0.15 * RUBBER.young, source="85 % softer than the rubber")
"""What shall swing."""

FOLD = RUBBER.changed(
    name="fold rubber",
    young=0.06 * RUBBER.young,
    source="79 kPa, as the softest silicones for casting have it (Shore 00-30): so soft a fold can be as thick as the skin",
)
"""Folds at the joints."""

MATERIALS = (RUBBER, SOFT, FOLD)
"""The material of each region of a skin."""


def skin_mass(mesh: SkinMesh, materials: Mapping[int, ElasticMaterial]) -> float:
    """The mass [kg] of a skin whose region r is of ``materials[r]``."""
    volumes = cell_volumes(TetMesh(mesh.nodes, mesh.cells))
    return float(sum(volumes[mesh.region == r].sum() * material.density for r, material in materials.items()))


LEAST_GLUE = 8
"""Glue nodes that every braced body gets at least."""


@dataclass(frozen=True)
class SkinPlan:
    """How a skin is made: how fine, how thick, how folded, how glued. Lengths [m].

    Triangles have edges of ``size``, of ``limb_size`` near the joints of the legs (0: the same everywhere). The skin is of
    ``thickness``, at the soles of ``sole``; ``glue`` nodes hold it. Folds: ``teeth`` grooves of ``depth`` and a ``wall`` on a part
    of ``fold_length``, ``around`` points a ring (``spine_around`` at the torso's), of a ``profile`` ("trapezoid", "triangle"), with
    ``flank_rows`` rows a flank; ``bare`` ones begin at the ends of that part (`FoldRegion`). ``sole_around`` points make the rim of
    a sole, ``rim`` is the height of its thick edge. Cells in ``soft`` boxes (lower, upper corner) are of region 1, those of folds
    of region 2, all others of region 0 (`materials.MATERIALS`). ``bonds`` (body, weight): more or less glue than by area.
    """

    size: float
    glue: int
    around: int
    thickness: float = 0.004
    sole: float = 0.008
    wall: float = 0.004
    teeth: int = 1
    depth: float = 0.008
    fold_length: float = 0.048
    profile: str = "trapezoid"
    flank_rows: int = 2
    bare: bool = True
    sole_around: int = 10
    rim: float = 0.010
    spine_around: int = 24
    limb_size: float = 0.0
    soft: tuple[tuple[tuple[float, float, float], tuple[float, float, float]], ...] = ()
    bonds: tuple[tuple[str, float], ...] = ()
    least_angle: float = np.radians(8.0)
    least_thickness: float = 0.85


def fold_regions(mechanism: Mechanism, plan: SkinPlan) -> tuple[list[FoldRegion], list[str]]:
    """The folds at the joints, and the body below each: the child of its hinge."""
    folds, bodies = [], []
    for hinge in mechanism.hinges:
        if hinge.limb is not None:
            around = plan.spine_around if hinge.parent == mechanism.bodies[0] and "." not in hinge.name else plan.around
            shape = (plan.fold_length, plan.teeth, plan.depth, plan.wall, around, plan.profile)
            folds.append(FoldRegion(hinge.place, hinge.limb, *shape, rows=1, flank_rows=plan.flank_rows, bare=plan.bare))
            bodies.append(hinge.child)
    return folds, bodies


def creature_skin(surface: Surface, mechanism: Mechanism, plan: SkinPlan) -> tuple[SkinMesh, Shell]:
    """The skin of a creature: its mesh with glue and soles, and the shell it was made from.

    ``surface`` is the closed outside of the creature with flat undersides of its feet at the height of the soles.
    """
    folds, bodies = fold_regions(mechanism, plan)
    centers = np.array([sole.center for sole in mechanism.soles])
    feet = np.array([max(0.06, 1.3 * sole.radius) for sole in mechanism.soles])

    def thickness(points: Array) -> Array:
        below = (np.linalg.norm(points[:, None, :2] - centers[:, :2], axis=2) < feet).any(axis=1)
        return np.where(below & (points[:, 2] <= plan.rim + 1e-6), plan.sole, plan.thickness)

    joints = np.array([hinge.place for hinge in mechanism.hinges if hinge.limb is not None and "." in hinge.name])
    reach = 1.2 * plan.fold_length

    def size(points: Array) -> Array:
        if plan.limb_size <= 0.0:
            return np.full(len(points), plan.size)
        near = np.linalg.norm(points[:, None] - joints, axis=2).min(axis=1) < reach
        return np.where(near, plan.limb_size, plan.size)

    shell = make_shell(
        surface.vertices,
        surface.faces,
        folds,
        size,
        thickness,
        soles=[SoleShell(sole.center, (0.0, 0.0, 1.0), plan.rim, plan.sole_around) for sole in mechanism.soles],
        least_angle=plan.least_angle,
        least_thickness=plan.least_thickness,
    )
    zones = skin_zones(shell, bodies)
    nodes = shell.mesh.nodes
    glue_node, glue_body = _glue(nodes, zones, mechanism, plan)
    sole_node, sole_patch = _soles(nodes, zones, mechanism)
    region = np.zeros(len(shell.mesh.cells), dtype=np.int64)
    middle = nodes[shell.mesh.cells[:, :4]].mean(axis=1)
    region[_within(middle, plan)] = 1
    region[np.isin(np.arange(len(region)) // 3, zones.folded)] = 2
    mesh = SkinMesh(nodes, shell.mesh.cells, region, mechanism.bodies, glue_node, glue_body, sole_node, sole_patch)
    return mesh, shell


def _within(points: Array, plan: SkinPlan) -> NDArray[np.bool_]:
    """Which points (n, 3) are in one of the soft boxes."""
    inside = np.zeros(len(points), dtype=bool)
    for low, high in plan.soft:
        inside |= ((points > np.array(low)) & (points < np.array(high))).all(axis=1)
    return inside


def _glue(nodes: Array, zones: Zones, mechanism: Mechanism, plan: SkinPlan) -> tuple[Indices, Indices]:
    """Glue nodes and their bodies (as numbers into ``mechanism.bodies``): corners first, spread over each bracing zone by its area.

    What is soft hangs freely: no glue there.
    """
    number = {name: k for k, name in enumerate(mechanism.bodies)}
    braced = [name for name in mechanism.bodies if name in zones.inner]
    unknown = [name for name, _ in plan.bonds if name not in braced]
    if unknown:
        raise BadInput(f"glue is asked for at {unknown[0]!r}, where no skin lies; it lies at {', '.join(braced)}")
    weights = dict(plan.bonds)
    counts = shares(np.array([zones.area[name] * weights.get(name, 1.0) for name in braced]), plan.glue, LEAST_GLUE)
    corner = zones.corner_count
    glued, owner = [], []
    for name, count in zip(braced, counts.tolist(), strict=True):
        candidates = zones.inner[name][~_within(nodes[zones.inner[name]], plan)]
        weight = np.where(candidates < corner, 1.0, 0.6)
        chosen = candidates[spread_points(nodes[candidates], count, weight)]
        glued.append(chosen)
        owner.append(np.full(len(chosen), number[name], dtype=np.int64))
    return np.concatenate(glued), np.concatenate(owner)


def _soles(nodes: Array, zones: Zones, mechanism: Mechanism) -> tuple[Indices, Indices]:
    under_soles, patch = [], []
    for number, sole in enumerate(mechanism.soles):
        under = zones.outer[f"{SOLE}{number}"]
        under_soles.append(under)
        patch.append(PATCHES * number + sole_patches(nodes[under], sole.center))
        count = np.bincount(patch[-1] - PATCHES * number, minlength=PATCHES)
        if count.min() < 3:
            raise BadInput(f"a patch of the sole {sole.name} has {count.min()} nodes; at least 3 are needed: use a finer skin")
    return np.concatenate(under_soles), np.concatenate(patch)


def sole_patches(points: Array, center: Array) -> Indices:
    """The patch (n,) of each point of a sole: 0 the middle, 1 to 4 toe (+x), left (+y), heel and right, each a quarter about it.

    The middle is what is nearer to the centre than 0.55 of the way to the farthest point.
    """
    offset = points[:, :2] - center[:2]
    radius = np.linalg.norm(offset, axis=1)
    angle = np.mod(np.arctan2(offset[:, 1], offset[:, 0]) + 0.25 * np.pi, 2.0 * np.pi)
    quarter = 1 + np.minimum((angle / (0.5 * np.pi)).astype(np.int64), 3)
    return np.where(radius < 0.55 * radius.max(), 0, quarter)


def spread_points(points: Array, count: int, weight: Array | None = None) -> Indices:
    """``count`` of the points (n, 3), spread by farthest point sampling: each new one is the farthest from those chosen.

    The first is the point farthest from the centre of all. Distances to a point of ``weight`` w (n,) count w times, so that points
    of greater weight are preferred. Ties go to the lower number, so the choice depends on the points alone.
    """
    n = len(points)
    w = np.ones(n) if weight is None else weight
    count = min(count, n)
    if count == 0:
        return np.zeros(0, dtype=np.int64)
    chosen = [int(np.argmax(w * np.linalg.norm(points - points.mean(axis=0), axis=1)))]
    gap = np.linalg.norm(points - points[chosen[0]], axis=1)
    for _ in range(count - 1):
        chosen.append(int(np.argmax(w * gap)))
        gap = np.minimum(gap, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return np.array(sorted(chosen), dtype=np.int64)


def shares(areas: Array, total: int, least: int) -> Indices:
    """``total`` things shared out (k,) in proportion to ``areas`` (k,), each zone at least ``least``, by largest remainders."""
    exact = least + (total - least * len(areas)) * areas / areas.sum()
    counts = np.floor(exact).astype(np.int64)
    rest = total - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:rest]] += 1
    return counts
