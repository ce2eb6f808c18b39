"""A character as a MuJoCo model on real ground: a floor or a height field, wheels that roll, feet that slip, servos with limits.

Only end effectors may touch the ground; every other part meets a second ground at the same place, so that its touch is felt and
seen. Parts do not collide with each other: the certificate speaks of that. Each motor is two actuators on its joint: a servo whose
force is cut at +-tau_0, with the damping kv - tau_0 / v_0, and a damper of tau_0 / v_0; the force of both on the joint is cut at
+-tau_0. So the torque-speed line tau <= tau_0 (1 - v / v_0) and the braking limit tau_0 hold at every step without leaving the
simulator. A motor that something turns faster than v_0 brakes, as its counter-voltage makes it. Each has at least the rotor inertia
kv h, h the step: less, and a saturated motor of a limb in the air would overshoot its command in one step; geared rotors have more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character, free_base
from bunraku.errors import BadInput
from bunraku.formats.mjcf_write import write_mjcf
from bunraku.motion import HeightField
from bunraku.verification.foreign import simulable
from bunraku.verification.ground.heights import ground_height
from bunraku.verification.ground.servo import GroundServos

Indices = NDArray[np.int64]

TIMESTEP = 0.0005
"""Step [s] of the simulation."""

CONTACT_TIME = 0.002
"""Time constant [s] of MuJoCo's soft contact. Sideways slip of a wheel that turns dies away with half of it; at 0.005 the lag alone
makes a swizzle 2 to 4 % too fast with stiff servos, at 0.002 and 0.001 0.5 to 1 %."""

_IMPEDANCE_RATIO = 10.0
_FINEST, _MARGIN, _THICK = 0.005, 1.0, 0.1
_TIP, _REST = 1, 2


@dataclass(frozen=True)
class GroundModel:
    """The MuJoCo model of a character with k motors and e end effectors, and where its sensors write.

    ``sensors``: name to slice of the sensor data: "com" (3), "torques" (k), "others" (1: contacts of parts that must not touch),
    and for all end effectors together "force" (e, 4: found, x, y, z), "center", "linear", "angular", "axis" (e, 3).
    ``armature`` (k,): inertias of the rotors as they are stated; ``tips`` (e,): the geoms of the end effectors.
    """

    model: Any
    character: Character
    servos: GroundServos
    position_address: Indices
    velocity_address: Indices
    sensors: dict[str, slice]
    armature: Array
    tips: Indices

    def under(self, servos: GroundServos, friction: float | None) -> GroundModel:
        """The same MuJoCo model, set to the gains of these servos and a friction of the ground (None: each end effector's own)."""
        import mujoco

        model, servo = self.model, slice(0, len(servos.wheel))
        model.geom_friction[self.tips, 0] = [tip.friction if friction is None else friction for tip in self.character.end_effectors]
        model.actuator_gainprm[servo, 0] = np.where(servos.wheel, servos.damping, servos.stiffness)
        model.actuator_biasprm[servo, 1] = -servos.stiffness
        model.dof_armature[self.velocity_address] = self.armature
        np.maximum.at(model.dof_armature, self.velocity_address, servos.damping * TIMESTEP)
        model.actuator_biasprm[servo, 2] = 0.0
        mujoco.mj_setConst(model, mujoco.MjData(model))
        # only now: a positive rate gain would have been taken for a damping ratio
        model.actuator_biasprm[servo, 2] = servos.back_emf - servos.damping
        return replace(self, servos=servos)

    def read(self, data: Array, name: str, width: int) -> Array:
        """Sensor data (m, all) as (m, things, width)."""
        return data[:, self.sensors[name]].reshape(len(data), -1, width)

    def controls(self, targets: Array) -> Array:
        """Controls (m, 2 k) of what the servos aim at (m, k): each servo, then the dampers, which get zero."""
        return np.hstack([targets, np.zeros_like(targets)])


def ground_model(
    character: Character,
    servos: GroundServos,
    *,
    friction: float | None = None,
    terrain: HeightField | None = None,
    extent: tuple[float, float, float, float] = (-1.0, 1.0, -1.0, 1.0),
    springs: Array | None = None,
) -> GroundModel:
    """Build the model. ``friction`` None: each end effector's own. ``extent`` (x, x, y, y) [m]: where terrain is needed.

    ``springs`` (k, 2): stiffness [N·m/rad] and damping [N·m·s/rad] at each motor's joint about its home, those of a skin.
    """
    import mujoco

    base = free_base(character)
    if base is None or not character.end_effectors:
        raise BadInput(f"{character.name!r} has no free base with wheels or feet (end_effectors); it cannot go over the ground")
    xml = write_mjcf(character, floor=False, self_collision=False, actuators=False, timestep_s=TIMESTEP)
    with simulable(character):
        spec = mujoco.MjSpec.from_string(xml)
        _touching(spec, character)
        _add_ground(spec, terrain, extent)
        _add_motors(spec, servos)
        sensors = _add_sensors(spec, character, base.child)
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.impratio = _IMPEDANCE_RATIO
        model = spec.compile()
    joints = np.array([model.joint(name).id for name in servos.bank.coordinates], dtype=np.int64)
    places, rates = model.jnt_qposadr[joints].astype(np.int64), model.jnt_dofadr[joints].astype(np.int64)
    if springs is not None:
        model.jnt_stiffness[joints] += springs[:, 0]
        model.qpos_spring[places] = [character.home.get(name, 0.0) for name in servos.bank.coordinates]
        model.dof_damping[rates] += springs[:, 1]
    tips = np.array([model.geom(tip.name).id for tip in character.end_effectors], dtype=np.int64)
    built = GroundModel(model, character, servos, places, rates, sensors, model.dof_armature[rates].copy(), tips)
    return built.under(servos, friction)


def _touching(spec: Any, character: Character) -> None:
    """End effectors meet the first ground, all else that collides the second."""
    tips = {tip.name: tip for tip in character.end_effectors}
    for geom in spec.geoms:
        if geom.name in tips:
            geom.contype, geom.conaffinity, geom.priority = 0, _TIP, 1
            geom.friction = [tips[geom.name].friction, 0.005, 0.0001]
            geom.solref = [CONTACT_TIME, 1.0]
            geom.condim = 3
        elif geom.contype or geom.conaffinity:
            geom.contype, geom.conaffinity = 0, _REST


def _add_ground(spec: Any, terrain: HeightField | None, extent: tuple[float, float, float, float]) -> None:
    """Two grounds at the same place, one for end effectors, one for everything else."""
    import mujoco

    shape: dict[str, Any] = {"type": mujoco.mjtGeom.mjGEOM_PLANE, "size": [0, 0, 0.05]}
    if terrain is not None:
        step = max(0.5 * terrain.spacing, _FINEST)
        x = np.arange(extent[0] - _MARGIN, extent[1] + _MARGIN + step, step)
        y = np.arange(extent[2] - _MARGIN, extent[3] + _MARGIN + step, step)
        heights = ground_height(terrain, x[:, None], y[None, :])
        low, high = float(heights.min()), max(float(heights.max()), float(heights.min()) + 1e-6)
        size = [0.5 * (x[-1] - x[0]), 0.5 * (y[-1] - y[0]), high - low, _THICK]
        levels = ((heights - low) / (high - low)).T
        spec.add_hfield(name="ground", size=size, nrow=len(y), ncol=len(x), userdata=levels.ravel())
        shape = {"type": mujoco.mjtGeom.mjGEOM_HFIELD, "hfieldname": "ground"}
        shape["pos"] = [0.5 * (x[0] + x[-1]), 0.5 * (y[0] + y[-1]), low]
    for name, bit in (("ground", _TIP), ("ground of others", _REST)):
        spec.worldbody.add_geom(name=name, contype=bit, conaffinity=0, friction=[0, 0, 0], **shape)


def _add_motors(spec: Any, servos: GroundServos) -> None:
    """Two actuators a motor, and the limits of its torque; `GroundModel.under` sets the gains."""
    import mujoco

    bank, line = servos.bank, servos.back_emf
    for part in ("servo", "damper"):
        for j, name in enumerate(bank.coordinates):
            actuator = spec.add_actuator(name=f"{part} of {name}", target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
            bias = np.zeros(10)
            if part == "damper":
                bias[2] = -line[j]
            actuator.gainprm, actuator.biasprm = np.zeros(10), bias
            if np.isfinite(bank.stall[j]):
                spec.joint(name).actfrclimited = mujoco.mjtLimited.mjLIMITED_TRUE
                spec.joint(name).actfrcrange = [-bank.stall[j], bank.stall[j]]
                if part == "servo":
                    actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
                    actuator.forcerange = [-bank.stall[j], bank.stall[j]]


def _add_sensors(spec: Any, character: Character, base: str) -> dict[str, slice]:
    """Sensors in the order of the slices returned."""
    import mujoco

    kinds, things, fields = mujoco.mjtSensor, mujoco.mjtObj, mujoco.mjtConDataField
    touching, force = 1 << int(fields.mjCONDATA_FOUND), 1 << int(fields.mjCONDATA_FORCE)
    sensors: dict[str, slice] = {}
    at = 0

    def add(group: str, rows: list[dict[str, Any]], width: int) -> None:
        nonlocal at
        for row in rows:
            spec.add_sensor(**row)
        sensors[group] = slice(at, at + width * len(rows))
        at += width * len(rows)

    tips = [tip.name for tip in character.end_effectors]
    add("com", [{"type": kinds.mjSENS_SUBTREECOM, "objtype": things.mjOBJ_BODY, "objname": base}], 3)
    joint = {"type": kinds.mjSENS_JOINTACTFRC, "objtype": things.mjOBJ_JOINT}
    add("torques", [joint | {"objname": motor.coordinate} for motor in character.motors], 1)
    net = {"type": kinds.mjSENS_CONTACT, "reftype": things.mjOBJ_GEOM, "objtype": things.mjOBJ_GEOM}
    reduce = 3  # the net force, in world axes
    add("others", [net | {"objname": "ground of others", "reftype": things.mjOBJ_UNKNOWN, "intprm": [touching, reduce, 1]}], 1)
    add("force", [net | {"objname": "ground", "refname": name, "intprm": [touching | force, reduce, 1]} for name in tips], 4)
    geom = {"objtype": things.mjOBJ_GEOM}
    for group, kind in (
        ("center", kinds.mjSENS_FRAMEPOS),
        ("linear", kinds.mjSENS_FRAMELINVEL),
        ("angular", kinds.mjSENS_FRAMEANGVEL),
        ("axis", kinds.mjSENS_FRAMEZAXIS),
    ):
        add(group, [geom | {"type": kind, "objname": name} for name in tips], 3)
    return sensors
