"""Perform and prove: remedies, what they cost, the nearest wish, and the verdict that stays with a performance."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.cli.main import _run
from bunraku.errors import BadInput
from bunraku.flow import prove as flow
from bunraku.flow.prove import Effort, Proved, prove
from bunraku.formats.registry import read_character, read_clip, read_performance, write_character, write_performance
from bunraku.motion import Channel, Performance
from bunraku.optimization.monitor import Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.fit import fit_of
from bunraku.performers.remedy import Attempted, Remedies, Remedy
from bunraku.verification import kept, verify

WORN = 0.95
"""Such a share of its torque is too little for the wish as it is."""

TOO_WEAK = 0.1
"""Such a share of its torque leaves the arm too weak for any remedy that keeps the wish."""


class Listener(Monitor):
    """Keeps every note; cancels once a note begins like this."""

    def __init__(self, until: str = "-") -> None:
        self.notes: list[str] = []
        self._until = until

    def report(self, event: Event) -> None:
        if event.note:
            self.notes.append(event.message)

    @property
    def cancelled(self) -> bool:
        return any(note.startswith(self._until) for note in self.notes)


@pytest.fixture(scope="module")
def mended() -> Proved:
    """A clip that asks a worn right shoulder for more torque than it has."""
    return prove(weak(WORN), read_clip("not-done-yet"))


def weak(share: float = TOO_WEAK) -> bunraku.Character:
    """A NAO whose right arm has that share of its torque."""
    nao = read_character("nao")
    motors = (motor.changed(torque_fraction=share) if motor.name == "RShoulderPitch" else motor for motor in nao.motors)
    return nao.changed(motors=tuple(motors))


def test_a_remedy_proves_what_was_not_and_says_what_it_changed_and_cost(mended: Proved) -> None:
    first, last = mended.takes[0], mended.best
    assert [take.proven for take in mended.takes] == [False] * (len(mended.takes) - 1) + [True]
    assert [check.name for check in first.against] == ["torque saturation"]
    assert last.options["torque_share"] == 0.6
    assert mended.changed.startswith("acceleration limited to what 60 % of the stall torque gives (RShoulderPitch: ")
    assert "what it cost: " in mended.changed
    assert mended.performance.certificate.notes[0] == f"changed to prove it: {mended.changed}"
    assert mended.performance.verdict is not None
    assert mended.performance.verdict.holds


def test_the_limit_is_what_torque_and_inertia_give(mended: Proved) -> None:
    motor = next(one for one in mended.performance.character.motors if one.name == "RShoulderPitch")
    moved = mended.performance.positions().column("RShoulderPitch")
    fastest = np.abs(np.diff(moved, n=2)).max() * mended.performance.rate**2
    assert motor.acceleration is not None
    assert fastest <= motor.acceleration * (1.0 + 1e-6)
    assert motor.stall_torque is not None
    inertia = 0.6 * motor.torque_fraction * motor.stall_torque / motor.acceleration
    assert 0.005 < inertia < 0.015, "a forearm and a hand of half a kilogram, 10 to 20 cm away"


def test_once_proves_nothing_and_verify_changes_nothing() -> None:
    once = bunraku.perform(weak(WORN), "not-done-yet", once=True)
    assert once.verdict is None
    judged = bunraku.perform(weak(WORN), "not-done-yet", effort="verify")
    assert judged.verdict is not None
    assert not judged.verdict.holds
    assert (judged.positions().values == once.positions().values).all()
    with pytest.raises(BadInput, match="the effort 'much' arrived; there are once"):
        bunraku.perform("nao", "not-done-yet", effort="much")


def test_all_attempts_together_take_at_most_ten_times_the_first(mended: Proved) -> None:
    clock = time.process_time()
    tried = prove(weak(), read_clip("not-done-yet"))
    spent = time.process_time() - clock
    assert len(tried.takes) > 3
    assert spent <= 10.0 * tried.takes[0].seconds
    assert sum(take.seconds for take in mended.takes) <= 10.0 * mended.takes[0].seconds


def test_the_nearest_wish_is_found_by_bisection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A performer that can do 0.4 of what is asked, and remedies that know nothing but less."""

    class Less(Remedies):
        def against(self, attempt: Attempted) -> list[Remedy]:
            return []

        def lesser(self, attempt: Attempted, share: float) -> Remedy:
            return Remedy(f"{share:g} of it", "size", {"intensity": max(share, 0.3)})

    real = verify.verify

    def strict(performance: Performance, **given: object) -> object:
        verdict = real(performance, replay=False)
        holds = performance.provenance.options["intensity"] <= 0.4
        return dataclasses.replace(verdict, holds=holds)

    monkeypatch.setattr(verify, "verify", strict)
    monkeypatch.setattr(flow, "remedies_of", lambda name: Less())
    found = prove(read_character("nao"), read_clip("not-done-yet"), effort=Effort(attempts=0, share=1e6, search=5))
    shares = [take.words for take in found.takes[1:]]
    assert shares == ["0.5 of it", "0.25 of it", "0.375 of it", "0.4375 of it", "0.40625 of it"]
    assert found.nearest == "0.375 of it"
    assert not found.best.proven
    assert found.best is found.takes[0] or found.best.performed.prepared is found.takes[0].performed.prepared
    assert found.performance.certificate.notes[0] == "the nearest wish that was proven: 0.375 of it"


