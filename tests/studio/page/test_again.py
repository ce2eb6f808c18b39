"""What is performed again after a cancelled run takes the place of that run everywhere; jobs are answered by hand here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from bunraku.formats.registry import write_performance
from bunraku.motion import Channel, Performance
from bunraku.performers.performer import make_performer
from bunraku.stage.figure.motion import drawn_pose
from bunraku.studio.jobs.state import JobState, JobStatus
from bunraku.studio.page.check import CheckTab
from bunraku.studio.results import ShownMotion
from bunraku.studio.studio import Studio
from bunraku.verification.body_errors import BodyErrors

SWING = 3.0
"""How much wider the cancelled motion is than the finished one: beyond the limits of its joints."""


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    studio = Studio(tmp_path / "project", tour=False)
    studio.session.do("open.example", name="speech")
    yield studio
    studio.close()


@pytest.fixture
def answer(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> Callable[[Performance, JobStatus], None]:
    """Run the performer, which answers at once with a performance."""
    asked: list[tuple[str, dict[str, Any], Callable[[JobState], None]]] = []
    monkeypatch.setattr(studio.session.queue, "ask", lambda *job: asked.append(job))

    def run(performance: Performance, status: JobStatus) -> None:
        studio.session.make.perform()
        verb, arguments, then = asked[-1]
        assert verb == "perform"
        write_performance(arguments["target"], performance)
        then(JobState(len(asked), verb, status=status, result={"path": arguments["target"]}))
        assert studio.page.settle(60.0)

    return run


def wide(channel: Channel) -> Channel:
    return replace(channel, values=SWING * channel.values)


def test_nothing_of_a_cancelled_run_is_left(studio: Studio, answer: Callable[[Performance, JobStatus], None]) -> None:
    session, page = studio.session, studio.page
    document = session.document
    character = document.need_character()
    done = make_performer(document.performer).perform(character, document.need_clip())
    cancelled = replace(done.certificate, status=type(done.certificate.status)("cancelled"), notes=("only half of it",))
    swung = replace(done.motion, values=SWING * done.motion.values)
    half = done.changed(certificate=cancelled, channels=tuple(wide(one) for one in done.channels), motion=swung)
    check = next(one for one in page._panels if isinstance(one, CheckTab))

    def seen() -> tuple[Any, ...]:
        """All that is shown of a performance."""
        motors = page.timeline._motors._handle
        return (
            check._certificate.content,
            check._moments.content,
            page.timeline._bar.content,
            np.array(motors.data[1:]),
            page.scene._violating(),
        )

    answer(half, "cancelled")
    pose = drawn_pose(character)
    session.errors[document.key] = cast(BodyErrors, object())
    session.shown = ShownMotion(document.key, pose, replay=pose)
    before = seen()
    assert "only half of it" in before[0]
    assert before[4]
    answer(done, "done")
    after = seen()
    assert "only half of it" not in after[0]
    assert before[1] != after[1]
    assert before[2] != after[2]
    assert not np.array_equal(before[3], after[3])
    assert not after[4]
    assert session.shown.replay is None
    assert document.key not in session.errors
