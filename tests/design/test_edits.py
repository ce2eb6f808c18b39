"""Manual and semi-automatic edits: front wheels 10 mm lower."""

import numpy as np
import pytest

from bunraku.design.features import FEATURES, feature, feature_jacobian, total_derivative
from bunraku.design.manual import edit
from bunraku.design.semi_automatic import companion_edit, keep
from bunraku.errors import BadInput

LOWER = 0.01


def pitch(variant):
    return np.degrees(variant.plan.q[:, 4])


@pytest.fixture(scope="module")
def manual(derived):
    s = derived("slalom")
    p = s.variant.parameters[s.study.index("F.tip z")] - LOWER
    return s, {"F.tip z": p}, edit(s.study, s.variant, {"F.tip z": p}, derivatives=s)


def test_the_predictor_starts_near_the_end(manual):
    s, _, made = manual
    assert made.variant.solution.status.good
    assert made.predicted < 1e-3 * made.plain
    afresh = s.study.solve(made.variant.parameters)
    assert made.variant.energy == pytest.approx(afresh.energy, rel=1e-6)


def test_what_is_kept_stays_where_an_edit_by_hand_moves_it(manual):
    s, changes, made = manual
    by_hand = np.abs(pitch(made.variant) - pitch(s.variant)).max()
    assert by_hand >= 1.0
    kept = keep(s.study, s.variant, changes, "orientation", steps=1)
    assert kept.variant.solution.status.good
    assert np.abs(pitch(kept.variant) - pitch(s.variant)).max() <= 0.1
    assert kept.variant.parameters[s.study.index("F.tip z")] == changes["F.tip z"]
    assert kept.followed[s.study.index("F.tip z")] == 0.0
    p, design = kept.variant.parameters, s.study.design
    assert (p >= design.lower - 1e-12).all()
    assert (p <= design.upper + 1e-12).all()
    assert np.abs(kept.followed).max() < LOWER


def test_drift_is_taken_back_and_not_doubled(derived):
    s = derived("slalom")
    edit = np.zeros(len(s.neighbours))
    edit[s.study.index("F.tip z")] = -1e-4
    J = feature_jacobian(s, "orientation")
    drift = 0.5 * J @ edit
    follows = companion_edit(s, "orientation", edit, drift)
    left = np.linalg.norm(J @ (edit + follows) + drift)
    assert left < 0.05 * np.linalg.norm(J @ edit + drift)
    assert np.linalg.norm(J @ (edit + follows)) == pytest.approx(np.linalg.norm(drift), rel=0.1)


def test_companions_stay_within_what_can_be_built(derived):
    s = derived("slalom")
    edit = np.zeros(len(s.neighbours))
    edit[s.study.index("F.tip z")] = -0.5  # so far that bounds must hold the others back
    follows = companion_edit(s, "orientation", edit)
    p, design = s.variant.parameters, s.study.design
    inside = (p + follows >= design.lower - 1e-9) & (p + follows <= design.upper + 1e-9)
    assert inside.all()
    at = np.isclose(p + follows, design.lower, atol=1e-9) | np.isclose(p + follows, design.upper, atol=1e-9)
    assert at.sum() > 3


@pytest.mark.parametrize("name", [*FEATURES, "feet+orientation"])
def test_features_follow_the_design_as_their_derivatives_say(derived, name):
    s = derived("crawl")
    d = np.random.default_rng(3).standard_normal(len(s.neighbours))
    d *= 1e-3 / np.linalg.norm(d)
    of = feature(name)
    solved = s.study.solve(s.variant.parameters + d, near=s.variant, start=s.variant.motion + s.jacobian @ d)
    moved = of(solved.problem, solved.motion) - of(s.variant.problem, s.variant.motion)
    assert np.linalg.norm(moved - feature_jacobian(s, name) @ d) <= 0.03 * np.linalg.norm(moved)


def test_several_features_stand_one_below_the_other(derived):
    v = derived("crawl").variant
    both = feature("feet+orientation")(v.problem, v.motion)
    assert both.tolist() == [*feature("feet")(v.problem, v.motion), *feature("orientation")(v.problem, v.motion)]


def test_unknown_features_are_named(derived):
    with pytest.raises(BadInput, match="choose orientation, position, joints, feet, com"):
        keep(derived("slalom").study, derived("slalom").variant, {}, "mood")
    s = derived("slalom")
    assert total_derivative(s, lambda problem, z: z) == pytest.approx(s.jacobian)
