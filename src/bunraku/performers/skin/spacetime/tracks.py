"""What a plan is drawn to: curves of the centre of mass, of the soles and of the coordinates; and those that a gait implies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.mechanics.centroidal.kinematics import center_of_mass, contact_points
from bunraku.mechanics.centroidal.model import CentroidalModel

GOES = (0.1, 0.75)
"""Shares of a swing between which a foot goes forward: up before, straight down after, so that soft soles do not scuff."""


@dataclass(frozen=True)
class Tracks:
    """Curves at the T samples of a plan, NaN where free, None where not tracked at all.

    ``com`` (T, 3), ``feet`` (T, n_e, 3) centres of the soles [m] in the world; the heights of soles in the air are kept exactly.
    ``joints`` (T, nq): coordinates to follow, those of the base first.
    """

    com: Array | None = None
    feet: Array | None = None
    joints: Array | None = None

    def checked(self, model: CentroidalModel, samples: int) -> Tracks:
        """The same as float64 arrays, or BadInput where a shape is wrong."""
        shapes = {"com": (samples, 3), "feet": (samples, model.n_tips, 3), "joints": (samples, model.nq)}
        tracks = {}
        for name, shape in shapes.items():
            given = getattr(self, name)
            if given is None:
                continue
            tracks[name] = np.array(given, dtype=np.float64)
            if tracks[name].shape != shape or np.isinf(tracks[name]).any():
                raise BadInput(f"the track of {name} has shape {tracks[name].shape}; {shape} fits this plan (NaN where free)")
        return Tracks(**tracks)


NO_TRACKS = Tracks()


def gait_tracks(
    model: CentroidalModel, contacts: Indices, heights: Array, periodic: bool, distance: tuple[float, float], turn: float
) -> Tracks:
    """The curves of an even walk: the body goes on an arc, and a foot stands where it is at home under the body in mid-stance.

    ``contacts`` and ``heights`` (T, n_e); ``distance`` (x, y) [m] and ``turn`` [rad] per cycle or from start to end. A motion that
    happens once starts and ends at home and goes on between the first lift-off and the last touch-down.
    """
    T, n_e = contacts.shape
    places, com = contact_points(model, model.home), center_of_mass(model, model.home)
    progress = _progress(contacts, periodic)
    feet = np.zeros((T, n_e, 3))
    feet[:, :, 2] = heights * (1 - contacts)
    for j in range(n_e):
        feet[:, j, :2] = _foot(contacts[:, j], progress, periodic, places[j, :2], (*distance, turn))
    track = np.array([[*_carried(com[:2], (*distance, turn), p), com[2]] for p in progress])
    return Tracks(com=track, feet=feet)


def _progress(contacts: Indices, periodic: bool) -> Array:
    """How much of the way (T,) is gone at each sample."""
    T = len(contacts)
    if periodic:
        return np.arange(T) / T
    flying = np.flatnonzero((contacts == 0).any(axis=1))
    if len(flying) == 0:
        return np.zeros(T)
    first, last = flying[0] - 1, flying[-1] + 1
    return np.clip((np.arange(T) - first) / (last - first), 0.0, 1.0)


def _foot(stands: Indices, progress: Array, periodic: bool, place: Array, way: tuple[float, float, float]) -> Array:
    """Places (T, 2) of one sole: fixed in each stance, carried over smoothly in each swing."""
    T = len(stands)
    places = np.empty((T, 2))
    if stands.all():
        places[:] = _carried(place, way, 0.0)
        return places
    flags, p = (np.tile(stands, 3), np.concatenate([progress - 1, progress, progress + 1])) if periodic else (stands, progress)
    holds = np.full((len(flags), 2), np.nan)
    edges = np.flatnonzero(np.diff(flags)) + 1
    for span in np.split(np.arange(len(flags)), edges):
        if flags[span[0]]:
            at = 0.5 * (p[span[0]] + p[span[-1]])
            if not periodic:
                at = 0.0 if span[0] == 0 else 1.0 if span[-1] == len(flags) - 1 else at
            holds[span] = _carried(place, way, at)
    for span in np.split(np.arange(len(flags)), edges):
        if not flags[span[0]]:
            before, after = span[0] - 1, span[-1] + 1
            if before < 0 or after >= len(flags):
                continue
            u = np.clip(((span - before) / (after - before) - GOES[0]) / (GOES[1] - GOES[0]), 0.0, 1.0)
            u = u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
            holds[span] = holds[before] + u[:, None] * (holds[after] - holds[before])
    places[:] = holds[T : 2 * T] if periodic else holds
    return places


def _carried(place: Array, way: tuple[float, float, float], share: float) -> Array:
    """A place (2,) carried along the arc that ends at (x, y) turned by the third number: by the share ``share`` of it."""
    x, y, turn = way
    half = 0.5 * turn
    c = half / np.tan(half) if abs(half) > 1e-9 else 1.0
    u = np.array([c * x + half * y, -half * x + c * y])  # of the twist (u, turn) whose exponential is the whole way
    angle = share * turn
    s1 = np.sin(angle) / turn if abs(turn) > 1e-9 else share
    c1 = (1.0 - np.cos(angle)) / turn if abs(turn) > 1e-9 else 0.5 * share * angle
    gone = np.array([s1 * u[0] - c1 * u[1], c1 * u[0] + s1 * u[1]])
    cosine, sine = np.cos(angle), np.sin(angle)
    return gone + np.array([cosine * place[0] - sine * place[1], sine * place[0] + cosine * place[1]])


def headings(model: CentroidalModel, tracks: Tracks, samples: int) -> Array:
    """Where the body would stand over its feet: x, y [m], yaw [rad] (T, 3), of the turn that best takes home's soles to the track.

    Without a track of feet the place of the base's coordinates, or of the track of the centre of mass; else home.
    """
    course = np.zeros((samples, 3))
    home = contact_points(model, model.home)[:, :2]
    feet = None if tracks.feet is None else tracks.feet[:, :, :2]
    if feet is not None and np.isfinite(feet).all():
        middle, mean = feet.mean(axis=1), home.mean(axis=0)
        a, b = home - mean, feet - middle[:, None]
        yaw = np.unwrap(np.arctan2((a[:, 0] * b[:, :, 1] - a[:, 1] * b[:, :, 0]).sum(axis=1), (a * b).sum(axis=(1, 2))))
        c, s = np.cos(yaw), np.sin(yaw)
        course[:, 0] = middle[:, 0] - c * mean[0] + s * mean[1]
        course[:, 1] = middle[:, 1] - s * mean[0] - c * mean[1]
        course[:, 2] = yaw
    elif tracks.joints is not None and np.isfinite(tracks.joints[:, [0, 1, 3]]).all():
        course[:] = tracks.joints[:, [0, 1, 3]] - model.home[[0, 1, 3]]
    elif tracks.com is not None and np.isfinite(tracks.com[:, :2]).all():
        course[:, :2] = tracks.com[:, :2] - center_of_mass(model, model.home)[:2]
    return course
