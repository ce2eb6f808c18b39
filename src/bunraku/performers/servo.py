"""Servos do what is planned: position channels, and the motion of the whole body that is planned."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.measures.prediction import predicted_motion
from bunraku.mechanics.servos.commands import commands_of
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Channel, JointCurves
from bunraku.performers.performer import Uncertified


def play_servos(character: Character, wish: JointCurves | None, positions: JointCurves) -> Uncertified:
    """``positions`` planned for driven coordinates, what their motors are sent, and the ``wish`` for the same ones.

    Servos of stated gains are sent what makes them hold the planned poses against gravity and the losses of their joints; all
    others, and those of characters whose parts bend, are sent the plan.
    """
    tree = compile_tree(character)
    motion = predicted_motion(character, positions, tree)
    sent = commands_of(character, motion, tree=tree)
    kinds = {axis.name: axis.kind for axis in character.axes}
    channels = []
    for j, name in enumerate(positions.names):
        unit = "rad" if kinds[name] == "hinge" else "m"
        values: Array = sent[:, character.driven.index(name)] if name not in character.wheel_axles else positions.values[:, j]
        channels.append(Channel(name, "position", unit, positions.rate, np.asarray(values)))
    return Uncertified(channels=tuple(channels), wish=wish, motion=motion)
