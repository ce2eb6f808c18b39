"""Bent skins as a performance of two ankles side by side, so that they can be seen in films and in the studio."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Body, Character, Joint, Motor, Pose, Shape
from bunraku.formats.provenance import provenance
from bunraku.motion import Certificate, Channel, JointCurves, Performance, SurfaceMotion
from bunraku.verification.plots.folds import BentSkin

RATE = 50.0
SECONDS = 5.0
"""From the middle to one side, to the other, and back."""
APART = 0.14
"""Of the middles of two ankles [m]."""
INSIDE, BEYOND = 0.4, 0.6
"""Radius of the links over that of the skin; how far they stand out of it, over its length."""
GREY, FOOT = (0.45, 0.47, 0.52, 1.0), (0.16, 0.17, 0.20, 1.0)


def bent_performance(skins: Sequence[BentSkin], reach: float, motor: Motor, certificate: Certificate) -> Performance:
    """Every skin on an ankle of its own, all asked to turn by ``reach`` [rad] to both sides; each goes as far as it was bent.

    The skins stand along z from 0 on and turn about y at half their height, as `mechanics.coupled.tubes.bending` has them. Between
    the angles at which they were computed their surfaces go straight, which makes them thinner by less than can be seen.
    """
    t = np.arange(round(RATE * SECONDS) + 1) / RATE
    ease = 0.5 - 0.5 * np.cos(np.pi * np.clip(t / SECONDS, 0.0, 1.0))
    asked = reach * np.sin(2.0 * np.pi * ease)
    done = [np.clip(asked, skin.angle.min(), skin.angle.max()) for skin in skins]
    names = tuple(skin.name for skin in skins)
    wish = JointCurves(names, RATE, np.column_stack([asked] * len(skins)))
    motion = JointCurves(names, RATE, np.column_stack(done))
    channels = tuple(Channel(name, "position", "rad", RATE, values) for name, values in zip(names, done, strict=True))
    who = _ankles(skins, motor)
    origin = provenance("", {"character": who}, {"reach": reach})
    return Performance(who, "fold", channels, wish, motion, certificate, origin, surface=_surface(skins, done))


def _place(k: int, count: int) -> Array:
    """Where the k-th of several ankles stands (3,) [m]."""
    return np.array([0.0, APART * (0.5 * (count - 1) - k), 0.0])


def _surface(skins: Sequence[BentSkin], angles: Sequence[Array]) -> SurfaceMotion:
    """All skins as one surface over time."""
    points, faces, before = [], [], 0
    for k, (skin, turned) in enumerate(zip(skins, angles, strict=True)):
        used, triangles = np.unique(skin.triangles, return_inverse=True)
        high = np.clip(np.searchsorted(skin.angle, turned), 1, len(skin.angle) - 1)
        share = (turned - skin.angle[high - 1]) / (skin.angle[high] - skin.angle[high - 1])
        x = skin.x[:, used]
        points.append((1.0 - share)[:, None, None] * x[high - 1] + share[:, None, None] * x[high] + _place(k, len(skins)))
        faces.append(triangles.reshape(-1, 3) + before)
        before += len(used)
    return SurfaceMotion(np.vstack(faces).astype(np.int32), RATE, np.concatenate(points, axis=1).astype(np.float32))


def _ankles(skins: Sequence[BentSkin], motor: Motor) -> Character:
    """A foot and a link that turns on it, for every skin, with its motor."""
    bodies, joints, motors = [], [], []
    for k, skin in enumerate(skins):
        rest = skin.x[int(np.argmin(np.abs(skin.angle)))]
        high, radius = float(rest[:, 2].max()), float(np.abs(rest[:, 0]).max())
        thin, out = INSIDE * radius, BEYOND * high
        foot = Shape(kind="cylinder", size=(1.1 * radius, 0.002), pose=Pose(position=(0.0, 0.0, -0.002)), color=FOOT)
        shin = Shape(kind="cylinder", size=(thin, 0.2 * high), pose=Pose(position=(0.0, 0.0, 0.2 * high)), color=GREY)
        link = Shape(
            kind="cylinder", size=(thin, 0.5 * (0.4 * high + out)), pose=Pose(position=(0.0, 0.0, 0.3 * high + 0.5 * out)),
            color=GREY,
        )  # fmt: skip
        x, y, z = _place(k, len(skins))
        stand = Pose(position=(x, y, z))
        bodies += [Body(name=f"{skin.name} foot", mass=0.1, shapes=(foot, shin)), Body(name=skin.name, mass=0.1, shapes=(link,))]
        joints += [
            Joint(name=f"{skin.name} stands", kind="fixed", parent="world", child=f"{skin.name} foot", pose=stand),
            Joint(
                name=skin.name, kind="hinge", parent=f"{skin.name} foot", child=skin.name, axis=(0.0, 1.0, 0.0),
                pose=Pose(position=(0.0, 0.0, 0.5 * high)),
            ),
        ]  # fmt: skip
        motors.append(motor.changed(name=skin.name, coordinate=skin.name))
    return Character(name="ankles", bodies=tuple(bodies), joints=tuple(joints), motors=tuple(motors))
