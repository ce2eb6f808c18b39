"""Closed chains: a four-bar linkage against trigonometry, itself cut elsewhere, MuJoCo; every kind of closing joint."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from bunraku.character import Body, Character, Joint, Motor, Pose
from bunraku.errors import BadInput
from bunraku.geometry.euler import euler_angles
from bunraku.mechanics.dynamics.continuous import continuous
from bunraku.mechanics.dynamics.forces import CoordinateForce
from bunraku.mechanics.dynamics.initial import make_consistent
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.systems.character_system import character_home, character_system
from bunraku.mechanics.systems.loops import close_loops, loop_gaps, mobility
from bunraku.mechanics.tree import compile_tree

CRANK, COUPLER, ROCKER, GROUND = 0.10, 0.25, 0.22, 0.28  # crank + ground < coupler + rocker: the crank turns all the way (Grashof)


def bar(name: str, length: float, mass: float) -> Body:
    spin = mass * length**2 / 12
    return Body(name=name, mass=mass, center_of_mass=(length / 2, 0.0, 0.0), inertia=(1e-5, spin, spin, 0.0, 0.0, 0.0))


def four_bar(motor: str = "", base: str = "world", coupler: float = COUPLER) -> Character:
    def hinge(name, parent, child, x, **more):
        pose = Pose(position=(x, 0.0, 0.0))
        return Joint(name=name, kind="hinge", parent=parent, child=child, axis=(0.0, -1.0, 0.0), pose=pose, **more)

    bodies = (bar("crank", CRANK, 0.1), bar("coupler", coupler, 0.3), bar("rocker", ROCKER, 0.2))
    joints = (
        hinge("crank", base, "crank", 0.0),
        hinge("coupler", "crank", "coupler", CRANK),
        hinge("rocker", base, "rocker", GROUND),
        hinge("pin", "rocker", "coupler", ROCKER, child_pose=Pose(position=(coupler, 0.0, 0.0))),
    )
    if base != "world":
        bodies = (*bodies, Body(name=base, mass=0.5, inertia=(2e-3, 3e-3, 4e-3, 0.0, 0.0, 0.0)))
        joints = (Joint(name=base, kind="free", parent="world", child=base), *joints)
    motors = (Motor(name="m", coordinate=motor),) if motor else ()
    return Character(name="four-bar", bodies=bodies, joints=joints, motors=motors, home={"crank": 0.7, "rocker": 1.6})


def trigonometry(crank):
    """Angles of coupler and rocker in the world for a crank angle, open branch: where two circles meet."""
    tip = CRANK * np.exp(1j * crank)
    to_ground = GROUND - tip
    d = np.abs(to_ground)
    inner = np.arccos((COUPLER**2 + d**2 - ROCKER**2) / (2 * COUPLER * d))
    coupler = np.angle(to_ground) + inner
    return coupler, np.angle(tip + COUPLER * np.exp(1j * coupler) - GROUND)


def test_a_crank_rocker_follows_trigonometry_through_whole_turns() -> None:
    character = four_bar()
    system = character_system(character, gravity=(0.0, 0.0, 0.0))
    start = make_consistent(system, character_home(character, system), [45.0, 0.0, 0.0])
    integrator = VariationalIntegrator(system, 0.002)
    state = integrator.initial(start.q, v0=start.v)
    motion = integrator.rollout(state.q, state.p, np.zeros((600, 0)), np.zeros((600, 0)))
    assert motion.status.good
    crank, coupler, rocker = motion.q.T
    assert np.ptp(crank) > 4 * np.pi
    assert np.ptp(rocker) < np.pi
    exact = trigonometry(crank)
    for found, closed in ((crank + coupler, exact[0]), (rocker, exact[1])):
        assert np.abs(np.angle(np.exp(1j * (found - closed)))).max() <= 1e-10


def test_energy_is_kept_to_second_order_and_does_not_drift() -> None:
    character = four_bar()
    system = character_system(character)
    start = make_consistent(system, character_home(character, system), [12.0, 0.0, 0.0])
    swing = []
    for dt, steps in ((0.004, 2000), (0.002, 4000)):
        integrator = VariationalIntegrator(system, dt)
        state = integrator.initial(start.q, v0=start.v)
        q = integrator.rollout(state.q, state.p, np.zeros((steps, 0)), np.zeros((steps, 0))).q
        energy = np.array([system.energy(0.5 * (a + b), (b - a) / dt) for a, b in pairwise(q)])
        swing.append(np.ptp(energy))
        first, last = energy[: steps // 4].mean(), energy[-steps // 4 :].mean()
        assert abs(last - first) < 0.05 * np.ptp(energy)
    assert swing[0] / swing[1] == pytest.approx(4.0, rel=0.25)


def test_cut_elsewhere_it_moves_the_same() -> None:
    """Two cuts, two sets of coordinates, one motion of the bodies (continuous dynamics, integrated to 1e-12)."""
    places = []
    for motor, loop in (("", "pin"), ("pin", "coupler")):
        character = four_bar(motor)
        assert [cut.name for cut in character.loops] == [loop]
        system = character_system(character)
        q = {"crank": 0.7, "coupler": 0.0, "rocker": 1.6}
        a, c = trigonometry(0.7)
        q |= {"coupler": a - 0.7, "rocker": c, "pin": a - c}
        start = make_consistent(system, [q[name] for name in system.names])
        assert np.abs(start.q - [q[name] for name in system.names]).max() < 1e-12
        rate = make_consistent(system, start.q, np.eye(3)[system.names.index("crank")]).v
        rate *= 3.0 / rate[system.names.index("crank")]

        def slope(_, x, system=system):
            return np.concatenate([x[3:], continuous(system, x[:3], x[3:])[0]])

        found = solve_ivp(
            slope, (0.0, 0.5), np.concatenate([start.q, rate]), rtol=1e-12, atol=1e-12, t_eval=np.linspace(0, 0.5, 11)
        )
        poses = [system.tree.configuration(system.tree_configuration(x[:3])) for x in found.y.T]
        places.append([[at.pose(name)[1] for name in ("crank", "coupler", "rocker")] for at in poses])
    assert np.ptp(np.array(places[0])[:, 1], axis=0).max() > 0.05
    np.testing.assert_allclose(places[0], places[1], atol=1e-8)


def test_mobility_and_what_is_left_out() -> None:
    character = four_bar()
    closure = close_loops(character, compile_tree(character))
    assert closure.redundant == ("pin.along", "pin.tilt-1", "pin.tilt-2")
    assert "left out" in closure.note
    system = character_system(character)
    assert mobility(system, character_home(character, system)) == 1
    assert system.nd - system.nc == 1
    assert [row.name for row in close_loops(character, system.tree).constraints] == list(system.constraint_names)


def test_rows_left_out_hold_while_the_whole_linkage_tumbles() -> None:
    """On a base that turns over, a row that is idle must be idle in every pose of the base."""
    character = four_bar(base="base")
    system = character_system(character, gravity=(0.0, 0.0, 0.0))
    assert system.nc == 2
    home = character_home(character, system)
    start = make_consistent(system, home, [0.1, 0.0, 0.2, 3.0, -2.0, 4.0, 5.0, 0.0, 0.0])
    integrator = VariationalIntegrator(system, 0.005)
    state = integrator.initial(start.q, v0=start.v)
    motion = integrator.rollout(state.q, state.p, np.zeros((100, 0)), np.zeros((100, 0)))
    assert motion.status.good
    assert np.abs(motion.q[-1, 3:6] - home[3:6]).max() > 1.0
    for q in motion.q[::10]:
        far, angle = loop_gaps(character, system.tree, system.tree_configuration(q))["pin"]
        assert far < 1e-9
        assert angle < 1e-7


KINDS = {"hinge": 1, "slide": 1, "universal": 2, "ball": 3, "planar": 3, "fixed": 0}


@pytest.mark.parametrize("kind", KINDS)
def test_a_closing_joint_frees_what_the_same_joint_in_a_tree_frees(kind) -> None:
    """A free body closed by a joint: at any pose that the joint as a tree joint can take, it is closed and moves as freely."""
    rng = np.random.default_rng(3)
    post = Joint(name="post", kind="hinge", parent="world", child="post", axis=(0.3, -0.5, 0.8))
    joint = Joint(
        name="j",
        kind=kind,
        parent="post",
        child="part",
        pose=Pose(position=(0.1, 0.2, -0.3), quaternion=(0.8, 0.1, -0.5, 0.3)),
        axis=(0.2, 0.9, -0.4),
        second_axis=(0.7, 0.1, 0.6),
        child_pose=Pose(position=(-0.2, 0.05, 0.1), quaternion=(0.6, -0.3, 0.2, 0.7)),
    )
    bodies = tuple(Body(name=name, mass=1.0, inertia=(0.01, 0.02, 0.015, 0.0, 0.0, 0.0)) for name in ("post", "part"))
    tree = compile_tree(Character(name="t", bodies=bodies, joints=(post, joint)))
    free = Joint(name="base", kind="free", parent="world", child="part", sequence="zyx")
    closed = Character(name="c", bodies=bodies, joints=(post, free), loops=(joint,), home={})
    for _ in range(5):
        q = rng.uniform(-0.8, 0.8, tree.nq)
        R, p = tree.configuration(q).pose("part")
        angles = euler_angles(R, "zyx")[0]
        home = dict(zip(("post", *(axis.name for axis in free.axes)), (q[0], *p, *angles), strict=True))
        character = closed.changed(home=home)
        system = character_system(character)
        at = np.array([home[name] for name in system.names])
        assert system.nc == 6 - KINDS[kind]
        assert np.abs(system.constraint_values(at)).max() < 1e-12
        assert mobility(system, at) == 1 + KINDS[kind]
        assert np.max(list(loop_gaps(character, system.tree, at).values())) < 1e-7
        off = at.copy()
        off[1:] += 0.05 * rng.normal(size=6)
        if kind != "ball":
            assert max(loop_gaps(character, system.tree, off)["j"]) > 1e-3


def test_a_home_that_does_not_close_is_closed_or_refused_with_how_far() -> None:
    character = four_bar()
    closure = close_loops(character, compile_tree(character))
    assert closure.gap == pytest.approx(8.1e-3, abs=1e-4)
    system = character_system(character)
    assert np.abs(system.constraint_values(character_home(character, system))).max() < 1e-12
    with pytest.raises(BadInput, match=r"'pin' does not close: at home its ends are \d+ mm .* leaves"):
        character_system(four_bar(coupler=0.9))


def test_accelerations_agree_with_mujoco() -> None:
    """MuJoCo keeps equalities softly, to a part in 1e4 of its impedance; the comparison is as tight as that."""
    mujoco = pytest.importorskip("mujoco")
    from bunraku.formats.mjcf_write import write_mjcf

    for motor in ("", "pin"):
        character = four_bar(motor)
        model = mujoco.MjModel.from_xml_string(write_mjcf(character, floor=False, self_collision=False, actuators=False))
        model.eq_solimp[:] = [0.9999, 0.9999, 0.001, 0.5, 2.0]
        model.opt.tolerance, model.opt.iterations = 1e-14, 200
        data = mujoco.MjData(model)
        system = character_system(character, forces=(CoordinateForce("crank", "drive"),), inputs=("drive",))
        order = [model.joint(name).dofadr[0] for name in system.names]
        for angle in (0.4, 1.5, 2.8):
            start = character_home(character, system)
            start[system.names.index("crank")] = angle
            q = make_consistent(system, start).q
            data.qpos[order] = q
            data.qfrc_applied[order[system.names.index("crank")]] = 0.3
            mujoco.mj_forward(model, data)
            ours = continuous(system, q, np.zeros(3), [0.3])[0]
            np.testing.assert_allclose(data.qacc[order], ours, atol=1e-4 * np.abs(ours).max())


def test_the_fall_agrees_with_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    from bunraku.formats.mjcf_write import write_mjcf

    character = four_bar()
    text = write_mjcf(character, floor=False, self_collision=False, timestep_s=2e-5)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    system = character_system(character)
    order = [model.joint(name).dofadr[0] for name in system.names]
    start = character_home(character, system)
    data.qpos[order] = start
    for _ in range(10_000):
        mujoco.mj_step(model, data)
    integrator = VariationalIntegrator(system, 0.001)
    state = integrator.initial(start)
    q = integrator.rollout(state.q, state.p, np.zeros((200, 0)), np.zeros((200, 0))).q[-1]
    assert np.abs(q - start).max() > 1.0
    np.testing.assert_allclose(data.qpos[order], q, atol=2e-3)
