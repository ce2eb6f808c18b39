"""The channels of servos that are to follow a plan, and whether what they are sent keeps the limits of their motors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.measures.limits import limit_checks
from bunraku.mechanics.servos.feedforward import servo_commands
from bunraku.mechanics.servos.gains import servo_gains
from bunraku.mechanics.servos.torques import gesture_torques
from bunraku.mechanics.tree import Tree, compile_tree
from bunraku.motion import Channel, Check, JointCurves, MotionLimits


def plain(character: Character) -> bool:
    """Whether every motor is sent just what it should do: parts bend and motors are moved as sent, or nobody states any gains."""
    return bool(character.flexibles) or not any(
        motor.stiffness is not None or motor.speed_gain is not None for motor in character.motors
    )


def commands_of(
    character: Character, motion: JointCurves, torques: Array | None = None, speeds: Array | None = None, tree: Tree | None = None
) -> Array:
    """What the k motors of a character are sent (n, k) along the ``motion`` of its coordinates: places, of wheels speeds.

    ``torques`` (n, k) of the plan, where None those of a slow gesture; ``speeds`` (n, k) of the coordinates, where None the
    differences of the motion.
    """
    angle = motion.chosen(character.driven).values
    rates = (np.gradient(angle, 1.0 / motion.rate, axis=0) if len(angle) > 1 else 0.0 * angle) if speeds is None else speeds
    tree = tree or compile_tree(character)
    gains = servo_gains(character, tree)
    if plain(character):
        return np.asarray(np.where(gains.wheel, rates, angle))
    planned = gesture_torques(character, motion, tree) if torques is None else torques
    return servo_commands(gains, angle, rates, planned, motion.rate, MotionLimits.of(character))


def command_checks(character: Character, motion: JointCurves, channels: Sequence[Channel]) -> tuple[Check, ...]:
    """By how much commands exceed the limits of their motors: as checks of the plan, "of the commands" in their names.

    None where every motor is sent the plan itself.
    """
    limits, driven = MotionLimits.of(character), set(character.driven)
    places = [channel for channel in channels if channel.kind == "position" and channel.name in driven]
    if all(np.array_equal(channel.values, motion.column(channel.name)) for channel in places):
        return ()
    sent = limits.completed(tuple(c.name for c in places), np.column_stack([channel.values for channel in places]))
    slides = {axis.name for axis in character.axes if axis.kind == "slide"}
    judged = limit_checks(limits, sent, motion.rate, slides)[0]
    return tuple(replace(check, name=f"{check.name} of the commands") for check in judged if check.state in ("holds", "broken"))
