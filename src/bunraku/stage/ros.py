"""JSON in the shape of ROS's trajectory_msgs/JointTrajectory, with velocities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.motion import Performance
from bunraku.stage.channels import need_kinds, table, thinned
from bunraku.stage.json_export import as_json

__all__ = ["central_velocities", "export_ros"]

Array = NDArray[np.float64]


def export_ros(
    performance: Performance,
    *,
    rate: float | None = None,
    accelerations: bool = False,
    stop: bool = True,
    frame_id: str = "",
) -> bytes:
    """``header``, ``joint_names`` and ``points``: positions, velocities, accelerations, effort (empty), time_from_start.

    Velocities are central differences, v_k = (x_{k+1} - x_{k-1}) / 2h, one-sided at the ends: the mean of the two steps
    around the sample, and therefore within any velocity limit that the steps keep. Integrated by trapezoids they give the
    positions back up to a quarter of the second difference, (x_{k+1} - 2 x_k + x_{k-1}) / 4, exactly. ``stop`` (the default)
    makes the last velocity zero, which joint_trajectory_controller demands. ``accelerations`` adds second differences, zero at
    the ends. ``rate`` [Hz] thins the points; it must divide the motor rate.
    """
    channels = need_kinds(performance, ("position", "length"), "ros")
    found, values = thinned(*table(channels, "ros"), rate)
    velocities = central_velocities(values, found)
    if stop:
        velocities[-1] = 0.0
    bends: Array = np.zeros_like(values)
    if len(values) > 2:
        bends[1:-1] = np.diff(values, n=2, axis=0) * found**2
    points: list[dict[str, Any]] = []
    for k in range(len(values)):
        nanoseconds = round(k * 1_000_000_000 / found)
        points.append(
            {
                "positions": values[k].tolist(),
                "velocities": velocities[k].tolist(),
                "accelerations": bends[k].tolist() if accelerations else [],
                "effort": [],
                "time_from_start": {"sec": nanoseconds // 1_000_000_000, "nanosec": nanoseconds % 1_000_000_000},
            }
        )
    header = {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": frame_id}
    return as_json({"header": header, "joint_names": [channel.name for channel in channels], "points": points})


def central_velocities(values: Array, rate: float) -> Array:
    """Central differences of samples (n, k) at ``rate`` [Hz], one-sided at the ends; zero for a single sample."""
    velocities: Array = np.zeros_like(values)
    if len(values) > 1:
        steps = np.diff(values, axis=0) * rate
        velocities[0], velocities[-1] = steps[0], steps[-1]
        velocities[1:-1] = 0.5 * (steps[1:] + steps[:-1])
    return velocities
