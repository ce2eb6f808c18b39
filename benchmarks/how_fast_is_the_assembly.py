"""How fast is the assembly of elastic forces and stiffness, and what does a step of the full-order rod cost?

    python benchmarks/how_fast_is_the_assembly.py [--json]

One core, thread CPU time, compilation not counted, the least of several runs. The rod of the study: 4200 curved quadratic
tetrahedra, 26 466 unknowns, four quadrature points. The bar is the study's own kernel for a mesh of the same size, K and f of
Neo-Hookean cells in 27 ms (scikit-fem took 1860 ms there). Beside it a NumPy assembly of the same sums, written with einsum from
the material's fourth-order tangent.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np
from scipy.sparse import coo_array

from _stress import tangent
from bunraku.geometry.meshing.shapes import rod
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.solid import ElasticSolid
from bunraku.optimization.linear import analyse

BAR_MS = 27.0


def least(function, runs=7):
    """The least thread CPU time [ms] of ``runs`` calls, after one that compiles."""
    function()
    times = []
    for _ in range(runs):
        start = time.thread_time()
        function()
        times.append(time.thread_time() - start)
    return 1e3 * min(times)


def plain(solid, u):
    """The same stiffness by einsum over the fourth-order tangent, and a coordinate list."""
    cells, G, w = solid.mesh.cells, solid.gradients, solid.weights
    F = np.eye(3) + np.einsum("eai,eqja->eqij", u.reshape(-1, 3)[cells], G)
    A = tangent(solid.material, F.reshape(-1, 3, 3)).reshape(*F.shape[:2], 3, 3, 3, 3)
    K = np.einsum("eq,eqja,eqijkl,eqlb->eaibk", w, G, A, G, optimize=True)
    rows = (3 * cells[:, :, None] + np.arange(3)).reshape(len(cells), -1)
    i, j = np.repeat(rows, rows.shape[1], axis=1), np.tile(rows, (1, rows.shape[1]))
    return coo_array((K.ravel(), (i.ravel(), j.ravel())), shape=(solid.size, solid.size)).tocsr()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    mesh = rod(0.7, 0.004, layers=200)
    figures = {"unknowns": 3 * len(mesh.nodes), "tetrahedra": len(mesh.cells)}
    for model in ("neo-hookean", "st-venant-kirchhoff"):
        damped = Material(young=200e9, poisson=0.3, density=7850.0, model=model, strain_damping=7.4e-4)
        solid = ElasticSolid(mesh, damped)
        u = 1e-6 * np.random.default_rng(0).normal(size=solid.size)
        figures[f"{model} K and f ms"] = least(lambda s=solid, u=u: s.force_and_stiffness(u))
        figures[f"{model} f ms"] = least(lambda s=solid, u=u: s.force(u))
    figures["damping, its force and both matrices ms"] = least(lambda: solid.damping(u, u))
    K = ElasticSolid(mesh, Material(young=200e9, poisson=0.3, density=7850.0)).stiffness()
    figures["difference to einsum, relative"] = float(
        abs(plain(solid, u) - solid.stiffness(u)).max() / abs(solid.stiffness(u)).max()
    )
    figures["einsum K ms"] = least(lambda: plain(solid, u), runs=1)
    plan = analyse(K, free=np.repeat(~np.isin(np.arange(solid.nodes), np.unique(mesh.faces("start"))), 3))
    figures["bandwidth"] = plan.bandwidth
    for definite, name in ((True, "Cholesky"), (False, "LU")):
        figures[f"band {name} ms"] = least(lambda d=definite: plan.factorize(K, definite=d), runs=3)
        factor = plan.factorize(K, definite=definite)
        figures[f"band {name} solve ms"] = least(lambda f=factor: f.solve(u))
    good = figures["neo-hookean K and f ms"] <= BAR_MS
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:45s} {value:10.4g}")
        print(f"bar {BAR_MS:g} ms for neo-hookean K and f: {'met' if good else 'NOT MET'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
