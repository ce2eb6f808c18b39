"""Designs that improve by themselves: the tilted car repairs itself, the robot that cannot reach grows."""

from dataclasses import replace

import numpy as np
import pytest

from bunraku.building.design import Design, Parameter
from bunraku.building.robot_design import built_in_design
from bunraku.design.automatic import Energy, Misses, MotionFunction, improve
from bunraku.design.features import joint_torque, target_misses
from bunraku.design.sensitivity import sensitivity
from bunraku.design.study import gait_study
from bunraku.formats.registry import read_clip
from bunraku.optimization.solution import Status

LINKS = ("F.knee z", "F.ankle z", "H.knee z", "H.ankle z")


def test_the_tilted_car_repairs_itself(tilted):
    study, variant = tilted
    made = improve(study, Energy(), variant, steps=4)
    assert made.status is Status.CONVERGED
    front, hind = made.variant.parameters - study.design.initial
    assert hind - front == pytest.approx(0.03 * (1.0 - np.cos(np.pi / 4.0)), abs=5e-5)
    energies = [step.energy for step in made.steps]
    assert energies == sorted(energies, reverse=True)
    assert replace(study, soft=False).solve(made.variant.parameters).solution.status.good


def test_the_robot_that_cannot_reach_grows():
    study = gait_study(built_in_design("reacher").only(*LINKS), read_clip("reach-high").gait, samples=13)
    variant = study.solve(study.design.initial)
    assert variant.solution.status.good
    assert target_misses(variant.problem, variant.motion)[0] < -0.05
    made = improve(study, Misses(), variant, steps=3, radius=0.05, enough=1e-5)
    assert abs(target_misses(made.variant.problem, made.variant.motion)[0]) <= 5e-3
    assert made.variant.solution.status.good
    assert (made.variant.parameters >= study.design.lower).all()
    assert (made.variant.parameters <= study.design.upper).all()
    assert made.steps[-1].energy < 0.6 * made.steps[0].energy


def wheelbase(problem, z):
    """The distance of front and hind wheels, as something to be missed."""
    from bunraku.mechanics.centroidal.kinematics import contact_points

    places = contact_points(problem.model, z[: problem.model.nq])
    return places[:1, 0] - places[-1:, 0]


def test_bounds_hold_and_are_named(tilted):
    _, variant = tilted
    design = built_in_design("car").only("F.tip x")
    study = gait_study(design, read_clip("car-forward").gait)
    variant = study.solve(design.initial)
    made = improve(study, Misses(wheelbase), variant, steps=3, radius=0.1)
    assert made.variant.parameters[0] == design.lower[0]
    assert any("F.tip x" in note and "bound" in note for note in made.notes)


def test_parts_that_would_overlap_are_named():
    car = built_in_design("car").only("F.tip x")
    wide = Design("wide", (Parameter("F.tip x", 0.1, -0.09, 0.2),), car.make)
    study = gait_study(wide, read_clip("car-forward").gait)
    made = improve(study, Misses(wheelbase), study.solve(wide.initial), steps=3, radius=0.2)
    assert any("overlap" in note for note in made.notes)
    assert made.variant.parameters[0] >= -0.1 + 0.06 - 1e-9  # two wheels of 30 mm
    assert made.steps[-1].value < made.steps[0].value


def test_any_function_of_the_motion_can_be_made_smaller(derived):
    whole = derived("swizzle")
    study = replace(whole.study, design=whole.study.design.only("F.knee z", "H.knee z"))
    variant = replace(whole.variant, parameters=study.design.initial)
    objective = MotionFunction(joint_torque)
    s = sensitivity(study, variant)
    g, _ = objective.model(s)
    h = 1e-4
    for k in range(2):
        e = np.zeros(2)
        e[k] = h
        ends = []
        for sign in (1.0, -1.0):
            start = replace(variant, parameters=variant.parameters + sign * e, problem=study.problem(variant.parameters + sign * e))
            ends.append(objective.value(s.polished(start)))
        assert g[k] == pytest.approx((ends[0] - ends[1]) / (2.0 * h), rel=0.01)
    made = improve(study, objective, variant, steps=1, radius=0.01)
    assert made.steps[-1].value < 0.97 * made.steps[0].value
