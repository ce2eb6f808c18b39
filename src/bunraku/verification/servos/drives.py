"""The servos and what drives them in one world: gains, delays, gear play, commands that come late, encoders that are not exact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.arrays import Array
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.servos.commands import Commands, commanded, drive
from bunraku.verification.worlds import World


def servos_in(bank: ServoBank, world: World) -> ServoBank:
    """The servos of a character as they are in a world."""
    return replace(
        bank.scaled(world.gain),
        delay=bank.delay if world.delay is None else world.delay,
        backlash=bank.backlash if world.backlash is None else world.backlash,
    )


def tick_drives(bank: ServoBank, sent: Commands, world: World, times: Array, *, late: Array | None = None) -> Array:
    """The drive (m, k) of servos that are sent commands in a world, at ``times`` (m,) [s].

    ``late`` None: time counts from when the command of the motor with the least delay takes effect; the others lag by what
    theirs is longer. What an encoder says wrongly, n, is a drive of -kp n, drawn anew for every command.
    """
    commands = sent if world.rate is None else sent.at_rate(world.rate)
    drawn, ticks = np.random.default_rng(world.seed), len(commands.values)
    jitter = np.abs(drawn.normal(0.0, world.jitter, ticks)) if world.jitter > 0.0 else None
    late = bank.delay - bank.delay.min(initial=np.inf) if late is None else late
    out = drive(bank, *commanded(bank, commands, times, late=late, jitter=jitter))
    if world.noise > 0.0:
        wrong = drawn.normal(0.0, world.noise, (ticks, len(bank.names)))
        at = np.clip(np.floor(times * commands.rate + 1e-6).astype(np.int64), 0, ticks - 1)
        out -= bank.gains.stiffness * wrong[at]
    return out
