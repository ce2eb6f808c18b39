"""From the package's motion problem to the oracle's: limits and distances are read from the character anew."""

from __future__ import annotations

import math

import casadi as ca  # noqa: TID253
import numpy as np

from bunraku.character import Character
from bunraku.mechanics.centroidal.model import RANGE_MARGIN, SPEED_MARGIN
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.performers.locomotion import constraint_kernels as k
from bunraku.performers.locomotion.problem import MotionProblem
from casadi_locomotion.data import PlanData, PlanTarget, Robot
from casadi_locomotion.features import Features
from casadi_locomotion.oracle import Oracle
from casadi_locomotion.rows import Rows


def oracle_of(character: Character, problem: MotionProblem, locked: tuple[str, ...] = ()) -> Oracle:
    """The oracle of a problem of ``character``; ``locked`` coordinates stay at home."""
    robot, ends = Robot(character), problem.ends
    goal = [None if not math.isfinite(part) else float(part) for part in problem.travel]
    terrain = problem.terrain
    plan = PlanData(
        T=problem.samples,
        h=problem.step,
        periodic=problem.periodic,
        intervals=problem.samples * (2 if ends.mirror is not None else 1) - (0 if problem.periodic else 1),
        contacts=problem.contacts,
        heights=problem.heights,
        friction=problem.friction,
        mirror=ends.mirror,
        goal_xy=(goal[0], goal[1]),
        goal_yaw=goal[2],
        f_min=problem.least_force,
        gravity=GRAVITY,
        before=ends.before,
        after=ends.after,
        contacts_before=ends.contacts_before,
        contacts_after=ends.contacts_after,
        start=ends.start,
        end=ends.end,
        reference=ends.start,
        targets=tuple(
            PlanTarget(one.sample, one.share, one.what, np.array(one.place), np.array(one.weight)) for one in problem.waypoints
        ),
        weights=(problem.weights.smooth, problem.weights.posture, problem.weights.force, problem.weights.force_rate),
        spots=tuple((int(node), np.array(place), float(least)) for node, place, least in zip(*problem.spots, strict=True)),
        terrain=None if terrain is None else (*terrain.origin, terrain.spacing, terrain.heights),
        **_limits(character, robot, locked, problem.torque_limits),
    )
    return Oracle(character, _apart(robot, plan))


def _limits(character: Character, robot: Robot, locked: tuple[str, ...], torque: bool) -> dict[str, np.ndarray | None]:
    axes = {axis.name: axis for axis in character.axes}
    motors = {motor.coordinate: motor for motor in character.motors}
    above = {joint.child: joint.name for joint in character.joints}
    ranges, lines = [], []
    for name, home in zip(robot.names[6:], robot.home[6:], strict=True):
        motor = motors.get(name)
        spans = [span for span in (axes[name].range, motor.range if motor else None) if span is not None]
        low, high = max([span[0] for span in spans], default=math.inf), min([span[1] for span in spans], default=math.inf)
        middle, half = 0.5 * (low + high), 0.5 * (high - low) * (1.0 - RANGE_MARGIN) if spans else 0.0
        ranges.append((home, home) if motor is None or name in character.expand(locked) else (middle - half, middle + half))
        lines.append(_line(motor))
    wheels = [_line(motors.get(above[tip.body]) if tip.spins else None) for tip in robot.effectors]
    joint, wheel = np.array(lines).reshape(-1, 3).T, np.array(wheels).T
    return {
        "ranges": np.array(ranges).reshape(-1, 2), "speeds": joint[0], "torques": joint[1] if torque else None, "no_load": joint[2],
        "wheel_speeds": wheel[0], "wheel_torques": wheel[1], "wheel_no_load": wheel[2],
    }  # fmt: skip


def _line(motor) -> tuple[float, float, float]:
    """Speed limit, stall torque, no-load speed of a motor."""
    if motor is None:
        return math.inf, math.inf, math.inf
    free = math.inf if motor.no_load_speed is None else motor.no_load_speed
    stall = math.inf if motor.stall_torque is None else motor.torque_fraction * motor.stall_torque
    speed = min(math.inf if motor.velocity is None else motor.velocity, free)
    return speed * (1.0 - SPEED_MARGIN), stall, free


def _apart(robot: Robot, plan: PlanData) -> PlanData:
    """Pairs on different lumps keep their radii and 2 cm apart, or 95 % of what they have at home."""
    features = Features(robot)
    template = Rows(features, plan)
    contacts = ca.vertcat(*(template.contact(features.sample(template.now), j).T for j in range(robot.ne)))
    home = ca.vertcat(ca.DM(robot.home), ca.DM.zeros(3 * robot.ne), features.y(robot.home))
    e = np.asarray(ca.Function("contacts", [template.now], [contacts])(home))
    pairs = [(j, i) for j in range(robot.ne) for i in range(j + 1, robot.ne) if robot.tip_node[j] != robot.tip_node[i]]
    least = [
        min(robot.effectors[j].radius + robot.effectors[i].radius + 0.02, 0.95 * float(np.linalg.norm(e[j] - e[i])))
        for j, i in pairs
    ]
    return PlanData(**{**plan.__dict__, "pairs": tuple(pairs), "least": np.array(least)})


def kernel_places(oracle: Oracle, problem: MotionProblem) -> dict[str, np.ndarray]:
    """Where each of the oracle's rows stands among those of the package: index into its (T, m) rows, then those of the ends."""
    robot, columns = oracle.robot, oracle.statement.template.columns
    n, joints, nq, m = robot.ne, robot.joints, robot.nq, len(problem.rows[0])
    tips = 6 + k.TIP_ROWS * np.arange(n)
    limits = 6 + k.TIP_ROWS * n + 3 * np.arange(joints)
    slip = [tips[j] + k.SLIP + a for j, tip in enumerate(robot.effectors) for a in range(1 if tip.spins else 2)]
    per_sample = {
        "newton": np.arange(3),
        "euler": np.arange(3, 6),
        "height": tips + k.HEIGHT,
        "slip": np.array(slip),
        "resistance": tips[[tip.kind == "passive" for tip in robot.effectors]] + k.RESIST,
        "swing force": (tips[:, None] + k.LIFT + np.arange(3)).ravel(),
        "friction": tips + k.FRICTION,
        "normal": tips + k.NORMAL,
        "wheel speed": tips[columns["wheel speed"]] + k.SPIN,
        "wheel torque": tips[columns["wheel torque"]] + k.SPIN_TORQUE,
        "range": limits[columns["range"]],
        "locked": limits[columns["locked"]],
        "speed": limits[columns["speed"]] + 1,
        "torque": limits[columns["torque"]] + 2,
        "apart": 6 + k.TIP_ROWS * n + 3 * joints + np.arange(len(oracle.plan.pairs)),
        "clear": 6 + k.TIP_ROWS * n + 3 * joints + len(oracle.plan.pairs) + np.arange(len(oracle.plan.spots)),
    }
    wanted = [2 * nq + 3 + a for a in range(3) if math.isfinite(problem.travel[a])]
    whole = {"start": np.arange(nq), "end": nq + np.arange(nq), "gauge": 2 * nq + np.arange(3), "goal": np.array(wanted, dtype=int)}
    found = {}
    for kind in oracle.kinds:
        sample, column = oracle.places[kind].T
        found[kind] = problem.samples * m + whole[kind][column] if kind in whole else sample * m + per_sample[kind][column]
    return found
