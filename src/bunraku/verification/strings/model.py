"""A character on strings as a MuJoCo model that a replay can drive: carriages and winches that move as commanded.

MuJoCo limits the length of a tendon softly and looks at the velocities of joints only: it sees neither a moving mocap body nor a
changing limit, and would let a string that is paid out go slack and jerk. So the carriages of the exported model get slides, and
every string runs on over its carriage to a winch on a slide of its own: the tendon B - length + |carriage - hook| may be no longer
than B, which is what a string of that length does, and MuJoCo sees all velocities. The slides are too heavy (``HEAVY``) to be moved
by strings and are put where they are sent at every step. The base has our coordinates, slides and hinges, no quaternion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.formats.mjcf_write import write_mjcf
from bunraku.mechanics.dynamics.system import System
from bunraku.verification.foreign import delete, named, simulable

Indices = NDArray[np.int64]

HEAVY = 1e6
"""Inertia [kg] of the slides of carriages and winches: a pull of 15 N moves one by 1.5e-5 m/s² before it is put right."""


@dataclass(frozen=True)
class StringModel:
    """The MuJoCo model, and where the coordinates of a system stand in it.

    ``position`` and ``velocity`` (nq,): their places in qpos and qvel; ``tendons`` (strings,): the strings' among the tendons;
    ``reach`` (strings,) [m]: the length B of the tendon when its string is taut; ``followers``: (follower, driver, ratio, offset)
    of each coupling, the first two as joints of the model.
    """

    model: Any
    position: Indices
    velocity: Indices
    tendons: Indices
    reach: Array
    followers: tuple[tuple[int, int, float, float], ...]

    def place(self, data: Any, q: Array, v: Array) -> None:
        """Put a MuJoCo state at q, v (nq,), followers with their drivers."""
        data.qpos[self.position], data.qvel[self.velocity] = q, v
        for follower, driver, ratio, offset in self.followers:
            data.qpos[self.model.jnt_qposadr[follower]] = ratio * data.qpos[self.model.jnt_qposadr[driver]] + offset
            data.qvel[self.model.jnt_dofadr[follower]] = ratio * data.qvel[self.model.jnt_dofadr[driver]]

    def tensions(self, data: Any) -> Array:
        """What each string carries (strings,) [N] in the step just computed; zero when slack."""
        import mujoco

        pull = np.zeros(len(self.tendons))
        if len(pull):
            limited = data.efc_type == mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON
            everything = np.zeros(self.model.ntendon)
            everything[data.efc_id[limited]] = data.efc_force[limited]
            pull = everything[self.tendons]
        return pull

    def stretch(self, data: Any) -> Array:
        """By how much each string (strings,) is longer [m] than it should be; negative when slack."""
        result: Array = data.ten_length[self.tendons] - self.reach
        return result


def string_model(character: Character, system: System, timestep: float) -> StringModel:
    """The model with a time step [s], for the coordinates of ``system``."""
    import mujoco

    text = write_mjcf(
        character, free_base_as_quaternion=False, floor=False, self_collision=False, actuators=False, timestep_s=timestep
    )
    with simulable(character):
        spec = mujoco.MjSpec.from_string(text)
        reach = _winches(spec, character, timestep)
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        spec.option.tolerance, spec.option.iterations = 1e-12, 200
        model = spec.compile()
    joints = np.array([model.joint(name).id for name in system.names], dtype=np.int64)
    moving = model.jnt_dofadr[joints[system.dynamic]]
    model.stat.meaninertia = float(np.mean(model.dof_M0[moving]))
    followers = tuple((model.joint(c.follower).id, model.joint(c.driver).id, c.ratio, c.offset) for c in character.couplings)
    return StringModel(
        model,
        model.jnt_qposadr[joints].astype(np.int64),
        model.jnt_dofadr[joints].astype(np.int64),
        np.array([model.tendon(string.name).id for string in character.strings], dtype=np.int64),
        np.array([reach[string.name] for string in character.strings]),
        followers,
    )


def _winches(spec: Any, character: Character, timestep: float) -> dict[str, float]:
    """Carriages on slides, winches above them, strings over both; returns the taut length of each tendon."""
    import mujoco

    slide, reach = mujoco.mjtJoint.mjJNT_SLIDE, {}
    for carriage in character.carriages:
        body = named(spec.bodies, carriage.name)
        body.mocap, body.pos = False, [0.0, 0.0, carriage.home[2]]
        body.mass, body.inertia, body.explicitinertial = 1e-3, [1e-6] * 3, True
        for name, axis in zip(carriage.coordinates, ([1, 0, 0], [0, 1, 0]), strict=True):
            body.add_joint(name=name, type=slide, axis=axis, armature=HEAVY)
    for string in character.strings:
        winch_range = next(c.winch_range for c in character.carriages if c.name == string.carriage)
        longest = max(winch_range[1] if winch_range else 0.0, string.length or 0.0, 5.0)
        reach[string.name] = 2.0 * longest
        winch = named(spec.bodies, string.carriage).add_body(name=string.coordinate, pos=[0.0, 0.0, reach[string.name]])
        winch.mass, winch.inertia, winch.explicitinertial = 1e-3, [1e-6] * 3, True
        winch.add_joint(name=string.coordinate, type=slide, axis=[0, 0, -1], armature=HEAVY)
        winch.add_site(name=string.coordinate)
        delete(spec, named(spec.tendons, string.name))
        tendon = spec.add_tendon(name=string.name, limited=mujoco.mjtLimited.mjLIMITED_TRUE, range=[0.0, reach[string.name]])
        tendon.solref_limit, tendon.solimp_limit = [2.0 * timestep, 1.0], [0.999, 0.9999, 0.001, 0.5, 2.0]
        for site in (string.coordinate, string.carriage, f"{string.name}.hook"):
            tendon.wrap_site(site)
    return reach
