"""Golden systems read as they are, and a random mechanism with everything on it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from frame_graph import system_of_graph

from bunraku.mechanics.dynamics.constraints import Distance, PointOnPlane, PointToPoint, SquareDirections
from bunraku.mechanics.dynamics.forces import CoordinateForce, Damping, PointDamper, Wrench
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.potentials import CoordinateSpring, PointSpring
from bunraku.mechanics.dynamics.system import build_system
from bunraku.mechanics.tree import Tree


@pytest.fixture
def golden_case(golden):
    def load(name):
        folder = golden / "marionette"
        return system_of_graph(json.loads((folder / f"{name}.json").read_text())), np.load(folder / f"{name}.npz")

    return load


@pytest.fixture
def random_tree():
    """A branching tree of hinges and slides about tilted axes, full inertia tensors, fixed nodes, and one coupling."""

    def make(seed=0, coupled=True):
        rng = np.random.default_rng(seed)
        parent = np.array([-1, 0, 1, 1, 3, 4, 2, 6])
        kind = np.array([2, 1, 1, 0, 1, 2, 1, 1])
        coordinate = np.array([0, 1, 2, -1, 3, 4, 5, 6])
        n = len(parent)
        rotation = np.array([np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(n)])
        rotation *= np.sign(np.linalg.det(rotation))[:, None, None]
        axis = rng.normal(size=(n, 3))
        axis[2], axis[4] = [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]
        axis /= np.linalg.norm(axis, axis=1)[:, None]
        half = rng.normal(size=(n, 3, 3))
        inertia = 0.05 * half @ half.transpose(0, 2, 1)
        mass = rng.uniform(0.5, 2.0, n)
        mass[2] = 0.0
        inertia[2] = 0.0
        nodes = {f"b{i}": i for i in range(n)}
        frames = {"tip": (7, rng.normal(size=3), np.linalg.qr(rng.normal(size=(3, 3)))[0])}
        names = tuple(f"q{i}" for i in range(7))
        couplings = ((3, 6, -0.7, 0.3),) if coupled else ()
        return Tree(
            names, nodes, parent, kind, coordinate, rotation, 0.4 * rng.normal(size=(n, 3)), axis, mass,
            0.2 * rng.normal(size=(n, 3)), inertia, frames, 0.3 * rng.normal(size=7), couplings,
        )  # fmt: skip

    return make


@pytest.fixture
def everything(random_tree):
    """A system with every potential, force and constraint on the random tree; some coordinates kinematic, in the middle."""

    def make(seed=0, kinematic=("q1", "l"), constraints=True, coupled=True):
        rows = (
            Distance("b5", Place("world", (0.3, -0.2, 1.5)), "l", "winch"),
            Distance("tip", "b5", 1.7, "rod"),
            PointToPoint("b7", Place("b0", (0.1, 0.2, 0.3)), "y", "pin"),
            PointOnPlane(Place("b1", (0.1, 0.0, 0.2)), (0.3, -0.5, 0.8), Place("tip", (0.0, 0.1, 0.0)), "plane"),
            SquareDirections("b2", (1.0, 0.2, 0.0), "b4", (0.0, 0.3, 1.0), 0.1, "square"),
        )
        return build_system(
            random_tree(seed, coupled),
            kinematic=kinematic,
            lengths=("l",),
            inputs=("a", "b", "c"),
            gravity=(0.5, -1.0, -9.0),
            potentials=(
                PointSpring("tip", Place("world", (1.0, 0.0, 2.0)), 30.0, 0.5),
                PointSpring("b5", "tip", 12.0, 0.0),
                CoordinateSpring("q2", 4.0, 0.3),
                CoordinateSpring("q2", 2.0, -0.3),
            ),
            forces=(
                Damping({"q0": 0.3, "q3": 0.2}),
                PointDamper("b5", "tip", 1.4),
                PointDamper("b4", Place("world", (0.0, 1.0, 0.0)), 0.7),
                CoordinateForce("q3", "a", 2.0),
                Wrench("tip", (0.3, "b", 0.1), ("c", 0.2, -0.4), "body"),
                Wrench(Place("b5", (0.1, 0.0, 0.3)), ("a", 0.4, 0.0), (0.1, "b", 0.0), "hybrid"),
                Wrench("b4", (0.2, "c", 0.5), ("b", 0.0, 0.3), "world"),
            ),
            constraints=rows if constraints else (),
            armature={"q2": 0.15},
        )

    return make
