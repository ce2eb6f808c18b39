"""Geoms of an MJCF body: shapes, and the mass and inertia they give a body that states none."""

from __future__ import annotations

from math import pi

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Shape
from bunraku.formats.mjcf_context import Context
from bunraku.formats.places import located
from bunraku.formats.poses import as_pose
from bunraku.formats.xml_tree import Element, Notes
from bunraku.geometry.poses import Rigid, compose
from bunraku.geometry.rotations import least_turn

_SOLIDS = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}

Geom = tuple[Shape | None, tuple[float, Rigid, Array] | None]


def read_geom(context: Context, element: Element, frame: Rigid, notes: Notes, assets: dict[tuple[str, str], Element]) -> Geom:
    """The shape of a geom (attributes resolved) inside ``frame``, and its share of the mass: (mass, pose, principal moments)."""
    kind = element.get("type", "sphere")
    if kind == "mesh" or "mesh" in element.attributes:
        return _mesh(context, element, frame, notes, assets), None
    if kind not in _SOLIDS:
        notes.add(f"a geom of type {kind[:40]} of a body dropped")
        return None, None
    sizes = element.numbers("size", (1, 3))
    sizes = np.zeros(0) if sizes is None else sizes
    fromto = element.numbers("fromto", 6)
    count = _SOLIDS[kind]
    if fromto is not None and kind != "sphere":
        along = fromto[3:] - fromto[:3]
        half = float(np.linalg.norm(along)) / 2
        if half < 1e-12:
            raise element.wrong("the two ends of fromto are the same point; move one")
        if len(sizes) < 1:
            raise element.wrong("a geom with fromto needs its radius as size")
        size = (float(sizes[0]),) * (count - 1) + (half,)
        X: Rigid = (least_turn((0.0, 0.0, 1.0), along), (fromto[:3] + fromto[3:]) / 2)
    else:
        if len(sizes) < count:
            raise element.wrong(f"a {kind} takes {count} numbers as size, {len(sizes)} arrived")
        size = tuple(float(value) for value in sizes[:count])
        X = context.pose(element)
    X = compose(frame, X)
    if "mass" in element.attributes:
        mass = element.number("mass", 0.0)
    else:
        mass = element.number("density", 1000.0) * volume(kind, size)
    groups = (
        context.compiler["inertiagrouprange"].numbers("inertiagrouprange", 2) if "inertiagrouprange" in context.compiler else None
    )
    counts = groups is None or groups[0] <= element.number("group", 0.0) <= groups[1]
    share = (mass, X, solid_inertia(kind, size, mass)) if mass > 0.0 and counts else None
    touches = element.number("contype", 1.0) != 0.0 or element.number("conaffinity", 1.0) != 0.0
    with located(element.file, element.place):
        return Shape(kind=kind, size=size, pose=as_pose(X), collides=touches, **_color(element, assets)), share


def _mesh(context: Context, element: Element, frame: Rigid, notes: Notes, assets: dict[tuple[str, str], Element]) -> Shape | None:
    notes.add("the mesh of a geom is kept by name only: it neither collides nor adds mass")
    mesh = assets.get(("mesh", element.get("mesh")))
    if mesh is None:
        return None
    resolved = context.resolved(mesh, "")
    scale = resolved.numbers("scale", 3)
    size = (1.0, 1.0, 1.0) if scale is None else (float(scale[0]), float(scale[1]), float(scale[2]))
    pose = as_pose(compose(frame, context.pose(element)))
    file = resolved.get("file") or element.get("mesh")
    return Shape(kind="mesh", size=size, pose=pose, collides=False, file=file, **_color(element, assets))


def _color(element: Element, assets: dict[tuple[str, str], Element]) -> dict[str, tuple[float, float, float, float]]:
    rgba = element.numbers("rgba", 4)
    if rgba is None and ("material", element.get("material")) in assets:
        rgba = assets["material", element.get("material")].numbers("rgba", 4)
    return {} if rgba is None else {"color": (float(rgba[0]), float(rgba[1]), float(rgba[2]), float(rgba[3]))}


def read_inertial(context: Context, element: Element) -> tuple[float, Array, Array]:
    """Mass, centre of mass (3,) and inertia (3, 3) in body axes of an <inertial>."""
    mass = element.number("mass", 0.0)
    if mass < 0.0:
        raise element.wrong(f"the mass {mass} kg is negative; write a mass of at least 0")
    R, com = context.pose(element)
    full, diagonal = element.numbers("fullinertia", 6), element.numbers("diaginertia", 3)
    if full is not None:
        xx, yy, zz, xy, xz, yz = full
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return mass, com, inertia if np.array_equal(R, np.eye(3)) else R @ inertia @ R.T
    return mass, com, (R * (np.zeros(3) if diagonal is None else diagonal)) @ R.T


def volume(kind: str, size: tuple[float, ...]) -> float:
    """Volume [m³] of a shape; sizes as in `character.Shape`."""
    match kind:
        case "box":
            return 8.0 * size[0] * size[1] * size[2]
        case "sphere":
            return 4.0 / 3.0 * pi * size[0] ** 3
        case "cylinder":
            return 2.0 * pi * size[0] ** 2 * size[1]
        case "capsule":
            return 2.0 * pi * size[0] ** 2 * size[1] + 4.0 / 3.0 * pi * size[0] ** 3
        case "ellipsoid":
            return 4.0 / 3.0 * pi * size[0] * size[1] * size[2]
    return 0.0


def solid_inertia(kind: str, size: tuple[float, ...], mass: float) -> Array:
    """Principal moments (3,) [kg·m²] about the centre of a homogeneous solid of ``mass`` [kg], in the shape's axes.

    A capsule of radius r and half length h is a cylinder and two half spheres, by their volumes; a half sphere's centre of
    mass is 3r/8 from its flat side.
    """
    match kind:
        case "box":
            a, b, c = size
            return mass / 3.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
        case "sphere":
            return np.full(3, 0.4 * mass * size[0] ** 2)
        case "ellipsoid":
            a, b, c = size
            return mass / 5.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
        case "cylinder":
            r, h = size
            across = mass * (r * r / 4.0 + h * h / 3.0)
            return np.array([across, across, mass * r * r / 2.0])
        case "capsule":
            r, h = size
            whole = volume(kind, size)
            tube = mass * volume("cylinder", size) / whole if whole else 0.0
            ends = mass - tube
            across = tube * (r * r / 4.0 + h * h / 3.0) + ends * (0.4 * r * r + h * h + 0.75 * h * r)
            return np.array([across, across, tube * r * r / 2.0 + ends * 0.4 * r * r])
    return np.zeros(3)


def combined(parts: list[tuple[float, Rigid, Array]]) -> tuple[float, Array, Array]:
    """Total mass, centre of mass (3,) and inertia (3, 3) about it, of parts (mass, pose, principal moments in that pose).

    I = sum_i R_i diag(J_i) R_iᵀ + m_i (|d_i|² 1 - d_i d_iᵀ), d_i from the common centre to the part's.
    """
    mass = sum(part[0] for part in parts)
    if mass <= 0.0:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    com = np.sum([m * X[1] for m, X, _ in parts], axis=0) / mass
    inertia = np.zeros((3, 3))
    for m, (R, p), moments in parts:
        d = p - com
        inertia += (R * moments) @ R.T + m * (float(d @ d) * np.eye(3) - np.outer(d, d))
    return float(mass), com, inertia
