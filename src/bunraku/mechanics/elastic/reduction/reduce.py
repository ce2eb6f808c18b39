"""An elastic part reduced to a flexible segment: a basis of shapes, mass invariants, interfaces and the exact reduced strain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.flexible.segment import FlexibleSegment
from bunraku.mechanics.elastic.interface import Interface
from bunraku.mechanics.elastic.modes import CarriedBody
from bunraku.mechanics.elastic.reduction.basis import Basis, Workbench, make_basis
from bunraku.mechanics.elastic.reduction.invariants import child_interface, mass_invariants
from bunraku.mechanics.elastic.reduction.pca import mass_pca
from bunraku.mechanics.elastic.reduction.strain import reduced_strain, strain_pairs
from bunraku.mechanics.elastic.solid import ElasticSolid

Pairs = Literal["all", "leading", "primary"]

LEADING = 3
"""Derivatives whose products are kept besides those of the primary shapes: a rod's first pair has three (xx, xy, yy)."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """The ``segment``, the ``shapes`` (r, 3 n) behind its coordinates with their ``labels``, its strain ``rows``, and a ``note``.

    Displacements of the solid at modal coordinates u (r,) are ``u @ shapes``, in the frame of the solid's mesh. The first
    ``primary`` shapes are modes and attachment shapes, the rest follow them when they are large. ``errors``: those of position and
    frequencies against the whole solid, relative, where they were measured (`choose_reduction`).
    """

    segment: FlexibleSegment
    shapes: Array
    labels: tuple[str, ...]
    primary: int
    rows: int
    note: str
    errors: tuple[float, float] | None = None


def reduce_part(
    solid: ElasticSolid,
    base: Interface,
    children: Sequence[Interface],
    *,
    carried: Sequence[CarriedBody] = (),
    modes: int | None = None,
    pairs: Pairs = "all",
    snapshots: ArrayLike | None = None,
    beta: float | None = None,
    attach: float = 1e-3,
    derivatives: bool = True,
) -> Reduction:
    """Reduce a part held at ``base`` whose ``children`` carry bodies (``carried``: those whose inertia shapes the modes).

    ``modes``: how many bending modes (4 unless given: two in each plane of a round rod), to which twist, attachment shapes
    (``attach``, see :func:`make_basis`) and the modal derivatives of the bending are added. With ``snapshots`` (s, 3 n),
    displacements in the frame of the base, the shapes are their principal ones instead, as many as ``modes`` (15). ``pairs``:
    keep all products of coordinates in the strain, only those with a primary shape or one of the ``leading`` derivatives, or only
    those with a ``primary`` shape (enough for a rod with a ball up to a deflection of a tenth of its length; rods that carry much
    need more). ``beta`` [s]: the material's strain damping unless given.
    """
    bench = Workbench(solid, base, children, carried)
    if snapshots is None:
        basis = make_basis(bench, bending=4 if modes is None else modes, attach=attach, derive=derivatives)
    else:
        basis = mass_pca(bench, snapshots, 15 if modes is None else modes)
    return reduce_to(bench, basis, pairs=pairs, beta=beta)


def reduce_to(bench: Workbench, basis: Basis, *, pairs: Pairs = "all", beta: float | None = None) -> Reduction:
    """The part on a given basis; arguments as for :func:`reduce_part`."""
    if pairs not in ("all", "leading", "primary"):
        raise BadInput(f"pairs is {pairs!r}; 'all', 'leading' or 'primary' is accepted")
    solid, shapes = bench.solid, basis.shapes
    r = len(shapes)
    N, E = mass_invariants(solid, shapes)
    chosen = strain_pairs(r, {"all": r, "leading": min(r, basis.primary + LEADING), "primary": basis.primary}[pairs])
    L1, Q = reduced_strain(solid, shapes, chosen)
    faces = tuple(child_interface(child, shapes) for child in bench.children)
    damping = solid.material.strain_damping if beta is None else float(beta)
    segment = FlexibleSegment(solid.total_mass, N, E, faces, L1, chosen, Q, damping)
    return Reduction(segment, shapes, basis.labels, basis.primary, segment.k, _note(basis, solid, pairs))


def _note(basis: Basis, solid: ElasticSolid, pairs: Pairs) -> str:
    kinds: dict[str, int] = {}
    for label in basis.labels:
        word = label.split()[0]
        kinds[word] = kinds.get(word, 0) + 1
    parts = ", ".join(f"{count} {word}" for word, count in kinds.items())
    return f"{len(basis.shapes)} shapes ({parts}) of {solid.size} unknowns; products of coordinates in the strain: {pairs}"
