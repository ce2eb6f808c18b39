"""Performance files: everything comes back, the bytes repeat, damage is refused."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.errors import BadInput
from bunraku.formats.archive import pack, unpack
from bunraku.formats.performance_npz import read_performance_npz, write_performance_npz
from bunraku.formats.provenance import content_hash, provenance
from bunraku.formats.registry import read_clip, read_performance, write_performance
from bunraku.motion import Audio, Certificate, Channel, Check, Feedback, JointCurves, Mark, Performance
from bunraku.optimization.solution import Status


def performance(rng: np.random.Generator) -> Performance:
    character = Character(
        name="arm",
        bodies=(Body(name="a", mass=rng.uniform()), Body(name="b")),
        joints=(
            Joint(name="j", kind="hinge", parent="world", child="a", range=(-rng.uniform(), 1.0)),
            Joint(name="s", kind="slide", parent="a", child="b"),
        ),
        motors=(Motor(name="m", coordinate="j", velocity=rng.uniform()),),
    )
    motion = rng.normal(size=(50, 2))
    return Performance(
        character=character,
        clip_name="no-problem",
        channels=(Channel("j", "position", "rad", 100.0, motion[:, 0]), Channel("j", "velocity", "rad/s", 100.0, motion[:, 1])),
        wish=JointCurves(("j",), 100.0, rng.normal(size=(50, 1))),
        motion=JointCurves(("j", "s"), 100.0, motion),
        certificate=Certificate(
            Status.STALLED,
            (Check("velocity", 1e-17, "rad/s", 1e-9), Check("margin", np.inf, at_least=True, note="ä")),
            ("a note",),
            {"lag": -0.0},
        ),
        provenance=provenance("speech", {"character": character}, {"intensity": 0.7, "held": ["legs"], "n": 3}, seed=5),
        audio=Audio(rng.uniform(-1, 1, 64), 16000.0, "voice.wav"),
        words=(Mark("Nö", 0.1, 0.2, 0.15),),
        phrases=(Mark("no", 0.0, 0.4),),
    )


def same(a: Any, b: Any) -> bool:
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b))
    if isinstance(a, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def test_everything_comes_back(tmp_path: Path) -> None:
    original = performance(np.random.default_rng(1))
    write_performance(tmp_path / "x.performance.npz", original)
    back = read_performance(tmp_path / "x.performance.npz")
    assert same(back, original)
    assert content_hash(back) == content_hash(original)
    clip = read_clip(tmp_path / "x.performance.npz")
    assert clip.name == "no-problem"
    assert clip.joints is not None
    np.testing.assert_array_equal(clip.joints.values[:, 0], original.channels[0].values)


def test_one_without_a_wish_comes_back_without_one() -> None:
    original = performance(np.random.default_rng(1)).changed(wish=None)
    back = read_performance_npz(write_performance_npz(original), file="f")
    assert back.wish is None
    assert same(back, original)


def test_the_same_performance_gives_the_same_bytes() -> None:
    first, second = (write_performance_npz(performance(np.random.default_rng(1))) for _ in range(2))
    assert first == second
    assert first != write_performance_npz(performance(np.random.default_rng(2)))
    assert write_performance_npz(read_performance_npz(first, file="f")) == first


def _edited(change: Any) -> bytes:
    arrays: dict[str, Any] = dict(unpack(write_performance_npz(performance(np.random.default_rng(1))), file="f"))
    header = json.loads(arrays["header"].tobytes())
    change(header, arrays)
    text = json.dumps(header) if isinstance(header, dict) else header
    return pack(arrays | {"header": np.frombuffer(text.encode(), np.uint8)})


def test_files_of_release_0_1_are_read() -> None:
    """Their checks called the threshold another word."""

    def old(header: Any, _: Any) -> None:
        for check in header["certificate"]["checks"]:
            check["bar"] = check.pop("threshold")

    assert same(read_performance_npz(_edited(old), file="f"), performance(np.random.default_rng(1)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda h, a: h.update(bunraku="performance/9"), "newer Bunraku"),
        (lambda h, a: h.update(bunraku="clip/1"), "'performance/1' is needed"),
        (lambda h, a: h.pop("character"), "character"),
        (lambda h, a: h.update(character=h["character"].replace("mass_kg", "mass_kgs")), "mass_kgs"),
        (lambda h, a: h["motion"].update(names=["j"]), "shape"),
        (lambda h, a: h["motion"].update(rate_hz=-1), "rate"),
        (lambda h, a: h["motion"].update(rate_hz=50.0), "the motion has 50 samples at 50 Hz"),
        (lambda h, a: h["wish"].update(names=["s"]), "the wish is for s"),
        (lambda h, a: a.update(wish=a["wish"][:10]), "the wish has 10 samples"),
        (lambda h, a: h["channels"].pop(), "channel_0001"),
        (lambda h, a: a.pop("wish"), "wish"),
        (lambda h, a: a.update(wish=a["wish"].astype(np.int64)), "floats"),
        (lambda h, a: a.update(wish=a["wish"] * np.nan), "finite"),
        (lambda h, a: h["words"][0].update(end_s=0.0), "mark"),
        (lambda h, a: h["certificate"].update(status="fine"), "status"),
        (lambda h, a: h.update(extra=1), "extra"),
    ],
)
def test_files_that_do_not_hold_together_are_refused(change: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        read_performance_npz(_edited(change), file="f.npz")
    assert caught.value.file == "f.npz"
    assert caught.value.place


def puppet(rng: np.random.Generator) -> Performance:
    """A performance of torques with feedback: two coordinates, one motor."""
    plain = performance(rng)
    feedback = Feedback(
        100.0,
        ("j", "s"),
        ("j", "s"),
        ("j",),
        rng.normal(size=(50, 4)),
        rng.normal(size=(49, 1)),
        rng.normal(size=(49, 1, 4)) * 1e-300,
    )
    return plain.changed(channels=(Channel("j", "torque", "N·m", 100.0, rng.normal(size=50)),), feedback=feedback)


@pytest.mark.parametrize(
    ("keep", "said"),
    [(0, "is empty; copy it again"), (40, "no npz archive (File is not a zip file); copy it again"), (-30, "copy it")],
)
def test_a_file_that_was_cut_off_says_what_to_do(keep: int, said: str) -> None:
    data = write_performance_npz(performance(np.random.default_rng(0)))[:keep]
    with pytest.raises(BadInput, match=re.escape(said)):
        read_performance_npz(data, file="f")


def test_feedback_comes_back_bit_by_bit() -> None:
    original = puppet(np.random.default_rng(4))
    data = write_performance_npz(original)
    back = read_performance_npz(data, file="f")
    assert same(back, original)
    assert back.feedback is not None
    assert original.feedback is not None
    for part in ("states", "commands", "gains"):
        assert getattr(back.feedback, part).tobytes() == getattr(original.feedback, part).tobytes()
    assert write_performance_npz(back) == data


def test_a_file_without_feedback_says_nothing_of_it_and_reads_as_before() -> None:
    arrays = unpack(write_performance_npz(performance(np.random.default_rng(1))), file="f")
    assert "feedback" not in json.loads(arrays["header"].tobytes())
    assert not any(name.startswith("feedback") for name in arrays)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda h, a: a.pop("feedback_gains"), "feedback_gains"),
        (lambda h, a: h.pop("feedback"), "feedback_commands"),
        (lambda h, a: a.update(feedback_gains=a["feedback_gains"][:, :, :3]), "gains has shape"),
        (lambda h, a: a.update(feedback_states=a["feedback_states"][:20]), "commands has shape"),
        (lambda h, a: a.update(feedback_gains=a["feedback_gains"] * np.nan), "finite"),
        (lambda h, a: h["feedback"].update(inputs=["s"]), "corrects 's'"),
        (lambda h, a: h["feedback"].update(rate_hz=50.0), "50 states at 50 Hz"),
    ],
)
def test_damaged_feedback_is_refused(change: Any, said: str) -> None:
    arrays: dict[str, Any] = dict(unpack(write_performance_npz(puppet(np.random.default_rng(4))), file="f"))
    header = json.loads(arrays["header"].tobytes())
    change(header, arrays)
    data = pack(arrays | {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)})
    with pytest.raises(BadInput, match=said) as caught:
        read_performance_npz(data, file="f.npz")
    assert caught.value.file == "f.npz"
