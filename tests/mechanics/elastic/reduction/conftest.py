"""The steel rod of the study reduced once, a short rod for cheap tests, and systems made of a segment between two bodies."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import eigh

from bunraku.geometry.meshing.shapes import rod
from bunraku.mechanics.dynamics.flexible.attach import Flexible
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.system import build_system
from bunraku.mechanics.elastic.interface import make_interface
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.modes import CarriedBody
from bunraku.mechanics.elastic.reduction.basis import Workbench, make_basis
from bunraku.mechanics.elastic.reduction.reduce import reduce_to
from bunraku.mechanics.elastic.solid import ElasticSolid
from bunraku.mechanics.tree import Tree


def make_rod(length, layers, model, **options):
    solid = ElasticSolid(rod(length, 0.004, layers=layers), Material(young=200e9, poisson=0.3, density=7850.0, model=model))
    base, end = make_interface(solid.mesh, "start"), make_interface(solid.mesh, "end")
    bench = Workbench(solid, base, [end], [CarriedBody(end, 0.1, 7.84e-6)])
    basis = make_basis(bench, **options)
    return SimpleNamespace(solid=solid, base=base, end=end, bench=bench, basis=basis, reduction=reduce_to(bench, basis))


@pytest.fixture(scope="session")
def study_rod():
    """0.7 m, 4 mm, 26 466 unknowns, 0.1 kg at the tip."""
    return make_rod(0.7, 200, "neo-hookean")


@pytest.fixture(scope="session")
def short_rod():
    """The same section, 0.14 m, St. Venant-Kirchhoff, 40 layers, all derivatives."""
    return make_rod(0.14, 40, "st-venant-kirchhoff", release=1e-9)


@pytest.fixture
def two_bodies():
    """A system: hinge and slide (``motors``) or the world, a segment in a turned frame, a tip body; and its frequencies [Hz]."""

    def make(segment, length, rotation=None, gravity=(0.0, 0.0, 0.0), tip=(0.1, 7.84e-6), motors=False):
        count = 3
        kind = np.array([1, 2, 0]) if motors else np.array([0, 0, 0])
        coordinate = np.array([0, 1, -1]) if motors else np.array([-1, -1, -1])
        axis = np.array([[0.6, 0.0, 0.8], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
        inertia = np.zeros((count, 3, 3))
        inertia[2] = tip[1] * np.eye(3)
        position = np.array([[0.1, 0.0, 0.2], [0.0, 0.05, 0.0], [0.0, 0.0, length]])
        tree = Tree(
            ("turn", "slide") if motors else (), {"cart": 1, "tip": 2}, np.array([-1, 0, 1]), kind, coordinate,
            np.array([np.eye(3)] * count), position, axis, np.array([0.0, 0.0, tip[0]]), np.zeros((count, 3)), inertia, {},
            np.zeros(2 if motors else 0), (),
        )  # fmt: skip
        R = np.eye(3) if rotation is None else rotation
        flexible = Flexible("rod", segment, Place("cart", (0.0, 0.0, 0.0), tuple(map(tuple, R))), ("tip",))
        return build_system(tree, gravity=gravity, segments=[flexible])

    return make


@pytest.fixture
def frequencies_at():
    """Frequencies [Hz] of small vibrations of a system about q."""

    def find(system, q):
        zero = np.zeros(system.nq)
        second = system.lagrangian_derivatives(q, zero)
        squares = eigh(-(second.qq + system.force_derivatives(q, zero)[1]), second.vv, eigvals_only=True)
        return np.sign(squares) * np.sqrt(np.abs(squares)) / (2.0 * np.pi)

    return find
