"""Trials from the command line: what is printed, what the JSON holds, exit codes, and the film of the worst."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from bunraku.cli import console
from bunraku.cli.main import _run
from bunraku.formats.registry import write_performance
from bunraku.verification.trials.film import worst_trial
from bunraku.verification.trials.run import run_trials
from bunraku.verification.verify import judge_of


@pytest.fixture(scope="module")
def drive(make_car, make_going, driving):
    """A car sent plain speeds against a drag that nothing is fed forward for: it lags, more in softer servos."""
    car = make_car("active", drag=0.5)
    return make_going(car, driving(car, 0.4, 0.3), 200.0, figures={"distance_m": 0.12, "turn_deg": 0.0})


@pytest.fixture
def file(drive, tmp_path: Path) -> Path:
    path = tmp_path / "drive.performance.npz"
    write_performance(path, drive)
    return path


def told(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = _run(words)
    seen = capsys.readouterr()
    return code, seen.out, seen.err


def test_the_json_holds_every_draw_and_the_text_the_share(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, text = told(["verify", str(file), "--trials", "5", "--seed", "3", "--json"], capsys)
    facts = json.loads(out)
    assert (len(facts["draws"]), facts["seed"], facts["trials"]) == (5, 3, 5.0)
    assert {"stiffness", "push", "holds", "strain", "broken"} <= set(facts["draws"][0])
    assert facts["trials_share"] == np.mean([draw["holds"] for draw in facts["draws"]])
    assert "trials that hold" in text
    assert "95 % interval" in text
    assert code == (0 if facts["verified"] else 1)
    again = json.loads(told(["verify", str(file), "--trials", "5", "--seed", "3", "--json"], capsys)[1])
    assert again["draws"] == facts["draws"]


def test_bad_numbers_are_said_in_a_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {"--trials": ["--share", "0.9"], "share up to 1": ["--trials", "4", "--share", "1.5"], "-1 trials": ["--trials", "-1"]}
    for said, words in wrong.items():
        code, _, text = told(["verify", str(file), *words], capsys)
        assert code == 2
        assert said in text


def test_the_film_of_the_worst_is_of_the_worst(drive) -> None:
    shown, words = worst_trial(drive, 6, 3)
    trials = run_trials(judge_of(drive), 6, 3)
    worst = max(trials.trials, key=lambda trial: trial.strain)
    assert words.startswith(f"trial {worst.draw.number} of 6")
    place = shown.motion.column("base.tx")
    np.testing.assert_allclose(place, worst.motion.column("base.tx")[: len(place)], atol=1e-12)
    assert abs(place[-1] - drive.motion.column("base.tx")[-1]) > 1e-5


def test_ctrl_c_ends_trials_with_its_own_exit_code(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = console._TerminalMonitor.report

    def interrupt(self: console._TerminalMonitor, event: object) -> None:
        report(self, event)
        if event.stage == "replay" and not self.cancelled:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(console._TerminalMonitor, "report", interrupt)
    code, _, text = told(["verify", str(file), "--trials", "64", "--share", "0.1"], capsys)
    assert code == 130
    assert "trials completed" in text


def test_a_share_that_nothing_can_judge_is_refused(file: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("bunraku.verification.trials.run.run_trials", lambda *_, **__: None)
    code, _, said = told(["verify", str(file), "--trials", "4", "--share", "0.9"], capsys)
    assert code == 2
    assert "leave out --share" in said
    assert told(["verify", str(file), "--trials", "4", "--again"], capsys)[2].count("trials that hold") >= 1
