from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize_scalar
from scipy.spatial.transform import Rotation

from bunraku.character import Body, Character, Frame, Joint, Motor, Pose
from bunraku.errors import BadInput
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import MotionLimits
from bunraku.optimization.derivative_check import check_gradient
from bunraku.optimization.solution import Status
from bunraku.retargeting import inverse_kinematics_kernels as kernels
from bunraku.retargeting.inverse_kinematics import Solver, solve_motion
from bunraku.retargeting.targets import FrameTarget, TargetSet

EXACT = Solver(temporal_weight=0.0, home_weight=0.0)


def residuals(targets, places, turns, q):
    """Weighted residuals r (6 k,) of one frame at ``q``, and J^T J (nq, nq) and J^T r (nq,) over all coordinates."""
    tree = targets.tree
    variables = kernels.Variables(np.arange(tree.nq), np.ones(tree.nq), np.zeros(tree.nq))
    work = kernels.pose_work(len(tree.parent), len(targets.targets), tree.nq)
    kernels.linearize(tree.arrays, targets.arrays, variables, places, turns, np.array(q, dtype=np.float64), work, True)
    return work.residual.ravel(), work.H, work.g


def solve_pose(targets, q0, lower, upper, place, solver=None):
    """One frame from ``q0``, the first coordinates within the bounds: (solution, q, distance from the place)."""
    names, unlimited = targets.tree.names[: len(lower)], np.full(len(lower), np.inf)
    limits = MotionLimits(tuple(names), np.array(lower, float), np.array(upper, float), unlimited, unlimited, unlimited)
    place = np.array(place, dtype=float)
    found = solve_motion(targets, place[None, None], None, limits=limits, rate=1.0, start=q0, home=q0, solver=solver)
    return found, found.q[0], float(np.linalg.norm(targets.poses(found.q)[0][0, 0] - place))


def two_links(first: float = 1.0, second: float = 1.0) -> Character:
    return Character(
        name="arm",
        bodies=(Body(name="upper"), Body(name="lower")),
        joints=(
            Joint(name="q1", kind="hinge", parent="world", child="upper"),
            Joint(name="q2", kind="hinge", parent="upper", child="lower", pose=Pose(position=(first, 0, 0))),
        ),
        motors=(Motor(name="m1", coordinate="q1", velocity=2.0), Motor(name="m2", coordinate="q2", velocity=3.0)),
        frames=(Frame(name="tip", body="lower", pose=Pose(position=(second, 0, 0))),),
    )


def test_two_links_meet_the_law_of_cosines():
    tree = compile_tree(two_links(1.0, 0.7))
    targets = TargetSet.of(tree, [FrameTarget("tip")])
    for angle, reach in ((0.3, 1.2), (2.0, 0.5), (-1.0, 1.6)):
        place = reach * np.array([np.cos(angle), np.sin(angle), 0.0])
        found, q, distance = solve_pose(targets, [0.1, 0.5], [-9, 0], [9, 3.1], place, EXACT)
        bend = np.arccos((reach**2 - 1.0 - 0.49) / (2 * 0.7))
        first = angle - np.arctan2(0.7 * np.sin(bend), 1.0 + 0.7 * np.cos(bend))
        assert found.status is Status.CONVERGED
        np.testing.assert_allclose(q, [first, bend], atol=1e-9)
        assert distance < 1e-9


def test_a_target_out_of_reach_is_pointed_at():
    tree = compile_tree(two_links())
    _, q, distance = solve_pose(TargetSet.of(tree, [FrameTarget("tip")]), [0.4, 0.9], [-9, -9], [9, 9], [0, 5, 0])
    assert distance == pytest.approx(3.0, abs=1e-6)
    np.testing.assert_allclose(q, [np.pi / 2, 0.0], atol=1e-3)


