"""The flexible parts of a character, each reduced to a segment, once for parts alike, and kept on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character, FlexiblePart
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.mechanics import elastic
from bunraku.mechanics.cache import content_key, load_result, save_result
from bunraku.mechanics.dynamics.flexible.segment import ChildInterface, FlexibleSegment, NeoHookeanPoints
from bunraku.mechanics.elastic.modes import CarriedBody
from bunraku.mechanics.elastic.part import PartSolid, part_solids
from bunraku.mechanics.elastic.reduction.basis import Workbench, make_basis
from bunraku.mechanics.elastic.reduction.choice import choose_reduction, soften
from bunraku.mechanics.elastic.reduction.reduce import Reduction, reduce_to
from bunraku.mechanics.flexible.carried import carried_by, lumps_of_bodies
from bunraku.mechanics.flexible.touching import check_touching
from bunraku.mechanics.tree import Tree
from bunraku.optimization.monitor import SILENT, Event, Monitor

ModeCounts = int | Literal["auto"] | Mapping[str, int] | None
KIND = "part"
QUASI_STATIC = 5.0
"""A part follows motions below its first frequency f1 over this quasi-statically: one at f is amplified by 1 / (1 - (f / f1)^2)."""


@dataclass(frozen=True, eq=False)
class ReducedPart:
    """A flexible part with its solid, what its interfaces carry at home, and its reduction; ``cached``: it came from the disk."""

    part: FlexiblePart
    whole: PartSolid
    carried: tuple[CarriedBody, ...]
    reduction: Reduction
    cached: bool

    @property
    def length(self) -> float:
        """The largest distance [m] of an interface that carries from the one that holds, at rest."""
        return part_length(self.whole)

    @property
    def frequency(self) -> float:
        """The first frequency [Hz], held at the base with what it carries."""
        return first_frequency(self.reduction.segment, self.carried)


def part_length(part: PartSolid) -> float:
    """The largest distance [m] of an interface that carries from the one that holds, at rest."""
    return max(float(np.linalg.norm(child.centroid - part.base.centroid)) for child in part.children)


def first_frequency(segment: FlexibleSegment, carried: Iterable[CarriedBody]) -> float:
    """The lowest frequency [Hz] of a segment held at its base with bodies on its child interfaces, in its order."""
    M = np.trace(segment.E[1:, 1:], axis1=2, axis2=3)
    for face, body in zip(segment.interfaces, carried, strict=True):
        B = np.vstack([_turns(face), face.C])
        M = M + B.T @ body.spatial(np.eye(3)) @ B
    K = segment.L1 @ segment.L1.T
    low = float(np.linalg.eigvals(np.linalg.solve(M, K)).real.min())
    return float(np.sqrt(max(low, 0.0)) / (2.0 * np.pi))


def _turns(face: ChildInterface) -> Array:
    """Angular velocity (3, r) of an interface for unit modal velocities, at rest."""
    K = np.trace(face.A0) * np.eye(3) - face.A0
    A = face.A
    axial = np.array([A[:, 2, 1] - A[:, 1, 2], A[:, 0, 2] - A[:, 2, 0], A[:, 1, 0] - A[:, 0, 1]])
    return np.asarray(np.linalg.solve(K, axial))


def reduce_parts(
    character: Character,
    tree: Tree,
    *,
    meshes: Mapping[str, TetMesh] | None = None,
    modes: ModeCounts = None,
    monitor: Monitor = SILENT,
) -> dict[str, ReducedPart]:
    """Every flexible part of a character reduced, by its name.

    ``modes``: bending modes of each plane, of all parts or by part, with all they need; else what the part says; else (or
    ``auto``) the smallest basis that agrees with the whole solid under load, with the errors measured (`choose_reduction`; up to
    some ten seconds a part, once, which the ``monitor`` hears of).
    """
    solids, lumps = part_solids(character, meshes=meshes), lumps_of_bodies(character, tree)
    check_touching(character, tree, solids)
    reduced: dict[str, ReducedPart] = {}
    known: dict[str, tuple[Reduction, bool]] = {}
    for place, part in enumerate(character.flexibles):
        solid = solids[part.name]
        carried = carried_by(character, tree, solid, solids, lumps)
        asked = modes.get(part.name) if isinstance(modes, Mapping) else None if modes == "auto" else modes
        count = 2 * (asked or part.modes or 0)
        key = _key(solid, carried, count)
        if key not in known:
            monitor.report(Event("flexible parts", place / len(character.flexibles), f"{part.name}: its shapes"))
            known[key] = _reduced(solid, carried, count, key)
        reduced[part.name] = ReducedPart(part, solid, carried, *known[key])
    return reduced


def _reduced(part: PartSolid, carried: tuple[CarriedBody, ...], count: int, key: str) -> tuple[Reduction, bool]:
    """The reduction with ``count`` bending modes (0: chosen against the whole solid), and whether it came from the disk."""
    kept = load_result(KIND, key)
    if kept is not None:
        reduction = _unpacked(kept)
        if reduction is not None:
            return reduction, True
    bench = Workbench(part.solid, part.base, part.children, carried)
    if count:
        reduction = soften(bench, reduce_to(bench, make_basis(bench, bending=count)))
    else:
        reduction = choose_reduction(bench).reduction
    save_result(KIND, key, _packed(reduction))
    return reduction, False


def _key(part: PartSolid, carried: tuple[CarriedBody, ...], count: int) -> str:
    """What a reduction depends on: mesh, interfaces, material, what is carried (to nine digits), and the code itself."""
    mesh = part.solid.mesh
    patches = [mesh.patches[face.name] for face in (part.base, *part.children)]
    return content_key(_code(), mesh.nodes, mesh.cells, patches, part.solid.material, [_rounded(body) for body in carried], count)


def _rounded(body: CarriedBody) -> list[str]:
    """The figures of a carried body to nine digits of its largest, so that parts alike to rounding are alike."""
    digits = []
    for values in (np.array([body.mass]), body.inertia_matrix.ravel(), np.asarray(body.center_of_mass, dtype=np.float64)):
        size = max(float(np.abs(values).max()), 1e-12)
        digits += [f"{size:.9e}", *(f"{value:.0f}" for value in np.round(values / size * 1e9) + 0.0)]
    return digits


@cache
def _code() -> str:
    """The hash of the sources that make a reduction: a result of other code is not taken."""
    digest = hashlib.sha256(np.__version__.encode())
    for path in sorted(Path(elastic.__path__[0]).rglob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _packed(reduction: Reduction) -> dict[str, NDArray[np.generic]]:
    s = reduction.segment
    errors = (np.nan, np.nan) if reduction.errors is None else reduction.errors
    numbers = np.array([s.mass, s.beta, reduction.primary, len(s.interfaces), *errors], dtype=np.float64)
    texts = np.array([reduction.note, *reduction.labels])
    arrays = {"numbers": numbers, "texts": texts, "shapes": reduction.shapes}
    arrays |= {"N": s.N, "E": s.E, "L1": s.L1, "pairs": s.pairs, "Qp": np.asarray(s.Qp)}
    if s.points is not None:
        arrays |= {"weights": s.points.weights, "lame": s.points.lame, "gradients": s.points.gradients}
    for i, face in enumerate(s.interfaces):
        arrays |= {f"{name}{i}": getattr(face, name) for name in ("c0", "C", "A0", "A")}
    return {name: np.asarray(array) for name, array in arrays.items()}


def _unpacked(kept: Mapping[str, NDArray[np.generic]]) -> Reduction | None:
    """The reduction of its arrays; None when they are not those of one."""
    try:
        mass, beta, primary, faces, position, frequency = np.asarray(kept["numbers"], dtype=np.float64).tolist()
        a = {name: np.ascontiguousarray(array) for name, array in kept.items() if name not in ("numbers", "texts")}
        interfaces = tuple(ChildInterface(*(a[f"{name}{i}"] for name in ("c0", "C", "A0", "A"))) for i in range(int(faces)))
        points = NeoHookeanPoints(a["weights"], a["lame"], a["gradients"]) if "weights" in a else None
        segment = FlexibleSegment(mass, a["N"], a["E"], interfaces, a["L1"], a["pairs"], a["Qp"], beta, points)
        note, *labels = (str(text) for text in kept["texts"])
    except (KeyError, ValueError, TypeError):
        return None
    errors = None if np.isnan(position) else (position, frequency)
    return Reduction(segment, np.asarray(a["shapes"]), tuple(labels), int(primary), note, errors)
