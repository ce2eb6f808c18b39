"""Coverage of a captured motion: what is mapped is in the wish, what is left out is broken, who asks for less is told."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.performance_npz import read_performance_npz, write_performance_npz
from bunraku.mechanics.measures.coverage import (
    FOLLOWS,
    HELD,
    MISSING,
    NO_JOINT,
    NOT_ASKED,
    CapturedLimb,
    coverage_checks,
    coverage_figures,
    limbs_in,
)
from bunraku.performers.performer import make_performer
from bunraku.performers.prepare import prepare
from bunraku.retargeting.guess import guess_rig
from bunraku.retargeting.only import rig_of
from bunraku.retargeting.retarget import retarget
from bunraku.verification.verify import verify


@pytest.fixture(scope="module")
def clip(captured):
    return captured[0]


def performed(puppet, clip, rig=None):
    prepared = prepare(puppet, clip, rig=rig)
    return prepared.marked(make_performer("speech").perform(puppet, prepared.clip))


def checks_of(performance):
    return {check.name: check for check in performance.certificate.checks if check.name.startswith("coverage")}


def head_only(puppet, clip):
    return guess_rig(clip.skeleton, puppet).rig.changed(limbs=())


def test_all_limbs_that_are_mapped_are_in_the_wish(clip, puppet) -> None:
    limbs = {limb.name: limb for limb in retarget(clip, puppet).report.limbs}
    assert sum(limb.captured for limb in limbs.values()) == pytest.approx(1.0)
    for name in ("head", "left arm", "right arm"):
        assert limbs[name].fate == FOLLOWS
        assert limbs[name].followed > 0.98
    assert "l_shoulder_pitch" in limbs["left arm"].joints
    check = checks_of(performed(puppet, clip))["coverage"]
    assert check.holds
    assert check.value > 0.9


def test_with_only_the_head_mapped_it_is_broken(clip, puppet) -> None:
    performance = performed(puppet, clip, head_only(puppet, clip))
    checks = checks_of(performance)
    assert checks["coverage"].broken
    assert checks["coverage of the left arm"].broken
    assert "--rig" in checks["coverage of the left arm"].note
    verdict = verify(performance, replay=False)
    assert not verdict.holds
    assert "leaves out part of what was wished" in verdict.sentence


def test_what_nothing_is_left_to_follow_does_not_count(clip, puppet) -> None:
    armless = puppet.changed(motors=tuple(motor for motor in puppet.motors if motor.coordinate.startswith("head")))
    report = retarget(clip, armless, rig=head_only(puppet, clip)).report
    assert {limb.fate for limb in report.limbs if "arm" in limb.name} == {NO_JOINT}
    assert MISSING not in {limb.fate for limb in report.limbs}


def test_who_asks_for_less_gets_less_and_it_is_said(clip, puppet) -> None:
    performance = performed(puppet, clip.changed(only=("arms",)))
    check = checks_of(performance)["coverage"]
    assert check.holds
    assert "head: not asked for" in check.note
    assert performance.provenance.options["only"] == ["arms"]
    assert np.ptp(performance.wish.column("head_yaw")) == 0.0
    fates = {limb.name: limb.fate for limb in limbs_in(performance.certificate.figures)}
    assert fates["head"] == NOT_ASKED
    with pytest.raises(BadInput, match="'wings' is no limb"):
        retarget(clip, puppet, only=("wings",))


def test_a_word_for_limbs_is_part_of_the_rig(clip, puppet) -> None:
    rig = guess_rig(clip.skeleton, puppet).rig
    assert [limb.name for limb in rig_of(rig, ("left arm", "head")).limbs] == ["left arm"]
    assert rig_of(rig, ()) is rig
    assert rig_of(rig, ("upper",)).head is not None


def test_a_limb_that_the_performer_drops_is_found_from_the_file(clip, puppet) -> None:
    honest = performed(puppet, clip)
    again = read_performance_npz(write_performance_npz(honest), file="x.performance.npz")
    limbs = limbs_in(again.certificate.figures)
    assert coverage_figures(limbs) == {k: v for k, v in honest.certificate.figures.items() if k.startswith("coverage")}
    values = again.motion.values.copy()
    for j, name in enumerate(again.motion.names):
        if name.startswith("l_"):
            values[:, j] = values[0, j]
    still = again.changed(motion=type(again.motion)(again.motion.names, again.motion.rate, values))
    checks = {check.name: check for check in coverage_checks(still, limbs)}
    assert checks["coverage of the left arm"].broken
    assert checks["coverage of the right arm"].holds
    assert not verify(still, replay=False).holds


def test_the_table_survives_a_checkpoint(clip, puppet) -> None:
    figures = coverage_figures(retarget(clip, puppet).report.limbs)
    assert coverage_figures(limbs_in(json.loads(json.dumps(figures)))) == figures


def test_legs_that_are_held_are_left_out_until_they_are_not_asked_for(clip, puppet) -> None:
    prepared = prepare(puppet, clip)
    limbs = tuple(replace(limb, fate=HELD, joints=()) if limb.name == "right arm" else limb for limb in prepared.limbs)
    held = replace(prepared, limbs=limbs)
    performance = make_performer("speech").perform(puppet, held.clip)
    check = checks_of(held.marked(performance))["coverage of the right arm"]
    assert check.broken
    assert "--only" in check.note
    asked = held.asking_for(("head", "left arm")).marked(performance)
    assert all(check.holds for check in checks_of(asked).values())
    assert "right arm: not asked for" in checks_of(asked)["coverage"].note
    assert asked.provenance.options["only"] == ["head", "left arm"]


@pytest.mark.parametrize("damage", [{"coverage captured: left arm": float("nan")}, {"coverage fate: left arm": float("inf")}])
def test_a_damaged_table_covers_nothing(damage, clip, puppet) -> None:
    performance = performed(puppet, clip)
    limbs = limbs_in(performance.certificate.figures | damage)
    assert any(check.stands_against for check in coverage_checks(performance, limbs))


def test_limbs_that_were_asked_for_count_however_little_they_carry(clip, puppet) -> None:
    """Arms with 4 % of a motion that is in the legs: asked for alone, they are all of it."""
    performance = performed(puppet, clip)
    legs = (CapturedLimb("left leg", 0.5, 0.0, NOT_ASKED), CapturedLimb("right leg", 0.42, 0.0, NOT_ASKED))
    arms = (CapturedLimb("left arm", 0.04, 0.0, FOLLOWS), CapturedLimb("right arm", 0.04, 0.0, FOLLOWS))
    checks = {check.name: check for check in coverage_checks(performance, (*legs, *arms))}
    assert checks["coverage"].broken
    assert checks["coverage of the right arm"].broken
    besides = tuple(replace(leg, fate=NO_JOINT) for leg in legs)
    assert coverage_checks(performance, (*besides, *arms))[0].state == "does not apply", "who asks for all is judged by all"
    still = tuple(replace(arm, captured=1e-6) for arm in arms)
    assert coverage_checks(performance, (*legs, *still))[0].state == "does not apply", "arms that stand still ask nothing"
