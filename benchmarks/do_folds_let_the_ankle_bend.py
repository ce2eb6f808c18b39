"""Do folds let the ankle bend, how fine must their mesh be, and how does finding collisions grow?

    python benchmarks/do_folds_let_the_ankle_bend.py [--json] [--fast]

Tubes of outer radius 38 mm, 80 mm long, both ends clamped over 5 mm, Poisson's ratio 0.46, E = 1 MPa unless said otherwise, turned
about half their height. First the torques beside those of the feasibility study (another program); then the stiffness of toothed
tubes against the same mesh refined once; then the time of one search for collisions (thread CPU, least of five) of tubes of growing
fineness. ``--fast`` leaves out the slower rows.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from _tubes import cosine_tube, linear_tube, mesh_error
from bunraku.mechanics.coupled.collisions.surface import SurfaceCollisions
from bunraku.mechanics.coupled.tubes.bending import bend_tube, clamps
from bunraku.mechanics.coupled.tubes.mesh import Tube, tube_mesh
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.solid import ElasticSolid

RUBBER = Material(young=1e6, poisson=0.46, density=1100.0)
DEEP = {"folds": 3, "depth": 0.010, "wall": 0.0025}
VALUES = (
    ("smooth, quadratic 32 x 16", tube_mesh(Tube(around=32, rows=16)), 0.005, {4: (0.625, 0.633), 8: (1.045, 1.049)}, False),
    ("smooth, quadratic 48 x 24", tube_mesh(Tube(around=48, rows=24)), 0.005, {4: (0.625, 0.633), 8: (1.045, 1.049)}, True),
    ("smooth, linear, 1 layer", linear_tube(Tube(around=36, rows=12)), 0.08 / 12, {4: (0.7695, 0.7705)}, False),
    ("smooth, linear, 2 layers", linear_tube(Tube(around=72, rows=24), 2), 0.08 / 24, {4: (0.6335, 0.6345)}, False),
    ("smooth, linear, 3 layers", linear_tube(Tube(around=108, rows=36), 3), 0.08 / 36, {4: (0.5985, 0.5995)}, True),
    ("folds 3 x 8 mm, wall 4, 24 x 8", cosine_tube(Tube(folds=3)), 0.005, {20: (0.483, 0.487)}, False),
    ("folds 3 x 8 mm, wall 4, 36 x 12", cosine_tube(Tube(folds=3, around=36, rows=12)), 0.005, {20: (0.483, 0.487)}, True),
    ("folds 3 x 10 mm, wall 2.5, 24 x 8", cosine_tube(Tube(**DEEP)), 0.005, {20: (0.0935, 0.0945)}, False),
)
TEETH = (
    ("3 teeth 10 mm, wall 2.5", {**DEEP, "around": 14, "rows": 4}, False),
    ("3 teeth 10 mm, wall 2.5", {**DEEP, "around": 14, "rows": 8}, True),
    ("2 teeth 10 mm, wall 2.5", {**DEEP, "folds": 2, "around": 14, "rows": 8}, False),
    ("2 teeth 10 mm, wall 2.5", {**DEEP, "folds": 2, "around": 20, "rows": 8}, True),
    ("2 teeth 8 mm, wall 3", {"folds": 2, "wall": 0.003, "around": 14, "rows": 8}, False),
    ("1 tooth 10 mm, wall 2.5", {**DEEP, "folds": 1, "around": 14, "rows": 8}, False),
)


def torques(fast):
    """Rows: name, angle [deg], torque [N·m], the study's interval, nodes, residual, CPU seconds."""
    rows = []
    for name, mesh, clamp, wanted, slow in VALUES:
        if slow and fast:
            continue
        solid = ElasticSolid(mesh, RUBBER)
        start = time.thread_time()
        bend = bend_tube(solid, np.radians(list(wanted)), held=clamps(solid.mesh, clamp), step=np.radians(10.0))
        seconds = time.thread_time() - start
        for (angle, (low, high)), torque, residual in zip(wanted.items(), bend.torque, bend.residual, strict=True):
            rows.append((name, angle, float(torque), low, high, solid.nodes, float(residual), seconds))
    return rows


def refinements(fast):
    """Rows: name, around, rows a tooth, nodes, stiffness and that of the refined mesh [N·m/rad], how much too stiff."""
    rows = []
    for name, shape, slow in TEETH:
        if slow and fast:
            continue
        tube = Tube(**shape)
        mesh = tube_mesh(tube)
        error = mesh_error(mesh, RUBBER, (1e-3,))
        rows.append((name, tube.around, tube.rows, len(mesh.nodes), error.coarse[0], error.fine[0], error.relative[0]))
    return rows


def searches():
    """Rows: nodes of the mesh, triangles of its surface, milliseconds of a search on a tube made finer, and on one made larger.

    A finer tube has more nodes within the reach of each triangle; a larger one with cells of the same size has not.
    """
    rows = []
    for around, count in ((8, 4), (14, 6), (20, 8), (26, 12), (34, 18), (48, 24)):
        finer = cosine_tube(Tube(around=around, rows=count - count % 4 or 4, **DEEP))
        times, faces = [], 0
        for larger in (False, True):
            walls = SurfaceCollisions(finer)
            faces = len(walls.faces)
            if larger:
                scale = np.sqrt(faces / 9280)
                walls = SurfaceCollisions(finer.moved(lambda X, scale=scale: scale * X))
            x = np.array(finer.nodes) * (scale if larger else 1.0)
            times.append(_least(walls, x))
        rows.append((len(finer.nodes), faces, *times))
    return rows


def _least(walls, x, runs=6):
    """The least thread CPU time [ms] of a search, the first not counted."""
    times = []
    for _ in range(runs):
        start = time.thread_time()
        walls.find(x)
        times.append(time.thread_time() - start)
    return 1e3 * min(times[1:])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--fast", action="store_true")
    given = parser.parse_args()
    values, teeth, found = torques(given.fast), refinements(given.fast), searches()
    if given.json:
        print(json.dumps({"torques": values, "refinements": teeth, "searches": found}))
        return
    print("torque [N·m] at E = 1 MPa; the study's interval; nodes; residual; CPU s")
    for name, angle, torque, low, high, nodes, residual, seconds in values:
        inside = "" if low <= round(torque, 4) <= high else "  OUTSIDE"
        print(f"  {name:34} {angle:3d} deg {torque:7.4f}  {low:.4g}-{high:.4g}  {nodes:6d}  {residual:.0e}  {seconds:5.1f}{inside}")
    print("stiffness [N·m/rad] against the mesh refined once")
    for name, around, rows, nodes, coarse, fine, relative in teeth:
        both = f"{coarse:.4f} / {fine:.4f}  {100 * relative:+5.1f} %"
        print(f"  {name:26} around {around:2d}, {rows} rows a tooth, {nodes:5d} nodes: {both}")
    print("search for collisions: nodes, triangles, ms on a finer tube, ms on a larger one (microseconds a triangle)")
    for nodes, faces, fine, large in found:
        print(f"  {nodes:6d} {faces:6d} {fine:7.1f} ({1e3 * fine / faces:.2f}) {large:7.1f} ({1e3 * large / faces:.2f})")


if __name__ == "__main__":
    main()
