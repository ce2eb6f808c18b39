"""What all judges keep: foreign models are built once, one judge is loaded, and gains that are set are as if built."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from bunraku.formats import mjcf_write
from bunraku.formats.registry import write_performance
from bunraku.motion import Check
from bunraku.verification.ground.model import ground_model
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.verifier import _own_words
from bunraku.verification.verify import JUDGES, judge_of, verify

mujoco = pytest.importorskip("mujoco")


def built(monkeypatch: pytest.MonkeyPatch, performance) -> int:
    """How often a character is written for MuJoCo while its performance is verified."""
    count, write = [0], mjcf_write.export_mjcf

    def counted(*arguments, **options):
        count[0] += 1
        return write(*arguments, **options)

    monkeypatch.setattr(mjcf_write, "export_mjcf", counted)
    monkeypatch.setattr("bunraku.verification.flexible.model.export_mjcf", counted)
    assert verify(performance).replay is not None
    return count[0]


def driven_car(make_car, make_going, driving):
    car = make_car("active", drag=0.5)
    q = driving(car, 0.4, 0.2)
    return make_going(car, q, 200.0, {f"axle{i}": np.full(len(q), 0.5 * 0.4 * 0.03) for i in range(4)})


def test_a_foreign_model_is_built_once_for_all_replays(monkeypatch, make_car, make_going, driving) -> None:
    drive = driven_car(make_car, make_going, driving)
    assert type(judge_of(drive)).__name__ == "GroundJudge"
    assert built(monkeypatch, drive) == 1


def test_puppets_and_rods_are_built_once_for_each_model(monkeypatch, wave, quiet_turn) -> None:
    """A puppet's replays open loop and with feedback are of one model; the two chains of a rod differ in their links."""
    assert built(monkeypatch, wave) == 1
    assert built(monkeypatch, quiet_turn) == 2


@pytest.mark.parametrize(("gain", "friction"), [(0.5, 0.6), (2.0, None), (1.0, 1.3)])
def test_a_model_that_is_set_is_the_model_that_is_built(make_car, gain: float, friction: float | None) -> None:
    """Every array of MuJoCo's model, after other gains, frictions and masses were set on it first."""
    car = make_car("active", stall_torque=0.05, no_load_speed=30.0)
    servos = ServoBank.of(car)
    other = ground_model(car).under(servos.scaled(7.0), 0.1, {"body": 3.0})
    reused = other.under(servos.scaled(gain), friction, {"body": 1.0 / 3.0})
    fresh = ground_model(car, servos.scaled(gain), friction=friction)
    names = [name for name in dir(fresh.model) if isinstance(getattr(fresh.model, name), np.ndarray)]
    assert len(names) > 200
    for name in names:
        np.testing.assert_allclose(getattr(reused.model, name), getattr(fresh.model, name), rtol=1e-12, atol=1e-15, err_msg=name)
    assert reused.model.stat.meaninertia == pytest.approx(fresh.model.stat.meaninertia, rel=1e-12)


def test_a_judge_that_is_loaded_late_computes_with_one_thread_too(tmp_path, quiet_turn) -> None:
    """In a program that has loaded no BLAS but numpy's before it verifies."""
    write_performance(tmp_path / "turn.performance.npz", quiet_turn)
    script = (
        "import sys\n"
        "from bunraku.formats.registry import read_performance\n"
        "from bunraku.optimization.monitor import SilentMonitor\n"
        "from bunraku.verification.verify import verify\n"
        "class Watch(SilentMonitor):\n"
        "    def report(self, event):\n"
        "        from threadpoolctl import threadpool_info\n"
        "        print({pool['num_threads'] for pool in threadpool_info() if pool['user_api'] == 'blas'})\n"
        "performance = read_performance(sys.argv[1])\n"
        "assert 'scipy.linalg' not in sys.modules\n"
        "verify(performance, monitor=Watch())\n"
    )
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    words = [sys.executable, "-c", script, str(tmp_path / "turn.performance.npz")]
    output = subprocess.run(words, capture_output=True, text=True, check=True, env=free | {"OPENBLAS_NUM_THREADS": "2"}).stdout
    assert set(output.splitlines()) == {"{1}"}


def test_only_the_judge_that_is_needed_is_loaded() -> None:
    modules = [f"bunraku.{module}" for _, module, _ in JUDGES]
    script = (
        "import sys\n"
        "import bunraku.verification.verify\n"
        f"print([module for module in {modules} if module in sys.modules or module.rpartition('.')[0] in sys.modules])\n"
        "print(sorted({'scipy', 'numba', 'mujoco', 'matplotlib'} & set(sys.modules)))\n"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert output.splitlines() == ["[]", "[]"]


def test_what_is_not_checked_does_not_silence_the_performer(wave) -> None:
    """The certificate breaks a promise, and the judge could not check it."""
    broken = Check("least tension", 2.0, "N", threshold=1.0)
    said = wave.changed(certificate=replace(wave.certificate, checks=(broken,)))
    unsure, judged = (
        _own_words(said, [check])[1]
        for check in (Check.not_checked("least tension", "a string"), Check("least tension", 0.0, threshold=1.0))
    )
    assert unsure.broken
    assert judged.holds
