"""Compiling ahead: the kernels that a first performance needs, in groups that two processes can compile at once.

Numba compiles a kernel at its first call and keeps it in its cache on disk; a second process finds it there. Each function here
compiles one group by running it on a toy, and loads nothing before it is called. A performer names its groups in its `Fit`;
`flow.compiling` knows which of them are missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bunraku.character import (
    Body,
    Carriage,
    Character,
    ElasticMaterial,
    FlexiblePart,
    Foot,
    Joint,
    Motor,
    PartInterface,
    PartShape,
    Pose,
    Shape,
    String,
)
from bunraku.formats.registry import read_character
from bunraku.motion import Clip, Gait, JointCurves, MotionLimits
from bunraku.optimization.solution import Status

if TYPE_CHECKING:
    from bunraku.mechanics.integrators.results import Trajectory


@dataclass(frozen=True)
class KernelGroup:
    """Kernels that are compiled together, by calling ``warm``.

    ``seconds``: CPU time that it took on one core of a server; ``aside``: in the second of two processes; ``words``: what it is
    for, to a person who waits.
    """

    warm: Callable[[], None]
    seconds: float
    aside: bool
    words: str = ""


GROUPS: dict[str, KernelGroup] = {}
"""The groups by name, in the order of compilation."""


def _group(name: str, words: str, seconds: float, *, aside: bool = False) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Declare the group that the decorated function compiles."""

    def declare(warm: Callable[[], None]) -> Callable[[], None]:
        GROUPS[name] = KernelGroup(warm, seconds, aside, words)
        return warm

    return declare


@_group("retargeting", "captured motion", 13.0, aside=True)
def warm_retargeting() -> None:
    """Compile inverse kinematics on the stick, and the places of its body along a motion."""
    from bunraku.mechanics.tree import compile_tree
    from bunraku.retargeting.inverse_kinematics import solve_motion
    from bunraku.retargeting.targets import FrameTarget, TargetSet

    tree = compile_tree(_puppet())
    at, wide, unlimited = tree.home, np.full(tree.nq, 3.0), np.full(tree.nq, np.inf)
    limits = MotionLimits(tuple(tree.names), at - wide, at + wide, unlimited, unlimited, unlimited)
    solve_motion(TargetSet.of(tree, [FrameTarget("stick")]), np.full((1, 1, 3), 0.1), None, limits=limits, rate=1.0)
    tree.poses(np.tile(at, (2, 1)))


@_group("control", "feedback and control", 15.0, aside=True)
def warm_control() -> None:
    """Compile tracked points, the sweeps of optimal control, and the derivatives of a trajectory."""
    from bunraku.mechanics.dynamics.points import Points
    from bunraku.mechanics.integrators.variational import VariationalIntegrator
    from bunraku.mechanics.systems.character_system import character_system
    from bunraku.optimization.control import riccati_kernels as control

    system = character_system(_puppet(), torques=True)
    q = np.tile(system.home + 0.3, (4, 1))
    points = Points(system, ("stick",))
    points.jacobians(points.positions(q)[:, 0, :1] + q)
    n, m = 3, 2
    A, B, H, w = np.zeros((2, n, n)), np.zeros((2, n, m)), np.tile(np.eye(n + m), (2, 1, 1)), np.zeros((2, n + m))
    K, C, _, _, _ = control.lq_backward(A, B, H, w, np.eye(n), np.zeros(n))
    control.linear_rollout(A, B, K, np.zeros((3, n)), -C)
    control.add_rows(H, w, np.ones((1, 1, n + m)), np.ones((2, 1)), np.ones((2, 1)))
    VariationalIntegrator(system, 0.01).linearize(_still(q))


@_group("collisions", "collisions", 8.0, aside=True)
def warm_collisions() -> None:
    """Compile the distances between the boxes and capsules of the toy."""
    from bunraku.mechanics.collision import self_collisions
    from bunraku.mechanics.tree import compile_tree

    toy = _toy()
    self_collisions(toy, compile_tree(toy), np.array([[0.0] * 6 + [1.5, 1.5], [0.0] * 6 + [2.8, 2.8]]))


