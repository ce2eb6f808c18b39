"""Replay of locomotion in MuJoCo with real contact: wheels roll, feet stick or slip, servos sag, and the character may fall.

It starts in the plan's first state, position and velocity, and plays the commands open loop; nothing corrects where it goes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.formats.mjcf_coordinates import coordinates_to_qpos, qpos_to_coordinates
from bunraku.geometry.rotations import matrix_of_quaternion
from bunraku.motion import HeightField, JointCurves, Performance
from bunraku.verification.foreign import went_wrong, without_log_file
from bunraku.verification.ground.falls import fall
from bunraku.verification.ground.measures import GroundMeasures, measure_ground
from bunraku.verification.ground.model import TIMESTEP, GroundModel, ground_model
from bunraku.verification.ground.plan import GroundPlan, ground_plan
from bunraku.verification.ground.record import GroundRecord
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.servos.drives import servos_in, tick_drives
from bunraku.verification.servos.roll import roll
from bunraku.verification.worlds import World

_CHUNK = 0.5


@dataclass(frozen=True)
class GroundReplay:
    """What happened in one ``world``.

    ``fell`` with the ``reason`` in words; ``complete`` false when it was stopped; ``measures``: how far it was from the plan;
    ``record``: what was simulated, at the times of the plan, with the foreign model ``ground``.
    """

    world: World
    reason: str
    complete: bool
    measures: GroundMeasures
    plan: GroundPlan = field(repr=False)
    record: GroundRecord = field(repr=False)
    ground: GroundModel = field(repr=False)

    @cached_property
    def coordinates(self) -> JointCurves:
        """The motion in the character's coordinates; joints with gear play where the links are."""
        values = qpos_to_coordinates(self.plan.character, self.ground.model, self.record.qpos)
        driven = [self.plan.tree.names.index(name) for name in self.ground.servos.coordinates]
        values[:, driven] = self.record.angle
        return JointCurves(self.plan.tree.names, self.plan.rate, values)

    @property
    def motion(self) -> JointCurves:
        """The motion in the character's coordinates."""
        return self.coordinates

    @property
    def described(self) -> str:
        """The world in words."""
        return self.world.described

    @property
    def fell(self) -> bool:
        """Whether it fell, touched the ground with what must not, or the simulation broke."""
        return self.reason != ""

    @property
    def figures(self) -> dict[str, float]:
        """Flat figures; see `ground.measures.GroundMeasures`."""
        return self.measures.figures | {"fell": float(self.fell)}


def replay_on_ground(
    performance: Performance, *, gain: float = 1.0, friction: float | None = None, rate: float | None = None,
    terrain: HeightField | None = None,
) -> GroundReplay:  # fmt: skip
    """Replay what a performance sends; options as of `World`."""
    return replay_plan(ground_plan(performance, terrain), World(gain, friction, rate))


def plan_model(plan: GroundPlan, servos: ServoBank | None = None) -> GroundModel:
    """The foreign model of a plan, its servos (None: as stated) and each end effector of its own friction."""
    x, y = plan.tip_center[..., 0], plan.tip_center[..., 1]
    extent = (float(x.min()), float(x.max()), float(y.min()), float(y.max()))
    with without_log_file():
        return ground_model(plan.character, servos, terrain=plan.terrain, extent=extent, springs=plan.springs)


def replay_plan(plan: GroundPlan, world: World | None = None, *, model: GroundModel | None = None) -> GroundReplay:
    """Replay a plan in one world (None: as everything is stated); ``model``: that of the plan, when it was built before."""
    world = World() if world is None else world
    for what, value, most in (
        ("gain", float(np.max(world.gain)), 1e3), ("friction", world.friction, 10.0), ("rate", world.rate, 1.0 / TIMESTEP)
    ):  # fmt: skip
        if value is not None and not 0.0 < value <= most:
            raise BadInput(f"a {what} of {value} cannot be replayed; give one above 0 and at most {most:g}")
    model = plan_model(plan) if model is None else model
    with without_log_file():
        ground = model.under(servos_in(model.servos, world), world.friction, world.masses)
        record, reason, complete = _simulate(plan, ground, world)
    measures = measure_ground(plan, ground.servos, record)
    return GroundReplay(world, reason, complete, measures, plan, record, ground)


