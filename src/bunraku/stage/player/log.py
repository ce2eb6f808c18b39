"""The log of a show as a table: what was sent, when it was meant for, and how late it left."""

from __future__ import annotations

import csv
from io import StringIO

import numpy as np

from bunraku.motion import Performance
from bunraku.stage.devices.device import Device
from bunraku.stage.player.outputs import DeviceOutputs
from bunraku.stage.player.record import Tape


def log_bytes(tape: Tape, outputs: DeviceOutputs) -> bytes:
    """CSV: ``time_s``, then each output as sent, its unit at the end of its name (``nod_rad``), and ``lateness_ms``.

    As sent is the value that the count stands for, so it differs from the performance by up to half a count, and reads back to
    the same count.
    """
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    units = [unit.replace("/", "_") for unit in outputs.units]
    names = [f"{name}_{unit}" for name, unit in zip(outputs.names, units, strict=True)]
    table.writerow(["time_s", *names, "lateness_ms"])
    rows = zip(tape.times.tolist(), outputs.values(tape.counts).tolist(), (1e3 * tape.late).tolist(), strict=True)
    table.writerows([f"{time:.6f}", *map(repr, values), f"{late:.3f}"] for time, values, late in rows)
    return text.getvalue().encode()


def commands_off(result: Performance, device: Device, tape: Tape, began: float) -> float:
    """How far [counts] any command was from the sample that belongs to its moment, from when the sound ``began`` [s] on."""
    k = np.round((tape.times - began) * result.rate).astype(np.int64)
    during = (k >= 0) & (k < len(result.motion.values))
    worst = 0.0 if during.any() else float("inf")
    for j, (name, servo) in enumerate(device.servos.items()):
        zero, slope = servo.line("rad", name)
        due = zero + slope * result.commands([name])[k[during], 0]
        worst = max(worst, float(np.abs(tape.counts[during, j] - due).max(initial=0.0)))
    return worst
