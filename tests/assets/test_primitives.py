import numpy as np
import pytest

from bunraku.formats.registry import built_in, read_character, read_clip
from bunraku.mechanics.collision import self_collisions
from bunraku.mechanics.systems.marionette import hang, marionette_system
from bunraku.mechanics.tree import compile_tree

PRIMITIVES = [name for name in built_in("clip") if name.startswith("puppet-")]


@pytest.fixture(scope="module")
def hanging():
    character = read_character("marionette")
    system = marionette_system(character)
    return character, dict(zip(system.names, hang(character, system).q, strict=True))


def test_the_library_has_the_motions_of_a_show():
    assert {"puppet-walk", "puppet-wave", "puppet-reach", "puppet-bow", "puppet-dance"} <= set(PRIMITIVES)


@pytest.mark.parametrize("name", PRIMITIVES)
def test_primitives_start_and_end_at_rest_in_the_hanging_pose(hanging, name):
    _, pose = hanging
    curves = read_clip(name).joints
    home = np.array([pose[coordinate] for coordinate in curves.names])
    for end in (curves.values[0], curves.values[-1]):
        assert np.abs(end - home).max() < 1e-3
    v = np.diff(curves.values, axis=0) * curves.rate
    assert max(np.abs(v[0]).max(), np.abs(v[-1]).max()) < 0.35  # half a step of the clamped spline's first acceleration
    assert np.abs(v).max() < 3.0


@pytest.mark.parametrize("name", PRIMITIVES)
def test_limbs_stay_out_of_each_other(hanging, name):
    character, _ = hanging
    curves, tree = read_clip(name).joints, compile_tree(character)
    report = self_collisions(character, tree, tree.expand(curves.names, curves.values))
    assert report.least_distance > 0.0, report.nearest[:3]


def test_each_primitive_does_what_its_name_says(hanging):
    """The waving hand rises above the shoulder, the bow pitches and lowers the trunk, the steps lift the knees in turn."""
    character, _ = hanging
    tree = compile_tree(character)

    def place(name, frame, moment=None):
        clip = read_clip(name)
        time = clip.phrases[0].stroke if moment is None else moment
        row = clip.joints.values[round(time * clip.joints.rate)]
        return tree.configuration(tree.expand(clip.joints.names, row[None])[0]).pose(frame)[1]

    assert place("puppet-wave", "r_hand")[2] > place("puppet-wave", "r_shoulder")[2] + 0.05
    assert place("puppet-wave", "r_hand", 0.0)[2] < place("puppet-wave", "r_shoulder", 0.0)[2] - 0.05
    assert place("puppet-bow", "head", 0.0)[2] - place("puppet-bow", "head")[2] > 0.1
    bow = read_clip("puppet-bow").joints
    assert np.ptp(bow.column("base.ry")) > 0.1
    assert place("puppet-reach", "l_hand")[0] - place("puppet-reach", "l_hand", 0.0)[0] > 0.08
    for moment, up, down in ((0.5, "l_knee", "r_knee"), (1.2, "r_knee", "l_knee")):
        assert place("puppet-walk", up, moment)[2] - place("puppet-walk", down, moment)[2] > 0.04
    dance = read_clip("puppet-dance").joints
    assert np.ptp(dance.column("base.ty")) > 0.06
