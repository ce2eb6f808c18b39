"""A character as a MuJoCo model that stands on a floor with servos: what the replay simulates.

Feet touch the ground at the points of their soles (small spheres), so that the support is the one the certificate speaks of; any
other part that touches the floor counts as a fall. Parts of the character do not collide with each other here: the certificate's
self-collision check does that. Servos get at least the rotor inertia that the time step h needs: kp (4 h)^2; geared rotors
usually have more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import WORLD, Character, free_base
from bunraku.errors import BadInput
from bunraku.formats.mjcf_coordinates import coordinates_to_qpos
from bunraku.formats.mjcf_write import write_mjcf
from bunraku.mechanics.measures.balance import foot_points
from bunraku.mechanics.tree import compile_tree
from bunraku.verification.foreign import simulable
from bunraku.verification.servo import ServoBank, stiffness_of

Indices = NDArray[np.int64]
_BEAD = 0.002


@dataclass(frozen=True)
class ForeignModel:
    """The MuJoCo model, its servos, and where things are in its arrays. ``base`` is -1 when the base does not float."""

    model: Any
    servos: ServoBank
    home: Array
    position_address: Indices
    velocity_address: Indices
    base: int
    floor: int
    feet: tuple[Indices, ...]


def foreign_model(character: Character, timestep: float) -> ForeignModel:
    """Build the model with time step ``timestep`` [s], home pose on the floor, and servo gains for what each motor moves."""
    import mujoco

    floating = free_base(character)
    if floating is not None and not character.feet:
        raise BadInput(f"{character.name!r} floats and has no feet to stand on; describe its feet, or fix its base to the world")
    xml = write_mjcf(character, floor=False, self_collision=False, actuators=False, timestep_s=timestep)
    with simulable(character):
        spec = mujoco.MjSpec.from_string(xml)
        stated = {axis.name: joint.armature for joint in character.joints for axis in joint.axes}
        for motor in character.motors:
            least = stiffness_of(motor) * (4.0 * timestep) ** 2
            spec.joint(motor.coordinate).armature = max(stated[motor.coordinate], least)
            actuator = spec.add_actuator(name=motor.name, target=motor.coordinate, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
            actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
            actuator.forcerange = [-1e9, 1e9]
        _add_ground(spec, character, floating is not None)
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.impratio = 10.0
        model = spec.compile()
    home = _home(character, model)
    joints = np.array([model.joint(motor.coordinate).id for motor in character.motors], dtype=np.int64)
    velocity = model.jnt_dofadr[joints].astype(np.int64)
    servos = ServoBank.of(character, _damping(character, model, home, joints))
    model.actuator_gainprm[:, 0] = 1.0
    model.actuator_biasprm[:, 1], model.actuator_biasprm[:, 2] = -servos.stiffness, -servos.damping
    base = model.body(floating.child).id if floating is not None else -1
    geoms: list[Indices] = [
        np.array([model.geom(f"bead of {foot.name} {i}").id for i in range(len(foot.points))], dtype=np.int64)
        for foot in character.feet
        if floating is not None and foot.body != WORLD
    ]
    return ForeignModel(
        model,
        servos,
        home,
        model.jnt_qposadr[joints].astype(np.int64),
        velocity,
        base,
        model.geom("the floor").id if base >= 0 else -1,
        tuple(geoms),
    )


def _add_ground(spec: Any, character: Character, floats: bool) -> None:
    """A floor without friction of its own, beads of the feet's friction at the sole points; other foot shapes pass through."""
    import mujoco

    if not floats:
        return
    tree = compile_tree(character)
    at_home = tree.configuration(tree.home)
    spec.worldbody.add_geom(
        name="the floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05], contype=1, conaffinity=0, friction=[0, 0, 0]
    )
    for foot in character.feet:
        if foot.body == WORLD:
            continue
        body = spec.body(foot.body)
        for geom in body.find_all(mujoco.mjtObj.mjOBJ_GEOM):
            geom.contype, geom.conaffinity = 0, 0
        up = at_home.rotation[tree.nodes[foot.body]].T @ np.array([0.0, 0.0, 1.0])
        for i, point in enumerate(foot.points):
            body.add_geom(
                name=f"bead of {foot.name} {i}",
                type=mujoco.mjtGeom.mjGEOM_SPHERE,
                size=[_BEAD, 0, 0],
                pos=np.array(point) + _BEAD * up,
                friction=[foot.friction, 0.005, 0.0001],
                priority=1,
                contype=0,
                conaffinity=1,
                rgba=[0.2, 0.2, 0.2, 1.0],
                group=3,
            )


def _home(character: Character, model: Any) -> Array:
    """``qpos`` of the home pose, the base lifted or lowered so that the lowest sole point touches the floor."""
    tree = compile_tree(character)
    qpos = coordinates_to_qpos(character, model, tree.home[None, :])[0]
    base = free_base(character)
    if base is not None:
        nodes, points = foot_points(character, tree)
        at = tree.configuration(tree.home)
        heights = [float((at.position[n] + at.rotation[n] @ p)[2]) for n, p in zip(nodes, points, strict=True) if n >= 0]
        qpos[model.joint(base.name).qposadr[0] + 2] -= min(heights, default=0.0)
    return qpos


def _damping(character: Character, model: Any, home: Array, joints: Indices) -> Array:
    """Critical damping (k,) 2 sqrt(kp I) of the inertia I each motor moves at home.

    I is the joint's own diagonal of the mass matrix; for a motor between a floating base and the ground rather the whole
    character's mass at its distance from the axis, shared by the feet.
    """
    import mujoco

    data = mujoco.MjData(model)
    data.qpos[:] = home
    mujoco.mj_forward(model, data)
    mass_matrix = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass_matrix)
    inertia = np.diag(mass_matrix)[model.jnt_dofadr[joints]].copy()
    standing = {foot.body for foot in character.feet if foot.body != WORLD} if free_base(character) is not None else set()
    carriers = set()
    for foot in standing:
        body = model.body(foot).id
        while body > 0:
            carriers.add(body)
            body = int(model.body_parentid[body])
    for j, joint in enumerate(joints):
        if int(model.jnt_bodyid[joint]) in carriers:
            arm = np.cross(data.xaxis[joint], data.subtree_com[0] - data.xanchor[joint])
            inertia[j] = max(inertia[j], float(model.body_subtreemass[0] * (arm @ arm) / len(standing)))
    stiffness = np.array([stiffness_of(motor) for motor in character.motors])
    return np.asarray(2.0 * np.sqrt(stiffness * inertia), dtype=np.float64)
