"""Flexible rods and characters of them for benchmarks, made without a mesh.

A rod is a solid cylinder whose displacements are polynomials (a Ritz basis: products of powers of x, y, z that vanish at its root);
its modes with a body at the tip, and their derivatives, become a `FlexibleSegment` with all quadratic strains.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.linalg import eigh, solve

from bunraku.mechanics.dynamics.constraints import PointToPoint, SquareDirections
from bunraku.mechanics.dynamics.flexible.attach import Flexible
from bunraku.mechanics.dynamics.flexible.segment import FlexibleSegment, segment_from_points
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.system import System, build_system
from bunraku.mechanics.tree import Tree

RINGS, SPOKES = 4, 8


def ritz(radius: float, length: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Points (n, 3), volumes (n,), areas of the last points, basis values (n, m), gradients (n, m, 3).

    The last points lie on the tip and have no volume.
    """
    z, wz = np.polynomial.legendre.leggauss(12)
    rho, wr = np.polynomial.legendre.leggauss(RINGS)
    angle = np.arange(SPOKES) * 2.0 * np.pi / SPOKES
    section = np.array([(radius * 0.5 * (s + 1) * np.cos(a), radius * 0.5 * (s + 1) * np.sin(a)) for s in rho for a in angle])
    area = np.repeat(0.5 * radius * wr * 0.5 * radius * (rho + 1) * 2.0 * np.pi / SPOKES, SPOKES)
    X = np.array([(x, y, 0.5 * length * (s + 1)) for s in z for x, y in section] + [(x, y, length) for x, y in section])
    volume = np.concatenate([np.outer(0.5 * length * wz, area).ravel(), np.zeros(len(section))])
    scaled = X / np.array([radius, radius, length])
    powers = [(a, b, c) for a, b in product(range(4), range(4)) if a + b <= 3 for c in range(1, 10)]
    value = np.stack([scaled[:, 0] ** a * scaled[:, 1] ** b * scaled[:, 2] ** c for a, b, c in powers], axis=1)
    slope = np.zeros((*value.shape, 3))
    for k, exponent in enumerate(powers):
        for axis, size in enumerate((radius, radius, length)):
            e = list(exponent)
            if e[axis]:
                e[axis] -= 1
                slope[:, k, axis] = exponent[axis] * np.prod(scaled**e, axis=1) / size
    return X, volume, area, value, slope


def strain(G: np.ndarray, H: np.ndarray) -> np.ndarray:
    """The symmetric part of G'H as six numbers: xx, yy, zz, then twice xy, xz, yz."""
    S = np.einsum("...ki,...kj->...ij", G, H)
    S = 0.5 * (S + np.swapaxes(S, -1, -2))
    order = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    return np.stack([S[..., i, j] * (1.0 if i == j else 2.0) for i, j in order], axis=-1)


def linear_modes(K: np.ndarray, M: np.ndarray, twist: np.ndarray, count: int) -> np.ndarray:
    """The lowest ``count`` modes, columns: four of bending first, then torsion (by ``twist``, its turn at the tip), then others."""
    scale = 1.0 / np.sqrt(np.diag(M))
    table = np.outer(scale, scale)
    lift = 1e-12 * len(M) * np.eye(len(M))
    V = scale[:, None] * eigh(K * table, M * table + lift, subset_by_index=[0, count + 3])[1]
    turn = np.abs(twist @ V) / np.sqrt(np.einsum("ka,kl,la->a", V, M, V))
    torsion = int(np.argmax(turn))
    bending = [a for a in range(V.shape[1]) if a != torsion]
    return V[:, [*bending[:4], torsion, *bending[4:]][:count]]


