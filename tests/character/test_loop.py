"""Cycles among joints: which joint is cut, what is kept, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Coupling, Joint, Motor, Pose, Tendon
from bunraku.errors import BadInput
from bunraku.formats.character_yaml import read_character_yaml, write_character_yaml
from bunraku.mechanics.tree import compile_tree

BODIES = tuple(Body(name=name, mass=1.0, inertia=(1e-3,) * 3 + (0.0,) * 3) for name in ("crank", "coupler", "rocker"))


def pin(name: str, parent: str, child: str, **more: object) -> Joint:
    return Joint(name=name, kind="hinge", parent=parent, child=child, **more)  # type: ignore[arg-type]


A, B, C = pin("a", "world", "crank"), pin("b", "crank", "coupler"), pin("c", "world", "rocker")
D = pin("d", "rocker", "coupler", child_pose=Pose(position=(0.3, 0.0, 0.0)))


def linkage(*joints: Joint, **more: object) -> Character:
    return Character(name="linkage", bodies=BODIES, joints=joints or (A, B, C, D), **more)  # type: ignore[arg-type]


def cut(character: Character) -> list[str]:
    return [loop.name for loop in character.loops]


def test_the_last_of_equals_is_cut_and_coordinates_keep_their_order() -> None:
    character = linkage()
    assert cut(character) == ["d"]
    assert character.coordinates == ("a", "b", "c")
    assert cut(linkage(A, C, D, B)) == ["b"]


def test_what_is_nearer_to_the_world_is_kept() -> None:
    short = pin("e", "world", "coupler")
    assert cut(linkage(A, B, C, short)) == ["b"]
    assert cut(linkage(A, B, C, D, short)) == ["b", "d"]


def test_a_joint_back_to_the_world_is_cut() -> None:
    assert cut(linkage(A, B, pin("e", "coupler", "rocker"), pin("f", "rocker", "world"))) == ["f"]


@pytest.mark.parametrize(
    "more",
    [
        {"motors": (Motor(name="m", coordinate="d"),)},
        {"couplings": (Coupling(driver="a", follower="d"),)},
        {"tendons": (Tendon(name="t", moment_arms={"d": 0.01}, max_tension=5.0),)},
    ],
)
def test_joints_that_something_refers_to_are_kept(more) -> None:
    """Even against distance: the motored joint waits for its parent to be reached."""
    assert cut(linkage(A, pin("e", "world", "coupler"), C, D, **more)) == ["e"]


def test_joints_with_a_range_or_a_damper_are_kept_before_bare_ones() -> None:
    assert cut(linkage(A, B, C, D.changed(range=(-1.0, 1.0)))) == ["b"]
    assert cut(linkage(A, B, C, D.changed(damping=0.1))) == ["b"]


def test_a_kept_joint_away_from_its_childs_frame_ends_at_a_massless_body() -> None:
    """The child stands where the joint puts it: its frame is the joint's, moved back by the child pose."""
    turned = Pose(position=(0.3, 0.1, -0.2), quaternion=(0.8, 0.2, -0.4, 0.1))
    character = linkage(A, C, D.changed(child_pose=turned), B)
    assert character.bodies[-1] == Body(name="coupler@d")
    tree = compile_tree(character)
    at = tree.configuration(np.array([0.4, -0.7, 1.1]))
    R, p = at.pose("coupler")
    R_joint, p_joint = at.pose("coupler@d")
    from bunraku.mechanics.tree import rotation_of

    np.testing.assert_allclose(R @ rotation_of(turned), R_joint, atol=1e-12)
    np.testing.assert_allclose(p + R @ np.array(turned.position), p_joint, atol=1e-12)


def test_home_and_groups_lose_the_coordinates_that_were_cut() -> None:
    character = linkage(home={"a": 0.1, "d": 0.4}, groups={"all": ("a", "d"), "last": ("d",)})
    assert character.home == {"a": 0.1}
    assert character.groups == {"all": ("a",)}


def test_cutting_twice_changes_nothing_and_files_keep_it() -> None:
    character = linkage(home={"a": 0.1})
    assert character.changed() == character
    assert read_character_yaml(write_character_yaml(character).encode(), file="x") == character


def test_units_of_tendons() -> None:
    text = write_character_yaml(linkage()) + "tendons:\n- {name: t, moment_arms_mm: {a: 12, b: -8}, max_tension_kgf: 2}\n"
    tendon = read_character_yaml(text.encode(), file="x").tendons[0]
    assert tendon.moment_arms == pytest.approx({"a": 0.012, "b": -0.008})
    assert tendon.max_tension == pytest.approx(2 * 9.80665)
    again = read_character_yaml(write_character_yaml(linkage(tendons=(tendon,))).encode(), file="x")
    assert again.tendons == (tendon,)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: linkage(motors=(Motor(name="m", coordinate="b"), Motor(name="n", coordinate="d"))), "closes a loop"),
        (lambda: linkage(A, B, C, D, loops=(pin("a", "rocker", "crank"),)), "share the name 'a'"),
        (lambda: linkage(loops=(pin("e", "rocker", "rocker"),)), "with itself"),
        (lambda: linkage(loops=(pin("e", "rocker", "wing"),)), "'wing', which is no body"),
        (lambda: linkage(loops=(Joint(name="e", kind="free", parent="crank", child="rocker"),)), "closes nothing"),
        (lambda: linkage(A, B, pin("c", "coupler", "coupler")), "'rocker' hangs on no joint"),
        (lambda: linkage(tendons=(Tendon(name="t", moment_arms={"x": 0.01}, max_tension=5.0),)), "'x', which no joint has"),
        (lambda: Tendon(name="t", moment_arms={"a": 0.0}, max_tension=5.0), "moment arm of 0"),
        (lambda: Tendon(name="t", moment_arms={}, max_tension=5.0), "moment_arms"),
    ],
)
def test_what_cannot_be_is_refused(make, words) -> None:
    with pytest.raises(BadInput, match=words):
        make()
