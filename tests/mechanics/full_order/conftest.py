"""The rod of the paper's first example as a full-order model, on any mesh."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bunraku.geometry.meshing.shapes import rod
from bunraku.geometry.rotations import axis_angle
from bunraku.mechanics.elastic.interface import make_interface
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.solid import ElasticSolid
from bunraku.mechanics.full_order.description import GROUND, ElasticPiece, Freedom, Held, Link, RigidBody
from bunraku.mechanics.full_order.model import FullOrderModel


def rod_model(
    layers: int = 20,
    *,
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81),
    beta: float = 7.4e-4,
    horizontal: bool = False,
    free: bool = False,
    clamped: bool = False,
    length: float = 0.7,
    young: float = 200e9,
) -> FullOrderModel:
    """Steel rod, 4 mm thick, on a hub with a motor about y (or free in space, or on the ground), 0.1 kg at its tip."""
    steel = Material(young=young, poisson=0.3, density=7850.0, strain_damping=beta)
    mesh = rod(length, 0.004, layers=layers)
    R = axis_angle([0.0, 1.0, 0.0], np.pi / 2.0) if horizontal else np.eye(3)
    end = np.array([0.0, 0.0, length])
    hub = RigidBody("hub", 0.05, 2e-5, pose=(R, np.zeros(3)))
    tip = RigidBody("tip", 0.1, 7.84e-6, pose=(R, R @ end))
    start = make_interface(mesh, "start")
    base = Held(start, GROUND, (R, np.zeros(3))) if clamped else Held(start, "hub")
    piece = ElasticPiece("rod", ElasticSolid(mesh, steel), (base, Held(make_interface(mesh, "end"), "tip", (np.eye(3), -end))))
    motor = Link("motor", GROUND, "hub", (Freedom("hinge", (0.0, 1.0, 0.0), motor=0),), pose=(R, np.zeros(3)))
    if clamped:
        return FullOrderModel([tip], [], [piece], gravity=gravity)
    driven = {"motors": ["motor"]} if not free else {}
    return FullOrderModel([hub, tip], [] if free else [motor], [piece], gravity=gravity, **driven)


@pytest.fixture(scope="session")
def make_rod() -> Callable[..., FullOrderModel]:
    """The maker of rods."""
    return rod_model
