"""Characters as full-order models: merged bodies, world bases, loops with flexible parts, couplings."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bunraku.character import Character, Coupling
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.mechanics.full_order.from_character import full_model
from bunraku.mechanics.full_order.model import FullOrderModel
from bunraku.mechanics.tree import compile_tree


def smooth(steps: int) -> np.ndarray:
    s = np.linspace(0.0, 1.0, steps + 1)
    return 10 * s**3 - 15 * s**4 + 6 * s**5


def test_one_rod_is_the_rod_made_by_hand(make_rod: Callable[..., FullOrderModel]) -> None:
    character = read_character("one-rod")
    (part,) = character.flexibles
    short = part.model_copy(update={"shape": part.shape.model_copy(update={"cell": 0.7 / 32.0})})
    model = full_model(character.model_copy(update={"flexibles": (short,)}))
    assert model.body_names == ("hub", "tip")
    assert model.frames["stand"][0] == "world"
    rest = model.rest([0.7]).state
    layers = (len(np.unique(np.round(model.assembly.pieces[0].X[:, 2], 9))) - 1) // 2
    by_hand = make_rod(layers).rest([0.7]).state
    np.testing.assert_allclose(rest.c[1] - [0.0, 0.0, 0.06], by_hand.c[1], atol=1e-9)


def test_merging_keeps_mass_and_first_moment() -> None:
    """All of the drummer's mass, and its centre at home, are in the rigid bodies and pieces."""
    character = read_character("drummer")
    model = full_model(character, coarser=6.0)
    tree, A = compile_tree(character), model.assembly
    moved = {name for name, (root, _) in model.frames.items() if root == "world"}
    mass = sum(body.mass for body in character.bodies if body.name not in moved)
    assert A.mass.sum() == pytest.approx(mass, rel=1e-12)
    at = tree.configuration(tree.home)
    first = sum(
        b.mass * (at.pose(b.name)[1] + at.pose(b.name)[0] @ np.array(b.center_of_mass))
        for b in character.bodies
        if b.name not in moved
    )
    np.testing.assert_allclose(A.mass @ model.unbent().c, first, atol=1e-9)


def test_rests_along_a_curve_are_the_rests_one_by_one() -> None:
    """Each from those before, also across a jump; a guess is no result."""
    model = full_model(read_character("two-rods"), coarser=20.0)
    curve = np.array([0.0, 0.02, 0.05, 0.09, 0.14, -0.6])[:, None]
    for values, rested in zip(curve, model.rests(curve), strict=True):
        assert rested.status.good
        np.testing.assert_allclose(rested.state.c, model.rest(values).state.c, atol=1e-9)
        np.testing.assert_array_equal(rested.state.motors, values)


@pytest.mark.parametrize("name", ["rapper", "drummer"])
def test_loops_stay_closed(name: str) -> None:
    """Every motor moves at once; loops, motors and interfaces hold to 1e-9 all the way, and gravity is carried."""
    model = full_model(read_character(name), coarser=4.0 if name == "rapper" else 10.0)
    rest = model.rest()
    assert rest.status.good
    curve = model.home + 0.03 * smooth(8)[:, None]
    motion = model.simulate(curve, 4e-3, start=rest.state, method="generalized-alpha", tolerance=1e-10)
    assert motion.status.good, motion.note
    assert motion.drift.max() <= 1e-9
    assert np.abs(motion.tracked(model.body_names)[-1] - motion.tracked(model.body_names)[0]).max() > 1e-3


def test_a_part_on_the_world_hangs_from_the_ground() -> None:
    """two-rods: its lower rod stands on the world; at rest it carries all weight above it: the sum of its elastic forces."""
    character = read_character("two-rods")
    model = full_model(character, coarser=8.0)
    part = model.assembly.pieces[model.piece_names.index("lower_rod")]
    assert part.bodies[0] == model.assembly.count
    state = model.rest().state
    own = len(model.assembly.kept) + 6 * sum(
        len(p.piece.held) for p in model.assembly.pieces[: model.piece_names.index("lower_rod")]
    )
    weight = 9.81 * (model.assembly.mass.sum() + sum(p.solid.total_mass for p in model.assembly.pieces))
    np.testing.assert_allclose(state.multipliers[own : own + 3], [0.0, 0.0, -weight], atol=1e-6 * weight)


def test_what_it_does_not_take() -> None:
    character: Character = read_character("double-pendulum")
    with pytest.raises(BadInput, match="strings"):
        full_model(read_character("puppet-arm"))
    loose = character.model_copy(update={"motors": (), "couplings": (Coupling(driver="elbow", follower="shoulder"),)})
    with pytest.raises(BadInput, match="which no motor drives"):
        full_model(loose)
