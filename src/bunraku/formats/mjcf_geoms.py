"""Geoms of an MJCF body: shapes, and the mass and inertia they give a body that states none."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Shape
from bunraku.formats.mjcf_context import Context
from bunraku.formats.places import located
from bunraku.formats.poses import as_pose
from bunraku.formats.solids import solid_inertia, volume
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
    wanted = _SOLIDS[kind]
    if fromto is not None and kind != "sphere":
        along = fromto[3:] - fromto[:3]
        half = float(np.linalg.norm(along)) / 2
        if half < 1e-12:
            raise element.wrong("the two ends of fromto are the same point; move one")
        if len(sizes) < 1:
            raise element.wrong("a geom with fromto needs its radius as size")
        size = (float(sizes[0]),) * (wanted - 1) + (half,)
        X: Rigid = (least_turn((0.0, 0.0, 1.0), along), (fromto[:3] + fromto[3:]) / 2)
    else:
        if len(sizes) < wanted:
            raise element.wrong(f"a {kind} takes {wanted} numbers as size, {len(sizes)} arrived")
        size = tuple(float(value) for value in sizes[:wanted])
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
