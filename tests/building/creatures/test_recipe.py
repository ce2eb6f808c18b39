"""The recipe of a skin: kept and read again, refused in a line; folds where they are asked for; glue and thickness to see."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("igl")

from _surfaces import RoundLimb, limb_surface
from bunraku.building.creatures.pipeline import plan_creature, stand_up
from bunraku.building.creatures.recipe import SkinRecipe
from bunraku.building.creatures.skin_views import fold_ends, glue_places, thickness_view
from bunraku.building.creatures.skins import SkinPlan, _glue
from bunraku.errors import BadInput

FEET = ((0.26, 0.13), (0.26, -0.13), (-0.26, 0.13), (-0.26, -0.13))
STOOL = SkinRecipe(template="monster", name="stool", thickness=0.009)


@pytest.fixture(scope="module")
def surface():
    trunk = RoundLimb(np.array([[-0.26, 0.0, 0.5], [0.26, 0.0, 0.5]]), np.array([0.11, 0.11]))
    legs = [RoundLimb(np.array([[x, 0.7 * y, 0.46], [x, y, 0.02]]), np.array([0.055, 0.05])) for x, y in FEET]
    return stand_up(limb_surface([trunk, *legs], spacing=0.03, blend=0.05, ground=True))


def test_a_recipe_is_plain_data_and_back():
    recipe = STOOL.changed(
        folds={"knee": False}, places={"hip": 0.1}, bonds={"body": 2.5}, soft=(((0.0, 0.0, 0.0), (0.1, 0.1, 0.1)),), glue=200
    )
    assert SkinRecipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe
    assert SkinRecipe.from_json({}) == SkinRecipe()
    assert recipe.joints == {"roll": False, "hip": True, "knee": False, "ankle": True}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"colour": "red"}, "has no 'colour'"),
        ({"template": "horse"}, "no mechanism template 'horse'"),
        ({"thickness": 1.0}, "goes from 0.001 to 0.02 m"),
        ({"thickness": "thick"}, "cannot be 'thick'"),
        ({"glue": 1.5}, "cannot be '1.5'"),
        ({"folds": {"wing": True}}, "the template 'monster' has roll, hip"),
        ({"folds": {"knee": 1}}, "the folds of a skin cannot be"),
        ({"places": {"knee": 2.0}}, "from 0 to 1"),
        ({"bonds": {"body": -1.0}}, "from 0 to 20"),
        ({"soft": [[0.0, 1.0]]}, "the soft of a skin cannot be"),
    ],
)
def test_what_it_does_not_take_is_refused_in_a_line(data, words):
    with pytest.raises(BadInput, match=words) as refused:
        SkinRecipe.from_json(data)
    assert "\n" not in str(refused.value)


def test_folds_are_where_they_are_asked_for(surface):
    views = fold_ends(plan_creature(surface, STOOL.changed(places={"knee": 0.58}, folds={"roll": False})))
    assert set(views) == {f"{leg}.{joint}" for leg in ("LF", "RF", "LH", "RH") for joint in ("hip", "knee", "ankle")}
    for leg in ("LF", "RF", "LH", "RH"):
        hip, knee, ankle = (float(views[f"{leg}.{joint}"].mean(axis=0)[2]) for joint in ("hip", "knee", "ankle"))
        assert (hip - knee) / (hip - ankle) == pytest.approx(0.58, abs=0.03)
    fewer = set(fold_ends(plan_creature(surface, STOOL.changed(folds={"knee": False}))))
    assert fewer == {name for name in views if "knee" not in name}
    with pytest.raises(BadInput, match="the lowest joint, 'ankle', needs its fold"):
        plan_creature(surface, STOOL.changed(folds={"ankle": False}))


def test_glue_goes_where_it_is_asked_for():
    rng = np.random.default_rng(2)
    nodes = rng.uniform(size=(400, 3))
    zones = SimpleNamespace(inner={"a": np.arange(200), "b": np.arange(200, 400)}, area={"a": 1.0, "b": 1.0}, corner_count=400)
    mechanism = SimpleNamespace(bodies=("a", "b"))

    def counts(**bonds):
        owner = _glue(nodes, zones, mechanism, SkinPlan(size=0.02, glue=96, around=8, bonds=tuple(bonds.items())))[1]
        return np.bincount(owner, minlength=2).tolist()

    assert counts() == [48, 48]
    assert counts(a=3.0) == [8 + 60, 8 + 20]  # each has at least 8
    assert counts(b=0.0) == [88, 8]
    with pytest.raises(BadInput, match="'c', where no skin lies"):
        counts(c=1.0)


def test_thickness_and_glue_can_be_seen():
    outer = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    made = SimpleNamespace(
        shell=SimpleNamespace(outer=outer, inner=outer - np.array([[0.0, 0.0, 0.004], [0.0, 0.0, 0.006], [0.0, 0.008, 0.0]])),
        mesh=SimpleNamespace(nodes=outer, glue_node=np.array([0, 2]), glue_body=np.array([1, 1]), bodies=("a", "b", "c")),
    )
    view = thickness_view(made.shell.outer, made.shell.inner)
    np.testing.assert_allclose(view.values, [0.004, 0.006, 0.008])
    np.testing.assert_allclose(view.colors[1], (view.colors[0] + view.colors[2]) / 2.0)
    assert view.colors[0, 2] > view.colors[2, 2]  # blue is thin
    assert (view.least, view.most) == (pytest.approx(0.004), pytest.approx(0.008))
    glued = glue_places(made.mesh)
    assert set(glued) == {"b"}
    np.testing.assert_array_equal(glued["b"], outer[[0, 2]])
