"""A soft reduced part with the cubature of its material: a flexible segment whose elastic energy is that of Neo-Hookean points.

The points of the chosen cells take the place of s.s/2; inertia, interfaces and the strains, which the damping needs and which are
exact for the strain rate of any material, stay as they are. The cubature is trained on states at rest under the loads given, in
both signs, and under random mixtures of them with accelerations along x, y and z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.flexible.segment import NeoHookeanPoints
from bunraku.mechanics.elastic.material import MODELS
from bunraku.mechanics.elastic.reduction.basis import Workbench
from bunraku.mechanics.elastic.reduction.cubature import Cubature, make_cubature
from bunraku.mechanics.elastic.reduction.loaded import load_reduced
from bunraku.mechanics.elastic.reduction.reduce import Reduction

SOFT = 0.02
"""The strain above which a Neo-Hookean part gets cubature: the polynomial strain departs from it in proportion to the strain."""
STATES = 24
"""States a cubature is trained on."""
TOLERANCE = 2e-3
"""What may remain of the training forces, in the norm of the compliance."""
CELLS = 200
"""The most cells that are taken."""


def cubature_points(cubature: Cubature) -> NeoHookeanPoints:
    """The quadrature points of the chosen cells, with their weights, Lame's numbers and displacement gradients of the shapes."""
    if cubature.model != MODELS["neo-hookean"]:
        raise BadInput("only a Neo-Hookean part has points; the strains of a St. Venant-Kirchhoff part are exact without them")
    local = cubature.shapes[:, cubature.cells]
    G = np.einsum("reki,eqjk->eqrij", local, cubature.gradients, optimize=True)
    count = cubature.measures.shape[1]
    lame = np.column_stack([np.repeat(part, count) for part in cubature.lame])
    return NeoHookeanPoints(cubature.measures.ravel(), lame, np.ascontiguousarray(G.reshape(-1, *G.shape[2:])))


def training_states(bench: Workbench, reduction: Reduction, loads: Sequence[Array], count: int = STATES) -> Array:
    """Modal states (s, r) at rest under the ``loads`` (3 n,), their opposites and mixtures that bend the part as far as these."""
    rng = np.random.default_rng(0)
    sources = np.vstack([*loads, bench.gravity_loads])
    answers = bench.factor.solve(np.ascontiguousarray(sources.T)).T
    reach = np.linalg.norm(answers.reshape(len(sources), -1, 3), axis=2).max(axis=1)
    far = float(reach[: len(loads)].max())
    mixed = [sign * load for load in loads for sign in (1.0, -1.0)]
    while len(mixed) < count:
        c = rng.uniform(-1.0, 1.0, len(sources)) * np.minimum(1.0, far / reach)
        bent = float(np.linalg.norm((c @ answers).reshape(-1, 3), axis=1).max())
        mixed.append(min(1.0, far / bent) * c @ sources)
    solid, shapes, segment = bench.solid, reduction.shapes, replace(reduction.segment, points=None)
    states = [load_reduced(solid, segment, shapes, load, (), count=1).u for load in mixed]
    return np.array([u for u in states if np.any(u) and np.isfinite(solid.energy(u @ shapes))])


def with_cubature(
    bench: Workbench, reduction: Reduction, loads: Sequence[Array], *, tolerance: float = TOLERANCE, max_cells: int = CELLS
) -> Reduction:
    """The reduction with cubature trained under the ``loads`` (3 n,); its note says how many cells it has."""
    solid = bench.solid
    states = training_states(bench, reduction, loads)
    cubature = make_cubature(solid, reduction.shapes, states, tolerance=tolerance, max_cells=max_cells)
    note = (
        f"{reduction.note}; Neo-Hookean cubature of {len(cubature.chosen)} of {len(solid.mesh.cells)} cells "
        f"(training forces within {cubature.residual:.1e})"
    )
    return replace(reduction, segment=replace(reduction.segment, points=cubature_points(cubature)), note=note)
