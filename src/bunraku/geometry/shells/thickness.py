"""The thickness of a layer: distances between its surfaces, and longer offsets where they fall short of it."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.geometry.shells.closest import ClosestPoints

SAMPLES = np.array([[1, 1, 1], [1.5, 1.5, 0], [0, 1.5, 1.5], [1.5, 0, 1.5], [3, 0, 0], [0, 3, 0], [0, 0, 3]]) / 3.0
"""Barycentric coordinates (7, 3) of the samples of a face: centre, middles of edges, corners."""


def thickness_ratios(outer: Array, inner: Array, faces: Indices, thickness: Array) -> tuple[Array, Array]:
    """Distance between the surfaces / nominal thickness at samples of both (2, F, 7), and the samples (2, F, 7, 3) [m].

    Samples are the centres, middles of edges and corners of the faces of each surface, measured to the whole of the other one.
    """
    nominal = thickness[faces] @ SAMPLES.T
    ratios, places = [], []
    for surface, other in ((outer, inner), (inner, outer)):
        points = np.einsum("wk,fkd->fwd", SAMPLES, surface[faces])
        unique, back = np.unique(np.round(points.reshape(-1, 3), 9), axis=0, return_inverse=True)
        distance = ClosestPoints(other, faces).query(unique)[0][np.asarray(back).ravel()]
        ratios.append(distance.reshape(nominal.shape) / nominal)
        places.append(points)
    return np.stack(ratios), np.stack(places)


def thicken(outer: Array, inner: Array, faces: Indices, thickness: Array, target: float) -> tuple[Array, bool]:
    """Inner vertices, offsets longer by (target + 2 %) / ratio, at most 1.15, at faces below ``target`` of nominal; if any was."""
    ratios, _ = thickness_ratios(outer, inner, faces, thickness)
    least = ratios.min(axis=(0, 2))
    thin = least < target
    factor = np.ones(len(outer))
    np.maximum.at(factor, faces[thin].ravel(), np.repeat(np.minimum((target + 0.02) / np.maximum(least[thin], 0.5), 1.15), 3))
    return outer + factor[:, None] * (inner - outer), bool(thin.any())
