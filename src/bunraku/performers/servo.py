"""Servos go where they are sent: position channels, and the motion of the whole body that they make."""

from __future__ import annotations

from bunraku.character import Character
from bunraku.mechanics.measures.prediction import predicted_motion
from bunraku.motion import Channel, JointCurves
from bunraku.performers.performer import Uncertified


def play_servos(character: Character, wish: JointCurves, positions: JointCurves) -> Uncertified:
    """``positions`` of driven coordinates, sent to their motors, beside the ``wish`` for the same ones at the same times."""
    kinds = {axis.name: axis.kind for axis in character.axes}
    channels = tuple(
        Channel(name, "position", "rad" if kinds[name] == "hinge" else "m", positions.rate, positions.values[:, j])
        for j, name in enumerate(positions.names)
    )
    return Uncertified(channels=channels, wish=wish, motion=predicted_motion(character, positions))
