"""A servo as actuators of MuJoCo, so that its law holds at every step without leaving the simulator.

Each motor is two actuators on its joint. The servo gives u - kp q - (kv - b) v, u its drive (`servos.commands`) and b = tau_0 / v_0
the slope of its torque-speed line, cut at +-tau_0; the damper gives -b v. The force of both on the joint is cut at +-tau_0. So the
torque is kp (c - q) + kv (w - v), the line tau <= tau_0 (1 - v / v_0) and the braking limit tau_0 hold, and a motor that something
turns faster than v_0 brakes, as its counter-voltage makes it.

A deadband d takes kp d off what drives either way: two servos, one that can only push forward, sent u - kp d, and one that can
only push back, sent u + kp d; with a third actuator of +b v their sum is cut by a tendon of the joint's own, before the damper.

Gear play is a second joint between motor and link, which turns freely between two stops half the play away.

MuJoCo's own ``position``, ``dcmotor`` and ``pid`` actuators and their ``delay`` (3.5 and later) are not used: a ``position``
servo has no w; a ``dcmotor`` cuts its voltage and not its torque, so that it brakes with twice its stall torque, and takes its
gains from there; and as commands are known beforehand a delay is exact in what is sent (`servos.commands`), for any version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.verification.servos.bank import ServoBank

Indices = NDArray[np.int64]

LEAST_PLAY = 1e-9
"""Gear play of less [rad or m] is none."""

_STOP = "0.002 1"
_UNLIMITED = 1e12


@dataclass(frozen=True)
class Actuators:
    """Where the servos are in a compiled model: places of joints and of gear play (-1: none) in ``qpos`` and ``qvel``, (k,).

    ``armature`` (k,): rotor inertias as stated; ``forward``, ``backward``: actuators that push either way, the same where there is
    no deadband.
    """

    position: Indices
    velocity: Indices
    play_position: Indices
    play_velocity: Indices
    play_joint: Indices
    armature: Array
    forward: Indices
    backward: Indices

    def angle(self, qpos: Array) -> Array:
        """Angles (..., k) of the links: of the motors, and of the play beyond."""
        play = np.where(self.play_position >= 0, qpos[..., self.play_position], 0.0)
        return np.asarray(qpos[..., self.position] + play)

    def speed(self, qvel: Array) -> Array:
        """Speeds (..., k) of the links."""
        play = np.where(self.play_velocity >= 0, qvel[..., self.play_velocity], 0.0)
        return np.asarray(qvel[..., self.velocity] + play)

    def controls(self, model: Any, bank: ServoBank, drives: Array) -> Array:
        """Controls (m, nu) of drives (m, k)."""
        out = np.zeros((len(drives), int(model.nu)))
        idle = bank.gains.stiffness * bank.deadband
        out[:, self.forward] = drives - idle
        two = self.backward != self.forward
        out[:, self.backward[two]] = (drives + idle)[:, two]
        return out


def with_gear_play(xml: str, bank: ServoBank) -> str:
    """The model with a joint of play after the joint of every motor that has any."""
    playing = [name for name, play in zip(bank.coordinates, bank.backlash, strict=True) if play > LEAST_PLAY]
    if not playing:
        return xml
    root = ElementTree.fromstring(xml)
    for body in root.iter("body"):
        for i, joint in reversed(list(enumerate(body))):
            name = joint.get("name", "")
            if joint.tag == "joint" and name in playing:
                half = 0.5 * float(bank.backlash[bank.coordinates.index(name)])
                kept = {key: value for key in ("type", "pos", "axis") if (value := joint.get(key)) is not None}
                stops = {"limited": "true", "range": f"{-half!r} {half!r}", "solreflimit": _STOP, "armature": "0", "damping": "0"}
                body.insert(i + 1, ElementTree.Element("joint", kept | {"name": f"play of {name}"} | stops))
    return ElementTree.tostring(root, encoding="unicode")


def add_servos(spec: Any, bank: ServoBank) -> None:
    """Actuators of all servos; `set_servos` sets their gains in the compiled model."""
    import mujoco

    stall = np.minimum(bank.stall, _UNLIMITED)
    for j, name in enumerate(bank.coordinates):
        most = float(stall[j])
        two, line = bank.deadband[j] > 0.0, np.isfinite(bank.stall[j])
        target, kind = name, mujoco.mjtTrn.mjTRN_JOINT
        if two and line:
            target, kind = f"shaft of {name}", mujoco.mjtTrn.mjTRN_TENDON
            shaft = spec.add_tendon(name=target)
            shaft.wrap_joint(name, 1.0)
            if not hasattr(shaft, "actfrcrange"):
                raise BadInput(f"the deadband of the motor of {name!r} needs MuJoCo 3.3.1 or later; update mujoco")
            shaft.actfrclimited, shaft.actfrcrange = mujoco.mjtLimited.mjLIMITED_TRUE, [-most, most]
        ways = {"servo": (0.0, _UNLIMITED), "servo back": (-_UNLIMITED, 0.0)} if two else {"servo": (-most, most)}
        for way, (low, high) in ways.items():
            actuator = _affine(spec, f"{way} of {name}", target, kind)
            actuator.forcelimited, actuator.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, [low, high]
        if two:
            _affine(spec, f"counter of {name}", target, kind)
        _affine(spec, f"damper of {name}", name, mujoco.mjtTrn.mjTRN_JOINT)
        if line:
            spec.joint(name).actfrclimited = mujoco.mjtLimited.mjLIMITED_TRUE
            spec.joint(name).actfrcrange = [-most, most]


def _affine(spec: Any, name: str, target: str, kind: Any) -> Any:
    import mujoco

    actuator = spec.add_actuator(name=name, target=target, trntype=kind)
    actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    actuator.gainprm, actuator.biasprm = np.zeros(10), np.zeros(10)
    return actuator


def find_servos(model: Any, bank: ServoBank) -> Actuators:
    """Where the servos of a compiled model are."""

    def ids(kind: str, prefix: str) -> Indices:
        import mujoco

        which = {"joint": mujoco.mjtObj.mjOBJ_JOINT, "actuator": mujoco.mjtObj.mjOBJ_ACTUATOR}[kind]
        return np.array([mujoco.mj_name2id(model, which, f"{prefix}{name}") for name in bank.coordinates], dtype=np.int64)

    joints, play = ids("joint", ""), ids("joint", "play of ")
    velocity = model.jnt_dofadr[joints].astype(np.int64)
    forward, backward = ids("actuator", "servo of "), ids("actuator", "servo back of ")
    return Actuators(
        model.jnt_qposadr[joints].astype(np.int64),
        velocity,
        np.where(play >= 0, model.jnt_qposadr[play], -1).astype(np.int64),
        np.where(play >= 0, model.jnt_dofadr[play], -1).astype(np.int64),
        play,
        model.dof_armature[velocity].copy(),
        forward,
        np.where(backward >= 0, backward, forward),
    )


def set_servos(model: Any, at: Actuators, bank: ServoBank) -> None:
    """Set the gains, the line and the play of these servos in a compiled model.

    Each motor has at least the rotor inertia that the step h needs, kv h and kp (4 h)^2: with less a saturated motor of a limb in
    the air would overshoot its command in one step. Geared rotors have more.
    """
    import mujoco

    kp, kv, line, h = bank.gains.stiffness, bank.gains.damping, bank.back_emf, float(model.opt.timestep)
    two = at.backward != at.forward
    model.dof_armature[at.velocity] = at.armature
    np.maximum.at(model.dof_armature, at.velocity, np.maximum(kv * h, kp * (4.0 * h) ** 2))
    playing = at.play_joint >= 0
    model.jnt_range[at.play_joint[playing], 0] = -0.5 * bank.backlash[playing]
    model.jnt_range[at.play_joint[playing], 1] = 0.5 * bank.backlash[playing]
    for which in (at.forward, at.backward):
        model.actuator_gainprm[which, 0] = 1.0
        model.actuator_biasprm[which, 1] = -kp
        model.actuator_biasprm[which, 2] = 0.0
    mujoco.mj_setConst(model, mujoco.MjData(model))
    # only now: a positive rate gain would have been taken for a damping ratio
    for which in (at.forward, at.backward):
        model.actuator_biasprm[which, 2] = np.where(two, 0.0, line) - kv
    counter, damper = at.backward + 1, at.backward + 1 + two
    model.actuator_biasprm[counter[two], 2] = line[two]
    model.actuator_biasprm[damper, 2] = -line
