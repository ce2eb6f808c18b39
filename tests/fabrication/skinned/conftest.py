"""A small skinned walker made on the spot: an egg with two legs, each with a hip and a knee, in a skin of 4 mm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.building.servos import servo
from bunraku.building.shapes import DARK, LIGHT, box_shape
from bunraku.character import Body, Character, ElasticMaterial, EndEffector, Joint, Pose, Shape, Skin, SkinMesh
from bunraku.geometry.tetrahedra import EDGES

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
HIP, KNEE, FOOT = np.array([0.0, 0.10, 0.16]), np.array([0.0, 0.20, 0.16]), np.array([0.0, 0.20, 0.0])
R = 0.042
"""Outer radius of the legs."""


def _capsule(points: Array, start: Array, end: Array, radius: float) -> Array:
    along = end - start
    share = np.clip((points - start) @ along / (along @ along), 0.0, 1.0)
    distance: Array = np.linalg.norm(points - start - share[:, None] * along, axis=1) - radius
    return distance


def _field(points: Array) -> Array:
    """Signed distance of the walker's outside, roughly: the smaller of egg and legs, with fillets, flat at z = 0."""
    half = np.array([0.11, 0.075, 0.07])
    q = (points - np.array([0.0, 0.0, 0.18])) / half
    k0, k1 = np.linalg.norm(q, axis=1), np.maximum(np.linalg.norm(q / half, axis=1), 1e-9)
    found = k0 * (k0 - 1.0) / k1
    for side in (1.0, -1.0):
        s = np.array([1.0, side, 1.0])
        for a, b in ((np.array([0.0, 0.02, 0.17]), KNEE), (KNEE, FOOT - np.array([0.0, 0.0, 0.05]))):
            other = _capsule(points, a * s, b * s, R)
            close = np.maximum(0.02 - np.abs(found - other), 0.0)
            found = np.minimum(found, other) - close**2 / 0.08
    return np.maximum(found, -points[:, 2])


def _outside(edge: float) -> tuple[Array, Indices]:
    """The walker's outer surface: vertices [m] and triangles."""
    from manifold3d import Manifold

    def inside(x: float, y: float, z: float) -> float:
        return -float(_field(np.array([[x, y, z]]))[0])

    solid = Manifold.level_set(inside, [-0.15, -0.29, -0.04, 0.15, 0.29, 0.29], edge).simplify(1e-3)
    mesh = solid.to_mesh64()
    return np.asarray(mesh.vert_properties)[:, :3], np.asarray(mesh.tri_verts, dtype=np.int64)


def prisms(outer: Array, inner: Array, t: Indices) -> tuple[Array, Indices]:
    """Second-order tetrahedra between two surfaces of the same triangles: nodes and cells."""
    n = len(outer)
    x = np.concatenate([outer, inner])
    a, b, c = np.sort(t, axis=1).T
    cells = np.concatenate([np.stack(four, axis=1) for four in ((a, b, c, c + n), (a, b, b + n, c + n), (a, a + n, b + n, c + n))])
    volume = np.einsum("ij,ij->i", x[cells[:, 1]] - x[cells[:, 0]], _across(x, cells))
    cells[volume < 0.0] = cells[volume < 0.0][:, [0, 2, 1, 3]]
    ends = np.sort(np.stack([cells[:, list(edge)] for edge in EDGES], axis=1).reshape(-1, 2), axis=1)
    pairs, which = np.unique(ends, axis=0, return_inverse=True)
    nodes = np.concatenate([x, x[pairs].mean(axis=1)])
    return nodes, np.concatenate([cells, len(x) + which.reshape(-1, 6)], axis=1)


def _across(x: Array, cells: Indices) -> Array:
    return np.cross(x[cells[:, 2]] - x[cells[:, 0]], x[cells[:, 3]] - x[cells[:, 0]])