@_group("steps", "simulated steps", 32.0)
def warm_steps() -> None:
    """Compile the variational step, its roll-outs, and the measures of a motion that physics makes, on a stick on a string."""
    from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
    from bunraku.mechanics.integrators.variational import VariationalIntegrator
    from bunraku.mechanics.measures.driven_motion import measure_driven
    from bunraku.mechanics.systems.character_system import character_system
    from bunraku.mechanics.systems.marionette import hang

    character = _puppet()
    system = character_system(character, torques=True)
    rest = hang(character, system)
    dynamics = VariationalDynamics(VariationalIntegrator(system, 0.01), kinematic_velocity=True)
    x = np.tile(dynamics.state(rest.q, dynamics.integrator.initial(rest.q, rest.q).p), (4, 1))
    u = np.tile(np.append(np.zeros(system.nu), rest.q[system.kinematic]), (3, 1))
    moved = dynamics.rollout(x[0], x, u, np.zeros((3, dynamics.nu, dynamics.nx)))
    dynamics.multipliers(x + 1e-3, u)
    names = character.coordinates + character.prescribed
    motion = JointCurves(names, 100.0, moved.x[:, [system.index(name) for name in names]])
    measure_driven(character, motion, motion, {"pin.1": np.zeros(4)}, system=system)


@_group("curvature", "second derivatives", 43.0)
def warm_curvature() -> None:
    """Compile second derivatives of a trajectory, those of tracked points, and costates."""
    from bunraku.mechanics.dynamics.points import Points
    from bunraku.mechanics.integrators.variational import VariationalIntegrator
    from bunraku.mechanics.systems.character_system import character_system
    from bunraku.optimization.control import riccati_kernels as control

    system = character_system(_puppet(), torques=True)
    q = np.tile(system.home + 0.3, (4, 1))
    Points(system, ("stick",)).curvature(q, np.ones((4, 1, 3)))
    control.costates(np.zeros((2, 3, 3)), np.zeros((2, 3, 2)), np.zeros((2, 2, 3)), np.zeros((2, 5)), np.zeros(3))
    integrator = VariationalIntegrator(system, 0.01)
    integrator.contract(_still(q), np.zeros((3, system.nd)), np.zeros((3, system.nd)), np.zeros((3, system.nc)))


@_group("bending", "flexible parts", 100.0, aside=True)
def warm_bending() -> None:
    """Compile elasticity, the driven simulation of a flexible character, its derivatives and measures, on a rod on a motor."""
    from bunraku.performers.vibration.performer import VibrationPerformer

    parts = tuple(Body(name=name, mass=0.1, inertia=(1e-4, 1e-4, 1e-4, 0.0, 0.0, 0.0)) for name in ("hub", "tip"))
    character = Character(
        name="toy",
        bodies=parts,
        joints=(
            Joint(name="turn", kind="hinge", parent="world", child="hub", axis=(0, 1, 0)),
            Joint(name="rod", kind="fixed", parent="hub", child="tip", pose=Pose(position=(0.0, 0.0, 0.2))),
        ),
        motors=(Motor(name="turn", coordinate="turn", stall_torque=1.0, no_load_speed=8.0, rate=100.0),),
        materials=(ElasticMaterial(name="steel", young=2e11, density=7850.0, strain_damping=1e-3),),
        flexibles=(
            FlexiblePart(
                name="rod",
                material="steel",
                shape=PartShape(kind="rod", length=0.2, diameter=0.004, cell=0.02),
                base="hub",
                children=(PartInterface(body="tip"),),
            ),
        ),
    )
    wave = JointCurves(("turn",), 100.0, 0.05 * np.sin(np.linspace(0.0, np.pi, 31))[:, None] ** 2)
    VibrationPerformer(max_iterations=2, points=8, feedback=True).perform(character, Clip("toy", joints=wave))


@_group("locomotion", "walking and rolling", 60.0)
def warm_locomotion() -> None:
    """Compile the planning of motions over the ground: two steps of a short one, and its torques."""
    from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
    from bunraku.performers.locomotion.played import play
    from bunraku.performers.locomotion.solve import plan_motion

    character = read_character("car")
    gait = Gait(1.0, distance=(0.1, 0.0), turn=0.0, samples=6, cycles=1)
    solver = AugmentedLagrangian(max_iterations=2)
    play(character, plan_motion(character, gait, solver=solver).plan, 1, 100.0)


@_group("skin", "elastic skins", 90.0)
def warm_skin() -> None:
    """Compile the planning and the frames of skinned characters: two steps of a plan, two frames of standing."""
    from bunraku.mechanics.coupled.skinned import skinned_model
    from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
    from bunraku.performers.skin.alternate import SkinnedPuppet, settle
    from bunraku.performers.skin.spacetime.effect import SkinEffect
    from bunraku.performers.skin.spacetime.solve import plan_spacetime

    puppet = SkinnedPuppet(skinned_model(read_character("beetle-quick")), 0.02)
    settle(puppet, frames=2)
    gait = Gait(1.0, "crawl", False, cycles=1, distance=(0.01, 0.0), turn=0.0)
    effect = SkinEffect(stiffness=puppet.stiffness)
    plan_spacetime(puppet.laden, gait, None, effect, solver=AugmentedLagrangian(max_iterations=2)).frames(0.1)


