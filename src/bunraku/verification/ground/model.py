"""A character as a MuJoCo model on real ground: a floor or a height field, wheels that roll, feet that slip, servos with limits.

Only end effectors may touch the ground; every other part meets a second ground at the same place, so that its touch is felt and
seen. Parts do not collide with each other: the certificate speaks of that. The servos are those of `servos.actuators`.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character, free_base
from bunraku.errors import BadInput
from bunraku.formats.mjcf_write import write_mjcf
from bunraku.motion import HeightField
from bunraku.verification.foreign import integrator, scale_masses, simulable
from bunraku.verification.ground.contacts import contact_sensors, step_and_look
from bunraku.verification.ground.heights import ground_height
from bunraku.verification.servos.actuators import Actuators, add_servos, find_servos, set_servos, with_gear_play
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.servos.roll import Steps, rollout_steps

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
    """The MuJoCo model of a character with k motors and e end effectors, and where its servos and sensors are.

    ``sensors``: name to slice of the sensor data: "com" (3), "torques" (k), "others" (1: contacts of parts that must not touch),
    and for all end effectors together "force" (e, 4: found, x, y, z), "center", "linear", "angular", "axis" (e, 3).
    ``tips`` (e,): the geoms of the end effectors.
    """

    model: Any
    character: Character
    servos: ServoBank
    at: Actuators
    sensors: dict[str, slice]
    tips: Indices

    def under(self, servos: ServoBank, friction: float | None, masses: dict[str, float] | None = None) -> GroundModel:
        """A copy of this model with these servos and a friction of the ground (None: each end effector's own).

        ``masses``: factors on mass and inertia of bodies; others keep theirs.
        """
        model = copy(self.model)
        model.geom_friction[self.tips, 0] = [tip.friction if friction is None else friction for tip in self.character.end_effectors]
        scale_masses(model, masses or {})
        set_servos(model, self.at, servos)
        return replace(self, model=model, servos=servos)

    @property
    def steps(self) -> Steps:
        """How it is stepped so that its sensors have values."""
        return rollout_steps if contact_sensors() else partial(step_and_look, tips=self.tips, sensors=self.sensors)

    def read(self, data: Array, name: str, width: int) -> Array:
        """Sensor data (m, all) as (m, things, width)."""
        return data[:, self.sensors[name]].reshape(len(data), -1, width)


def ground_model(
    character: Character,
    servos: ServoBank | None = None,
    *,
    friction: float | None = None,
    terrain: HeightField | None = None,
    extent: tuple[float, float, float, float] = (-1.0, 1.0, -1.0, 1.0),
    springs: Array | None = None,
) -> GroundModel:
    """Build the model. ``servos`` None: those that the motors state. ``friction`` None: each end effector's own.

    ``extent`` (x, x, y, y) [m]: where terrain is needed.
    ``springs`` (k, 2): stiffness [N·m/rad] and damping [N·m·s/rad] at each motor's joint about its home, those of a skin.
    """
    import mujoco

    base = free_base(character)
    if base is None or not character.end_effectors:
        raise BadInput(f"{character.name!r} has no free base with wheels or feet (end_effectors); it cannot go over the ground")
    servos = ServoBank.of(character) if servos is None else servos
    xml = write_mjcf(character, floor=False, self_collision=False, actuators=False, timestep_s=TIMESTEP)
    with simulable(character):
        spec = mujoco.MjSpec.from_string(with_gear_play(xml, servos))
        _touching(spec, character)
        _add_ground(spec, terrain, extent)
        add_servos(spec, servos)
        sensors = _add_sensors(spec, character, base.child)
        spec.option.integrator = integrator()
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.impratio = _IMPEDANCE_RATIO
        model = spec.compile()
    at = find_servos(model, servos)
    if springs is not None:
        joints = [model.joint(name).id for name in servos.coordinates]
        model.jnt_stiffness[joints] += springs[:, 0]
        model.qpos_spring[at.position] = [character.home.get(name, 0.0) for name in servos.coordinates]
        model.dof_damping[at.velocity] += springs[:, 1]
    tips = np.array([model.geom(tip.name).id for tip in character.end_effectors], dtype=np.int64)
    return GroundModel(model, character, servos, at, sensors, tips).under(servos, friction)


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


def _add_sensors(spec: Any, character: Character, base: str) -> dict[str, slice]:
    """Sensors in the order of the slices returned."""
    import mujoco

    kinds, things = mujoco.mjtSensor, mujoco.mjtObj
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
    others, forces = _contacts(tips)
    add("others", [others], 1)
    add("force", forces, 4)
    geom = {"objtype": things.mjOBJ_GEOM}
    for group, kind in (
        ("center", kinds.mjSENS_FRAMEPOS),
        ("linear", kinds.mjSENS_FRAMELINVEL),
        ("angular", kinds.mjSENS_FRAMEANGVEL),
        ("axis", kinds.mjSENS_FRAMEZAXIS),
    ):
        add(group, [geom | {"type": kind, "objname": name} for name in tips], 3)
    return sensors


def _contacts(tips: list[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Sensors of what touches the ground of others (1), and of the ground's net force on each end effector in world axes (4)."""
    import mujoco

    kinds, things = mujoco.mjtSensor, mujoco.mjtObj
    if not contact_sensors():
        empty = {"type": kinds.mjSENS_USER, "needstage": mujoco.mjtStage.mjSTAGE_ACC}
        return empty | {"dim": 1}, [empty | {"dim": 4} for _ in tips]
    fields, reduce = mujoco.mjtConDataField, 3
    touching, force = 1 << int(fields.mjCONDATA_FOUND), 1 << int(fields.mjCONDATA_FORCE)
    net = {"type": kinds.mjSENS_CONTACT, "reftype": things.mjOBJ_GEOM, "objtype": things.mjOBJ_GEOM}
    others = net | {"objname": "ground of others", "reftype": things.mjOBJ_UNKNOWN, "intprm": [touching, reduce, 1]}
    return others, [net | {"objname": "ground", "refname": name, "intprm": [touching | force, reduce, 1]} for name in tips]
