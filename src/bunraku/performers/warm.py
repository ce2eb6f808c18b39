"""Compiling ahead: the kernels that a first performance needs, in two halves that two processes can compile at once.

Numba compiles a kernel at its first call and keeps it in its cache on disk; a second process finds it there.
"""

from __future__ import annotations

import numpy as np

from bunraku.character import Body, Character, Foot, Joint, Motor, Pose, Shape
from bunraku.mechanics.measures import measure_motion
from bunraku.motion import JointCurves
from bunraku.optimization.chain.chain import solve_chain
from bunraku.optimization.chain.compression import solve_compression
from bunraku.optimization.smooth_chain.smooth_chain import solve_smooth_chain

__all__ = ["warm_measures", "warm_solvers"]


def warm_solvers() -> None:
    """Compile the chain, compression and smooth chain solvers on a wave that is too fast."""
    wave = np.sin(np.arange(60) * 0.5)
    steep = wave[:, None]
    solve_chain(steep, start=steep[0], lower=-2.0, upper=2.0, step=0.1, difference_weight=1.0)
    solve_compression(wave, start=wave[0], lower=-2.0, upper=2.0, step=0.1, difference_weight=1.0, boundaries=np.array([0, 30, 59]))
    solve_smooth_chain(
        steep,
        rate=10.0,
        start=steep[0],
        lower=np.array([-2.0]),
        upper=np.array([2.0]),
        velocity=np.array([1.0]),
        acceleration=np.array([5.0]),
        jerk=np.array([np.inf]),
    )


def warm_measures() -> None:
    """Compile kinematics, balance, static torques and collisions on two boxes and a capsule on a foot."""
    shapes = (Shape(kind="box", size=(0.1, 0.1, 0.1)), Shape(kind="capsule", size=(0.05, 0.1)))
    bodies = tuple(Body(name=name, mass=1.0, inertia=(0.01, 0.01, 0.01, 0.0, 0.0, 0.0), shapes=shapes) for name in "abc")
    joints = [Joint(name="root", kind="free", parent="world", child="a")]
    for parent, child in (("a", "b"), ("b", "c")):
        place = Pose(position=(0.0, 0.0, 0.3))
        joints.append(Joint(name=child, kind="hinge", parent=parent, child=child, pose=place, axis=(0, 1, 0)))
    toy = Character(
        name="toy",
        bodies=bodies,
        joints=tuple(joints),
        motors=tuple(Motor(name=name, coordinate=name, stall_torque=1.0) for name in "bc"),
        feet=(Foot(name="foot", body="a", points=((0.1, 0.1, 0.0), (0.1, -0.1, 0.0), (-0.1, 0.0, 0.0))),),
    )
    curves = JointCurves(("b", "c"), 10.0, np.array([[0.0, 0.0], [1.5, 1.5], [2.8, 2.8]]))
    measure_motion(toy, curves, curves)