def make_rod(
    modes: int = 5,
    *,
    radius: float = 0.0062,
    length: float = 0.7,
    young: float = 2.1e9,
    poisson: float = 0.35,
    density: float = 1200.0,
    tip: float = 0.1,
    beta: float = 5e-4,
    all_pairs: bool = True,
) -> FlexibleSegment:
    """A rod with ``modes`` linear modes and the 10 derivatives of its four bending modes: r = modes + 10.

    Without ``all_pairs`` only products with the linear modes are kept in the quadratic strains.
    """
    X, volume, area, value, slope = ritz(radius, length)
    n, m, eye = len(X), 3 * value.shape[1], np.eye(3)
    mu, lame = young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))
    root = np.linalg.cholesky(np.diag([2 * mu] * 3 + [mu] * 3) + lame * np.pad(np.ones((3, 3)), (0, 3))).T
    weight = np.sqrt(volume)[:, None]
    grads = np.einsum("nkj,ci->nkcij", slope, eye).reshape(n, m, 3, 3)
    rows = (weight[..., None] * (strain(eye, grads) @ root.T)).transpose(0, 2, 1).reshape(-1, m)
    K = rows.T @ rows
    shapes = np.einsum("nk,ci->nkci", value, eye).reshape(n, m, 3)
    flat = (np.sqrt(density) * weight[..., None] * shapes).transpose(0, 2, 1).reshape(-1, m)
    end = shapes[-len(area) :].mean(axis=0)
    M = flat.T @ flat + tip * end @ end.T
    face = shapes[-len(area) :]
    twist = np.einsum("n,nk->k", area, face[..., 1] * X[-len(area) :, 0, None] - face[..., 0] * X[-len(area) :, 1, None])
    V = linear_modes(K, M, twist, modes)
    g = np.einsum("nkij,ka->naij", grads, V)
    loads = [rows.T @ (weight * (strain(g[:, a], g[:, b]) @ root.T)).ravel() for a in range(4) for b in range(a, 4)]
    D = -solve(K + 1e-10 * np.diag(np.diag(K)), np.array(loads).T, assume_a="pos")
    basis = np.hstack([V, D / np.sqrt(np.einsum("ka,kl,la->a", D, M, D))])
    r = basis.shape[1]
    g = np.einsum("nkij,ka->naij", grads, basis)
    pairs = [(a, b) for a in range(r) for b in range(a, r) if all_pairs or a < modes]
    Q = np.array([(weight * (strain(g[:, a], g[:, b]) @ root.T)).ravel() for a, b in pairs])
    small = np.linalg.qr(np.hstack([rows @ basis, Q.T]), mode="r")
    weights = np.concatenate([np.zeros(n - len(area)), area])
    phi = np.einsum("nkc,ka->nca", shapes, basis)
    return segment_from_points(
        X, density * volume, phi, [weights], L1=small[:, :r].T.copy(), pairs=np.array(pairs), Qp=small[:, r:].T.copy(), beta=beta
    )


class Bodies:
    """A tree put together body by body."""

    def __init__(self) -> None:
        self.rows: list[tuple] = []
        self.names: list[str] = []
        self.coordinates: list[str] = []

    def add(self, name, parent, position, kind=0, axis=(0.0, 0.0, 1.0), mass=0.0, size=0.02) -> None:
        """A ball of some size at ``position`` of its parent, fixed (kind 0) or on a hinge (kind 1)."""
        number = -1
        if kind:
            number = len(self.coordinates)
            self.coordinates.append(name)
        self.rows.append((self.names.index(parent) if parent else -1, kind, number, position, axis, mass, size))
        self.names.append(name)

    def tree(self) -> Tree:
        """The tree."""
        parent, kind, number, position, axis, mass, size = (np.array(column) for column in zip(*self.rows, strict=True))
        n = len(parent)
        inertia = (0.4 * mass * size**2)[:, None, None] * np.eye(3)
        return Tree(
            tuple(self.coordinates), {name: i for i, name in enumerate(self.names)}, parent, kind, number,
            np.tile(np.eye(3), (n, 1, 1)), position.astype(float), axis.astype(float), mass, np.zeros((n, 3)), inertia, {},
            np.zeros(len(self.coordinates)), (),
        )  # fmt: skip


def one_rod(all_pairs: bool = True) -> tuple[System, list[str]]:
    """A motor that sways an upright rod of 0.7 m with 0.1 kg at its tip: 16 coordinates."""
    bodies = Bodies()
    bodies.add("base", "", (0.0, 0.0, 0.0), 1, (0.0, 1.0, 0.0), 0.1)
    bodies.add("tip", "base", (0.0, 0.0, 0.7), mass=0.1)
    rod = Flexible("rod", make_rod(all_pairs=all_pairs), "base", ("tip",))
    return build_system(bodies.tree(), kinematic=["base"], segments=[rod]), ["tip"]


