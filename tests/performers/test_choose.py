"""Casting: strict performers refuse what they cannot move, and what is left out is said in the certificate."""

from __future__ import annotations

import pytest

from bunraku.cli.console import exit_code
from bunraku.errors import BadInput
from bunraku.formats.registry import built_in, read_character, read_clip
from bunraku.motion import Certificate, Check
from bunraku.optimization.solution import Status
from bunraku.performers.choose import choose_performer, taken_as_rigid
from bunraku.performers.fit import fit_of, refusal
from bunraku.performers.performer import make_performer


@pytest.mark.parametrize("name", ["locomotion", "marionette", "skin", "vibration"])
def test_performers_refuse_by_name(name):
    who, clip = (read_character("nao"), read_clip("no-problem"))
    with pytest.raises(BadInput, match=f"{name} cannot move 'nao'"):
        fit_of(name).refuse(who, clip)


def test_the_best_is_chosen_and_made_with_its_options():
    choice = choose_performer(read_character("swizzlebot"), read_clip("swizzle"))
    assert choice.name == "locomotion"
    assert make_performer(choice.name, {"samples": 24}).options["samples"] == 24
    with pytest.raises(BadInput, match="no option"):
        make_performer(choice.name, {"speed": 1})


def test_bending_parts_that_are_taken_as_rigid_are_noted():
    bending = next(who for name in built_in("character") if (who := read_character(name)).flexibles)
    assert "nothing is done against their vibration" in taken_as_rigid(bending, "speech")[0]
    assert taken_as_rigid(bending, "zv") == ()
    assert taken_as_rigid(read_character("nao"), "speech") == ()


def test_the_reason_to_refuse_is_the_one_that_is_raised():
    who, clip = read_character("nao"), read_clip("no-problem")
    why = refusal("marionette", who, clip)
    assert "stands on feet" in why
    with pytest.raises(BadInput, match=why):
        fit_of("marionette").refuse(who, clip)
    assert refusal("speech", who, clip) == ""


def test_words_without_sound_are_no_voice():
    who, clip = read_character("nao"), read_clip("not-done-yet")
    assert clip.words
    assert "has a voice" in choose_performer(who, clip).reason
    silent = choose_performer(who, clip.changed(audio=None))
    assert silent.name == "speech"
    assert "voice" not in silent.reason
    assert "words, without sound" in silent.reason


def test_a_free_base_that_no_string_holds_is_no_puppet():
    """A humanoid of a file without feet described: its base has no motor, and still physics on strings is not for it."""
    bare = read_character("humanoid").changed(feet=())
    wish = read_clip("not-done-yet").changed(audio=None, words=(), phrases=())
    assert "no puppet" in refusal("marionette", bare, wish)
    assert refusal("marionette", read_character("marionette"), read_clip("puppet-dance")) == ""


def test_no_step_improved_with_every_promise_kept_is_success():
    kept, broken = (Certificate(Status.STALLED, (Check("limit", value, threshold=1.0),)) for value in (0.5, 1.5))
    assert kept.holds
    assert exit_code(kept.status, kept.holds) == 0
    assert exit_code(broken.status, broken.holds) == 1
    assert exit_code(Status.MAX_ITERATIONS, True) == 3
