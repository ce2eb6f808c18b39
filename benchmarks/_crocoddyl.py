"""A character's walk as a problem for crocoddyl: the robot by way of URDF, contacts by our footfalls, costs as in its examples.

Contact-constrained forward dynamics of the whole body (`ContactModel3D` at the centres of the ball feet, an impulse where a foot
lands), state (q, v), controls the torques of the joints, symplectic Euler. From rest at home to rest at home, a distance further.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import crocoddyl
import numpy as np
import pinocchio

from bunraku.character import Character, Motor
from bunraku.formats.urdf_write import write_urdf
from bunraku.gait.patterns import contacts, footfalls, swing_heights
from bunraku.motion import Gait

WORLD = pinocchio.LOCAL_WORLD_ALIGNED
FOOT, COM, CONE, STATE, TORQUE, BOUNDS, END = 1e5, 1e3, 1e1, 1e1, 1.0, 1e3, 1e3
"""Weights: swinging foot [1/m²], centre of mass [1/m²], friction cone [1/N²], state, torques [1/(N m)²], limits, rest at the end.

Of those tried (foot 1e5 to 1e6, centre of mass 1e2 to 1e6, cone 1e1 to 1e2, torque 0.1 to 1) the ones it solves fastest.
"""


@dataclass(frozen=True)
class Walk:
    """The problem of `ShootingProblem`, the robot, its start (nq + nv,), and what judges a result.

    ``frames`` at the centres of the feet, ``before`` and ``after`` their places (feet, 3) [m], ``motors`` of the controls,
    ``length`` [m] to go, ``friction`` to count on.
    """

    problem: Any
    model: Any
    start: np.ndarray
    frames: tuple[int, ...]
    motors: tuple[Motor, ...]
    before: np.ndarray
    after: np.ndarray
    length: float
    friction: float


@dataclass(frozen=True)
class Judged:
    """Of a result: way of the centre of mass [m], feet held off their place [m], force outside its cone [N], torque of the line."""

    distance: float
    foot: float
    cone: float
    torque: float


def robot_of(character: Character) -> tuple[Any, np.ndarray, tuple[int, ...]]:
    """Pinocchio's model of a character with ball feet, its home (nq,), and the frames at the centres of the feet."""
    model = pinocchio.buildModelFromXML(write_urdf(character)[0], pinocchio.JointModelFreeFlyer())
    model.gravity.linear = np.array([0.0, 0.0, -9.80665])
    home = pinocchio.neutral(model)
    home[2] = character.home["base.tz"]
    for name in model.names[2:]:
        home[model.joints[model.getJointId(name)].idx_q] = character.home.get(name, 0.0)
    frames = []
    for tip in character.end_effectors:
        body = model.frames[model.getFrameId(tip.body)]
        place = body.placement * pinocchio.SE3(np.eye(3), np.array(tip.center))
        frames.append(model.addFrame(pinocchio.Frame(f"{tip.name}.centre", body.parentJoint, place, pinocchio.OP_FRAME)))
    return model, home, tuple(frames)