def dancer(all_pairs: bool = True) -> tuple[System, list[str]]:
    """A body rod, a clavicle, two shoulder motors a side, two arm rods: 49 modal coordinates and 4 motors."""
    bodies = Bodies()
    bodies.add("ground", "", (0.0, 0.0, 0.0), mass=1.0)
    bodies.add("clavicle", "ground", (0.0, 0.0, 0.25), mass=0.21, size=0.05)
    segments = [Flexible("spine", make_rod(5, length=0.25, tip=1.0, all_pairs=all_pairs), "ground", ("clavicle",))]
    arm = make_rod(7, length=0.3, radius=0.005, tip=0.2, all_pairs=all_pairs)
    for side, y in (("left", 0.1), ("right", -0.1)):
        bodies.add(f"{side}_swing", "clavicle", (0.0, y, 0.0), 1, (1.0, 0.0, 0.0), 0.082)
        bodies.add(f"{side}_lift", f"{side}_swing", (0.0, 0.0, 0.0), 1, (0.0, 1.0, 0.0), 0.082)
        bodies.add(f"{side}_hand", f"{side}_lift", (0.0, 0.0, 0.3), mass=0.2)
        segments.append(Flexible(f"{side}_arm", arm, f"{side}_lift", (f"{side}_hand",)))
    return build_system(bodies.tree(), kinematic=bodies.coordinates, segments=segments), ["clavicle", "left_hand", "right_hand"]


def drummer(all_pairs: bool = True) -> tuple[System, list[str]]:
    """Two flexible legs with a pelvis (a loop of 6 rows), two arms with flexible forearms: 68 modal coordinates, 13 motors."""
    bodies = Bodies()
    bodies.add("ground", "", (0.0, 0.0, 0.0), mass=1.0)
    bodies.add("pelvis", "ground", (0.0, 0.1, 0.25), mass=1.0, size=0.08)
    leg = make_rod(7, length=0.25, radius=0.009, tip=1.5, all_pairs=all_pairs)
    segments = [Flexible("left_leg", leg, Place("ground", (0.0, 0.1, 0.0)), ("pelvis",))]
    bodies.add("hip", "ground", (0.0, -0.1, 0.25), mass=0.2, size=0.05)
    segments.append(Flexible("right_leg", leg, Place("ground", (0.0, -0.1, 0.0)), ("hip",)))
    at, where = "pelvis", (0.0, -0.1, 0.05)
    for name, axis in (("waist_turn", (0, 0, 1)), ("waist_bend", (0, 1, 0)), ("waist_lean", (1, 0, 0))):
        bodies.add(name, at, where, 1, axis, 0.2, 0.05)
        at, where = name, (0.0, 0.0, 0.02)
    bodies.add("neck_turn", at, (0.0, 0.0, 0.25), 1, (0, 0, 1), 0.1, 0.05)
    bodies.add("neck_nod", "neck_turn", (0.0, 0.0, 0.02), 1, (0, 1, 0), 0.2, 0.06)
    forearm = make_rod(7, length=0.2, radius=0.004, tip=0.08, all_pairs=all_pairs)
    for side, y in (("left", 0.12), ("right", -0.12)):
        last, where = at, (0.0, y, 0.2)
        for name, axis in (("swing", (0, 1, 0)), ("spread", (1, 0, 0)), ("twist", (0, 0, 1)), ("elbow", (0, 1, 0))):
            bodies.add(f"{side}_{name}", last, where, 1, axis, 0.06, 0.03)
            last, where = f"{side}_{name}", (0.0, 0.0, 0.0 if name != "twist" else -0.15)
        bodies.add(f"{side}_hand", last, (0.0, 0.0, 0.2), mass=0.08)
        segments.append(Flexible(f"{side}_forearm", forearm, last, (f"{side}_hand",)))
    rows = [
        PointToPoint(Place("pelvis", (0.0, -0.2, 0.0)), "hip", "xyz", "joined"),
        SquareDirections("pelvis", (1.0, 0.0, 0.0), "hip", (0.0, 1.0, 0.0), name="square_z"),
        SquareDirections("pelvis", (0.0, 1.0, 0.0), "hip", (0.0, 0.0, 1.0), name="square_x"),
        SquareDirections("pelvis", (0.0, 0.0, 1.0), "hip", (1.0, 0.0, 0.0), name="square_y"),
    ]
    system = build_system(bodies.tree(), kinematic=bodies.coordinates, segments=segments, constraints=rows)
    return system, ["pelvis", "left_hand", "right_hand", "neck_nod"]
