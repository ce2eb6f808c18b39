"""What is looked at: frames if there are any, else what the parts carry; what does not exist is named."""

from __future__ import annotations

import pytest

from bunraku.character import Frame
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.flexible.places import place_of, tracked_places


def test_frames_come_before_bodies_and_what_is_asked_before_both(one_rod, legs) -> None:
    bare = one_rod()
    framed = bare.changed(frames=(Frame(name="ball", body="tip"), Frame(name="root", body="hub")))
    assert tracked_places(bare) == ("tip",)
    assert tracked_places(legs()) == ("pelvis", "right-hip")
    assert tracked_places(framed) == ("ball", "root")
    assert tracked_places(framed, ["hub"]) == ("hub",)


def test_a_body_is_tracked_at_its_centre_of_mass(one_rod) -> None:
    character = one_rod()
    bodies = (character.bodies[0], character.bodies[1].changed(center_of_mass=(0.01, 0.02, 0.03)))
    character = character.changed(bodies=bodies, frames=(Frame(name="ball", body="tip"),))
    assert place_of(character, "tip") == Place("tip", (0.01, 0.02, 0.03))
    assert place_of(character, "ball") == Place("ball")


def test_what_does_not_exist_is_named_with_the_nearest(one_rod) -> None:
    with pytest.raises(BadInput, match=r"'tipp' is no frame or body of 'one-rod'; did you mean 'tip'\?"):
        place_of(one_rod(), "tipp")
    with pytest.raises(BadInput, match=r"'glass' is no frame or body of 'one-rod'; known: hub, tip"):
        place_of(one_rod(), "glass")