class _Writer:
    """Writes the actions of the intervals; ``rest`` is the state (q, v) at home that posture is measured from."""

    def __init__(self, model: Any, home: np.ndarray, frames: tuple[int, ...], friction: float) -> None:
        self.model, self.frames, self.friction = model, frames, friction
        self.state = crocoddyl.StateMultibody(model)
        self.actuation = crocoddyl.ActuationModelFloatingBase(self.state)
        self.rest = np.concatenate([home, np.zeros(model.nv)])
        n = model.nv - 6
        self.usual = np.array([0.0] * 3 + [10.0] * 3 + [0.3] * n + [1.0] * 6 + [0.3] * n)
        self.last = np.array([10.0] * 6 + [3.0] * n + [1.0] * (6 + n))

    def cost(self, residual: Any, activation: Any = None) -> Any:
        if activation is None:
            return crocoddyl.CostModelResidual(self.state, residual)
        return crocoddyl.CostModelResidual(self.state, activation, residual)

    def posture(self, target: np.ndarray, weights: np.ndarray, nu: int) -> Any:
        activation = crocoddyl.ActivationModelWeightedQuad(weights**2)
        return self.cost(crocoddyl.ResidualModelState(self.state, target, nu), activation)

    def interval(self, held: list[int], swinging: dict[int, np.ndarray], com: np.ndarray, step: float) -> Any:
        """An interval [s] with the feet ``held``, those ``swinging`` led to places, the centre of mass led along x and z."""
        state, nu = self.state, self.actuation.nu
        touching = crocoddyl.ContactModelMultiple(state, nu)
        costs = crocoddyl.CostModelSum(state, nu)
        cone = crocoddyl.FrictionCone(np.eye(3), self.friction, 4, True)
        inside = crocoddyl.ActivationModelQuadraticBarrier(crocoddyl.ActivationBounds(cone.lb, cone.ub))
        for j in held:
            gains = np.array([0.0, 50.0])
            contact = crocoddyl.ContactModel3D(state, self.frames[j], np.zeros(3), WORLD, nu, gains)
            touching.addContact(f"{j}", contact)
            residual = crocoddyl.ResidualModelContactFrictionCone(state, self.frames[j], cone, nu, True)
            costs.addCost(f"cone {j}", self.cost(residual, inside), CONE)
        for j, place in swinging.items():
            residual = crocoddyl.ResidualModelFrameTranslation(state, self.frames[j], place, nu)
            costs.addCost(f"foot {j}", self.cost(residual), FOOT)
        led = crocoddyl.ActivationModelWeightedQuad(np.array([1.0, 0.0, 1.0]))
        costs.addCost("com", self.cost(crocoddyl.ResidualModelCoMPosition(state, com, nu), led), COM)
        costs.addCost("state", self.posture(self.rest, self.usual, nu), STATE)
        costs.addCost("torque", self.cost(crocoddyl.ResidualModelControl(state, nu)), TORQUE)
        low, high = (np.concatenate([x[1 : state.nv + 1], x[-state.nv :]]) for x in (state.lb, state.ub))
        within = crocoddyl.ActivationModelQuadraticBarrier(crocoddyl.ActivationBounds(low, high))
        costs.addCost("limits", self.cost(crocoddyl.ResidualModelState(state, nu), within), BOUNDS)
        dynamics = crocoddyl.DifferentialActionModelContactFwdDynamics(state, self.actuation, touching, costs, 0.0, True)
        return crocoddyl.IntegratedActionModelEuler(dynamics, step)

    def landing(self, landed: dict[int, np.ndarray]) -> Any:
        """The instant at which feet come to rest at places."""
        state = self.state
        impulses, costs = crocoddyl.ImpulseModelMultiple(state), crocoddyl.CostModelSum(state, 0)
        for j, place in landed.items():
            impulses.addImpulse(f"{j}", crocoddyl.ImpulseModel3D(state, self.frames[j], WORLD))
            residual = crocoddyl.ResidualModelFrameTranslation(state, self.frames[j], place, 0)
            costs.addCost(f"foot {j}", self.cost(residual), FOOT)
        costs.addCost("state", self.posture(self.rest, self.usual, 0), STATE)
        return crocoddyl.ActionModelImpulseFwdDynamics(state, impulses, costs)

    def end(self, target: np.ndarray) -> Any:
        """Rest at a state."""
        nu = self.actuation.nu
        costs = crocoddyl.CostModelSum(self.state, nu)
        costs.addCost("end", self.posture(target, self.last, nu), END)
        free = crocoddyl.ContactModelMultiple(self.state, nu)
        dynamics = crocoddyl.DifferentialActionModelContactFwdDynamics(self.state, self.actuation, free, costs, 0.0, True)
        return crocoddyl.IntegratedActionModelEuler(dynamics, 0.0)