def test_at_the_iteration_limit_only_what_more_iterations_would_move_is_unfinished():
    targets = TargetSet.of(compile_tree(two_links(1.0, 0.7)), [FrameTarget("tip")])
    ends = []
    for most in range(1, 60):
        solver = Solver(temporal_weight=0.0, home_weight=1e-3, max_iterations=most, first_frame_factor=1)
        ends.append(solve_pose(targets, [0.1, 0.5], [-9, -3.1], [9, 3.1], [0.0, 3.0, 0.0], solver)[:2])
    exact = ends[-1][1]
    for found, q in ends:
        near = np.abs(q - exact).max() <= 1e-5
        assert found.status is (Status.CONVERGED if found.converged.all() else Status.STALLED if near else Status.MAX_ITERATIONS)
    assert {found.status for found, _ in ends} == {Status.MAX_ITERATIONS, Status.STALLED, Status.CONVERGED}


def test_bounds_give_the_constrained_optimum(puppet):
    tree = compile_tree(puppet)
    generator = np.random.default_rng(5)
    names = tuple(name for name in tree.names if name.startswith("l_"))
    limits = MotionLimits.of(puppet).chosen(names)
    targets = TargetSet.of(tree, [FrameTarget("l_hand", 5.0, 0.3, base="torso"), FrameTarget("l_elbow", 2.0, 0.0, base="torso")])
    at = [tree.index(name) for name in names]
    bounded = 0
    for _ in range(8):
        places, turns = generator.uniform(-0.2, 0.25, (1, 2, 3)), Rotation.random(2, random_state=generator).as_matrix()[None]
        found = solve_motion(targets, places, turns, limits=limits, rate=1.0, solver=EXACT)
        x = found.q[0, at]
        bounded += int(((x <= limits.lower + 1e-9) | (x >= limits.upper - 1e-9)).any())

        def r(values: np.ndarray, places=places, turns=turns) -> np.ndarray:
            q = tree.home.copy()
            q[at] = values
            return residuals(targets, places[0], turns[0], q)[0]

        start = np.clip(x, limits.lower + 1e-6, limits.upper - 1e-6)
        oracle = least_squares(r, start, bounds=(limits.lower, limits.upper), xtol=1e-14, ftol=1e-14, gtol=1e-14)
        assert 0.5 * float(r(x) @ r(x)) <= oracle.cost * (1 + 1e-7)
        assert (x >= limits.lower).all()
        assert (x <= limits.upper).all()
    assert bounded >= 3


def test_normal_equations_have_the_slope_of_the_residual(puppet_maker):
    tree = compile_tree(puppet_maker(waist=True))
    generator = np.random.default_rng(0)
    targets = TargetSet.of(
        tree,
        [
            FrameTarget("l_hand", 3.0, 0.7, point=(0.1, 0.2, 0.3), turn=Rotation.random(random_state=1).as_matrix(), base="torso"),
            FrameTarget(
                "head", 1.5, 2.0, base="pelvis", base_point=(0.1, 0, 0.2), base_turn=Rotation.random(random_state=2).as_matrix()
            ),
            FrameTarget("r_elbow", 0.5, 0.1),
        ],
    )
    places, turns = generator.normal(size=(3, 3)), Rotation.random(3, random_state=4).as_matrix()
    q = generator.uniform(-0.8, 0.8, tree.nq)
    H = residuals(targets, places, turns, q)[1]

    def cost(values: np.ndarray) -> float:
        r = residuals(targets, places, turns, values)[0]
        return 0.5 * float(r @ r)

    report = check_gradient(cost, lambda values: residuals(targets, places, turns, values)[2], q)
    assert report.holds, str(report)

    def slope(e: np.ndarray) -> np.ndarray:
        forward, back = (residuals(targets, places, turns, q + sign * 1e-6 * e)[0] for sign in (1, -1))
        return (forward - back) / 2e-6

    J = np.array([slope(e) for e in np.eye(tree.nq)]).T
    np.testing.assert_allclose(H, J.T @ J, atol=1e-7)


