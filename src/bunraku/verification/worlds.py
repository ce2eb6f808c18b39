"""Worlds in which a performance is replayed: how strong its servos are, what it stands on, what disturbs it.

The fixed worlds are the same for everybody: servos as they are stated, softer and stiffer, a floor with less friction, commands
half as often. Trials draw many more (`trials`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bunraku.arrays import Array
from bunraku.verification.servos.bank import ServoBank

STATED_GAINS = (0.8, 1.0, 1.25)
"""Stiffnesses of servos that somebody states, in these: facts, but temperature, voltage and rounding change them."""

UNSTATED_GAINS = (0.5, 1.0, 2.0)
"""Those of servos whose gains nobody states, in their default (`mechanics.servos.gains`)."""

FRICTIONS = (0.6, 0.8)
"""Frictions of the floor; a motion that is planned on more than the largest is replayed on just that much."""


@dataclass(frozen=True)
class World:
    """One way the stage and the robot may be; the default is as everything is stated, and still.

    ``gain``: factors (k,) on the stiffness of the servos; ``friction`` of the floor (None: that of each foot); ``rate`` [Hz] of
    the commands. ``delay`` and ``backlash`` (k,): those of the motors, None for what they state; ``masses``: factors by body;
    ``joints`` (k,) and ``lean`` (2,) [rad]: how far the character starts from where it should; ``jitter`` (n,) [s]: how much later
    each command is sent; ``push``: a time [s] and a change of the whole character's velocity (2,) [m/s]; ``noise`` [rad]: standard
    deviation of what the servos' encoders say; ``seed`` of what is drawn at every tick.
    """

    gain: float | Array = 1.0
    friction: float | None = None
    rate: float | None = None
    name: str = ""
    delay: Array | None = field(default=None, repr=False)
    backlash: Array | None = field(default=None, repr=False)
    masses: dict[str, float] = field(default_factory=dict, repr=False)
    joints: Array | None = field(default=None, repr=False)
    lean: Array | None = field(default=None, repr=False)
    jitter: float = 0.0
    push: tuple[float, float, float] | None = None
    noise: float = 0.0
    seed: int = 0

    @property
    def described(self) -> str:
        """The world in words."""
        if self.name:
            return self.name
        factors = list(dict.fromkeys(np.round(np.atleast_1d(self.gain), 6).tolist()))
        times = " or ".join(f"{factor:g}" for factor in factors[:3])
        stiff = "servos of their own stiffness" if factors == [1.0] else f"servos {times} times as stiff"
        mu = "" if self.friction is None else f", friction {self.friction:g}"
        return f"{stiff}{mu}" + ("" if self.rate is None else f", commands at {self.rate:g} Hz")


def gain_levels(bank: ServoBank) -> tuple[Array, Array, Array]:
    """Factors (k,) on the stiffness of softer servos, of those as they are, and of stiffer ones."""
    pairs = zip(STATED_GAINS, UNSTATED_GAINS, strict=True)
    softer, same, stiffer = (np.where(bank.gains.stated, stated, unstated) for stated, unstated in pairs)
    return softer, same, stiffer


def fixed_worlds(bank: ServoBank, rate: float, planned_friction: float | None = None) -> tuple[World, ...]:
    """The usual world first, commands at ``rate`` [Hz] and most friction; then one change at a time, and the worse together.

    A plan that counts on more friction than the floors have is replayed on exactly that much.
    """
    softer, same, stiffer = gain_levels(bank)
    most, least = max(FRICTIONS), min(FRICTIONS)
    if planned_friction is not None and planned_friction > most + 1e-9:
        most = least = planned_friction
    changes = [(same, most, rate), (softer, most, rate), (stiffer, most, rate), (same, least, rate), (same, most, 0.5 * rate),
               (softer, least, 0.5 * rate), (stiffer, least, 0.5 * rate)]  # fmt: skip
    if most == least:
        del changes[3]
    return tuple(World(*change) for change in changes)


def still_worlds(bank: ServoBank) -> tuple[World, ...]:
    """Every stiffness, the usual first: for what stands where it is put."""
    softer, same, stiffer = gain_levels(bank)
    return tuple(World(gain) for gain in (same, softer, stiffer))
