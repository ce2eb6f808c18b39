"""JSON in the shape of ROS's trajectory_msgs/JointTrajectory, with velocities."""

from __future__ import annotations

from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion import Channel, Performance
from bunraku.stage.channels import joint_states, need_kinds
from bunraku.stage.json_export import as_json


def export_ros(
    performance: Performance,
    *,
    rate: float | None = None,
    accelerations: bool = False,
    stop: bool = True,
    frame_id: str = "",
) -> bytes:
    """``header``, ``joint_names`` and ``points``: positions, velocities, accelerations, effort, time_from_start.

    Velocities are central differences, v_k = (x_{k+1} - x_{k-1}) / 2h, one-sided at the ends: the mean of the two steps
    around the sample, and therefore within any velocity limit that the steps keep. Integrated by trapezoids they give the
    positions back up to a quarter of the second difference, (x_{k+1} - 2 x_k + x_{k-1}) / 4, exactly. ``stop`` (the default)
    makes the last velocity zero, which joint_trajectory_controller demands. ``accelerations`` adds second differences, zero at
    the ends. ``rate`` [Hz] thins the points; it must divide the motor rate.

    What is sent a velocity (a driven wheel) has it as it is, its place from the motion. Where there are torques and nothing else
    they are the effort; beside places and speeds they are the proof and left out. A field that no joint has is empty.
    """
    channels = _commands(performance)
    states = joint_states(performance, channels, "ros", rate)
    known = {c.name: c for c in channels}
    positions = _whole(states.positions, states.names, known, "position")
    velocities = _whole(states.velocities, states.names, known, "velocity")
    efforts = _whole(states.efforts, states.names, known, "effort")
    if stop and velocities is not None:
        moves = [known[name].kind != "velocity" for name in states.names]
        velocities[-1, moves] = 0.0
    bends = _second_differences(positions, states.rate) if accelerations else None
    points: list[dict[str, Any]] = []
    for k in range(len(states.positions)):
        nanoseconds = round(k * 1_000_000_000 / states.rate)
        points.append(
            {
                "positions": _row(positions, k),
                "velocities": _row(velocities, k),
                "accelerations": _row(bends, k),
                "effort": _row(efforts, k),
                "time_from_start": {"sec": nanoseconds // 1_000_000_000, "nanosec": nanoseconds % 1_000_000_000},
            }
        )
    header = {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": frame_id}
    return as_json({"header": header, "joint_names": list(states.names), "points": points})


def _commands(performance: Performance) -> tuple[Channel, ...]:
    """What a controller is sent: torques where there is nothing else, otherwise places and speeds; torques are then the proof."""
    if performance.channels and all(channel.kind == "torque" for channel in performance.channels):
        return performance.channels
    return need_kinds(performance, ("position", "velocity", "length"), "ros")


def _whole(values: Array, names: tuple[str, ...], known: dict[str, Channel], what: str) -> Array | None:
    """The values when every joint has them, None when none has; a message has all of a field or nothing of it."""
    missing = np.isnan(values).all(axis=0)
    if missing.all():
        return None
    if missing.any():
        name = names[int(np.argmax(missing))]
        raise BadInput(
            f"channel {name!r} is a {known[name].kind} and has no {what} beside the others, of which the ros format needs one "
            "for every joint or for none; export mcap, csv or json"
        )
    return values


def _second_differences(values: Array | None, rate: float) -> Array | None:
    if values is None:
        return None
    bends: Array = np.zeros_like(values)
    if len(values) > 2:
        bends[1:-1] = np.diff(values, n=2, axis=0) * rate**2
    return bends


def _row(values: Array | None, k: int) -> list[float]:
    return [] if values is None else values[k].tolist()
