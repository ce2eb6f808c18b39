"""The animations of one rod, two rods, the dancer, the bartender and the rapper."""

from __future__ import annotations

from math import acos, atan2, degrees, hypot, pi, sin

from flexible_assets.rapper import HOME_ELBOW
from flexible_assets.small import FORE, SHOULDER_HEIGHT, UPPER
from flexible_assets.timeline import Timeline


def tick() -> Timeline:
    """0 to 30 degrees in 0.5 s, a pause of 1.5 s, back in 0.5 s."""
    line = Timeline("tick", 4.0, {"shoulder": 0.0}, "linear")
    line.at(0.25, shoulder=0.0)
    line.at(0.75, shoulder=30.0)
    line.at(2.25, shoulder=30.0)
    line.at(2.75, shoulder=0.0)
    line.mark("pause", 0.75, 2.25)
    return line


def tilt() -> Timeline:
    """Straight up, then 90 degrees over; what happens after the stop counts ten times."""
    line = Timeline("tilt", 3.5, {"elbow": 0.0}, "linear")
    line.at(0.5, elbow=0.0)
    line.at(1.25, elbow=90.0)
    line.mark("after the stop", 1.25, 3.5)
    line.emphasis += [{"frame": frame, "weight": 10.0, "start_s": 1.3} for frame in ("motor", "tip")]
    return line


def dance() -> Timeline:
    """The left hand rises and waves, then both arms lift to the sides, cross over and bow."""
    line = Timeline("dance", 8.5, {"left_pitch": 0.0, "left_roll": 8.0, "right_pitch": 0.0, "right_roll": -8.0})
    # anticipation: a small swing back, then the left arm rises to the side
    line.at(0.3, left_pitch=0.0, left_roll=8.0, right_pitch=0.0, right_roll=-8.0)
    line.at(0.55, left_pitch=8.0, left_roll=4.0, right_pitch=4.0)
    line.at(1.25, left_pitch=-25.0, left_roll=105.0, right_pitch=0.0, right_roll=-14.0)
    # the wave, 2 Hz
    for k in range(7):
        line.at(1.5 + 0.25 * k, left_roll=84.0 if k % 2 == 0 else 106.0)
    line.hold(3.2, "left_pitch")
    line.hold(3.25, "left_roll")
    line.mark("wave", 1.25, 3.25)
    # down, the right arm answers
    line.hold(2.9, "right_pitch", "right_roll")
    line.at(3.85, left_pitch=0.0, left_roll=20.0)
    line.at(3.7, right_pitch=-55.0, right_roll=-18.0)
    line.hold(4.05, "right_pitch", "right_roll")
    # both arms up to the sides, out of step
    line.at(4.6, right_pitch=-8.0, right_roll=-62.0)
    line.hold(4.1, "left_pitch", "left_roll")
    line.at(4.75, left_pitch=-5.0, left_roll=64.0)
    line.hold(5.1, "right_pitch", "right_roll")
    line.hold(5.2, "left_pitch", "left_roll")
    # swing to the front and back, left and right in turn
    line.at(5.7, left_pitch=-55.0, left_roll=22.0, right_pitch=28.0, right_roll=-20.0)
    line.at(6.3, left_pitch=28.0, left_roll=20.0, right_pitch=-55.0, right_roll=-22.0)
    line.at(6.9, left_pitch=-50.0, left_roll=40.0, right_pitch=-50.0, right_roll=-40.0)
    line.hold(7.2, "left_pitch", "left_roll", "right_pitch", "right_roll")
    line.home(7.9)
    line.mark("lifts", 3.3, 5.2)
    line.mark("swings", 5.2, 7.2)
    return line


def _reach(radius: float, height: float) -> tuple[float, float]:
    """Angles of shoulder and elbow [deg] that bring the wrist to ``radius`` and ``height`` [m]; the elbow points up and back."""
    x, z = radius, height - SHOULDER_HEIGHT
    far = hypot(x, z)
    bend = pi - acos((UPPER**2 + FORE**2 - far**2) / (2.0 * UPPER * FORE))
    inside = acos((UPPER**2 + far**2 - FORE**2) / (2.0 * UPPER * far))
    return degrees(pi / 2.0 - atan2(z, x) - inside), degrees(bend)


