"""Rigs of characters: a short soft rod on a motor, meshed coarsely."""

import numpy as np
import pytest

from bunraku.character import Body, Character, ElasticMaterial, FlexiblePart, Joint, Motor, PartInterface, PartShape, Pose
from bunraku.errors import BadInput
from bunraku.mechanics.identification.fit import fit_material
from bunraku.mechanics.identification.part import fitted_character, part_rig
from bunraku.mechanics.identification.record import MarkerRecord
from bunraku.mechanics.identification.rig import Rig, scaled_system, still_windows
from bunraku.motion import JointCurves

BETA = 1.2e-3


def printed(young=2e9):
    """A printed rod of 0.3 m and 10 mm, upright, with 100 g at its tip: about 3 Hz."""
    return Character(
        name="printed",
        bodies=(
            Body(name="horn", mass=0.02),
            Body(name="weight", mass=0.1, center_of_mass=(0.0, 0.0, 0.01), inertia=(8e-6, 8e-6, 8e-6, 0.0, 0.0, 0.0)),
        ),
        joints=(
            Joint(name="turn", kind="hinge", parent="world", child="horn", axis=(0.0, 1.0, 0.0)),
            Joint(name="tip", kind="fixed", parent="horn", child="weight", pose=Pose(position=(0.0, 0.0, 0.3))),
        ),
        motors=(Motor(name="motor", coordinate="turn"),),
        materials=(
            ElasticMaterial(
                name="abs", young=young, poisson=0.35, density=1170.0, strain_damping=BETA, model="st-venant-kirchhoff"
            ),
        ),
        flexibles=(
            FlexiblePart(
                name="rod",
                material="abs",
                shape=PartShape(kind="rod", length=0.3, diameter=0.01, cell=0.03),
                base="horn",
                modes=2,
                children=(PartInterface(body="weight"),),
            ),
        ),
    )


def command(angle=0.5):
    times = np.arange(0.0, 0.61, 0.01)
    return JointCurves(("turn",), 100.0, angle * np.interp(times, [0.1, 0.3], [0.0, 1.0])[:, None])


@pytest.fixture(scope="module")
def rig() -> Rig:
    return part_rig(printed(), "rod")


def test_a_scaled_system_is_that_of_the_stiffer_material(rig):
    ours = rig.driven(command(), 0.6).simulate(1.7, 3e-3, 2e-3)
    anew = part_rig(printed(1.7 * 2e9), "rod").driven(command(), 0.6).simulate(1.0, 3e-3, 2e-3)
    np.testing.assert_allclose(ours, anew, atol=2e-7)  # a stiffer part is described with fewer shapes
    softer = rig.driven(command(), 0.6).simulate(1.0, 3e-3, 2e-3)
    assert np.abs(ours - softer).max() > 1e-3


def test_without_stiffness_change_nothing_but_beta_moves(rig):
    same = scaled_system(rig.system, ("rod",), 1.0, BETA)
    np.testing.assert_array_equal(same.model.segments.flexible_f, rig.system.model.segments.flexible_f)
    with pytest.raises(BadInput, match="no flexible segment 'arm'; there are rod"):
        scaled_system(rig.system, ("arm",), 1.0, BETA)


def test_modulus_damping_and_delay_of_a_printed_rod(rig):
    """Truth: half the assumed modulus, simulated with steps of 0.5 ms; the fit takes longer ones."""
    fine = rig.driven(command(), 2.0).simulate(0.5, BETA, 5e-4)
    t = np.arange(0.0, 2.0, 1 / 60)
    x = np.column_stack([np.interp(np.maximum(t - 0.03, 0.0), 5e-4 * np.arange(len(fine)), column) for column in fine.T])
    points = x[:, [0, 2]] + 5e-4 * np.random.default_rng(1).normal(size=(len(t), 2))
    found = fit_material(MarkerRecord(t, points), rig.driven(command(), float(t[-1])))
    assert found.young.value == pytest.approx(1e9, rel=0.01)
    assert found.damping.value == pytest.approx(BETA, rel=0.1)
    assert found.delay.value == pytest.approx(0.03, abs=2e-3)
    assert found.young.covers(1e9)
    assert not found.warnings
    after = fitted_character(printed(), "rod", found)
    assert after.materials[0].young == found.young.value
    assert after.materials[0].strain_damping == found.damping.value
    assert after.motors[0].delay == found.delay.value


def test_a_released_rod_moves_as_its_first_mode_says(rig):
    model = rig.released(0.0, 0.5)
    x = model.simulate(1.0, BETA, 0.02, 0.0, 2e-3)
    rest = model.simulate(1.0, BETA, 0.0, 0.0, 2e-3)
    np.testing.assert_allclose(rest, np.tile(rest[0], (len(rest), 1)), atol=1e-7)
    assert np.linalg.norm(x[0] - rest[0]) == pytest.approx(0.02, rel=0.02)
    assert np.abs(x[:, 1] - rest[0, 1]).max() < 1e-4 < 0.015 < np.abs(x[:, 0] - rest[0, 0]).max()
    kicked = model.simulate(1.0, BETA, 0.0, 0.4, 2e-3)
    assert np.linalg.norm(kicked[1] - kicked[0]) / 2e-3 == pytest.approx(0.4, rel=0.02)


def test_still_windows_are_where_the_command_rests_after_a_move():
    times = np.arange(0.0, 3.01, 0.01)
    wave = JointCurves(("turn",), 100.0, np.interp(times, [0.5, 1.0, 2.0, 2.2], [0.0, 1.0, 1.0, 0.0])[:, None])
    np.testing.assert_allclose(still_windows(wave, 3.5), [(1.1, 2.0), (2.3, 3.5)], atol=1e-9)
    with pytest.raises(BadInput, match="never moves"):
        still_windows(JointCurves(("turn",), 100.0, np.zeros((50, 1))), 3.0)


def test_what_does_not_fit_the_character_is_named(rig):
    with pytest.raises(BadInput, match="no flexible part 'arm'; its flexible parts are rod"):
        part_rig(printed(), "arm")
    with pytest.raises(BadInput, match="'nose', which is neither a frame nor a body"):
        part_rig(printed(), "rod", marker="nose")
    with pytest.raises(BadInput, match="none is a motor's coordinate: turn"):
        rig.driven(JointCurves(("bend",), 100.0, np.zeros((50, 1))), 1.0)
