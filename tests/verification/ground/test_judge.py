"""Measures of a replay against motions made to differ by known amounts, the worst of many worlds, and the verdict."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Pose, Shape
from bunraku.formats.mjcf_coordinates import coordinates_to_qpos
from bunraku.geometry.euler import turn_about
from bunraku.verification.ground.clearance import least_clearance
from bunraku.verification.ground.measures import measure_ground, window_of
from bunraku.verification.ground.model import ground_model
from bunraku.verification.ground.plan import GroundPlan, ground_plan
from bunraku.verification.ground.record import GroundRecord
from bunraku.verification.ground.replays import replay_all
from bunraku.verification.ground.slide import planned_slides
from bunraku.verification.limits import wheel_check
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.verify import verify
from bunraku.verification.worlds import World


def recorded(plan: GroundPlan, com: np.ndarray, yaw: np.ndarray) -> GroundRecord:
    """A record in which the centre of mass and the heading went their own way and everything else as planned."""
    n, e = plan.tip_center.shape[:2]
    still = np.zeros((n, e, 3))
    rotation = turn_about("z", yaw)
    figures = {"torque": plan.torque, "torque_speed": plan.speed, "force": np.ones((n, e, 4)), "touched": np.nan}
    seen = {"center": plan.tip_center, "linear": still, "angular": still, "axis": plan.tip_axis}
    return GroundRecord(plan.times, plan.q, plan.v, rotation, com, plan.angle, plan.speed, **figures, **seen)


def test_a_replay_that_is_slower_by_a_share_has_that_error(make_car, make_going, driving) -> None:
    """5 % slower all the way: velocity and distance error 0.05; sideways drift counts as much."""
    car = make_car("active")
    plan, servos = ground_plan(make_going(car, driving(car, 0.4, 1.0), 200.0)), ServoBank.of(car)
    slower = plan.com * [0.95, 1.0, 1.0]
    found = measure_ground(plan, servos, recorded(plan, slower, plan.yaw))
    assert found.velocity_error == pytest.approx(0.05, rel=1e-9)
    assert found.distance_error == pytest.approx(0.05, rel=1e-9)
    assert found.distance == pytest.approx(0.38, rel=1e-9)
    aside = plan.com + np.outer(plan.times, [0.0, 0.02, 0.0])
    assert measure_ground(plan, servos, recorded(plan, aside, plan.yaw)).velocity_error == pytest.approx(0.05, rel=1e-9)


def test_a_turn_on_the_spot_is_measured_at_its_reach(make_car, make_going, driving) -> None:
    """With a yaw rate w planned and 0.9 w done, the error is 0.1 and the heading off by a tenth of the turn."""
    car = make_car("active")
    q = driving(car, 0.0, 1.0)
    q[:, car.coordinates.index("base.rz")] = 0.8 * np.arange(len(q)) / 200.0
    plan = ground_plan(make_going(car, q, 200.0))
    assert plan.reach == pytest.approx(np.hypot(0.1, 0.08), rel=1e-12)
    found = measure_ground(plan, ServoBank.of(car), recorded(plan, plan.com, 0.9 * plan.yaw))
    assert found.velocity_error == pytest.approx(0.1, rel=1e-9)
    assert found.yaw_error == pytest.approx(0.08)
    moved = recorded(plan, plan.com + np.outer(plan.times, [0.01, 0.0, 0.0]), plan.yaw)
    assert measure_ground(plan, ServoBank.of(car), moved).distance_error == pytest.approx(0.01 / (0.8 * plan.reach), rel=1e-6)


def test_windows_are_a_twelfth_of_the_cycle_where_feet_leave_the_ground(make_car, make_going, driving) -> None:
    car = make_car("ball")
    q = driving(car, 0.2, 0.6)
    rolling = ground_plan(make_going(car, q, 200.0, figures={"period_s": 0.6}))
    hopping = q.copy()
    hopping[40:60, 2] += 0.01
    assert window_of(rolling) == pytest.approx(0.1)
    assert window_of(ground_plan(make_going(car, hopping, 200.0, figures={"period_s": 0.6}))) == pytest.approx(0.05)


def test_planned_slip_is_what_does_not_roll(make_car, make_going, driving) -> None:
    """Wheels that go straight on roll; moved sideways they slide all the way; balls that do not turn slide either way."""
    aside = 0.05
    for kind, straight in (("passive", 0.0), ("ball", 0.2), ("welded", 0.2)):
        car = make_car(kind)
        q = driving(car, 0.4, 0.5)
        assert planned_slides(ground_plan(make_going(car, q, 200.0))).sum(axis=0) == pytest.approx(straight, abs=1e-9)
        q[:, 0], q[:, 1] = 0.0, np.linspace(0.0, aside, len(q))
        assert planned_slides(ground_plan(make_going(car, q, 200.0))).sum(axis=0) == pytest.approx(aside, abs=1e-9)
        q[:, 2] += 0.01
        assert planned_slides(ground_plan(make_going(car, q, 200.0))).sum() == 0.0


def test_a_disc_that_turns_with_its_body_rolls(make_car, make_going, driving) -> None:
    """A single welded disc whose body pitches by x / r rolls: its centre stays at r above the ground and nothing slides."""
    car = make_car("welded")
    one = car.changed(end_effectors=(car.end_effectors[0].changed(body="body", center=(0.0, 0.0, 0.0)),))
    q = driving(one, 0.4, 0.5)
    q[:, 2], q[:, one.coordinates.index("base.ry")] = 0.03, q[:, 0] / 0.03
    slid = planned_slides(ground_plan(make_going(one, q, 200.0))).sum()
    assert slid == pytest.approx(0.0, abs=1e-3 * 0.2)


@pytest.mark.parametrize("kind", ["box", "sphere", "capsule", "cylinder", "ellipsoid"])
def test_clearance_of_other_parts_is_that_of_mujoco(make_car, make_going, driving, kind: str) -> None:
    """The least distance to the floor of a turned body with a shape beside its middle, against MuJoCo's own."""
    mujoco = pytest.importorskip("mujoco")
    size = {"sphere": (0.02,), "capsule": (0.01, 0.03), "cylinder": (0.02, 0.03)}.get(kind, (0.01, 0.02, 0.04))
    shape = Shape(kind=kind, size=size, pose=Pose(position=(0.02, 0.01, 0.3), quaternion=(0.8, 0.4, 0.2, 0.4)))
    car = make_car("passive")
    car = car.changed(bodies=(car.bodies[0].changed(shapes=(shape,)), *car.bodies[1:]))
    q = driving(car, 0.0, 0.1)
    q[:, [car.coordinates.index(f"base.r{a}") for a in "zyx"]] = np.linspace(0.0, 1.0, len(q))[:, None] * [0.5, 0.7, -0.4]
    plan = ground_plan(make_going(car, q, 200.0))
    ground = ground_model(car)
    data, distances = mujoco.MjData(ground.model), []
    floor = ground.model.geom("ground of others").id
    geom = next(i for i in range(ground.model.ngeom) if ground.model.geom_conaffinity[i] == 2)
    for qpos in coordinates_to_qpos(car, ground.model, plan.q):
        data.qpos[:] = qpos
        mujoco.mj_forward(ground.model, data)
        distances.append(mujoco.mj_geomDistance(ground.model, data, floor, geom, 1.0, None))
    least, where = least_clearance(plan)
    assert least == pytest.approx(min(distances), abs=1e-6)
    assert where.startswith("body at ")


