"""A C++ header for Arduino: 16-bit integers in program memory, one array a channel, with the scale that gives units back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.motion import Channel, Performance
from bunraku.stage.c_text import array_lines, float_text, identifier, plain
from bunraku.stage.channels import need_kinds, table, thinned
from bunraku.stage.manifest import as_line, manifest
from bunraku.stage.servos import calibrated, calibrations

LARGEST = 32_767


def export_arduino(
    performance: Performance,
    *,
    servos: Mapping[str, Any] | None = None,
    resolution: float = 1e-4,
    rate: float | None = None,
) -> bytes:
    """The header. ``value(channel, frame)`` = OFFSET + SCALE * ``raw(channel, frame)`` in rad or m.

    Without ``servos``, raw is the value over ``resolution``, rounded, off by at most half of it (1e-4: a tenth of a milliradian,
    up to 3.2767 rad). With ``servos`` (`ServoCalibration`, or its fields, by channel name) raw is the servo's position, ready
    to be sent.
    ``rate`` [Hz] thins the frames; it must divide the motor rate. Torques and velocities are refused: servos take positions.
    """
    channels = need_kinds(performance, ("position", "length"), "arduino")
    sent_rate, values = thinned(*table(channels, "arduino"), rate)
    if not 1e-9 <= resolution <= 1.0:
        raise BadInput(f"a resolution of {resolution} cannot be used; give one between 1e-9 and 1")
    offsets, scales, rows = [], [], []
    calibration = calibrations(channels, servos) if servos is not None else None
    for j, channel in enumerate(channels):
        if calibration is not None:
            servo = calibration[j]
            rows.append(calibrated(channel, values[:, j], servo, sent_rate))
            scales.append(1.0 / servo.per_radian)
            offsets.append(-servo.at_zero / servo.per_radian)
        else:
            rows.append(_scaled(channel, values[:, j], resolution))
            scales.append(resolution)
            offsets.append(0.0)
    lines = [(-offset / scale, 1.0 / scale) for offset, scale in zip(offsets, scales, strict=True)]
    if calibration is not None:
        lines = [(servo.at_zero, servo.per_radian) for servo in calibration]
    said = as_line(manifest(sent_rate, channels, lines=lines))
    return _text(performance, channels, sent_rate, rows, offsets, scales, said).encode()


def _scaled(channel: Channel, values: NDArray[np.float64], resolution: float) -> NDArray[np.int64]:
    raw: NDArray[np.int64] = np.rint(values / resolution).astype(np.int64)
    if np.abs(raw).max(initial=0) > LARGEST:
        need = float(np.abs(values).max()) / LARGEST
        raise BadInput(
            f"channel {channel.name!r} reaches {float(np.abs(values).max()):g} {channel.unit}, beyond 16 bits at a resolution of "
            f"{resolution:g}; use one of at least {need:.2g}"
        )
    return raw


def _text(
    performance: Performance,
    channels: tuple[Channel, ...],
    rate: float,
    rows: list[NDArray[np.int64]],
    offsets: list[float],
    scales: list[float],
    said: str,
) -> str:
    taken: set[str] = set()
    space = identifier("bunraku", performance.clip_name, taken)
    names = [identifier("channel", channel.name, taken) for channel in channels]
    frames, bytes_needed = len(rows[0]), 2 * sum(len(row) for row in rows)
    listed = "\n".join(f"//   {j}  {plain(c.name)}: {c.kind} [{c.unit}]" for j, c in enumerate(channels))
    lists = [array_lines(row.tolist()) for row in rows]
    arrays = "\n".join(f"const int16_t {name}[FRAMES] PROGMEM = {{\n{one}\n}};" for name, one in zip(names, lists, strict=True))
    title = f"{plain(performance.clip_name)}, performed by {plain(performance.character.name)}"
    return f"""\
// {title}: {len(channels)} channels, {frames} frames at {rate:g} Hz
// ({bytes_needed} bytes of program memory; AVR boards address arrays of up to 32767 bytes, 16383 frames).
// Channels:
{listed}
// {said}
// value = OFFSET[channel] + SCALE[channel] * raw, in the unit above; frame k belongs to time k / RATE_HZ.
#ifndef {space.upper()}_H
#define {space.upper()}_H

#include <stdint.h>
#include <avr/pgmspace.h>

namespace {space} {{

const uint16_t CHANNELS = {len(channels)};
const uint32_t FRAMES = {frames};
const float RATE_HZ = {float_text(rate)};
const char* const NAMES[CHANNELS] = {{{", ".join(f'"{plain(c.name)}"' for c in channels)}}};
const float OFFSET[CHANNELS] = {{{", ".join(map(float_text, offsets))}}};
const float SCALE[CHANNELS] = {{{", ".join(map(float_text, scales))}}};

{arrays}

const int16_t* const DATA[CHANNELS] = {{{", ".join(names)}}};

// The integer stored for a channel and frame.
inline int16_t raw(uint16_t channel, uint32_t frame) {{
    return (int16_t)pgm_read_word(DATA[channel] + frame);
}}

// The value of a channel at a frame, in its unit.
inline float value(uint16_t channel, uint32_t frame) {{
    return OFFSET[channel] + SCALE[channel] * raw(channel, frame);
}}

}}  // namespace {space}

#endif
"""