def cruise(s: float, ramp: float) -> float:
    """From 0 to 1 at constant speed but for smooth ramps of the velocity, each ``ramp`` of the whole time."""
    top = 1.0 / (1.0 - ramp)

    def begin(x: float) -> float:
        return top * (0.5 * x - ramp / (2.0 * pi) * sin(pi * x / ramp))

    if s < ramp:
        return begin(s)
    return 1.0 - begin(1.0 - s) if s > 1.0 - ramp else top * (s - 0.5 * ramp)


# where the glass stands: azimuth [deg], distance and height of the wrist [m]
PLACES = {"shelf": (22.0, 0.21, 0.25), "guest": (0.0, 0.21, 0.21), "tray": (-22.0, 0.21, 0.23)}
# from, to, start, end [s]
MOVES = (("shelf", "guest", 0.4, 2.12), ("guest", "tray", 2.7, 4.42), ("tray", "shelf", 4.83, 7.86))
LIFT, RAMP, SAG = 0.02, 0.246, 5.0  # [m] on the way, [s] to full speed, [deg] by which the loaded arm bends the glass forward


def serve() -> Timeline:
    """A glass of water goes from the shelf to the guest, to the tray and back, always upright."""

    def pose(azimuth: float, radius: float, height: float) -> dict[str, float]:
        shoulder, elbow = _reach(radius, height)
        return {"yaw": azimuth, "shoulder": shoulder, "elbow": elbow, "wrist": -shoulder - elbow - SAG}

    line = Timeline("serve", 8.5, {name: round(value, 3) for name, value in pose(*PLACES["shelf"]).items()}, "smooth")
    for begin, end, start, stop in MOVES:
        a, b = PLACES[begin], PLACES[end]
        steps = round((stop - start) / 0.07)
        for k in range(steps + 1):
            s = cruise(k / steps, RAMP / (stop - start))
            azimuth, radius, height = (one + (other - one) * s for one, other in zip(a, b, strict=True))
            line.at(start + (stop - start) * k / steps, **pose(azimuth, radius, height + LIFT * sin(pi * s) ** 2))
        line.mark(f"from {begin} to {end}", start, stop)
    line.emphasis.append({"frame": "glass", "weight": 0.01, "kind": "orientation"})
    return line


def rap() -> Timeline:
    """Rhymes with one arm: chops from side to side, a throw to the front, a circle, points at the crowd."""
    e = HOME_ELBOW
    line = Timeline("rap", 10.0, {"yaw": 0.0, "pitch": 25.0, "roll": 0.0, "crank": e})
    line.at(0.3, yaw=0.0, pitch=25.0, roll=0.0, crank=e)
    # the arm rises, hand up
    line.at(0.9, yaw=-12.0, pitch=5.0, roll=0.0, crank=-95.0)
    # chops from side to side
    for k, time in enumerate((1.35, 1.95, 2.55, 3.15)):
        side = 1.0 if k % 2 == 0 else -1.0
        line.at(time, yaw=24.0 * side, pitch=14.0, roll=10.0 * side, crank=-62.0)
        line.at(time + 0.3, yaw=16.0 * side, pitch=4.0, roll=4.0 * side, crank=-88.0)
        line.mark("chop", time - 0.3, time + 0.1, time)
    # throw to the front, hold
    line.at(3.9, yaw=-10.0, pitch=8.0, roll=0.0, crank=-100.0)
    line.at(4.3, yaw=4.0, pitch=18.0, roll=0.0, crank=-22.0)
    line.hold(4.7, "yaw", "pitch", "roll", "crank")
    line.mark("throw", 3.9, 4.7, 4.3)
    # a circle of the whole arm
    line.at(5.15, yaw=28.0, pitch=-5.0, roll=8.0, crank=-40.0)
    line.at(5.6, yaw=34.0, pitch=-28.0, roll=0.0, crank=-55.0)
    line.at(6.1, yaw=0.0, pitch=-36.0, roll=-8.0, crank=-60.0)
    line.at(6.55, yaw=-28.0, pitch=-8.0, roll=0.0, crank=-50.0)
    # points at the crowd, right, left, right
    for k, time in enumerate((7.0, 7.65, 8.3)):
        side = -1.0 if k % 2 == 0 else 1.0
        line.at(time, yaw=23.0 * side, pitch=12.0, roll=0.0, crank=-28.0)
        line.at(time + 0.3, yaw=18.0 * side, pitch=6.0, roll=0.0, crank=-62.0)
        line.mark("point", time - 0.3, time + 0.1, time)
    line.home(9.3)
    return line
