"""Channels as a table: ``time_s`` and one column a channel, numbers that read back exactly."""

from __future__ import annotations

from bunraku.formats.csv_curves import csv_bytes
from bunraku.motion import JointCurves, Performance
from bunraku.stage.channels import need_kinds, table


def export_csv(performance: Performance) -> bytes:
    """CSV with the units in comment lines above the header.

    A position or length column has the channel's name (the file also loads as a clip), any other ``name.kind``.
    """
    channels = need_kinds(performance, ("position", "velocity", "torque", "length"), "csv")
    rate, values = table(channels, "csv")
    names = tuple(c.name if c.kind in ("position", "length") else f"{c.name}.{c.kind}" for c in channels)
    title = " ".join(f"{performance.character.name}: {performance.clip_name}".split())
    notes = [f"# {title}", *(f"# {name}: {c.kind} [{c.unit}]" for name, c in zip(names, channels, strict=True))]
    return ("\n".join(notes) + "\n").encode() + csv_bytes(JointCurves(names, rate, values))
