"""Before anything moves: a performance is looked at from the first sample to the last, and refused when it cannot be played."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion import Performance
from bunraku.motion.limits import differences
from bunraku.stage.player.outputs import DeviceOutputs, commands

TOLERANCE = 0.01
"""How far a file may be beyond a limit, in parts of it (of a range: of its width), before it is refused; less is cut off."""


def checked_values(performance: Performance, outputs: DeviceOutputs) -> tuple[float, Array]:
    """Motor rate [Hz] and values (n, k) for all outputs; those without channel hold NaN: they stay where they are.

    Refused with one line: a number that is none, a place outside the range, a jump beyond the velocity limit, a change of speed
    beyond the acceleration limit.
    """
    channels = {channel.name: channel for channel in commands(performance)}
    if not channels:
        raise BadInput(f"the performance of {performance.clip_name!r} has no channel; there is nothing to play")
    rate = next(iter(channels.values())).rate
    n = len(next(iter(channels.values())).values)
    table = np.full((n, len(outputs.names)), np.nan)
    limits = outputs.limits
    for j, name in enumerate(outputs.names):
        channel = channels.get(name)
        if channel is None:
            continue
        values = np.asarray(channel.values, dtype=np.float64)
        if channel.rate != rate or values.shape != (n,):
            raise BadInput(f"channel {name!r} has {len(values)} samples at {channel.rate:g} Hz, others {n} at {rate:g} Hz")
        if (k := _first(~np.isfinite(values))) is not None:
            raise BadInput(f"channel {name!r} holds {values[k]} at {k / rate:.3f} s; only finite numbers can be played")
        slack = TOLERANCE * (limits.upper[j] - limits.lower[j])
        beyond = np.maximum(values - limits.upper[j], limits.lower[j] - values)
        if (k := _first(beyond > slack)) is not None:
            raise BadInput(
                f"channel {name!r} is sent {values[k]:.4g} {outputs.units[j]} at {k / rate:.3f} s, outside the "
                f"[{limits.lower[j]:.4g}, {limits.upper[j]:.4g}] of character and servo; perform it again or correct the device"
            )
        speed = np.abs(differences(values, rate, 1))
        if (k := _first(speed > (1.0 + TOLERANCE) * limits.velocity[j])) is not None:
            raise BadInput(
                f"channel {name!r} jumps by {values[k + 1] - values[k]:.4g} {outputs.units[j]} at {k / rate:.3f} s: "
                f"{speed[k]:.4g} a second, beyond the limit of {limits.velocity[j]:.4g}; perform it again within the limits"
            )
        pull = np.abs(differences(values, rate, 2))
        if (k := _first(pull > (1.0 + TOLERANCE) * limits.acceleration[j])) is not None:
            raise BadInput(
                f"channel {name!r} changes its speed at {(k + 1) / rate:.3f} s: {pull[k]:.4g} {outputs.units[j]}/s^2, beyond the "
                f"limit of {limits.acceleration[j]:.4g}; perform it again within the limits"
            )
        table[:, j] = values
    _check_tied(performance, outputs, table, rate)
    return rate, table


def ahead_of_plan(performance: Performance, outputs: DeviceOutputs) -> Array:
    """What commands hold beyond the planned places (n, k), at the motor rate: the feed-forward of servos, zero for all others."""
    ahead = np.zeros((len(performance.motion.values), len(outputs.names)))
    for channel in () if performance.dynamic else performance.channels:
        if channel.kind == "position" and channel.name in performance.motion.names:
            ahead[:, outputs.names.index(channel.name)] = channel.values - performance.motion.column(channel.name)
    return ahead


def _check_tied(performance: Performance, outputs: DeviceOutputs, table: Array, rate: float) -> None:
    """Ranges that depend on another value, speed and acceleration of carriages in the plane and their distances."""
    limits = outputs.limits
    filled = np.where(np.isnan(table), outputs.home, table)
    slack = TOLERANCE * (limits.upper - limits.lower)
    for a, b in limits.planar:
        for order, most, unit in ((1, limits.velocity[a], "m/s"), (2, limits.acceleration[a], "m/s^2")):
            size = np.hypot(*differences(filled[:, [a, b]], rate, order).T)
            if (size > (1.0 + TOLERANCE) * most).any():
                raise BadInput(
                    f"the carriage of {outputs.names[a]!r} goes {size.max():.4g} {unit} at {size.argmax() / rate:.3f} s, beyond "
                    f"its {most:.4g} {unit}; perform it again within the limits"
                )
    if len(limits.tied) and (k := _first((limits.excess(filled) > slack).any(axis=1))) is not None:
        names = ", ".join(outputs.names[i] for i in limits.tied[:6])
        raise BadInput(
            f"the performance of {performance.clip_name!r} leaves a dependent range or distance among {names} at "
            f"{k / rate:.3f} s; perform it again within the limits"
        )


def _first(true: ArrayLike) -> int | None:
    """Where it is first true."""
    return int(np.argmax(true)) if np.any(true) else None
