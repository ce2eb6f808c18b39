"""
26. Six legs
============

A robot of one's own: a printed body with a battery, and legs of three servos each, described on the left; mirroring makes the right
ones. Masses and inertias follow from the components. Then two things are said: how far to go in a cycle, and which feet go
together. A trot on six legs is two tripods that take turns. Notice that nothing was written for six legs: the same description
makes three, four or eight, and all that follows, planning, replay, design, takes what comes.
This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.building.assemble import assemble
from bunraku.building.robot import CarriedPayload, Chassis, Limb, Robot, Stage, Tip
from bunraku.motion import Gait
from bunraku.verification.ground.replay import replay_on_ground

LINK, BEND = 0.08, 0.6
SERVO = "Dynamixel XM430-W210 at 14.8 V"
GAIT = Gait(0.8, "trot", distance=(0.08, 0.0), turn=0.0, friction=0.5, samples=36)


def leg(name, x):
    """A leg at ``x`` [m]: hip about x, hip and knee about y, a ball foot below the hip."""
    front = 1.0 if x >= 0.0 else -1.0
    case = {"shift": 0.004, "case": "-y", "lean": "+z", "servo": SERVO}
    stages = (
        Stage("roll", "x", (x, 0.07, 0.0), shift=-0.018 * front, case="-x" if front > 0.0 else "+x", lean="+z", servo=SERVO),
        Stage("hip", "y", (0.0, 0.02, 0.0), rest=BEND * front, **case),
        Stage("knee", "y", (0.0, 0.0, -LINK), rest=-2.0 * BEND * front, **case),
    )
    return Limb(name, stages, (Tip("rubber ball foot 30 mm", (0.0, 0.0, -LINK)),))


def six_legged():
    """The robot as components, and the character it makes."""
    carries = (CarriedPayload("battery 4S 1800 mAh", (0.0, 0.0, -0.006)), CarriedPayload("controller", (0.0, 0.0, 0.015)))
    robot = Robot("six-legged", Chassis((0.36, 0.125, 0.05), carries=carries), (leg("F", 0.18), leg("M", 0.02), leg("H", -0.18)))
    return robot, assemble(robot)


def lesson(gait=GAIT):
    """The character, its performance of the gait, and a replay of it on MuJoCo's floor."""
    _, character = six_legged()
    performance = bunraku.perform(character, bunraku.Clip("six", gait=gait), once=True)
    return character, performance, replay_on_ground(performance)


if __name__ == "__main__":
    from matplotlib import pyplot

    from bunraku.verification.plots.film import draw_strip

    character, performance, replay = lesson()
    mass = sum(body.mass for body in character.bodies)
    print(f"{len(character.motors)} servos, {len(character.end_effectors)} feet, {mass:.2f} kg")
    for name in ("largest residual", "missed distance", "peak torque"):
        print(performance.certificate.check(name).sentence)
    seen = replay.measures
    print(
        f"replay: {seen.distance:.3f} of {seen.planned_distance:.3f} m, velocity off by {100 * seen.velocity_error:.1f} %", end=""
    )
    print(f"; {replay.reason}" if replay.fell else f", torque up to {np.max(seen.peak_torque):.2f} N·m")
    draw_strip(replay)
    pyplot.show()
