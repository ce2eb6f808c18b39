"""How much the stage and the robot may differ from what is stated, and worlds drawn from that.

Every world is drawn from a seed of its own, which depends on the seed and its number alone: the same worlds come for any number of
trials and threads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character, free_base
from bunraku.errors import BadInput
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.mechanics.servos.gains import mass_and_height
from bunraku.mechanics.tree import compile_tree
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.worlds import UNSTATED_GAINS, World

MOST_TRIALS = 100_000


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How far each factor may be from what is stated; where it scales, with the robot.

    ``gain``: stated stiffness times or over at most 1 plus this; unstated ones as in the fixed worlds. ``delay``: share of the
    stated delay, more or less, of each motor; where none is stated at most ``unstated_delay`` [s]. ``friction``: how much less than
    usual, as a share. ``mass``: standard deviation of each body's, as a share. ``backlash``: at most this times the stated play;
    where none is stated at most ``unstated_backlash`` [rad]. ``start``: standard deviation [rad] of joints and lean at the start.
    ``jitter``: how late a command may be, as a share of their period. ``push``: largest change of velocity, in sqrt(g h), h the
    height of the centre of mass: what a tenth of a fall from that height gives. ``noise``: of encoders, in the resolution of the
    motor, or in ``unstated_resolution`` [rad].
    """

    gain: float = 0.1
    delay: float = 0.5
    unstated_delay: float = 0.005
    friction: float = 0.25
    mass: float = 0.05
    backlash: float = 2.0
    unstated_backlash: float = 0.0044
    start: float = 0.005
    jitter: float = 0.2
    push: float = 0.05
    noise: float = 0.5
    unstated_resolution: float = 0.0015


FACTORS = ("stiffness", "delay", "friction", "mass", "gear play", "start pose", "jitter", "push", "encoder noise")
"""What is drawn, in words."""


@dataclass(frozen=True)
class DrawnWorld:
    """One world, its number, and how large each of its `FACTORS` is; stiffness and friction as factors, the others as sizes."""

    number: int
    world: World
    factors: dict[str, float]


def draw_worlds(
    character: Character, count: int, seed: int, *, duration: float, rate: float, friction: float | None,
    spread: Spread | None = None,
) -> tuple[DrawnWorld, ...]:  # fmt: skip
    """Worlds drawn with a seed: commands at ``rate`` [Hz] for ``duration`` [s], at most ``friction`` (None: that of each foot)."""
    if not 0 < count <= MOST_TRIALS:
        raise BadInput(f"{count} trials cannot be drawn; give 1 to {MOST_TRIALS}")
    spread = Spread() if spread is None else spread
    bank = ServoBank.of(character)
    mass, height = mass_and_height(character, compile_tree(character))
    free = free_base(character) is not None and mass > 0.0
    most_push = spread.push * float(np.sqrt(GRAVITY * height)) if free else 0.0
    grip = friction if friction is not None else max((foot.friction for foot in character.feet), default=0.0)
    seeds = np.random.SeedSequence(seed).spawn(count)
    return tuple(
        _drawn(i, np.random.default_rng(one), character, bank, spread, (duration, rate, grip, most_push))
        for i, one in enumerate(seeds)
    )


def most_play(bank: ServoBank, spread: Spread) -> Array:
    """The most gear play (k,) that is drawn for each motor."""
    return np.where(bank.backlash > 0.0, spread.backlash * bank.backlash, spread.unstated_backlash)


def _drawn(
    number: int, random: np.random.Generator, character: Character, bank: ServoBank, spread: Spread,
    of_all: tuple[float, float, float, float],
) -> DrawnWorld:  # fmt: skip
    """One world; everything is drawn whether it is used or not, so that one factor's size does not change the others."""
    duration, rate, grip, most_push = of_all
    k, wheel = len(bank.names), bank.wheel
    stiff = random.uniform(-1.0, 1.0)
    gain = np.where(bank.gains.stated, 1.0 + spread.gain, max(UNSTATED_GAINS)) ** stiff
    delay = np.where(bank.delay > 0.0, bank.delay * (1.0 + spread.delay * random.uniform(-1.0, 1.0, k)),
                     spread.unstated_delay * random.uniform(0.0, 1.0, k))  # fmt: skip
    slip = random.uniform(0.0, 1.0)
    masses = {body.name: max(0.1, 1.0 + spread.mass * random.standard_normal()) for body in character.bodies}
    play = most_play(bank, spread) * random.uniform(0.0, 1.0)
    away, joints, lean = random.uniform(0.0, 1.0), random.standard_normal(k), random.standard_normal(2)
    late, noise = random.uniform(0.0, 1.0, 2)
    push, way, when = random.uniform(0.0, 1.0), random.uniform(0.0, 2.0 * np.pi), random.uniform(0.1, 0.9)
    resolution = float(np.max(bank.resolution, initial=0.0)) or spread.unstated_resolution
    world = World(
        gain,
        grip * (1.0 - spread.friction * slip) if grip > 0.0 else None,
        rate,
        f"trial {number}",
        delay,
        play,
        {name: factor for name, factor in masses.items() if any(b.name == name and b.mass > 0.0 for b in character.bodies)},
        np.where(wheel, 0.0, spread.start * away * joints),
        spread.start * away * lean,
        spread.jitter * late / rate,
        (when * duration, push * most_push * np.cos(way), push * most_push * np.sin(way)) if most_push > 0.0 else None,
        spread.noise * noise * resolution,
        int(random.integers(2**31)),
    )
    sizes = {
        "stiffness": float(np.exp(np.mean(np.log(gain)))) if k else 1.0,
        "delay": float(np.ptp(delay)) if k else 0.0,
        "friction": world.friction or grip,
        "mass": float(np.sqrt(np.mean((np.array(list(masses.values())) - 1.0) ** 2))),
        "gear play": float(play.mean()) if k else 0.0,
        "start pose": away * spread.start,
        "jitter": world.jitter,
        "push": push * most_push,
        "encoder noise": world.noise,
    }
    return DrawnWorld(number, world, sizes)