def test_when_nothing_helps_the_best_is_written_and_the_exit_code_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    who = tmp_path / "weak.character.yaml"
    write_character(who, weak())
    target = tmp_path / "out.performance.npz"
    assert _run(["perform", str(who), "not-done-yet", "-o", str(target)]) == 1
    said = capsys.readouterr().err
    assert "Not proven: " in said
    assert "in the way after " in said
    attempts = sorted((tmp_path / "out.attempts").iterdir())
    assert len(attempts) > 3
    written = read_performance(target)
    assert written.verdict is not None
    assert not written.verdict.holds
    assert _run(["verify", str(target)]) == 1
    assert _run(["perform", str(who), "not-done-yet", "-o", str(target), "--no-keep", "--effort", "verify"]) == 1
    assert sorted((tmp_path / "out.attempts").iterdir()) == attempts


def test_a_stop_while_remedies_are_tried_keeps_the_best_so_far() -> None:
    stopped = prove(weak(), read_clip("not-done-yet"), monitor=Listener(until="not proven"))
    assert len(stopped.takes) == 1
    assert stopped.performance.certificate.status is Status.CONVERGED
    assert stopped.performance.verdict is not None
    assert not stopped.performance.verdict.holds
    assert not stopped.nearest


def test_a_kept_verdict_answers_without_a_replay(
    mended: Proved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "proven.performance.npz"
    write_performance(path, mended.performance)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("it was replayed")

    with monkeypatch.context() as patch:
        patch.setattr(verify, "verify", never)
        assert _run(["verify", str(path), "--json"]) == 0
        assert "kept with the performance" in capsys.readouterr().err
        assert _run(["verify", str(path), "--again"]) not in (0, 1)
        assert "it was replayed" in capsys.readouterr().err
    again = bunraku.verify(mended.performance)
    assert again.holds
    assert again.replay is None
    replayed = bunraku.verify(mended.performance, again=True)
    assert replayed.replay is not None
    assert {check.name: check.state for check in replayed.checks} == {check.name: check.state for check in again.checks}


def test_a_changed_channel_a_changed_promise_and_another_judge_are_noticed(
    mended: Proved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proven = mended.performance
    assert kept.verdict_kept(proven) is not None
    path = tmp_path / "proven.performance.npz"
    write_performance(path, proven)
    read = kept.verdict_kept(read_performance(path))
    assert read is not None
    assert proven.verdict is not None
    assert [check.sentence for check in read.checks] == [check.sentence for check in proven.verdict.checks]
    last = proven.channels[-1]
    values = last.values.copy()
    values[7] += 1e-9
    channels = (*proven.channels[:-1], Channel(last.name, last.kind, last.unit, last.rate, values))
    assert kept.verdict_kept(proven.changed(channels=channels)) is None
    fewer = dataclasses.replace(proven.certificate, checks=proven.certificate.checks[1:])
    assert kept.verdict_kept(proven.changed(certificate=fewer)) is None
    noted = dataclasses.replace(proven.certificate, notes=("another note",))
    assert kept.verdict_kept(proven.changed(certificate=noted)) == proven.verdict
    stronger = proven.character.changed(motors=tuple(one.changed(delay=0.02) for one in proven.character.motors))
    assert kept.verdict_kept(proven.changed(character=stronger)) is None
    monkeypatch.setattr(kept, "_judges", lambda: "another version")
    assert kept.verdict_kept(proven) is None


def test_performers_with_remedies_name_them_and_import_no_solver() -> None:
    named = [fit_of(name).remedies for name in ("speech", "locomotion", "marionette", "skin", "vibration")]
    modules = [where.partition(":")[0] for where in named if where]
    imports = "; ".join(f"import {module}" for module in modules)
    program = f"import sys; {imports}; print(*[name for name in sys.modules if name.endswith(('.solve', '.performer'))])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"bunraku.performers.performer"}
    assert all(flow.remedies_of(name) is not None for name in ("speech", "locomotion"))


def test_a_verdict_without_a_replay_does_not_answer(mended: Proved) -> None:
    still = kept.with_verdict(mended.performance, verify.verify(mended.performance, replay=False))
    assert still.verdict is not None
    assert kept.verdict_kept(still) is None


def test_a_verdict_that_was_stopped_is_not_kept() -> None:
    class Once(Monitor):
        replaying = False

        def report(self, event: Event) -> None:
            self.replaying = self.replaying or event.stage == "replay"

        @property
        def cancelled(self) -> bool:
            return self.replaying

    stopped = prove(read_character("nao"), read_clip("not-done-yet"), monitor=Once())
    assert stopped.best.verdict is not None
    assert not stopped.holds
    assert stopped.performance.verdict is None
