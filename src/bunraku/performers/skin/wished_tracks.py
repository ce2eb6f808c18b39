"""What a clip wishes of a skinned character, as curves at the samples of a plan.

A gait brings the footfalls; its targets of the centre of mass and of soles at times make curves (straight between them); joint
curves of the clip are followed, with the feet and the centre of mass that go with them if they are complete. What the clip leaves
open is that of an even walk with the body upright, heading where it goes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.mechanics.centroidal.model import CentroidalModel, centroidal_model
from bunraku.motion import Clip, Gait
from bunraku.performers.skin.spacetime.state import sample_count, state_spacetime
from bunraku.performers.skin.spacetime.tracks import Tracks, headings


def wished_tracks(character: Character, clip: Clip, gait: Gait, stance: Array | None = None) -> Tracks:
    """The tracks of a plan of ``gait``; ``character`` carries its skin's mass, ``stance`` (nq,) is the pose it stands in.

    Joint curves that say everything, base and all joints, also say where feet and centre of mass are.
    """
    model = centroidal_model(character)
    even = state_spacetime(character, replace(gait, targets=()), stance=stance).tracks
    T = sample_count(character, gait)
    at = np.linspace(0.0, gait.duration, T + 1)[:-1] if gait.periodic else np.linspace(0.0, gait.duration, T)
    com = None if even.com is None else even.com.copy()
    feet = None if even.feet is None else even.feet.copy()
    joints = _joints(model, clip, at)
    if joints is None:
        joints = np.full((T, model.nq), np.nan)
        joints[:, 3:6] = 0.0
        joints[:, 3] = headings(model, even, T)[:, 2]
    elif np.isfinite(joints).all():
        seen = kinematics(model, joints)
        com, feet = seen.com.copy(), seen.contact.copy()
    names = [tip.name for tip in character.end_effectors]
    for what in sorted({target.what for target in gait.targets}):
        curve = _curve(gait, what, at)
        if what == "com" and com is not None:
            com = np.where(np.isfinite(curve), curve, com)
        elif what in names and feet is not None:
            j = names.index(what)
            feet[:, j] = np.where(np.isfinite(curve), curve, feet[:, j])
        else:
            raise BadInput(f"the gait has a target for {what!r}; a skinned character takes com and its soles: {', '.join(names)}")
    return Tracks(com=com, feet=feet, joints=joints)


def _curve(gait: Gait, what: str, at: Array) -> Array:
    """Places (T, 3) through the targets of one thing, NaN where there are none (before the first, after the last, left free)."""
    values = np.full((len(at), 3), np.nan)
    for a in range(3):
        knots = sorted(
            (target.time, place) for target in gait.targets if target.what == what and (place := target.place[a]) is not None
        )
        if knots:
            times, places = np.array(knots).T
            inside = (at >= times[0] - 1e-9) & (at <= times[-1] + 1e-9)
            values[inside, a] = np.interp(at[inside], times, places)
    return values


def _joints(model: CentroidalModel, clip: Clip, at: Array) -> Array | None:
    """The clip's joint curves at times ``at``, in the order of the plan's coordinates; NaN where it says nothing."""
    if clip.joints is None:
        return None
    curves = clip.joints
    values = np.full((len(at), model.nq), np.nan)
    times = np.arange(len(curves.values)) / curves.rate
    for name in curves.names:
        if name not in model.names:
            raise BadInput(
                f"the clip {clip.name!r} moves {name!r}, which the character has not; it has {', '.join(model.names[:8])} ..."
            )
        values[:, model.names.index(name)] = np.interp(at, times, curves.column(name))
    return values