def _mesh(bodies: dict[str, tuple[Array, Array]], edge: float) -> SkinMesh:
    from bunraku.fabrication.skinned.shell import offset_corners

    x, t = _outside(edge)
    inner = offset_corners(x, t, -0.004)
    nodes, cells = prisms(x, inner, t)
    glue, owner = [], []
    for number, (start, end) in enumerate(bodies.values()):
        along = end - start
        share = (inner - start) @ along / (along @ along)
        near = np.linalg.norm(inner - start - np.clip(share, 0, 1)[:, None] * along, axis=1)
        mine = (share > 0.0) & (share < 1.0) & (near < 0.075 if number == 0 else near < R)
        glue += list(len(x) + np.flatnonzero(mine))
        owner += [number] * int(mine.sum())
    glued, first = np.unique(glue, return_index=True)
    low = np.flatnonzero(nodes[:, 2] < 1e-3)
    low = low[~np.isin(low, glued)]
    patch = (
        np.where(nodes[low, 1] > 0.0, 0, 5)
        + (np.degrees(np.arctan2(nodes[low, 0], np.abs(nodes[low, 1]) - 0.2)) // 73).astype(int) % 5
    )
    zero = np.zeros(len(cells), dtype=np.int64)
    return SkinMesh(nodes, cells, zero, tuple(bodies), glued, np.array(owner)[first], low, patch)


def _hinge(name: str, parent: str, child: str, place: Array, axis: tuple[float, float, float]) -> Joint:
    pose = Pose(position=tuple(float(part) for part in place))
    return Joint(name=name, kind="hinge", parent=parent, child=child, pose=pose, axis=axis, range=(-0.7, 0.7))


def _case(place: Array, lean: Array, axis: Array) -> Shape:
    model = servo("MG995R")
    axes = np.column_stack([np.cross(lean, axis), lean, axis])
    return box_shape(place + model.shaft_offset * lean, model.size, DARK, axes=axes, collides=False)


def walker(edge: float = 0.02) -> tuple[Character, SkinMesh]:
    """The walker and its skin."""
    origin = np.array([0.0, 0.0, 0.18])
    bodies: list[Body] = []
    joints = [Joint(name="base", kind="free", parent="world", child="body", sequence="zyx")]
    motors, soles, zones = [], [], {"body": (np.array([0.0, -0.045, 0.18]), np.array([0.0, 0.045, 0.18]))}
    trunk = [box_shape((0.0, 0.0, 0.0), (0.08, 0.05, 0.04), LIGHT, collides=False)]
    for name, side in (("L", 1.0), ("R", -1.0)):
        s = np.array([1.0, side, 1.0])
        hip, knee, foot = HIP * s, KNEE * s, FOOT * s
        inward = np.array([0.0, -side, 0.0])
        trunk.append(_case(hip - origin, inward, np.array([0.0, 0.0, 1.0])))
        thigh = (_case(knee - hip, inward, np.array([1.0, 0.0, 0.0])),)
        bodies += [Body(name=f"{name}.hip_link", mass=0.1, shapes=thigh), Body(name=f"{name}.knee_link", mass=0.1)]
        joints += [
            _hinge(f"{name}.hip", "body", f"{name}.hip_link", hip - origin, (0.0, 0.0, 1.0)),
            _hinge(f"{name}.knee", f"{name}.hip_link", f"{name}.knee_link", knee - hip, (1.0, 0.0, 0.0)),
        ]
        motors += [servo("MG995R").motor(f"{name}.{j}", f"{name}.{j}", (-0.7, 0.7)) for j in ("hip", "knee")]
        center = tuple(float(part) for part in foot - knee)
        soles.append(EndEffector(name=name, kind="sole", body=f"{name}.knee_link", center=center, axis=(0, 0, 1), radius=0.03))
        along = (knee - hip) / np.linalg.norm(knee - hip)
        zones[f"{name}.hip_link"] = (hip + 0.03 * along, knee - 0.03 * along)
        zones[f"{name}.knee_link"] = (knee - np.array([0, 0, 0.05]), foot + np.array([0, 0, 0.015]))
    rubber = ElasticMaterial(name="rubber", young=1.32e6, poisson=0.46, density=1100.0)
    character = Character(
        name="walker",
        bodies=(Body(name="body", mass=1.0, shapes=tuple(trunk)), *bodies),
        joints=tuple(joints),
        motors=tuple(motors),
        end_effectors=tuple(soles),
        materials=(rubber,),
        skin=Skin(file="walker.skin.npz", materials=("rubber",)),
        home={"base.tz": 0.18},
    )
    return character, _mesh(zones, edge)


@pytest.fixture(scope="session")
def made_walker() -> tuple[Character, SkinMesh]:
    """The walker and its skin, made once."""
    return walker()


@pytest.fixture(scope="session")
def layout(made_walker: tuple[Character, SkinMesh]) -> Any:
    """The walker sorted into limbs and torso."""
    from bunraku.fabrication.skinned.layout import Layout

    return Layout(*made_walker)


@pytest.fixture(scope="session")
def shell(made_walker: tuple[Character, SkinMesh]) -> Any:
    """The walker's skin as solids."""
    from bunraku.fabrication.skinned.shell import skin_shell

    return skin_shell(made_walker[1])


@pytest.fixture(scope="session")
def parted(layout: Any, shell: Any) -> Any:
    """The walker's skin in pieces."""
    from bunraku.fabrication.skinned.pieces import skin_pieces

    return skin_pieces(layout, shell)


@pytest.fixture(scope="session")
def made(made_walker: tuple[Character, SkinMesh], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The walker made, and the folder it was made in."""
    from bunraku.fabrication.skinned.fabricate import fabricate_skinned

    folder = tmp_path_factory.mktemp("walker")
    character, mesh = made_walker
    return fabricate_skinned(character, folder, printer=(220.0, 220.0, 250.0), mesh=mesh), folder
