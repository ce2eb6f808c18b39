import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import Accent, Choreography, Clip, JointCurves, Mode, Primitive


def primitive(name, stroke=0.5):
    return Primitive(name, JointCurves(("a",), 10.0, np.zeros((11, 1))), stroke)


LIBRARY = (primitive("walk"), primitive("bow", None))


def test_switching_times_and_equal_shares():
    show = Choreography(6.0, LIBRARY, (Mode("walk", 0.0), Mode("bow", 1.5), Mode("walk", 4.0)), (Accent(2.0, "walk"),))
    assert show.switching_times == (1.5, 4.0)
    assert show.equal_times == pytest.approx((2.0, 4.0))
    moved = show.switched_at((2.5, 3.0))
    assert [mode.start for mode in moved.modes] == [0.0, 2.5, 3.0]
    assert moved.accents == show.accents
    assert show.moment(show.accents[0]) == 0.5
    assert Clip("x", modes=show).duration == 6.0
    assert Clip("x", modes=show).tracks == ("modes",)
    with pytest.raises(BadInput, match="bunraku choreograph"):
        Clip("x", modes=show).need_joints("marionette")


@pytest.mark.parametrize(
    ("modes", "accents", "words"),
    [
        ((), (), "no mode"),
        ((Mode("jump", 0.0),), (), "no primitive 'jump'; known: walk, bow"),
        ((Mode("walk", 1.0),), (), "begins with it at 0"),
        ((Mode("walk", 0.0), Mode("bow", 2.0), Mode("walk", 2.0)), (), "starts must rise"),
        ((Mode("walk", 0.0), Mode("bow", 3.0), Mode("walk", 2.0)), (), "starts must rise"),
        ((Mode("walk", 0.0), Mode("bow", 6.0)), (), "outside the show"),
        ((Mode("walk", 0.0), Mode("bow", float("nan"))), (), "finite"),
        ((Mode("walk", 0.0),), (Accent(7.0, "walk"),), "outside the show"),
        ((Mode("walk", 0.0),), (Accent(1.0, "walk", 1.5),), "lasts from 0 to 1 s"),
        ((Mode("walk", 0.0),), (Accent(1.0, "bow"),), "no stroke"),
        ((Mode("walk", 0.0),), (Accent(1.0, "walk", coordinates=("b",)),), "does not move"),
    ],
)
def test_a_choreography_that_cannot_be_is_refused(modes, accents, words):
    with pytest.raises(BadInput, match=words):
        Choreography(6.0, LIBRARY, modes, accents)


def test_bad_numbers_are_refused():
    for make, words in (
        (lambda: Accent(float("nan"), "walk"), "finite"),
        (lambda: Accent(1.0, "walk", width=0.0), "positive"),
        (lambda: Choreography(float("inf"), LIBRARY, (Mode("walk", 0.0),)), "duration between"),
        (lambda: primitive("walk", 2.0), "stroke"),
        (lambda: Choreography(6.0, LIBRARY * 2, (Mode("walk", 0.0),)), "two primitives"),
        (lambda: Choreography(6.0, LIBRARY, (Mode("walk", 0.0),)).switched_at((1.0,)), "one fewer"),
    ):
        with pytest.raises(BadInput, match=words):
            make()
