"""An Arduino sketch in one file: the pulses of every servo in program memory, and a player that sends them in time with Servo.h.

Frame k is due k / rate after the start, to the microsecond, however long the loop takes: a loop that comes late plays the newest
frame that is due. The clock may run over. The first pulse is set before a servo is attached, so that it starts there.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from bunraku.errors import BadInput
from bunraku.motion import Channel, Performance
from bunraku.stage.c_text import array_lines, identifier, plain
from bunraku.stage.channels import need_kinds, table, thinned
from bunraku.stage.manifest import as_line, manifest
from bunraku.stage.servos import ServoCalibration, calibrated, calibrations, servos_of

SERVO_H = {"position_min": 544, "position_max": 2400}
"""What a servo is when nothing is said: the pulses [us] that Servo.h uses for 0 and 180 degrees."""

LOWEST_US, HIGHEST_US = 36, 2908
"""Servo.h keeps its limits in one byte, in steps of 4 us from 544 and 2400: it reaches no farther than this."""

_SKETCH = """\
// {title}: {count} servos, {frames} frames at {rate:g} Hz, {seconds:.2f} s
// ({bytes} bytes of program memory; AVR boards read the first 64 kB. An Uno drives 12 servos with Servo.h, a Mega 48.)
// Servos, pin by pin:
{listed}
// {said}
// Pulses are in microseconds. Lift the robot off the ground, or hold it, when you play this for the first time.
#include <Arduino.h>
#include <Servo.h>

const uint8_t SERVOS = {count};
const uint32_t FRAMES = {frames};
const uint8_t PINS[SERVOS] = {{{pins}}};
const int LOWEST_US = {lowest};   // the limits that Servo.h keeps
const int HIGHEST_US = {highest};
const uint32_t SETTLE_MS = {settle};  // in the first pose before the start
const bool REPEAT = {repeat};
// A frame lasts STEP_US + REST / PARTS microseconds.
const uint32_t STEP_US = {step}UL;
const uint32_t REST = {rest}UL;
const uint32_t PARTS = {parts}UL;

{arrays}

const uint16_t* const PULSES[SERVOS] = {{{names}}};

Servo servos[SERVOS];
uint32_t frame = 0;     // the next one
uint32_t due_us = 0;    // when
uint32_t part = 0;      // and by how many PARTS of a microsecond later
bool playing = false;

void send(uint32_t k) {{
    for (uint8_t i = 0; i < SERVOS; ++i) servos[i].writeMicroseconds(pgm_read_word(PULSES[i] + k));
}}

void step() {{
    ++frame;
    due_us += STEP_US;
    part += REST;
    if (part >= PARTS) {{
        part -= PARTS;
        ++due_us;
    }}
}}

void setup() {{
    send(0);
    for (uint8_t i = 0; i < SERVOS; ++i) servos[i].attach(PINS[i], LOWEST_US, HIGHEST_US);
    send(0);
    delay(SETTLE_MS);
    due_us = micros();
    playing = true;
}}

void loop() {{
    if (!playing || (int32_t)(micros() - due_us) < 0) return;
    uint32_t newest = frame;
    step();
    while (frame < FRAMES && (int32_t)(micros() - due_us) >= 0) {{
        newest = frame;
        step();
    }}
    send(newest);
    if (frame >= FRAMES) {{
        frame = 0;
        playing = REPEAT;
    }}
}}
"""


def export_arduino_sketch(
    performance: Performance,
    *,
    servos: Mapping[str, Any] | None = None,
    rate: float | None = None,
    first_pin: int = 2,
    settle_s: float = 1.0,
    repeat: bool = False,
) -> bytes:
    """The sketch. A servo's id is its pin; without one, pins go up from ``first_pin`` by the channel's place.

    ``servos``: calibrations by channel name, positions being pulses in microseconds (544 to 2400 over 180 degrees unless said
    otherwise). ``rate`` [Hz] thins the frames; it must divide the motor rate; servos take 50 pulses a second. ``settle_s``: the
    time in the first pose before the start. ``repeat``: over and over. Only angles can be sent; other channels are refused by name.
    """
    channels = need_kinds(performance, ("position",), "arduino-sketch")
    if not (0 <= first_pin <= 255 and 0.0 <= settle_s <= 3600.0):
        raise BadInput(f"a first pin of {first_pin} and {settle_s:g} s to settle cannot be used; give 0 to 255 and 0 to 3600")
    sent_rate, values = thinned(*table(channels, "arduino-sketch"), rate)
    given = _given(channels, servos, first_pin)
    rows = [calibrated(channel, values[:, j], given[j], sent_rate).tolist() for j, channel in enumerate(channels)]
    taken: set[str] = set()
    names = [identifier("pulses", channel.name, taken) for channel in channels]
    period = 1_000_000 / Fraction(sent_rate).limit_denominator(10_000)
    lowest, highest = _limits(channels, given)
    pins = [one.id or 0 for one in given]
    return _SKETCH.format(
        title=f"{plain(performance.clip_name)}, performed by {plain(performance.character.name)}",
        count=len(channels),
        frames=len(values),
        rate=sent_rate,
        seconds=len(values) / sent_rate,
        bytes=2 * len(values) * len(channels),
        said=as_line(manifest(sent_rate, channels, pins, [(one.at_zero, one.per_radian) for one in given])),
        listed="\n".join(f"//   {pin}  {plain(c.name)}" for pin, c in zip(pins, channels, strict=True)),
        pins=", ".join(map(str, pins)),
        lowest=lowest,
        highest=highest,
        settle=round(1000.0 * settle_s),
        repeat=str(bool(repeat)).lower(),
        step=period.numerator // period.denominator,
        rest=period.numerator % period.denominator,
        parts=period.denominator,
        arrays="\n".join(
            f"const uint16_t {name}[FRAMES] PROGMEM = {{\n{array_lines(row)}\n}};" for name, row in zip(names, rows, strict=True)
        ),
        names=", ".join(names),
    ).encode()


def _given(channels: tuple[Channel, ...], servos: Mapping[str, Any] | None, first_pin: int) -> tuple[ServoCalibration, ...]:
    """The calibration of each servo; what is not said is as Servo.h has it, the pin by place."""
    servos = servos_of(servos)
    if servos is not None and not isinstance(servos, Mapping):
        return calibrations(channels, servos)
    named: dict[str, Any] = dict(servos or {})
    for place, channel in enumerate(channels):
        one = named.get(channel.name)
        if isinstance(one, ServoCalibration):
            named[channel.name] = one if one.id is not None else one.changed(id=first_pin + place)
        elif one is None or isinstance(one, Mapping):
            named[channel.name] = {**SERVO_H, "id": first_pin + place, **(one or {})}
    return calibrations(channels, named)


def _limits(channels: tuple[Channel, ...], given: tuple[ServoCalibration, ...]) -> tuple[int, int]:
    """Limits for Servo.h that hold all pulses, in its steps of 4 us."""
    for channel, one in zip(channels, given, strict=True):
        if one.position_min < LOWEST_US or one.position_max > HIGHEST_US:
            raise BadInput(
                f"the servo of {channel.name!r} takes pulses of {one.position_min} to {one.position_max}; Servo.h makes those "
                f"of {LOWEST_US} to {HIGHEST_US} us: correct position_min and position_max"
            )
    low, high = min(one.position_min for one in given), max(one.position_max for one in given)
    return min(544, low - (low - 544) % 4), max(2400, high + (2400 - high) % 4)
