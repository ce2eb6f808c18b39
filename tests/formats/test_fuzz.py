"""Thousands of mutated files per reader: every outcome is a result or an error with file and place."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "can_a_file_crash_a_reader.py"


def _benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("can_a_file_crash_a_reader", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


FUZZ = _benchmark()
READERS = FUZZ.readers()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fuzz")
    FUZZ.fill(path)
    return path


def test_all_formats_are_fuzzed() -> None:
    assert {"BVH", "CSV", "clip YAML", "character YAML", "URDF", "MJCF", "glTF", "WAV", "performance"} <= set(READERS)


@pytest.mark.parametrize("name", READERS)
def test_seeds_are_read(name: str, folder: Path) -> None:
    reader, seeds = READERS[name]
    assert [FUZZ.judged(reader, seed, folder) for seed in seeds] == ["result"] * len(seeds)


@pytest.mark.parametrize("name", READERS)
def test_mutated_files_end_well(name: str, folder: Path) -> None:
    reader, seeds = READERS[name]
    rng = random.Random(f"test {name}")
    for number in range(300 if name == "performance head" else 1200):
        data = FUZZ.mutated(rng, seeds)
        outcome = FUZZ.judged(reader, data, folder)
        assert outcome in ("result", "refused"), f"input {number}: {outcome}"


@pytest.mark.parametrize("name", READERS)
def test_every_beginning_of_a_file_ends_well(name: str, folder: Path) -> None:
    reader, seeds = READERS[name]
    for seed in seeds:
        for length in range(0, len(seed), max(1, len(seed) // 150)):
            assert FUZZ.judged(reader, seed[:length], folder) in ("result", "refused"), length


@pytest.mark.parametrize("name", READERS)
def test_arbitrary_bytes_end_well(name: str, folder: Path) -> None:
    reader, seeds = READERS[name]

    @given(st.binary(max_size=200), st.sampled_from(seeds), st.floats(0, 1))
    @settings(max_examples=60, deadline=None, derandomize=True, database=None)
    def check(noise: bytes, seed: bytes, at: float) -> None:
        cut = int(at * len(seed))
        assert FUZZ.judged(reader, seed[:cut] + noise + seed[cut:], folder) in ("result", "refused")
        assert FUZZ.judged(reader, noise, folder) in ("result", "refused")

    check()


def test_the_judge_notices_what_it_must() -> None:
    from bunraku.errors import BadInput

    def no_place(data: bytes, **_: object) -> None:
        raise BadInput("x", file="f")

    def crash(data: bytes, **_: object) -> None:
        raise KeyError("x")

    assert FUZZ.judged(no_place, b"", Path()).startswith("an error without")
    assert FUZZ.judged(crash, b"", Path()).startswith("crashed")
