"""A gait's own promises, computed again: the ground's forces, travel, and what the file does not tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.flow.perform import perform
from bunraku.formats.registry import read_character, read_clip
from bunraku.motion import Check, Performance
from bunraku.verification.ground import forces
from bunraku.verification.ground.forces import force_residual
from bunraku.verification.ground.plan import ground_plan
from bunraku.verification.ground.recomputed import DYNAMICS, own_words, recomputed_promises
from bunraku.verification.limits import planned_limits


@pytest.fixture(scope="module")
def crawl() -> Performance:
    return perform(read_character("walker"), read_clip("crawl")).performance


def by_name(checks) -> dict[str, Check]:
    return {check.name: check for check in checks}


def test_the_ground_can_give_what_a_plan_takes(crawl) -> None:
    plan = ground_plan(crawl)
    assert np.sqrt((force_residual(plan).share ** 2).mean()) < 1e-3
    checks = by_name(recomputed_promises(crawl, plan, ()))
    assert checks["dynamics residual"].holds
    assert checks["missed distance"].holds


def test_it_cannot_when_the_same_steps_are_rushed_or_a_foot_is_missing(crawl) -> None:
    plan = ground_plan(crawl)
    rushed = force_residual(replace(plan, rate=3.0 * plan.rate))
    assert np.sqrt((rushed.share**2).mean()) > DYNAMICS
    lifted = plan.tip_center.copy()
    lifted[:, :2, 2] += 0.05
    hopping = force_residual(replace(plan, tip_center=lifted))
    assert np.sqrt((hopping.share**2).mean()) > DYNAMICS
    slippery = force_residual(replace(plan, friction=1e-4))
    assert slippery.share.max() > force_residual(plan).share.max()


def test_forces_that_are_not_found_prove_nothing(crawl, monkeypatch) -> None:
    def lost(*_: object) -> None:
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr(forces, "nnls", lost)
    assert by_name(recomputed_promises(crawl, ground_plan(crawl), ()))["dynamics residual"].stands_against


def test_travel_is_measured_on_the_motion_not_taken_from_the_certificate(crawl) -> None:
    figures = {**crawl.certificate.figures, "wished_distance_x_m": 2.0 * crawl.certificate.figures["wished_distance_x_m"]}
    asked = crawl.changed(certificate=replace(crawl.certificate, figures=figures))
    check = by_name(recomputed_promises(asked, ground_plan(asked), ()))["missed distance"]
    assert check.broken
    assert check.value == pytest.approx(0.5, abs=0.03)


def test_every_promise_of_a_gait_is_judged_or_said_not_to_be(crawl) -> None:
    plan = ground_plan(crawl)
    own = [Check("planned torque on the motor's line", 0.1, threshold=1.0), Check("self-collision clearance", 0.1)]
    own += planned_limits(crawl)
    judged = by_name(recomputed_promises(crawl, plan, own))
    unjudged = [name for name, check in judged.items() if check.state == "not checked"]
    assert unjudged == []
    more = (*crawl.certificate.checks, Check("elegance", 0.2, threshold=1.0), Check("grace", 2.0, threshold=1.0))
    said = by_name(own_words(crawl.changed(certificate=replace(crawl.certificate, checks=more)), set(judged)))
    assert said["elegance"].state == "not checked"
    assert said["grace"].broken
