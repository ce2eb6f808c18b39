"""From a character, its gait and its tracks to a space-time problem: samples, contacts, heights, travel, ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.gait.patterns import contacts, fewest_samples, footfalls, swing_heights
from bunraku.mechanics.centroidal.kinematics import contact_points
from bunraku.mechanics.centroidal.model import CentroidalModel, centroidal_model
from bunraku.motion import Gait
from bunraku.performers.skin.spacetime.effect import NO_EFFECT, SkinEffect
from bunraku.performers.skin.spacetime.problem import SpacetimeProblem
from bunraku.performers.skin.spacetime.tracks import Tracks, gait_tracks
from bunraku.performers.skin.spacetime.weights import WEIGHTS, SpacetimeWeights

COUNTED_FRICTION = 0.7
"""The share of a sole's friction that a plan counts on unless the gait says otherwise."""

STEP = 0.05
"""Longest step [s] of a plan whose gait does not say how many samples it has."""

MOST_SAMPLES = 2000
"""Most samples of a plan."""


def sample_count(character: Character, gait: Gait) -> int:
    """How many samples the plan of a gait has: as it says, else one every `STEP` and enough for its swings."""
    least = fewest_samples(footfalls(character, gait, flight=True))
    ends = 0 if gait.periodic else 1
    count = gait.samples or max(int(np.ceil(gait.duration / STEP - 1e-9)) + ends, 2 * least)
    if not least <= count <= MOST_SAMPLES:
        raise BadInput(f"{count} samples for {gait.duration:g} s of {gait.pattern!r}; give {least} to {MOST_SAMPLES}, or 0")
    return count


def state_spacetime(
    character: Character,
    gait: Gait,
    tracks: Tracks | None = None,
    effect: SkinEffect = NO_EFFECT,
    *,
    weights: SpacetimeWeights | None = None,
    margin: float = 0.0,
    least_force: float = 0.5,
    near: float = 0.1,
    kinematic_only: bool = False,
    stance: NDArray[np.float64] | None = None,
) -> SpacetimeProblem:
    """The problem of a character (its bodies with their shares of skin) that goes as its gait says, drawn to its tracks.

    ``tracks`` None: those of an even walk (`gait_tracks`). Heights in the air are those of the track of feet where it has them,
    else the gait's. ``margin`` [m]: how far the centre of pressure stays inside the support polygon. ``stance``
    (nq,): the pose to stand, begin and end in (`crouched`), home if None; the skin's own rest is home in any case.
    """
    if gait.terrain is not None or gait.symmetric or gait.targets:
        raise BadInput("a plan with a skin is for flat ground, whole cycles and tracks; drop terrain, symmetry and targets")
    other = [tip.name for tip in character.end_effectors if tip.kind != "sole"]
    if other:
        raise BadInput(f"{character.name!r} stands on {other[0]!r}, which is no sole; the space-time step is for soles")
    model = centroidal_model(character, locked=gait.locked)
    rest_of_skin = model.home
    if stance is not None:
        model = replace(model, home=_stance(model, stance))
    T = sample_count(character, gait)
    pattern = footfalls(character, gait, flight=True)
    touching, heights = contacts(pattern, T, flight=True), swing_heights(pattern, T, gait.swing_height)
    travel = tuple(np.nan if part is None else float(part) for part in (*(gait.distance or (None, None)), gait.turn))
    if tracks is None:
        x, y, turn = np.nan_to_num(np.array(travel))
        tracks = gait_tracks(model, touching, heights, gait.periodic, (float(x), float(y)), float(turn))
    radius = np.array([tip.radius - margin for tip in character.end_effectors])
    return SpacetimeProblem(
        model,
        touching,
        _heights(tracks, touching, heights),
        gait.duration / (T if gait.periodic else T - 1),
        gait.periodic,
        (travel[0], travel[1], travel[2]),
        radius,
        np.full(model.n_tips, gait.friction) if gait.friction is not None else COUNTED_FRICTION * model.friction,
        tracks,
        effect,
        weights or WEIGHTS,
        least_force,
        near,
        (gait.start == "rest", gait.end == "rest"),
        not kinematic_only,
        rest_of_skin,
    )


def _stance(model: CentroidalModel, stance: NDArray[np.float64]) -> NDArray[np.float64]:
    """The pose as an array, refused where a sole does not stand on the ground in it."""
    q = np.array(stance, dtype=np.float64)
    if q.shape != (model.nq,) or not np.isfinite(q).all():
        raise BadInput(f"a stance of shape {q.shape} arrived; ({model.nq},) finite coordinates are needed")
    off = float(np.abs(contact_points(model, q)[:, 2]).max())
    if off > 1e-6:
        raise BadInput(f"in the stance given a sole is {off:.2g} m off the ground; give one that stands on it (crouched makes one)")
    return q


def _heights(tracks: Tracks, touching: NDArray[np.int64], heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Heights (T, n_e) of the soles in the air: the track's where it has them."""
    if tracks.feet is None or np.shape(tracks.feet)[:2] != touching.shape:
        return heights
    wished = np.asarray(tracks.feet)[:, :, 2]
    return np.where((touching == 0) & np.isfinite(wished), np.nan_to_num(wished), heights)
