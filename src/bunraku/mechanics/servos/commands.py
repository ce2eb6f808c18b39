"""The channels of servos that are to follow a plan, and whether what they are sent keeps the limits of their motors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.servos.feedforward import servo_commands
from bunraku.mechanics.servos.gains import servo_gains
from bunraku.mechanics.servos.torques import gesture_torques
from bunraku.mechanics.tree import Tree, compile_tree
from bunraku.motion import Channel, Check, JointCurves, MotionLimits

COMMAND_TOLERANCE = 1e-9
"""Commands keep range and speed when they exceed them by no more than this [rad, m, rad/s, m/s]."""


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
    """By how much commands exceed the range and the speed of their motors; none where every motor is sent the plan itself.

    Ranges that depend on another coordinate are taken where the plan has it.
    """
    limits = MotionLimits.of(character)
    known = [c for c in channels if c.kind in ("position", "velocity") and c.name in limits.names and c.name in motion.names]
    places = [channel for channel in known if channel.kind == "position"]
    if all(np.array_equal(channel.values, motion.column(channel.name)) for channel in places):
        return ()
    names = tuple(channel.name for channel in places)
    lower, upper = limits.bounds(limits.completed(names, motion.chosen(names).values))
    slides = {axis.name for axis in character.axes if axis.kind == "slide"}
    over: dict[bool, dict[str, Array]] = {False: {}, True: {}}
    fast: dict[bool, dict[str, Array]] = {False: {}, True: {}}
    for channel in known:
        j, values, slide = limits.names.index(channel.name), channel.values, channel.name in slides
        speed = values
        if channel.kind == "position":
            over[slide][channel.name] = np.maximum(lower[:, j] - values, values - upper[:, j])
            speed = np.diff(values) * motion.rate
        fast[slide][channel.name] = np.abs(speed) - limits.velocity[j]
    kinds = ((False, "", "rad"), (True, " of slides", "m"))
    return tuple(
        _worst(f"{what} excess of the commands{suffix}", excess[slide], f"{unit}{per}", motion.rate)
        for slide, suffix, unit in kinds
        for what, excess, per in (("range", over, ""), ("velocity", fast, "/s"))
        if excess[slide]
    )


def _worst(name: str, excess: dict[str, Array], unit: str, rate: float) -> Check:
    """The largest excess of several motors as a check that names motor and time."""
    most = {key: float(values.max(initial=0.0)) for key, values in excess.items()}
    worst = max(most, key=lambda key: most[key])
    note = f"{worst} at {int(np.argmax(excess[worst])) / rate:.3f} s" if most[worst] > COMMAND_TOLERANCE else ""
    return Check(name, most[worst], unit, COMMAND_TOLERANCE, note=note)