def state_walk(character: Character, gait: Gait, samples: int) -> Walk:
    """The walk of a gait that happens once, from rest to rest, on the ``samples`` of our plan; a foot steps the whole way."""
    assert gait.distance is not None
    assert gait.friction is not None
    length, friction = float(gait.distance[0] or 0.0), gait.friction
    model, home, frames = robot_of(character)
    writer = _Writer(model, home, frames, friction)
    pattern = footfalls(character, gait)
    touching, heights = contacts(pattern, samples), swing_heights(pattern, samples, gait.swing_height)
    step, T = gait.duration / (samples - 1), samples - 1
    data = model.createData()
    com = pinocchio.centerOfMass(model, data, home).copy()
    pinocchio.framesForwardKinematics(model, data, home)
    feet = np.array([data.oMf[frame].translation for frame in frames])
    forward = np.array([1.0, 0.0, 0.0])
    gone = np.zeros((samples, len(frames)))
    for j in range(len(frames)):
        swing = np.flatnonzero(touching[:, j] == 0)
        u = np.clip((np.arange(samples) - swing[0] + 1) / (len(swing) + 1), 0.0, 1.0)
        gone[:, j] = length * u**2 * (3.0 - 2.0 * u)
    actions = []
    for i in range(T):
        held = [j for j in range(len(frames)) if touching[i, j] and touching[i + 1, j]]
        air = {j: feet[j] + gone[i, j] * forward + [0.0, 0.0, heights[i, j]] for j in range(len(frames)) if j not in held}
        actions.append(writer.interval(held, air, com + gone[i].mean() * forward, step))
        landed = {j: feet[j] + length * forward for j in range(len(frames)) if touching[i + 1, j] and not touching[i, j]}
        if landed:
            actions.append(writer.landing(landed))
    goal = writer.rest.copy()
    goal[0] += length
    problem = crocoddyl.ShootingProblem(writer.rest, actions, writer.end(goal))
    problem.nthreads = 1
    motors = tuple(character.motor_of(name) for name in model.names[2:])
    return Walk(problem, model, writer.rest, frames, motors, feet, feet + length * forward, length, friction)


def tighten(walk: Walk, weight: float) -> None:
    """Weigh the friction cones with ``weight`` [1/N²]."""
    for action in walk.problem.runningModels:
        if hasattr(action, "differential"):
            for name, item in action.differential.costs.costs.todict().items():
                if name.startswith("cone"):
                    item.weight = weight


def judge(walk: Walk, solver: Any) -> Judged:
    """Measure the solver's result by the robot's kinematics, the forces of its contacts and the motors' torque-speed lines."""
    model, data = walk.model, walk.model.createData()
    first, last = (pinocchio.centerOfMass(model, data, solver.xs[k][: model.nq])[0] for k in (0, -1))
    foot = cone = torque = 0.0
    walk.problem.calc(solver.xs, solver.us)
    for action, seen, x, u in zip(
        walk.problem.runningModels, walk.problem.runningDatas, list(solver.xs)[:-1], solver.us, strict=True
    ):
        if not hasattr(action, "differential"):
            continue
        pinocchio.framesForwardKinematics(model, data, x[: model.nq])
        for name, contact in seen.differential.multibody.contacts.contacts.todict().items():
            j, f = int(name), contact.f.linear
            at = data.oMf[walk.frames[j]].translation
            foot = max(foot, min(float(np.linalg.norm(at - place[j])) for place in (walk.before, walk.after)))
            cone = max(cone, float(np.hypot(f[0], f[1]) - walk.friction * f[2]))
        for motor, tau, speed in zip(walk.motors, u, x[-len(walk.motors) :], strict=True):
            line = motor.available_torque(max(0.0, float(np.sign(tau) * speed)))
            torque = max(torque, abs(float(tau)) / max(line, 1e-9))
    return Judged(float(last - first), foot, cone, torque)