def _start(plan: GroundPlan, ground: GroundModel, world: World) -> tuple[Array, Array]:
    """MuJoCo's position and velocity of the plan's first sample; the velocity by a small step along the plan's rates.

    Where the world's character starts elsewhere, it starts just above the ground.
    """
    import mujoco

    step = 1e-6
    qpos = coordinates_to_qpos(plan.character, ground.model, np.stack([plan.q[0], plan.q[0] + step * plan.v[0]]))
    qvel = np.zeros(ground.model.nv)
    mujoco.mj_differentiatePos(ground.model, qvel, step, qpos[0], qpos[1])
    start = qpos[0]
    if world.joints is not None:
        start[ground.at.position] += np.where(ground.servos.wheel, 0.0, world.joints)
    if world.lean is not None:
        turn, moved = np.zeros(ground.model.nv), start.copy()
        turn[3:5] = world.lean
        mujoco.mj_integratePos(ground.model, moved, turn, 1.0)
        start = moved
    if world.joints is not None or world.lean is not None:
        data = mujoco.MjData(ground.model)
        data.qpos[:] = start
        mujoco.mj_forward(ground.model, data)
        start[2] -= min(float(data.contact.dist.min(initial=0.0)), 0.0)
    return start, qvel


def _simulate(plan: GroundPlan, ground: GroundModel, world: World) -> tuple[GroundRecord, str, bool]:
    """Step through the plan in chunks: the record, why it fell (or nothing), and whether it came to the end."""
    import mujoco

    model = ground.model
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = _start(plan, ground, world)
    mujoco.mj_forward(model, data)
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, full))
    mujoco.mj_getState(model, data, state, full)
    steps = max(2, int(np.ceil(plan.duration / TIMESTEP - 1e-9)) + 1)
    drives = tick_drives(ground.servos, plan.sent, world, np.arange(steps, dtype=np.float64) * TIMESTEP)
    control = ground.at.controls(ground.servos, drives)
    pushed = -1 if world.push is None else min(max(round(world.push[0] / TIMESTEP), 1), steps - 1)
    states, sensed = np.empty((steps, len(state))), np.empty((steps, model.nsensordata))
    chunk, done, reason = int(_CHUNK / TIMESTEP), 0, ""
    while done < steps and not reason:
        if done == pushed and world.push is not None:
            state[1 + model.nq : 3 + model.nq] += world.push[1:]
        until = min(done + chunk, steps)
        until = pushed if done < pushed < until else until
        sent = control[done:until]
        states[done:until], sensed[done:until], state = roll(model, data, ground.at, ground.servos, state, sent, ground.steps)
        done = until
        if went_wrong(data):
            reason = f"the simulation became unstable before {done * TIMESTEP:.2f} s"
        else:
            record = _record(plan, ground, states[:done], sensed[:done])
            reason = fall(plan, record, _who_touches(ground, states, record.touched))
    return _record(plan, ground, states[:done], sensed[:done]), reason, done == steps


def _who_touches(ground: GroundModel, states: Array, touched: float) -> str:
    """The body that touches the ground of others at a time, or nothing when none does."""
    import mujoco

    if not np.isfinite(touched):
        return ""
    data = mujoco.MjData(ground.model)
    mujoco.mj_setState(ground.model, data, states[round(touched / TIMESTEP)], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    mujoco.mj_forward(ground.model, data)
    floor, pairs = ground.model.geom("ground of others").id, data.contact.geom
    geoms = sorted(set(pairs[(pairs == floor).any(axis=1)].ravel().tolist()) - {floor})
    return ground.model.body(int(ground.model.geom_bodyid[geoms[0]])).name if geoms else "a part"


def _record(plan: GroundPlan, ground: GroundModel, states: Array, sensed: Array) -> GroundRecord:
    """The record at the plan's times that were reached, from steps 0 to m - 1."""
    nq, nv = int(ground.model.nq), int(ground.model.nv)
    last = (len(states) - 1) * TIMESTEP
    times = plan.times[plan.times <= last + 1e-9]
    picked = np.minimum(np.round(times / TIMESTEP).astype(np.int64), len(states) - 1)
    qpos, qvel = states[:, 1 : 1 + nq], states[:, 1 + nq : 1 + nq + nv]
    seen = sensed[picked]
    others = sensed[:, ground.sensors["others"]][:, 0] > 0.0
    return GroundRecord(
        times,
        qpos[picked],
        qvel[picked],
        matrix_of_quaternion(_unit(qpos[picked, 3:7])),
        seen[:, ground.sensors["com"]],
        ground.at.angle(qpos[picked]),
        ground.at.speed(qvel[picked]),
        sensed[:, ground.sensors["torques"]],
        qvel[:, ground.at.velocity],
        ground.read(np.add.reduceat(sensed, picked) / np.diff([*picked, len(sensed)])[:, None], "force", 4),
        ground.read(seen, "center", 3),
        ground.read(seen, "linear", 3),
        ground.read(seen, "angular", 3),
        ground.read(seen, "axis", 3),
        float(np.argmax(others) * TIMESTEP) if others.any() else np.nan,
    )


def _unit(quaternion: Array) -> Array:
    norm = np.linalg.norm(quaternion, axis=-1, keepdims=True)
    return np.asarray(np.where(norm > 0.1, quaternion / np.maximum(norm, 0.1), np.array([1.0, 0.0, 0.0, 0.0])))
