"""How fast is the condensation of a skin onto torques and contact forces, against the paper's way and against its size?

    python benchmarks/how_fast_is_the_condensation.py [--quick] [--json]

One thread, thread CPU time, compilation not counted, the least of several runs. Skins are one layer of quadratic tetrahedra, 4 mm
thick: a tube (radius 38 mm) and a blob with four legs, of about 14 000 nodes; matrix M / h^2 + K, h = 5 ms, E = 1.3 MPa, 140
nodes glued (held). Border of 79 columns: glue moved by 6 + 12 coordinates of a skeleton, 20 patches of three loads, one right
side. ``factor``, ``border``, ``both`` (one call), ``back`` (one combination), ``solve`` (one right side) in ms.

The paper's way, in the same process: nothing is held, every unknown of a glue node is a right side of its own (481 for 140 glue
nodes, 964 for 301), A^-1 B is solved for and multiplied by B^T; once with our factorisation and once with MKL. ``forward only``
does these right sides the way our border is done. Bars: both <= 600 ms at 14 000 nodes without MKL; ours at least 8 times as fast
as the paper's way with MKL (with our own factorisation where MKL is absent).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

import numpy as np
from scipy.sparse.linalg import splu

from bunraku.geometry.surfaces.mending import oriented
from bunraku.geometry.tet_mesh import TetMesh, quadratic
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.solid import ElasticSolid
from bunraku.optimization.condensation.condenser import condenser
from bunraku.optimization.condensation.mkl_library import mkl_available

BAR_MS, BAR_RATIO = 600.0, 8.0
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
STEP = 5e-3


def shell(points, normals, triangles, wall=0.004):
    """One layer of prisms under a surface, each cut into three quadratic tetrahedra."""
    n = len(points)
    a, b, c = np.sort(triangles, axis=1).T
    cells = [(a, b, c, a + n), (b, c, a + n, b + n), (c, a + n, b + n, c + n)]
    nodes = np.vstack([points, points - wall * normals])
    return quadratic(oriented(TetMesh(nodes, np.vstack([np.stack(cell, axis=1) for cell in cells]))))


def squares(nu, nv, closed):
    """Triangles of a grid of nu x nv points, closed in its first direction or not."""
    i, j = (index.ravel() for index in np.meshgrid(np.arange(nu if closed else nu - 1), np.arange(nv - 1), indexing="ij"))
    a, b = i * nv + j, (i + 1) % nu * nv + j
    return np.vstack([np.stack([a, b, b + 1], axis=1), np.stack([a, b + 1, a + 1], axis=1)])


def tube(around=24, along=48, radius=0.038):
    angle = np.repeat(2.0 * np.pi * np.arange(around) / around, along + 1)
    normals = np.stack([np.cos(angle), np.sin(angle), np.zeros(len(angle))], axis=1)
    height = np.tile(np.arange(along + 1) * 2.0 * np.pi * radius / around, around)
    return shell(radius * normals + height[:, None] * [0.0, 0.0, 1.0], normals, squares(around, along + 1, True))


def blob(cells=14, radius=0.12, leg=0.15):
    """A cube blown up to a sphere, drawn out into four legs."""
    u, v = np.meshgrid(*[np.tan(np.linspace(-1.0, 1.0, cells + 1) * np.pi / 4.0)] * 2, indexing="ij")
    one = np.ones_like(u)
    sides = [(one, u, v), (-one, v, u), (v, one, u), (u, -one, v), (u, v, one), (v, u, -one)]
    points = np.vstack([np.stack(side, axis=-1).reshape(-1, 3) for side in sides])
    points /= np.linalg.norm(points, axis=1)[:, None]
    triangles = np.vstack([squares(cells + 1, cells + 1, False) + k * (cells + 1) ** 2 for k in range(6)])
    _, first, same = np.unique(np.round(points, 9), axis=0, return_index=True, return_inverse=True)
    normals = points[first]
    out = np.full(len(normals), radius)
    for x, y in ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)):
        direction = np.array([x, y, -1.2]) / np.linalg.norm([x, y, -1.2])
        out += leg * np.exp(-((np.arccos(np.clip(normals @ direction, -1.0, 1.0)) / 0.25) ** 2))
    return shell(normals * out[:, None], normals, np.asarray(same).ravel()[triangles])


class Skin:
    """Matrix, glue, border of a mesh."""

    def __init__(self, mesh, glue=140, seed=0):
        solid = ElasticSolid(mesh, Material(young=1.3e6, poisson=0.46, density=1100.0))
        self.nodes, self.matrix = mesh.nodes, solid.stiffness()
        self.matrix.data = self.matrix.data + solid.mass.data / STEP**2
        self.rng = np.random.default_rng(seed)
        self.held = self.rng.choice(len(mesh.nodes), min(glue, len(mesh.nodes) // 20), replace=False)
        self.glue = (3 * self.held[:, None] + np.arange(3)).ravel()
        self.free = np.ones(solid.size, dtype=bool)
        self.free[self.glue] = False
        self.loads = np.zeros((solid.size, 61))
        for patch in range(20):
            near = np.argsort(((mesh.nodes - mesh.nodes[self.rng.integers(len(mesh.nodes))]) ** 2).sum(axis=1))[:12]
            for axis in range(3):
                self.loads[3 * near + axis, 3 * patch + axis] = 1.0 / 12.0
        self.loads[:, 60] = self.rng.normal(size=solid.size)

    def border(self):
        """Glue moved by a floating base and 12 hinges (two act on each of six groups), patch loads, right side: (n, 79)."""
        X = self.nodes[self.held]
        J = np.zeros((len(self.free), 18))
        group = np.argsort(np.argsort(X[:, 2])) * 6 // len(X)
        for axis in range(3):
            J[self.glue[axis::3], axis] = 1.0
            J[self.glue, 3 + axis] = np.cross(np.eye(3)[axis], X - X.mean(axis=0)).ravel()
        for hinge in range(12):
            moved = np.cross(self.rng.normal(size=3), X - X.mean(axis=0)) * (group == hinge % 6)[:, None]
            J[self.glue, 6 + hinge] = moved.ravel()
        B = np.hstack([self.matrix @ J, self.loads])
        B[~self.free] = 0.0
        return np.asfortranarray(B)

    def paper(self):
        """Every glue unknown a column, loads and right side: (n, 3 glue + 61)."""
        C = np.zeros((len(self.free), len(self.glue)))
        C[self.glue, np.arange(len(self.glue))] = 1.0
        return np.asfortranarray(np.hstack([C, self.loads]))


def least(function, runs=5):
    """The least thread CPU time [ms] of ``runs`` calls."""
    times = []
    for _ in range(runs):
        start = time.thread_time()
        function()
        times.append(time.thread_time() - start)
    return 1e3 * min(times)


def measure(name, skin, backend, runs):
    """One line of figures."""
    data, B = skin.matrix.data, skin.border()
    start = time.thread_time()
    found = condenser(skin.matrix, skin.nodes, backend, free=skin.free)
    analysis = time.thread_time() - start
    found.factorize_and_condense(data, B)
    found.combine(np.ones(B.shape[1]))
    row = {"skin": name, "backend": found.method, "nodes": len(skin.nodes), "analysis s": analysis}
    row["both"] = least(lambda: found.factorize_and_condense(data, B), runs)
    row["back"] = least(lambda: found.combine(np.ones(B.shape[1])), runs)
    row["factor"] = least(lambda: found.factorize(data), runs)
    row["border"] = least(lambda: found.condense(B), runs)
    row["solve"] = least(lambda: found.solve(B[:, -1]), runs)
    row["memory MB"] = found.memory / 1e6
    return row


def paper_style(skin, backend, runs):
    """Factorisation and all right sides of the paper's condensation [ms]: solved, and forward only."""
    data, B = skin.matrix.data, skin.paper()
    found = condenser(skin.matrix, skin.nodes, backend)
    found.factorize(data)
    solved = least(lambda: (found.factorize(data), B.T @ found.solve(B)), runs)
    return B.shape[1], solved, least(lambda: (found.factorize(data), found.condense(B)), runs)


