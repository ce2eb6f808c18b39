"""What several exporters ask of the channels of a performance: of the right kind, at one rate, equally long."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.motion import Channel, Performance


def need_kinds(performance: Performance, kinds: tuple[str, ...], form: str) -> tuple[Channel, ...]:
    """The channels of kinds that the format can express; another is refused by name.

    The torque of a motor that is told a place or speed is the proof, not the command: it is left out where a format has no torques.
    """
    if not performance.channels:
        raise BadInput(f"the performance of {performance.clip_name!r} has no channel; there is nothing to export")
    told = {channel.name for channel in performance.channels if channel.kind in ("position", "velocity")}
    proof = () if "torque" in kinds or performance.dynamic else ("torque",)
    sent = tuple(channel for channel in performance.channels if channel.kind not in proof or channel.name not in told)
    for channel in sent:
        if channel.kind not in kinds:
            raise BadInput(
                f"channel {channel.name!r} is a {channel.kind}, which the {form} format cannot express; "
                f"it takes {' and '.join(kinds)}: export csv or json"
            )
    return sent


def table(channels: tuple[Channel, ...], form: str) -> tuple[float, NDArray[np.float64]]:
    """Rate [Hz] and values (samples, channels) of channels that share rate and length."""
    first = channels[0]
    for channel in channels:
        if channel.rate != first.rate or len(channel.values) != len(first.values):
            raise BadInput(
                f"channel {channel.name!r} has {len(channel.values)} samples at {channel.rate:g} Hz and {first.name!r} "
                f"{len(first.values)} at {first.rate:g} Hz; the {form} format holds one rate: export json"
            )
    return first.rate, np.column_stack([channel.values for channel in channels])


def stride(rate: float, wanted: float | None) -> int:
    """Of how many samples one is taken when a rate that divides the motor rate is wanted; 1 when none is."""
    step = 1.0 if wanted is None else rate / wanted if wanted > 0.0 else 0.0
    if step < 1.0 or abs(step - round(step)) > 1e-9:
        raise BadInput(
            f"a rate of {wanted:g} Hz does not divide the motor rate of {rate:g} Hz; perform the clip at that rate instead"
        )
    return round(step)


def thinned(rate: float, values: NDArray[np.float64], wanted: float | None) -> tuple[float, NDArray[np.float64]]:
    """Every k-th sample, when a lower rate that divides the motor rate is wanted; no value is made up."""
    step = stride(rate, wanted)
    return rate if wanted is None else wanted, values[::step]
