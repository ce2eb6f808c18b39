"""What decides the outcome of a case of the open world: the rules for empty greens, outcomes and drawing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")

from _open_case import generator
from _open_clips import draw as draw_clip
from _open_empty import claims, limb_of, places, reversals, shaking, share_of_curves, wished
from _open_gaits import draw as draw_gait
from _open_mocap import window
from _open_run import OUTCOMES, Ran, _judged, _refused
from _open_table import table
from bunraku.formats.bvh import read_bvh
from bunraku.formats.registry import write_performance
from bunraku.motion import Channel, JointCurves, Performance

TRACEBACK = "Traceback (most recent call last):\n  File x\nValueError: no"


@pytest.fixture(scope="module")
def performed() -> Performance:
    import bunraku

    return bunraku.perform("nao", "stop-it")


def as_json(**facts: object) -> str:
    return json.dumps(facts)


def test_names_of_bones_and_joints_belong_to_limbs() -> None:
    assert [limb_of(name) for name in ("LeftForeArm", "LShoulderPitch", "l_elbow", "Left_Elbow_Yaw")] == ["left arm"] * 4
    assert [limb_of(name) for name in ("RightUpLeg", "RKneePitch", "r_hip_roll", "Right_Ankle_Pitch")] == ["right leg"] * 4
    assert [limb_of(name) for name in ("Neck1", "HeadYaw", "Spine", "LowerBack", "waist_yaw")] == ["head", "head", "", "", ""]


def test_reversals_are_counted_above_a_swing() -> None:
    t = np.arange(0.0, 2.0, 0.01)
    assert reversals(np.sin(2.0 * np.pi * 3.0 * t), 0.1) == 12
    assert reversals(0.04 * np.sin(2.0 * np.pi * 3.0 * t), 0.1) == 0
    assert reversals(t, 0.1) == 0


def test_the_share_of_a_motion() -> None:
    wish = np.random.default_rng(1).normal(size=(50, 3)).cumsum(axis=0)
    assert share_of_curves(wish, wish + 5.0) == pytest.approx(1.0)
    assert share_of_curves(wish, 0.4 * wish) == pytest.approx(0.4)
    assert share_of_curves(wish, 0.0 * wish) == 0.0


def test_a_performance_is_empty_when_it_stands_still_or_shakes(performed: Performance, tmp_path: Path) -> None:
    clip = tmp_path / "wish.csv"
    names = performed.wish.names
    rows = [
        ",".join(["time", *names]),
        *(",".join(f"{x:.6f}" for x in row) for row in np.column_stack([performed.wish.times, performed.wish.values])),
    ]
    clip.write_text("\n".join(rows))
    assert wished(performed, clip)[0] == []
    assert shaking(performed)[0] == []
    still = JointCurves(
        performed.motion.names, performed.rate, np.repeat(performed.motion.values[:1], len(performed.motion.values), axis=0)
    )
    empty = wished(performed.changed(motion=still), clip)[0]
    assert [mended for _, mended in empty] == [True, True]
    first = performed.channels[0]
    t = np.arange(len(first.values)) / first.rate
    shaken = Channel(first.name, first.kind, first.unit, first.rate, first.values + 0.01 * np.sin(2.0 * np.pi * 10.0 * t))
    assert "reverses" in shaking(performed.changed(channels=(shaken, *performed.channels[1:])))[0][0][0]


def test_a_capture_is_followed_in_places_not_in_angles(performed: Performance) -> None:
    wish = performed.wish
    assert wish is not None
    there, moved = places(performed, wish)
    assert there.shape == moved.shape
    assert share_of_curves(there, moved) > 0.8
    home = JointCurves(performed.motion.names, performed.rate, np.repeat(performed.motion.values[:1], len(wish.values), axis=0))
    assert share_of_curves(*places(performed.changed(motion=home), wish)) == pytest.approx(0.0, abs=1e-9)


def test_claims_that_nothing_could_judge(performed: Performance) -> None:
    def verdict(*names: str) -> dict[str, object]:
        return {"checks": [{"name": name, "state": "holds"} for name in names]}

    who = performed.character
    fixed = tuple(joint for joint in who.joints if joint.kind != "free")
    assert claims(performed, "nao", verdict("fell", "self-collision clearance", "velocity excess")) == []
    assert len(claims(performed.changed(character=who.model_copy(update={"joints": fixed})), "nao", verdict("fell"))) == 1
    bare = tuple(body.model_copy(update={"shapes": ()}) for body in who.bodies)
    assert (
        len(
            claims(performed.changed(character=who.model_copy(update={"bodies": bare})), "nao", verdict("self-collision clearance"))
        )
        == 1
    )
    assert len(claims(performed, "nao", verdict("acceleration excess"))) == 1  # NAO's maker states no acceleration


def test_outcomes_without_a_performance(tmp_path: Path) -> None:
    out = tmp_path / "x.performance.npz"
    one_line, two = "note\nbunraku: no such thing; do this", "bunraku: a\nbunraku: b"
    outcomes = {
        "too long": Ran(None, "", "", 1.0),
        "traceback": Ran(1, "", TRACEBACK, 1.0),
        "signal": Ran(-11, "", "", 1.0),
        "refused": Ran(2, "", one_line, 1.0),
        "two lines": Ran(2, "", two, 1.0),
        "no file": Ran(0, "{}", "", 1.0),
    }
    rows = {name: _refused(made, out) for name, made in outcomes.items()}
    assert {name: row.outcome for name, row in rows.items() if row is not None} == {
        "too long": "not proven",
        "traceback": "broken",
        "signal": "broken",
        "refused": "honest refusal",
        "two lines": "broken",
        "no file": "broken",
    }
    assert rows["refused"] is not None
    assert rows["refused"].why == "no such thing; do this"


def test_outcomes_of_a_verdict(performed: Performance, tmp_path: Path) -> None:
    out, clip = tmp_path / "x.performance.npz", tmp_path / "wish.csv"
    write_performance(out, performed)
    broken = {"name": "fell", "holds": False, "state": "broken"}
    no = Ran(1, as_json(verified=False, checks=[broken]), "", 1.0)
    plain, nearest = Ran(1, as_json(proven=False), "", 1.0), Ran(1, as_json(proven=False, nearest="half as far"), "", 1.0)
    assert _judged(plain, no, out, "nao", clip).outcome == "not proven"
    assert _judged(nearest, no, out, "nao", clip).outcome == "honest refusal"
    lying = Ran(0, as_json(verified=False, checks=[broken]), "", 1.0)
    assert _judged(plain, lying, out, "nao", clip).outcome == "broken"
    yes = Ran(0, as_json(verified=True, checks=[]), "", 1.0)
    assert _judged(Ran(3, as_json(proven=False), "", 1.0), yes, out, "nao", clip).outcome == "broken"


def test_a_window_is_a_file_of_its_own(tmp_path: Path) -> None:
    source = Path(__file__).resolve().parents[1] / "src" / "bunraku" / "assets" / "clips" / "chicken-dance.bvh"
    (tmp_path / "cmu_x.bvh").write_bytes(source.read_bytes())
    text, words = window(generator("mocap", 1, 0), tmp_path)
    skeleton = read_bvh(text, file="x.bvh").skeleton
    assert skeleton is not None
    assert words.startswith("cmu_x from ")
    assert 1.9 < skeleton.duration < 6.1


def test_the_same_seed_and_number_draw_the_same_case() -> None:
    for draw in (draw_gait, draw_clip):
        one, two = draw(5, 2, Path()), draw(5, 2, Path())
        assert one.clip == two.clip
        assert draw(6, 2, Path()).clip != one.clip


def test_the_table_counts_every_outcome_of_every_kind() -> None:
    rows = [{"kind": kind, "outcome": outcome, "cpu": 1.0} for kind in ("gaits", "skins") for outcome in OUTCOMES]
    lines = table(rows)
    assert len(lines) == 4
    assert lines[-1].split()[:7] == ["all", "10", "2", "2", "2", "2", "2"]
