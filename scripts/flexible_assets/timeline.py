"""A timeline of poses: what an animator sets, coordinate by coordinate, in degrees."""

from __future__ import annotations

from typing import Any

import yaml

SOURCE = "made by this project (scripts/make_flexible_assets.py)"


class Timeline:
    """Keys of coordinates over time from a pose at the start, and the marks of what happens."""

    def __init__(self, name: str, duration: float, start: dict[str, float], interpolation: str = "monotone") -> None:
        self.name, self.duration, self.interpolation = name, duration, interpolation
        self.keys: dict[str, list[list[float]]] = {coordinate: [[0.0, value]] for coordinate, value in start.items()}
        self.start = dict(start)
        self.marks: list[dict[str, Any]] = []
        self.emphasis: list[dict[str, Any]] = []

    def at(self, time: float, **values: float) -> None:
        """Key the named coordinates at ``time`` [s] with values in degrees."""
        for coordinate, value in values.items():
            keys = self.keys[coordinate]
            if time < keys[-1][0] + 0.005:
                raise ValueError(f"{self.name}: {coordinate} is keyed at {time:g} s, after {keys[-1][0]:g} s")
            keys.append([round(time, 3), round(value, 2)])

    def hold(self, time: float, *coordinates: str) -> None:
        """Key the named coordinates at ``time`` with the values they had last."""
        for coordinate in coordinates:
            self.at(time, **{coordinate: self.keys[coordinate][-1][1]})

    def last(self, coordinate: str) -> float:
        """The value of a coordinate's last key."""
        return self.keys[coordinate][-1][1]

    def home(self, time: float) -> None:
        """Bring everything home by ``time`` and keep it there."""
        for coordinate, value in self.start.items():
            self.at(time, **{coordinate: value})
            self.at(self.duration, **{coordinate: value})

    def mark(self, text: str, start: float, end: float, stroke: float | None = None) -> None:
        """Note what happens from ``start`` to ``end``, and when it strikes."""
        entry: dict[str, Any] = {"text": text, "start_s": round(start, 3), "end_s": round(end, 3)}
        if stroke is not None:
            entry["stroke_s"] = round(stroke, 3)
        self.marks.append(entry)

    def written(self, comment: str, rate: int = 100) -> str:
        """The clip file."""
        lines = [f"# {line}" for line in comment.splitlines()]
        lines += ["bunraku: clip/1", f"name: {self.name}", f"rate_hz: {rate}", "joints:"]
        lines += [f"  interpolation: {self.interpolation}", f"  duration_s: {self.duration:g}", "  keys_deg:"]
        for coordinate, keys in self.keys.items():
            row = ", ".join(f"[{time:g}, {value:g}]" for time, value in keys)
            lines.append(f"    {coordinate}: [{row}]")
        text = "\n".join(lines) + "\n"
        if self.marks:
            ordered = sorted(self.marks, key=lambda entry: entry.get("stroke_s", entry["start_s"]))
            text += yaml.safe_dump({"phrases": ordered}, sort_keys=False, width=140)
        if self.emphasis:
            text += yaml.safe_dump({"emphasis": self.emphasis}, sort_keys=False, width=140)
        return text + f'source: "{SOURCE}"\n'
