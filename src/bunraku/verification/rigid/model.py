"""A character as a MuJoCo model that stands on a floor with servos: what the replay simulates.

Feet touch the ground at the points of their soles (small spheres), so that the support is the one the certificate speaks of; any
other part that touches the floor counts as a fall. Parts of the character do not collide with each other here: the certificate's
self-collision check does that. The servos are those of `servos.actuators`.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
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
from bunraku.verification.foreign import integrator, named, scale_masses, simulable
from bunraku.verification.servos.actuators import Actuators, add_servos, find_servos, set_servos, with_gear_play
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.servos.drives import servos_in
from bunraku.verification.worlds import World

Indices = NDArray[np.int64]
_BEAD = 0.002


@dataclass(frozen=True)
class ForeignModel:
    """The MuJoCo model, its servos, and where things are in its arrays. ``base`` and ``floor`` are -1 when the base does not float.

    ``feet``: the geoms at the sole points of each foot; ``torques``: where the sensors of the motors' torques write.
    """

    model: Any
    servos: ServoBank
    at: Actuators
    home: Array
    base: int
    floor: int
    feet: tuple[Indices, ...]
    torques: slice

    def under(self, world: World) -> ForeignModel:
        """A copy of this model as it is in a world."""
        model, servos = copy(self.model), servos_in(self.servos, world)
        if world.friction is not None:
            model.geom_friction[np.concatenate([*self.feet, np.zeros(0, dtype=np.int64)]), 0] = world.friction
        scale_masses(model, world.masses)
        set_servos(model, self.at, servos)
        return replace(self, model=model, servos=servos)


def foreign_model(character: Character, timestep: float, servos: ServoBank | None = None) -> ForeignModel:
    """Build the model with time step ``timestep`` [s], the home pose on the floor; ``servos`` None: as the motors state them."""
    import mujoco

    floating = free_base(character)
    if floating is not None and not character.feet:
        raise BadInput(f"{character.name!r} floats and has no feet to stand on; describe its feet, or fix its base to the world")
    servos = ServoBank.of(character) if servos is None else servos
    xml = write_mjcf(character, floor=False, self_collision=False, actuators=False, timestep_s=timestep)
    with simulable(character):
        spec = mujoco.MjSpec.from_string(with_gear_play(xml, servos))
        add_servos(spec, servos)
        first = len(spec.sensors)
        for name in servos.coordinates:
            spec.add_sensor(type=mujoco.mjtSensor.mjSENS_JOINTACTFRC, objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=name)
        _add_ground(spec, character, floating is not None)
        spec.option.integrator = integrator()
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.option.impratio = 10.0
        model = spec.compile()
    base = model.body(floating.child).id if floating is not None else -1
    geoms: list[Indices] = [
        np.array([model.geom(f"bead of {foot.name} {i}").id for i in range(len(foot.points))], dtype=np.int64)
        for foot in character.feet
        if floating is not None and foot.body != WORLD
    ]
    return ForeignModel(
        model,
        servos,
        find_servos(model, servos),
        _home(character, model),
        base,
        model.geom("the floor").id if base >= 0 else -1,
        tuple(geoms),
        slice(first, first + len(servos.names)),
    ).under(World())


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
        body = named(spec.bodies, foot.body)
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
