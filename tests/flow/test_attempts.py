"""What remedies cost, measured against the first wish: how much of it is followed, and what is another wish."""

from __future__ import annotations

import dataclasses

import pytest

import bunraku
from bunraku.flow import prove as flow
from bunraku.flow.attempts import KEPT, cost, share_kept
from bunraku.flow.prove import Effort, prove
from bunraku.formats.registry import read_character, read_clip
from bunraku.motion import Clip, Performance
from bunraku.motion.excerpt import at_tempo
from bunraku.performers.performer import make_performer
from bunraku.performers.remedy import Attempted, Remedies, Remedy, smaller
from bunraku.verification import verify


@pytest.fixture(scope="module")
def nao() -> bunraku.Character:
    return read_character("nao")


@pytest.fixture(scope="module")
def clip() -> Clip:
    return read_clip("not-done-yet")


@pytest.fixture(scope="module")
def first(nao, clip) -> Performance:
    return make_performer("speech").perform(nao, clip)


def sized(nao, clip, share: float) -> Performance:
    return make_performer("speech").perform(nao, smaller(clip, nao, share))


def test_a_smaller_wish_is_measured_by_the_first_one(nao, clip, first) -> None:
    last = sized(nao, clip, 0.2)
    assert share_kept(first, first) > 0.98
    assert last.certificate.check("motion followed").value > 0.98, "of its own wish"
    assert share_kept(first, last) < KEPT
    said = cost(first, last)
    assert "gestures 80 % smaller" in said or "gestures 79 % smaller" in said
    assert "of the wish followed as it was given (99 % before)" in said
    assert "larger" not in cost(last, first), "what is larger cost nothing"


def test_a_slower_motion_is_measured_at_its_own_pace(nao, clip, first) -> None:
    slow = make_performer("speech").perform(nao, at_tempo(clip, 0.7))
    assert share_kept(first, slow) > 0.95
    assert "43 % longer" in cost(first, slow)


def test_what_keeps_less_than_half_of_the_wish_is_no_remedy_and_is_said(nao, clip, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that lets nothing but stillness hold, and a remedy that makes the wish almost still."""

    class Still(Remedies):
        def against(self, attempt: Attempted) -> list[Remedy]:
            return [Remedy("almost still", "size", clip=smaller(attempt.wish, nao, 0.1))] if attempt.clip is attempt.wish else []

        def lesser(self, attempt: Attempted, share: float) -> None:
            return None

    real = verify.verify

    def strict(performance: Performance, **given: object) -> object:
        values = performance.positions().values
        return dataclasses.replace(real(performance, replay=False), holds=bool(values.std(axis=0).max() < 0.1))

    monkeypatch.setattr(verify, "verify", strict)
    monkeypatch.setattr(flow, "remedies_of", lambda name: Still())
    found = prove(nao, clip, effort=Effort(attempts=3, share=1e6, search=2))
    assert found.takes[1].proven
    assert found.takes[1].another
    assert found.best.performed.prepared is found.takes[0].performed.prepared
    assert not found.holds
    assert found.nearest == "almost still"
