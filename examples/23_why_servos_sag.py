"""
23. Why servos sag
==================

A servo that is sent an angle pulls towards it like a spring: with a stiffness of 20 N·m/rad it must be 0.05 rad off before it gives
1 N·m. A walking robot leans on its servos all the time, so sent the plan's angles it walks another walk, in which feet drag
where they should fly. The cure needs no other servo: send it an angle that is off by just so much, about q + tau / kp with the
torque tau that the plan itself asks for. So a performance holds two things: the plan, and the commands that make servos follow it.
Notice that both replays are on MuJoCo's floor, open loop, with the same motors.
"""

from dataclasses import replace

import numpy as np

import bunraku
from bunraku.verification.ground.replay import replay_on_ground

STIFFNESS = 20.0  # N m/rad, what the walker's motors state
SAMPLES = 48


def lesson(clip="crawl", gain=1.0):
    """The performance of the walker, and its replays when servos are sent the plan's angles and when they are sent its commands."""
    performance = bunraku.perform("walker", clip, samples=SAMPLES, once=True)
    sent = {"angles alone": plain(performance), "commands": performance}
    return performance, {name: replay_on_ground(one, gain=gain) for name, one in sent.items()}


def plain(performance):
    """The performance with the planned angles in its channels, in place of the commands."""
    plan = performance.positions()
    channels = [replace(c, values=plan.column(c.name)) if c.kind == "position" else c for c in performance.channels]
    return performance.changed(channels=tuple(channels))


def expected_sag(performance, stiffness=STIFFNESS):
    """What the plan's torques would make of springs of that stiffness: RMS of tau / kp [rad] over time and joints."""
    torques = [channel.values for channel in performance.channels if channel.kind == "torque"]
    return float(np.sqrt(np.mean(np.square(torques)))) / stiffness


if __name__ == "__main__":
    from matplotlib import pyplot

    performance, replays = lesson()
    ahead = performance.sent().values - performance.positions().values
    print(f"springs under the plan's torques would give way by {expected_sag(performance):.4f} rad RMS")
    print(f"commands are {np.sqrt(np.mean(ahead**2)):.4f} rad RMS from the planned angles, {np.abs(ahead).max():.4f} rad at most")
    figure, axis = pyplot.subplots(figsize=(10, 3.2), layout="constrained")
    for name, replay in replays.items():
        seen = replay.measures
        print(f"{name}: joints off by {seen.tracking_rms:.4f} rad RMS, velocity by {100 * seen.velocity_error:.1f} %", end=", ")
        print(f"{seen.distance:.3f} of {seen.planned_distance:.3f} m, slid {1e3 * seen.slip:.1f} mm", end="")
        print(f"; {replay.reason}" if replay.fell else "")
        axis.plot(replay.record.times, replay.record.com[:, 0], label=name)
    axis.plot(replay.plan.times, replay.plan.com[:, 0], "--", color="#33373d", label="plan")
    axis.set(xlabel="time [s]", ylabel="centre of mass, x [m]")
    axis.legend()
    pyplot.show()
