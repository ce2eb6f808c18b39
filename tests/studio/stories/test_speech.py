"""Stories of characters that speak and gesture."""

from __future__ import annotations

from typing import Any

import pytest


def test_from_the_gallery_to_export(story: Any) -> None:
    story.example("Speech and gestures", "speech")
    assert story.session.shown.wish is not None
    story.page.locator("[data-audio]").wait_for(state="attached")
    story.run()
    assert story.session.result.performance.certificate.holds
    assert len(story.export("csv").decode().splitlines()) > 100
    assert story.download("Download the performance").suggested_filename.endswith(".performance.npz")


def test_a_zip_with_character_clip_and_voice(story: Any) -> None:
    clip = story.own("clip", "no-problem", "my-welcome")
    story.bring(story.packed(story.own("character", "nao", "my-nao"), clip, story.asset("clips", "no-problem.wav")))
    session = story.session
    assert session.document.base.name == "my-nao"
    assert session.document.clip.name == "my-welcome"
    assert session.document.clip.audio is not None
    story.run()
    assert session.result.performance.provenance.performer == "speech"
    assert b"my-nao" in story.export("json")


def test_a_broken_file_is_one_line_and_changes_nothing(story: Any) -> None:
    story.example("Speech and gestures", "speech")
    session = story.session
    document, steps = session.document, session.history.at
    for name, data in (
        ("broken.character.yaml", b"bunraku: character/1\nname: x\nbodies: [{mass_kg: heavy}]\n"),
        ("broken.clip.yaml", b"bunraku: clip/1\nname: [a, b\n"),
        ("broken.bvh", b"HIERARCHY\nROOT\n"),
        ("broken.zip", b"PK\x03\x04 no zip at all"),
        ("song.mp3", b"ID3"),
    ):
        said = len(story.said)
        story.bring({"name": name, "mimeType": "application/octet-stream", "buffer": data})
        new = session.messages.all[said:]
        assert [one.kind for one in new] == ["error"], (name, story.said[said:])
        assert "\n" not in new[0].text
        story.page.locator(".bunraku-messages").get_by_text(new[0].text[:60]).first.wait_for()
        assert session.document is document
        assert session.history.at == steps


def test_a_captured_skeleton_is_retargeted_and_performed(story: Any) -> None:
    story.example("Speech and gestures", "speech")
    session = story.session
    story.bring(story.asset("clips", "chicken-dance.bvh"))
    assert session.document.clip.skeleton is not None
    story.tab("Choreograph")
    story.press("Retarget to this character")
    story.until(lambda: session.document.clip.joints is not None or (session.run is not None and session.run.status == "failed"))
    story.rest()
    assert set(session.document.clip.joints.names) <= {axis.name for axis in session.document.base.axes}
    story.shows('[data-drag="keys.move"]')
    story.run()
    story.export("csv")


def test_a_key_is_dragged_and_a_joint_muted(story: Any) -> None:
    story.example("Speech and gestures", "speech")
    session = story.session
    story.tab("Choreograph")
    key = story.shows('[data-drag="keys.move"][data-key="3"]')
    joint = key.get_attribute("data-joint")
    before, steps = session.document.clip.joints.column(joint), session.history.at
    story.drag(key, 0.0, 14.0)
    story.until(lambda: session.history.at == steps + 1)
    after = session.document.clip.joints.column(joint)
    assert abs(after - before).max() > 0.02
    story.rest()
    story.shows(f'[data-click="joint.mute"][data-joint="{joint}"]').click()
    story.until(lambda: session.document.muted == (joint,))
    story.shows(f'[data-click="joint.mute"][data-joint="{joint}"][aria-pressed="true"]')
    story.rest()
    story.page.keyboard.press("Control+z")
    story.until(lambda: session.document.muted == ())
    story.page.keyboard.press("Control+z")
    story.until(lambda: session.history.at == steps)
    assert session.document.clip.joints.column(joint) == pytest.approx(before)


def test_the_border_of_a_phrase_is_dragged(story: Any) -> None:
    story.example("Flexible characters", "one-rod")
    session = story.session
    old, steps = session.document.clip.phrases[0], session.history.at
    story.tab("Choreograph")
    story.drag(story.shows('[data-drag="phrase.border"][data-end="end"]'), 20.0)
    story.until(lambda: session.history.at == steps + 1)
    new = session.document.clip.phrases[0]
    assert new.start == old.start
    assert new.end > old.end + 0.05