def test_what_softer_servos_do_is_no_promise_of_how_far_it_goes(make_car, make_going, driving) -> None:
    """Half as stiff wheels against a drag that is not fed forward lag twice as much; the verdict is that of the stated gains."""
    car = make_car("active", drag=0.5)
    plan = ground_plan(make_going(car, driving(car, 0.4, 0.3), 200.0))
    replays = replay_all(plan, [World(gain, 0.8, 200.0) for gain in (1.0, 0.5)])
    errors = [one.figures["velocity_error"] for one in replays.replays]
    assert errors[1] > 1.5 * errors[0] > 0.001
    assert replays.figures["replay_velocity_error"] == errors[0]
    assert replays.figures["replay_velocity_error_of_all"] == errors[1]
    assert replays.worst("velocity_error", usual=True) is replays.usual
    assert replays.worst("velocity_error") is replays.replays[1]


def test_the_verdict_is_the_worst_of_all(make_car, make_going, driving) -> None:
    """Wheels told to stand brake with the floor's friction: the way farthest from the plan is on the better floor."""
    car = make_car("active")
    q = driving(car, 0.8, 0.3)
    going = make_going(car, q, 200.0, speeds={f"axle{i}": np.zeros(len(q)) for i in range(4)})
    replays = replay_all(ground_plan(going), [World(1.0, mu, 200.0) for mu in (0.6, 0.8)])
    ways = [one.figures["distance_m"] for one in replays.replays]
    assert ways == pytest.approx([0.8**2 / (2 * mu * 9.81) for mu in (0.6, 0.8)], rel=0.03)
    assert replays.figures["replay_distance_m"] == min(ways)
    assert replays.figures["replay_velocity_error"] == max(row["velocity_error"] for _, row in replays.rows)
    assert replays.worst("velocity_error").world.friction == 0.8
    assert (replays.fell, replays.figures["fell"], replays.reason) == (False, 0.0, "")


