"""A servo as actuators of MuJoCo, so that its law holds at every step without leaving the simulator.

Each motor is two actuators on its joint. The servo gives u - kp q - (kv - b) v, u its drive (`servos.commands`) and b = tau_0 / v_0
the slope of its torque-speed line, cut at +-tau_0; the damper gives -b v. The force of both on the joint is cut at +-tau_0. So the
torque is kp (c - q) + kv (w - v), the line tau <= tau_0 (1 - v / v_0) and the braking limit tau_0 hold, and a motor that something
turns faster than v_0 brakes, as its counter-voltage makes it.

A deadband d takes kp d off what drives either way: two servos in place of the one, max(0, x) that can only push forward and
min(0, y) that can only push back, x = u - kp d - kp q - kv v and y = u + kp d - kp q - kv v; and in place of the damper two caps,
min(0, tau_0 - b v - x) and max(0, -tau_0 - b v - y), that take off what is beyond the line.

Gear play is a second joint between motor and link, which turns freely between two stops half the play away.

MuJoCo's own ``position``, ``dcmotor`` and ``pid`` actuators and their ``delay`` (3.5 and later) are not used: a ``position``
servo has no w; a ``dcmotor`` cuts its voltage and not its torque, so that it brakes with twice its stall torque, and takes its
gains from there; and as commands are known beforehand a delay is exact in what is sent (`servos.commands`), for any version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.verification.foreign import named
from bunraku.verification.servos.bank import ServoBank

Indices = NDArray[np.int64]

LEAST_PLAY = 1e-9
"""Gear play of less [rad or m] is none."""

_STOP = "0.002 1"
_LEAST_ROTOR = 1e-5
_JOINT = re.compile(r"\s*<joint name=(\"[^\"]*\"|'[^']*') ")
_ARMATURE = re.compile(r' armature="([^"]*)"')
_OWN = re.compile(r' (?:range|damping|frictionloss|armature|stiffness|springref)="[^"]*"')
_UNLIMITED = 1e9


@dataclass(frozen=True)
class Actuators:
    """Where the servos are in a compiled model: places of joints and of gear play (-1: none) in ``qpos`` and ``qvel``, (k,).

    ``armature`` (k,): rotor inertias as stated; ``servo``: the first actuator of each, ``two``: whether it has a deadband;
    ``driven`` (nu, k): how each control answers a drive.
    """

    position: Indices
    velocity: Indices
    play_position: Indices
    play_velocity: Indices
    play_joint: Indices
    armature: Array
    servo: Indices
    two: NDArray[np.bool_]
    driven: Array

    def angle(self, qpos: Array) -> Array:
        """Angles (..., k) of the links: of the motors, and of the play beyond."""
        play = np.where(self.play_position >= 0, qpos[..., self.play_position], 0.0)
        return np.asarray(qpos[..., self.position] + play)

    def speed(self, qvel: Array) -> Array:
        """Speeds (..., k) of the links."""
        play = np.where(self.play_velocity >= 0, qvel[..., self.play_velocity], 0.0)
        return np.asarray(qvel[..., self.velocity] + play)

    def controls(self, bank: ServoBank, drives: Array) -> Array:
        """Controls (m, nu) of drives (m, k)."""
        out = drives @ self.driven.T
        idle, two = bank.gains.stiffness * bank.deadband, self.two
        out[:, self.servo[two]] -= idle[two]
        out[:, self.servo[two] + 1] += idle[two]
        out[:, self.servo[two] + 2] += (idle + np.minimum(bank.stall, _UNLIMITED))[two]
        out[:, self.servo[two] + 3] -= (idle + np.minimum(bank.stall, _UNLIMITED))[two]
        return np.asarray(out)


def with_gear_play(xml: str, bank: ServoBank) -> str:
    """The model, as `formats.mjcf_write` writes it, with a joint of play after the joint of every motor that has any."""
    halves = {
        quoteattr(name): 0.5 * float(play)
        for name, play in zip(bank.coordinates, bank.backlash, strict=True)
        if play > LEAST_PLAY
    }  # fmt: skip
    lines = []
    for line in xml.split("\n"):
        joint = _JOINT.match(line)
        name = joint[1] if joint else ""
        if name not in halves:
            lines.append(line)
            continue
        half = halves[name]
        rotor = _ARMATURE.search(line)
        kept = max(float(rotor[1]) if rotor else 0.0, _LEAST_ROTOR)
        lines.append(_ARMATURE.sub("", line).replace("/>", f' armature="{kept!r}"/>'))
        play = f"{name[0]}play of {name[1:]}"
        stops = f' limited="true" range="{-half!r} {half!r}" solreflimit="{_STOP}"/>'
        lines.append(_OWN.sub("", line).replace(name, play).replace("/>", stops))
    return "\n".join(lines)


def add_servos(spec: Any, bank: ServoBank) -> None:
    """Actuators of all servos; `set_servos` sets their gains in the compiled model."""
    import mujoco

    for j, name in enumerate(bank.coordinates):
        most = float(min(bank.stall[j], _UNLIMITED))
        parts = {"servo": (-most, most), "damper": (-_UNLIMITED, _UNLIMITED)}
        if bank.deadband[j] > 0.0:
            forward, back = (0.0, _UNLIMITED), (-_UNLIMITED, 0.0)
            parts = {"servo": forward, "servo back": back, "cap": back, "cap back": forward}
        for part, (low, high) in parts.items():
            actuator = spec.add_actuator(name=f"{part} of {name}", target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
            actuator.gainprm, actuator.biasprm = np.zeros(10), np.zeros(10)
            actuator.forcelimited, actuator.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, [low, high]
        if np.isfinite(bank.stall[j]):
            joint = named(spec.joints, name)
            joint.actfrclimited, joint.actfrcrange = mujoco.mjtLimited.mjLIMITED_TRUE, [-most, most]


def find_servos(model: Any, bank: ServoBank) -> Actuators:
    """Where the servos of a compiled model are."""

    def ids(kind: str, prefix: str) -> Indices:
        import mujoco

        which = {"joint": mujoco.mjtObj.mjOBJ_JOINT, "actuator": mujoco.mjtObj.mjOBJ_ACTUATOR}[kind]
        return np.array([mujoco.mj_name2id(model, which, f"{prefix}{name}") for name in bank.coordinates], dtype=np.int64)

    joints, play = ids("joint", ""), ids("joint", "play of ")
    velocity = model.jnt_dofadr[joints].astype(np.int64)
    servo, two = ids("actuator", "servo of "), ids("actuator", "servo back of ") >= 0
    driven = np.zeros((int(model.nu), len(bank.names)))
    columns = np.arange(len(bank.names))
    driven[servo, columns] = 1.0
    for which, sign in ((1, 1.0), (2, -1.0), (3, -1.0)):
        driven[servo[two] + which, columns[two]] = sign
    return Actuators(
        model.jnt_qposadr[joints].astype(np.int64),
        velocity,
        np.where(play >= 0, model.jnt_qposadr[play], -1).astype(np.int64),
        np.where(play >= 0, model.jnt_dofadr[play], -1).astype(np.int64),
        play,
        model.dof_armature[velocity].copy(),
        servo,
        two,
        driven,
    )


def set_servos(model: Any, at: Actuators, bank: ServoBank) -> None:
    """Set the gains, the line and the play of these servos in a compiled model.

    Each motor has at least the rotor inertia that the step h needs, kv h and kp (4 h)^2: with less a saturated motor of a limb in
    the air would overshoot its command in one step. Geared rotors have more. An explicit integrator needs it of the line too.
    """
    import mujoco

    kp, kv, line, h = bank.gains.stiffness, bank.gains.damping, bank.back_emf, float(model.opt.timestep)
    model.dof_armature[at.velocity] = at.armature
    explicit = model.opt.integrator == mujoco.mjtIntegrator.mjINT_EULER
    braking = np.maximum(kv, line) if explicit else kv
    np.maximum.at(model.dof_armature, at.velocity, np.maximum(braking * h, kp * (4.0 * h) ** 2))
    playing = at.play_joint >= 0
    model.jnt_range[at.play_joint[playing], 0] = -0.5 * bank.backlash[playing]
    model.jnt_range[at.play_joint[playing], 1] = 0.5 * bank.backlash[playing]
    one, two = at.servo[~at.two], at.servo[at.two]
    model.actuator_gainprm[:, 0] = 0.0
    model.actuator_gainprm[at.driven.any(axis=1), 0] = 1.0
    model.actuator_biasprm[:, 1:3] = 0.0
    mujoco.mj_setConst(model, mujoco.MjData(model))
    # only now: a positive rate gain would have been taken for a damping ratio
    model.actuator_biasprm[one, 1], model.actuator_biasprm[one, 2] = -kp[~at.two], (line - kv)[~at.two]
    model.actuator_biasprm[one + 1, 2] = -line[~at.two]
    for which, sign in ((0, -1.0), (1, -1.0), (2, 1.0), (3, 1.0)):
        model.actuator_biasprm[two + which, 1] = sign * kp[at.two]
        model.actuator_biasprm[two + which, 2] = sign * kv[at.two] - (line[at.two] if which > 1 else 0.0)