def test_logarithm_agrees_with_scipy_near_zero_and_half_a_turn():
    generator = np.random.default_rng(2)
    for angle in (1e-14, 1e-9, 1e-3, 1.0, 2.0, 3.0, np.pi - 1e-4, np.pi - 1e-9):
        for _ in range(20):
            axis = generator.normal(size=3)
            vector = angle * axis / np.linalg.norm(axis)
            out = np.empty(3)
            kernels.logarithm(Rotation.from_rotvec(vector).as_matrix(), out)
            np.testing.assert_allclose(out, vector, atol=2e-7 * angle if angle > 3.1 else 1e-14 + 1e-12 * angle)


def test_followers_follow_and_their_slope_counts(coupled_arm):
    tree = compile_tree(coupled_arm)
    targets = TargetSet.of(tree, [FrameTarget("tip")])
    place = np.array([1.2, 0.4, 0.0])
    _, q, _ = solve_pose(targets, [-0.5, 0.0], [-1.0], [1.0], place, EXACT)

    def distance(a: float) -> float:
        b = a - 2.0 * a + 0.3
        return float(np.hypot(np.cos(a) + np.cos(b) - 1.2, np.sin(a) + np.sin(b) - 0.4) ** 2)

    oracle = minimize_scalar(distance, bounds=(-1, 1), method="bounded", options={"xatol": 1e-12})
    assert q[1] == pytest.approx(-2.0 * q[0] + 0.3, abs=1e-15)
    assert distance(q[0]) <= oracle.fun + 1e-12
    _, narrow, _ = solve_pose(targets, [-0.5, 0.0], [-0.25], [1.0], place, EXACT)
    assert narrow[1] == pytest.approx(0.8, abs=1e-12)


def test_steps_and_dependent_ranges_hold_whatever_is_wished(puppet):
    tree = compile_tree(puppet)
    limits = MotionLimits.of(puppet)
    targets = TargetSet.of(tree, [FrameTarget("head", 0.0, 1.0, base="torso"), FrameTarget("l_hand", 5.0, base="torso")])
    generator = np.random.default_rng(8)
    turns = np.tile(np.eye(3), (60, 2, 1, 1))
    angles = np.repeat(generator.uniform(-1, 1, (12, 2)) * [2.5, 0.9], 5, axis=0)
    turns[:, 0] = Rotation.from_euler("ZY", angles).as_matrix()
    places = np.repeat(generator.uniform(-0.2, 0.2, (12, 2, 3)), 5, axis=0)
    for step in (limits.velocity / 100.0, limits.velocity / 10.0):
        found = solve_motion(targets, places, turns, limits=limits, rate=100.0, step=step)
        x = found.q[:, [tree.index(name) for name in limits.names]]
        assert (np.abs(np.diff(x, axis=0)) <= step + 1e-12).all()
        assert limits.excess(x, 100.0).range.max() <= 1e-12
        lower, upper = limits.bounds(x)
        pitch = limits.names.index("head_pitch")
        assert (np.minimum(x - lower, upper - x)[:, pitch] < 1e-9).any()


def test_a_dependent_range_clips_the_pitch_and_leaves_the_yaw(puppet):
    tree = compile_tree(puppet)
    targets = TargetSet.of(tree, [FrameTarget("head", 0.0, 1.0, base="torso")])
    turns = Rotation.from_euler("ZY", [1.0, 0.45]).as_matrix()[None, None]
    found = solve_motion(targets, np.zeros((1, 1, 3)), turns, limits=MotionLimits.of(puppet), rate=1.0, solver=EXACT)
    assert found.q[0, tree.index("head_yaw")] == pytest.approx(1.0, abs=1e-9)
    assert found.q[0, tree.index("head_pitch")] == pytest.approx(0.35, abs=1e-12)


def test_a_base_must_be_up_the_branch(puppet):
    with pytest.raises(BadInput, match="not further up"):
        TargetSet.of(compile_tree(puppet), [FrameTarget("l_hand", base="r_hand")])