@_group("measures", "checks of a motion", 20.0, aside=True)
def warm_measures() -> None:
    """Compile kinematics, balance, static torques and collisions on boxes and capsules on a foot."""
    from bunraku.mechanics.measures.motion import measure_motion

    curves = JointCurves(("b", "c"), 10.0, np.array([[0.0, 0.0], [1.5, 1.5], [2.8, 2.8]]))
    measure_motion(_toy(), curves, curves)


@_group("chain", "motor limits", 9.0)
def warm_chain() -> None:
    """Compile the chain solver, and the compression of what is too fast."""
    from bunraku.optimization.chain.chain import solve_chain
    from bunraku.optimization.chain.compression import solve_compression

    wave = _wave()
    solve_chain(wave[:, None], start=wave[:1], lower=-2.0, upper=2.0, step=0.1, difference_weight=1.0)
    solve_compression(wave, start=wave[0], lower=-2.0, upper=2.0, step=0.1, difference_weight=1.0, boundaries=np.array([0, 30, 59]))


@_group("smooth chain", "smooth motor limits", 9.0)
def warm_smooth_chain() -> None:
    """Compile the chain solver with limits of acceleration and jerk."""
    from bunraku.optimization.smooth_chain.smooth_chain import solve_smooth_chain

    wave = _wave()[:, None]
    solve_smooth_chain(
        wave,
        rate=10.0,
        start=wave[0],
        lower=np.array([-2.0]),
        upper=np.array([2.0]),
        velocity=np.array([1.0]),
        acceleration=np.array([5.0]),
        jerk=np.array([np.inf]),
    )


def _wave() -> np.ndarray:
    """A wave (60,) that is too fast."""
    wave: np.ndarray = np.sin(np.arange(60) * 0.5)
    return wave


def _toy() -> Character:
    """Three bodies, a box and a capsule each, on a foot."""
    shapes = (Shape(kind="box", size=(0.1, 0.1, 0.1)), Shape(kind="capsule", size=(0.05, 0.1)))
    bodies = tuple(Body(name=name, mass=1.0, inertia=(0.01, 0.01, 0.01, 0.0, 0.0, 0.0), shapes=shapes) for name in "abc")
    joints = [Joint(name="root", kind="free", parent="world", child="a")]
    for parent, child in (("a", "b"), ("b", "c")):
        place = Pose(position=(0.0, 0.0, 0.3))
        joints.append(Joint(name=child, kind="hinge", parent=parent, child=child, pose=place, axis=(0, 1, 0)))
    return Character(
        name="toy",
        bodies=bodies,
        joints=tuple(joints),
        motors=tuple(Motor(name=name, coordinate=name, stall_torque=1.0) for name in "bc"),
        feet=(Foot(name="foot", body="a", points=((0.1, 0.1, 0.0), (0.1, -0.1, 0.0), (-0.1, 0.0, 0.0))),),
    )


def _puppet() -> Character:
    """A stick on a string, with a motor."""
    return Character(
        name="toy",
        bodies=(Body(name="stick", mass=0.1, center_of_mass=(0.0, 0.0, -0.1), inertia=(1e-3, 1e-3, 1e-3, 0.0, 0.0, 0.0)),),
        joints=(Joint(name="pin", kind="universal", parent="world", child="stick", axis=(0, 1, 0), second_axis=(1, 0, 0)),),
        motors=(Motor(name="pin.1", coordinate="pin.1", stall_torque=1.0),),
        carriages=(Carriage(name="cart", home=(0.3, 0.0, 0.5)),),
        strings=(String(name="string", carriage="cart", hook="stick", point=(0.0, 0.0, -0.2)),),
        home={"pin.1": -0.5},
    )


def _still(q: np.ndarray) -> Trajectory:
    """Configurations (4, 5) of the puppet as a trajectory; nothing asks whether it is one."""
    from bunraku.mechanics.integrators.results import Trajectory

    zero = np.zeros((3, 1))
    return Trajectory(q, np.zeros((4, 2)), zero, zero, q[1:, 2:].copy(), np.zeros(3, dtype=np.int64), 3, Status.CONVERGED, 0.01)