def superlu(skin):
    """The reference of SciPy: factorisation and 79 right sides [ms], and the difference of S to ours."""
    inner, B = skin.matrix[skin.free][:, skin.free].tocsc(), skin.border()
    options = {"SymmetricMode": True}
    start = time.thread_time()
    W = splu(inner, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).solve(B[skin.free])
    spent = 1e3 * (time.thread_time() - start)
    S = B[skin.free].T @ W
    ours = condenser(skin.matrix, skin.nodes, free=skin.free).factorize_and_condense(skin.matrix.data, B)
    return spent, float(np.abs(S - ours).max() / np.abs(S).max())


def show(row):
    print(
        f"{row['skin']:10s}{row['backend']:23s}{row['nodes']:7d}{row['analysis s']:9.2f}{row['factor']:8.0f}{row['border']:8.0f}"
        f"{row['both']:7.0f}{row['back']:7.1f}{row['solve']:7.1f}{row['memory MB']:8.0f}",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small skins, no bars")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if any(os.environ.get(name) != "1" for name in THREADS):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | dict.fromkeys(THREADS, "1"))
    runs = 2 if arguments.quick else 5
    backends = ["multifrontal", *(["mkl"] if mkl_available() else [])]
    skins = {"tube": tube(12, 16), "blob": blob(6)} if arguments.quick else {"tube": tube(), "blob": blob()}
    figures: dict[str, list[dict[str, object]]] = {"condensation": [], "paper": [], "growth": []}
    print(
        f"{'skin':10s}{'backend':23s}{'nodes':>7s}{'analysis':>9s}{'factor':>8s}{'border':>8s}{'both':>7s}{'back':>7s}{'solve':>7s}{'MB':>8s}"
    )
    for name, mesh in skins.items():
        for backend in backends:
            figures["condensation"].append(measure(name, Skin(mesh), backend, runs))
            show(figures["condensation"][-1])
    spent, difference = superlu(Skin(skins["tube"]))
    print(f"SuperLU, tube, 79 right sides: {spent:.0f} ms; S differs by {difference:.1e} (relative)")
    ours = min(float(row["both"]) + float(row["back"]) for row in figures["condensation"] if row["skin"] == "tube")
    own = float(figures["condensation"][0]["both"]) + float(figures["condensation"][0]["back"])
    for glue in (140, 301):
        for backend in backends:
            columns, solved, forward = paper_style(Skin(skins["tube"], glue), backend, 1 + (not arguments.quick))
            mine = own if backend == "multifrontal" else ours
            figures["paper"].append(
                {"backend": backend, "columns": columns, "solved": solved, "forward": forward, "ratio": solved / mine}
            )
            print(
                f"paper's way, tube, {backend:13s}{columns:5d} right sides: {solved:6.0f} ms, {solved / mine:4.1f} times ours;"
                f" forward only {forward:6.0f} ms, {forward / mine:4.1f} times",
                flush=True,
            )
    for name, mesh in {f"tube x{k}": tube(12 if arguments.quick else 24, 12 * k) for k in (1, 2, 4, 8)}.items():
        figures["growth"].append(measure(name, Skin(mesh), "multifrontal", 2))
        show(figures["growth"][-1])
    if arguments.json:
        print(json.dumps(figures))
    if arguments.quick:
        return 0
    slow = [row for row in figures["condensation"] if row["backend"] == "multifrontal Cholesky" and float(row["both"]) > BAR_MS]
    low = [row for row in figures["paper"] if row["backend"] == backends[-1] and float(row["ratio"]) < BAR_RATIO]
    good = not slow and not low
    print(
        f"bars {BAR_MS:.0f} ms without MKL, {BAR_RATIO:g} times the paper's way with {backends[-1]}: {'met' if good else 'NOT MET'}"
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
