"""Reading back a ROS JointTrajectory as JSON: what each joint is sent, and the rate that its times tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from bunraku.errors import BadInput
from bunraku.formats.places import located
from bunraku.stage.readers.exported import Exported, Reading, channel_of, number_of, rate_of
from bunraku.stage.readers.tables import json_object

NANOSECOND = 0.51e-9
"""Times are right to half a nanosecond [s]."""


def read_ros(data: bytes, *, file: str, reading: Reading) -> Exported:
    """Positions of what is sent a place or a length, velocities of what is sent a speed, efforts where there is nothing else.

    Which is which the message does not say: the performance does, or the character. Its other fields follow from these.
    """
    content = json_object(data, file=file)
    names, points = content.get("joint_names"), content.get("points")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not isinstance(points, list):
        raise BadInput("is no JointTrajectory: 'joint_names' and 'points' should be lists", file=file)
    with located(file):
        if not points or not names or len(set(names)) < len(names):
            raise BadInput("holds no point, no joint, or one joint twice")
        times = np.array([_time(point, k) for k, point in enumerate(points)])
        rate = rate_of(times, NANOSECOND, known=reading.channels[0].rate if reading.channels else reading.rate)
        efforts = not any(point.get("positions") or point.get("velocities") for point in points)
        channels = []
        for j, name in enumerate(names):
            kind, unit = reading.kind_of(name, torque=efforts)
            key = "effort" if efforts else "velocities" if kind == "velocity" else "positions"
            channels.append(
                channel_of(name, kind, unit, rate, [_number(point, key, j, len(names), k) for k, point in enumerate(points)])
            )
    return Exported("ros", tuple(channels), rate_error=1e-9)


def _time(point: Any, k: int) -> float:
    stamp = point.get("time_from_start") if isinstance(point, dict) else None
    parts = [stamp.get(key) for key in ("sec", "nanosec")] if isinstance(stamp, dict) else []
    whole = [part for part in parts if type(part) is int and 0 <= part < 2**32]
    if len(whole) != 2:
        raise BadInput(f"points[{k}].time_from_start should have sec and nanosec, whole numbers")
    return whole[0] + 1e-9 * whole[1]


def _number(point: Any, key: str, j: int, count: int, k: int) -> float:
    row = point.get(key)
    if not isinstance(row, list) or len(row) != count:
        raise BadInput(f"points[{k}].{key} should have {count} numbers, one a joint")
    return number_of(row[j], f"points[{k}].{key}[{j}]")
