"""Replays of skinned characters: what stands for sole and skin in MuJoCo, the distance judged, falls seen, swings counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.character import EndEffector
from bunraku.formats.contact_shapes import HALF_DISC, contact_shape
from bunraku.mechanics.coupled.skinned import skinned_model
from bunraku.mechanics.coupled.stiffness import joint_stiffness
from bunraku.verification.ground.model import ground_model
from bunraku.verification.ground.replay import replay_plan
from bunraku.verification.ground.slide import planned_slides
from bunraku.verification.skin.distance import walk_between
from bunraku.verification.skin.judge import SkinJudge, missed_swings
from bunraku.verification.skin.plan import skin_plan
from bunraku.verification.verify import verify
from bunraku.verification.worlds import World

mujoco = pytest.importorskip("mujoco")

ONE = (World(1.0, 0.8, 200.0),)


@pytest.fixture(scope="module")
def model(beetle):
    return skinned_model(beetle)


@pytest.fixture(scope="module")
def bent(model):
    """Torques (n, na) that hold a motion (n, nq) against the skin: K (q - home)."""
    K = joint_stiffness(model)

    def torques(q):
        return ((q - model.home) @ K)[:, model.driven]

    return torques


@pytest.fixture(scope="module")
def swayed(beetle, make_skinned, swaying, bent):
    q = swaying(beetle, 0.004, 101)
    return make_skinned(beetle, q, bent(q))


@pytest.mark.parametrize("tilt", [0.0, 0.2])
def test_the_underside_of_a_sole_is_where_its_middle_is(tilt: float) -> None:
    """A disc tilted by a about its middle reaches r sin(a) below it, no half width more; its upper side is 2 half widths above."""
    axis = (float(np.sin(tilt)), 0.0, float(np.cos(tilt)))
    shape = contact_shape(EndEffector(name="s", kind="sole", body="b", axis=axis, center=(0.1, 0.0, 0.0), radius=0.03, width=0.008))
    pose = f"pos='{' '.join(map(str, shape.pose.position))}' quat='{' '.join(map(str, shape.pose.quaternion))}'"
    disc = f"<geom type='cylinder' size='{shape.size[0]} {shape.size[1]}' {pose}/>"
    height = 0.03 * np.sin(tilt) - 0.001
    body = f"<body pos='0 0 {height}'><freejoint/>{disc}</body>"
    found = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody><geom type='plane' size='1 1 1'/>{body}</worldbody></mujoco>")
    data = mujoco.MjData(found)
    mujoco.mj_forward(found, data)
    assert data.contact.dist.min() == pytest.approx(-0.001, abs=1e-9)
    np.testing.assert_allclose(data.geom_xpos[1], np.array([0.1, 0.0, height]) + HALF_DISC * np.array(axis), atol=1e-12)


def test_the_model_weighs_as_much_and_resists_as_the_skin_does(beetle, model, swayed) -> None:
    """All of 3.9 kg; a joint turned by 0.1 rad is drawn back by its row of K, the damping is beta K."""
    plan = skin_plan(swayed, model)
    ground = ground_model(plan.character, springs=plan.springs)
    assert ground.model.body_mass.sum() == pytest.approx(model.total_mass, rel=1e-6)
    bare = ground_model(plan.character)
    K = joint_stiffness(model)
    data = mujoco.MjData(ground.model)
    data.qpos[2] = 1.0
    j = 4
    data.qpos[ground.at.position[j]] = 0.1
    data.qvel[ground.at.velocity[j]] = 0.5
    mujoco.mj_forward(ground.model, data)
    k = K[model.driven[j], model.driven[j]]
    drawn = data.qfrc_spring[ground.at.velocity]
    assert drawn[j] == pytest.approx(-0.1 * k, rel=1e-9)
    assert np.abs(np.delete(drawn, j)).max() == 0.0
    added = ground.model.dof_damping - bare.model.dof_damping
    np.testing.assert_allclose(added[ground.at.velocity], model.damping * np.diag(K)[model.driven], rtol=1e-9)


def test_it_starts_with_its_lowest_sole_on_the_ground(swayed, make_skinned, beetle, model) -> None:
    sunk = swayed.motion.values.copy()
    sunk[:, 2] -= 0.0007
    plan = skin_plan(make_skinned(beetle, sunk, np.zeros((len(sunk), 12))), model)
    assert plan.clearance[0].min() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(plan.q, skin_plan(swayed, model).q, atol=1e-12)
    _, position = plan.tree.poses(plan.q)
    base = plan.tree.nodes["body"]
    np.testing.assert_allclose(plan.position, position[:, base], atol=1e-12)


def test_soles_slide_by_the_way_of_their_middle(beetle, make_skinned, model) -> None:
    """Standing legs whose base is planned to move 2 mm slide 2 mm, however the lowest point of the rim wanders."""
    q = np.repeat(model.home[None], 21, axis=0)
    q[:, 0] = np.linspace(0.0, 0.002, 21)
    q[:, 8::3] = 1e-7 * (-1.0) ** np.arange(21)[:, None]
    plan = skin_plan(make_skinned(beetle, q, np.zeros((21, 12))), model)
    np.testing.assert_allclose(planned_slides(plan).sum(axis=0), 0.002, rtol=1e-3)


def test_distance_counts_along_the_way_and_in_place_from_the_spot() -> None:
    went = walk_between(np.array([0.4, 0.3]), np.array([0.5, 0.0]), 0.2)
    assert (went.distance, went.planned, went.stays) == (pytest.approx(0.4), 0.5, False)
    assert went.error == pytest.approx(0.2)
    assert went.apart == pytest.approx(np.hypot(0.1, 0.3))
    stayed = walk_between(np.array([0.0, 0.003]), np.array([0.001, 0.003]), 0.4)
    assert stayed.stays
    assert stayed.error == pytest.approx(0.001 / 0.4)
    back = walk_between(np.array([-0.5, 0.0]), np.array([0.5, 0.0]), 0.2)
    assert back.error == pytest.approx(2.0)


def test_a_body_that_sways_over_its_soles_keeps_its_promises(swayed) -> None:
    verdict = verify(swayed)
    assert verdict.holds, verdict.sentence
    assert verdict.figures["fell"] == 0.0
    assert verdict.figures["replay_distance_error"] < 0.03
    assert verdict.figures["replay_missed_swings"] == 0.0
    usual = verdict.replay.usual
    middle = usual.record.com[:, 0]
    planned = usual.plan.com[:, 0]
    assert np.abs(middle - planned).max() < 0.25 * np.ptp(planned)
    weight = usual.plan.tree.mass.sum() * 9.81
    assert usual.record.force[20:, :, 3].sum(axis=1).mean() == pytest.approx(weight, rel=0.02)


def test_a_way_that_the_joints_do_not_make_is_found_out(swayed, make_skinned, beetle, bent, monkeypatch) -> None:
    """The base is said to go 0.3 m, the joints stand: the replay stays where it is, an error of all the distance."""
    q = np.repeat(swayed.motion.values[:1], 241, axis=0)
    q[:, 0] = np.linspace(0.0, 0.3, 241)
    slow = make_skinned(beetle, q, bent(q) * 0.0, {"distance_m": 0.3})
    slow = replace(slow, motion=replace(slow.motion, values=q))
    monkeypatch.setattr(SkinJudge, "worlds", ONE)
    found = verify(slow)
    assert found.figures["replay_distance_error"] == pytest.approx(1.0, abs=0.3)
    assert not next(check for check in found.checks if check.name == "distance error").holds
    assert next(check for check in found.checks if check.name == "certificate against recomputation").holds


def test_a_body_that_tips_over_is_a_fall(make_skinned, beetle, model, monkeypatch) -> None:
    """It starts with a roll of 32 rad/s that the rest of the plan knows nothing of: the replay falls and says why."""
    q = np.repeat(model.home[None], 81, axis=0)
    q[1, 5] = 0.08
    monkeypatch.setattr(SkinJudge, "worlds", ONE)
    found = verify(make_skinned(beetle, q, np.zeros((81, 12))))
    assert found.figures["fell"] == 1.0
    assert not next(check for check in found.checks if check.name == "fell").holds
    assert "leans" in found.replay.reason


def test_a_swing_that_is_only_said_is_missed(make_skinned, beetle, model) -> None:
    """The base is said to hop by 1 cm twice, the joints stand: two swings of four soles are not made."""
    q = np.repeat(model.home[None], 81, axis=0)
    q[:, 2] += 0.01 * np.clip(np.sin(np.linspace(0.0, 4.0 * np.pi, 81)), 0.0, None)
    plan = skin_plan(make_skinned(beetle, q, np.zeros((81, 12))), model)
    still = replace(plan, v=np.zeros_like(plan.v))
    assert missed_swings(replay_plan(still)) == 8
