"""Stating the speech problem: the wish at the motor rate, where it starts, what stays still, which limits bind.

Variables: x_k, the position of every motor-driven coordinate at sample k. Wish: r_k. Everything the solvers need is here, as a
value that can be printed, tested and saved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character, Motor
from bunraku.errors import BadInput
from bunraku.motion import Clip, JointCurves, MotionLimits
from bunraku.rhythm.intensity import with_intensity
from bunraku.rhythm.resample import resampled
from bunraku.rhythm.smoothing import smoothed

MAX_SAMPLES = 2_000_000
LEAST_RATE = 10.0

MEANT = 10.0
"""Nobody means a place this far [rad] beyond a range: it is in degrees."""


@dataclass(frozen=True)
class SpeechProblem:
    """The wish ``wish.values`` (n, k) of all driven coordinates at the motor rate, and what restricts it.

    ``aim`` is the wish as a solver aims at it: without what is too fast, where it was asked to be smoothed. The result is judged
    by the wish.
    """

    character: Character
    wish: JointCurves
    aim: JointCurves
    limits: MotionLimits
    moving: NDArray[np.bool_]
    notes: tuple[str, ...]

    @property
    def start(self) -> Array:
        """Where the performance starts (k,): the first aim, brought into the range."""
        first = self.aim.values[:1]
        lower, upper = self.limits.bounds(first)
        return np.clip(first, lower, upper)[0]


def softened_character(character: Character, acceleration: float, jerk: float, torque_share: float = 0.0) -> Character:
    """The character with these limits stated for every motor that states none; zero leaves a limit unstated.

    With a ``torque_share`` no acceleration limit is above share tau_0 / I, tau_0 the motor's stall torque and I the inertia that it
    moves at home: more it could not give, and what is left over holds against gravity and other joints.
    The performance carries this character, so that its certificate and its verification hold it to the limits that were chosen.
    """
    chosen = {"acceleration": acceleration or None, "jerk": jerk or None}
    most = torque_accelerations(character, torque_share) if torque_share else {}

    def completed(motor: Motor) -> Motor:
        limits = {name: getattr(motor, name) or value for name, value in chosen.items()}
        if motor.name in most:
            limits["acceleration"] = min(limits["acceleration"] or np.inf, most[motor.name])
        stated: Motor = motor.changed(**limits)
        return stated

    changed: Character = character.changed(motors=tuple(completed(motor) for motor in character.motors))
    return changed


def torque_accelerations(character: Character, share: float) -> dict[str, float]:
    """What a ``share`` of its stall torque accelerates each motor to [rad/s^2], by name; without those that state no torque."""
    from bunraku.mechanics.servos.gains import moved_inertia
    from bunraku.mechanics.tree import compile_tree

    inertia = moved_inertia(character, compile_tree(character))
    return {
        motor.name: share * motor.torque_fraction * motor.stall_torque / float(moved)
        for motor, moved in zip(character.motors, inertia, strict=True)
        if motor.stall_torque is not None
    }


def motor_rate(character: Character) -> float:
    """The rate [Hz] at which the motors take commands: that of the fastest."""
    if not character.motors:
        raise BadInput(f"the character {character.name!r} has no motor; nothing can be performed. Add motors to its file")
    return max(motor.rate for motor in character.motors)


def home_in_range(character: Character, limits: MotionLimits) -> Array:
    """The home value of each coordinate of ``limits`` (k,), brought into its range."""
    home = np.array([[character.home.get(name, 0.0) for name in limits.names]])
    lower, upper = limits.bounds(home)
    return np.clip(home, lower, upper)[0]


def state_problem(
    character: Character, clip: Clip, *, rate: float = 0.0, intensity: float = 1.0, held: tuple[str, ...] = (), smooth: float = 0.0
) -> SpeechProblem:
    """Bring the clip's joint curves to the motor rate, and home to what has no curve or is held.

    ``rate`` 0 means the motors' own rate; ``intensity`` scales the gestures about the home pose; ``smooth`` [Hz], if not 0,
    takes out of the aim what is faster; the wish keeps it.
    """
    curves = clip.need_joints("the speech performer")
    limits = MotionLimits.of(character)
    followers = {coupling.follower: coupling.driver for coupling in character.couplings}
    notes = []
    for name in curves.names:
        if name in followers and name not in limits.names:
            notes.append(f"{name} follows {followers[name]}: its own curve is not used")
        elif name not in limits.names:
            raise BadInput(
                f"the clip {clip.name!r} moves {name!r}, which no motor of {character.name!r} drives; "
                f"its motors drive {', '.join(limits.names[:10])}{', ...' if len(limits.names) > 10 else ''}"
            )
    still = set(character.expand((*clip.held, *held)))
    rate = rate or motor_rate(character)
    if rate < LEAST_RATE:
        raise BadInput(f"at {rate:g} Hz a motion is not seen, so nothing could be proved about it; give at least {LEAST_RATE:g} Hz")
    if curves.duration * rate > MAX_SAMPLES:
        raise BadInput(
            f"{curves.duration:.0f} s at {rate:g} Hz are more than {MAX_SAMPLES} samples; cut the clip or lower the rate"
        )
    home = home_in_range(character, limits)
    outside = [name for j, name in enumerate(limits.names) if home[j] != character.home.get(name, 0.0)]
    used = [name for name in curves.names if name in limits.names and name not in still]
    moving = np.array([name in used for name in limits.names])
    dropped = sorted(set(curves.names) & still)
    if dropped:
        notes.append(f"held at home: {', '.join(dropped)}")
    brought = [name for name in outside if name not in used]
    if brought:
        notes.append(f"home is outside the range, so kept at its end: {', '.join(brought)}")
    if not used:
        raise BadInput(f"the clip {clip.name!r} moves nothing that is not held; take something off `held`")
    curves = resampled(JointCurves(tuple(used), curves.rate, curves.values[:, [curves.names.index(n) for n in used]]), rate)
    at, part = [limits.names.index(name) for name in used], limits.chosen(tuple(used))

    def completed(given: JointCurves) -> JointCurves:
        scaled = with_intensity(given, intensity, home[at], lower=part.lower, upper=part.upper)
        values = np.tile(home, (len(scaled.values), 1))
        values[:, at] = scaled.values
        return JointCurves(limits.names, rate, values)

    wish = aim = completed(curves)
    notes += _degrees_meant(wish, part, {axis.name for axis in character.axes if axis.kind == "slide"})
    if smooth:
        aim = completed(smoothed(curves, smooth))
        notes.append(f"what is faster than {smooth:g} Hz is left out of the wish; the result is judged by the whole wish")
    return SpeechProblem(character, wish, aim, limits, moving, tuple(notes))


def _degrees_meant(wish: JointCurves, limits: MotionLimits, slides: set[str]) -> list[str]:
    """A question where a joint is to turn far beyond its range: many give degrees where radians are read."""
    beyond = []
    for name, lower, upper in zip(limits.names, limits.lower, limits.upper, strict=True):
        values = wish.column(name)
        if name not in slides and max(values.max() - upper, lower - values.min()) > MEANT:
            beyond.append(name)
    if not beyond:
        return []
    most = np.abs(wish.column(beyond[0])).max()
    return [f"{', '.join(beyond)} far beyond the range ({most:.3g} rad): are these degrees? Then name the column {beyond[0]}_deg"]


def solving_order(limits: MotionLimits) -> list[int]:
    """Columns in an order in which a coordinate comes after every one that its range depends on."""
    waits: dict[int, set[int]] = {j: set() for j in range(len(limits.names))}
    for index, on, _ in limits.dependents:
        waits[index].add(on)
    order: list[int] = []
    while waits:
        ready = [j for j, needs in waits.items() if not needs - set(order)]
        if not ready:
            names = ", ".join(limits.names[j] for j in waits)
            raise BadInput(f"the ranges of {names} depend on each other in a circle; break the circle")
        order += ready
        waits = {j: needs for j, needs in waits.items() if j not in ready}
    return order
