"""A story that begins with nothing: a new character, built by hand, gets a gait and goes; and curves from scratch."""

from __future__ import annotations

from typing import Any

import numpy as np


def test_a_new_character_is_built_and_goes(story: Any) -> None:
    session = story.session
    story.tab("Gallery")
    story.press("New character")
    story.until(lambda: session.history.words[-1:] == ("Began a new character, mine",))
    story.rest()
    story.tab("Choreograph")
    story.reads("begin one")
    story.tab("Design")
    session.select(socket="body left front")
    story.settle()
    story.press("Add motor")
    story.until(lambda: len(session.document.base.motors) == 2)  # mirrored: one on each side
    for socket in ("left motor 1 horn",):
        session.do("component.add", socket=socket, component="driven wheel 60 mm", dimensions={})
    session.do("component.add", socket="body left back", component="Dynamixel XM430-W210", dimensions={})
    session.do("component.add", socket="left motor 2 horn", component="driven wheel 60 mm", dimensions={})
    story.rest()
    assert len(session.document.base.end_effectors) == 4
    story.tab("Choreograph")
    story.press("Begin a gait")
    story.until(lambda: session.document.clip is not None and session.document.clip.gait is not None)
    story.until(lambda: session.shown.live and session.shown.key == session.document.key)  # it is solved at once
    story.rest()
    com = session.shown.motion.com
    assert com[-1, 0] - com[0, 0] > 0.02
    story.run()
    assert session.result.performance.certificate.holds
    assert b"left motor 1" in story.export("json")


def test_curves_from_scratch_by_a_key_that_is_added(story: Any) -> None:
    story.example("Flexible characters", "one-rod")
    session = story.session
    session.do("clip.begin", kind="curves", duration=2.0)
    story.rest()
    story.tab("Choreograph")
    joint = session.document.clip.joints.names[0]
    assert np.ptp(session.document.clip.joints.column(joint)) == 0.0
    story.scrub(1.0)
    steps = session.history.at
    story.shows(f'[data-click="keys.add"][data-joint="{joint}"]').click()
    key = story.shows(f'[data-drag="keys.move"][data-joint="{joint}"][data-key="1"]')
    assert session.history.at == steps  # a handle is no edit
    story.drag(key, 0.0, -14.0)
    story.until(lambda: session.history.at == steps + 1)
    curve = session.document.clip.joints.column(joint)
    assert np.ptp(curve) > 0.05
    assert curve[0] == curve[-1] == session.document.base.home.get(joint, 0.0)
    assert abs(int(np.abs(curve - curve[0]).argmax()) - round(session.transport.now * 100.0)) <= 10