def test_a_drive_is_verified_and_what_is_false_is_found(make_car, make_going, driving) -> None:
    car = make_car("active", drag=0.5, speed_gain=0.1)
    q = driving(car, 0.4, 0.4)
    torque = {f"axle{i}": np.full(len(q), 0.5 * 0.4 * 0.03) for i in range(4)}
    moved = {"distance_m": 0.16, "turn_deg": 0.0}
    ahead = {name: 0.4 / 0.03 + values / 0.1 for name, values in torque.items()}
    verdict = verify(make_going(car, q, 200.0, torque, speeds=ahead, figures=moved))
    assert verdict.holds, verdict.sentence
    assert verdict.figures["distance_m"] == pytest.approx(0.16)
    assert verdict.figures["replay_distance_m"] == pytest.approx(0.16, rel=1e-3)

    def broken(performance) -> set[str]:
        return {check.name for check in verify(performance, replay=False).checks if check.stands_against}

    assert broken(make_going(car, q, 200.0, torque, figures=moved)) == set()
    assert broken(make_going(car, q, 200.0, figures={"distance_m": 0.2})) == {"certificate against recomputation"}
    fast = {f"axle{i}": np.full(len(q), 51.0) for i in range(4)}
    names = {"worst limit violation", "excess speed of wheels", "way of wheels against velocity channels"}
    assert broken(make_going(car, q, 200.0, speeds=fast)) == names
    strained = make_going(car, q, 200.0, {"axle0": np.full(len(q), 1.2)}, speeds={"axle0": np.full(len(q), 0.4 / 0.03 + 12.0)})
    assert broken(strained) == {"planned torque on the motor's line"}
    unsent = make_going(car, q, 200.0, {"axle0": np.full(len(q), 0.5)})
    assert broken(unsent) == {"way of wheels against velocity channels"}, "the torque is planned and nothing sent for it"
    deep, aside = q.copy(), q.copy()
    deep[:, 2] -= 0.002
    aside[:, 1] = 0.1 * aside[:, 0]
    assert broken(make_going(car, deep, 200.0)) == {"planned depth in the ground"}
    assert broken(make_going(car, aside, 200.0)) == {"planned slip"}
    low = car.changed(bodies=(car.bodies[0].changed(shapes=(Shape(kind="box", size=(0.12, 0.06, 0.051)),)), *car.bodies[1:]))
    assert broken(make_going(low, q, 200.0)) == {"planned clearance of other parts"}


def test_what_no_motor_states_is_not_checked(make_car, driving, make_going) -> None:
    car = make_car("active", velocity=None, stall_torque=None, no_load_speed=None)
    checks = {check.name: check for check in verify(make_going(car, driving(car, 0.4, 0.4), 200.0), replay=False).checks}
    for name in ("worst limit violation", "excess speed of wheels", "planned torque on the motor's line"):
        assert checks[name].state == "not checked", name
    sent_nothing = make_going(car, driving(car, 0.4, 0.4), 200.0).changed(channels=())
    assert wheel_check(sent_nothing, "excess speed of wheels").state == "does not apply"
