"""The closing demo on a small drummer: two elastic arms, a click for every beat, hits in the simulated motion and in MuJoCo."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from bunraku.assets.examples import DEMOS, Demo
from bunraku.character import Body, Character, ElasticMaterial, FlexiblePart, Joint, Motor, PartShape, Pose, Shape
from bunraku.character.body import Frame
from bunraku.cli.demos import full_show
from bunraku.formats.registry import write_character, write_clip
from bunraku.motion import Audio, Clip, JointCurves, Mark

LEADING = ["demo", "performer", "status", "duration_s", "solve_s", "worst_limit_violation", "verified"]
BEATS = {"left": 0.5, "right": 0.9}


def small_drummer():
    """Two motors at the height of 0.4 m with rods of 0.25 m to the front, a stick at the end of each; a drum under both."""
    drum = Shape(kind="cylinder", size=(0.2, 0.05), pose=Pose(position=(0.3, 0.0, 0.3)), collides=False)
    bodies = [Body(name="stage", mass=1.0, shapes=(drum,))]
    joints = [Joint(name="stage", kind="fixed", parent="world", child="stage")]
    motors, frames, parts = [], [], []
    for side, y in (("left", 0.1), ("right", -0.1)):
        bodies += [
            Body(name=f"{side}_hub", mass=0.1, inertia=(1e-4,) * 3 + (0.0,) * 3),
            Body(
                name=f"{side}_fist",
                mass=0.05,
                inertia=(1e-5,) * 3 + (0.0,) * 3,
                shapes=(
                    Shape(
                        kind="capsule",
                        size=(0.004, 0.05),
                        pose=Pose(position=(0.05, 0.0, 0.0), quaternion=(np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)),
                        collides=False,
                    ),
                ),
            ),
        ]
        joints += [
            Joint(
                name=f"{side}_arm",
                kind="hinge",
                parent="stage",
                child=f"{side}_hub",
                axis=(0.0, 1.0, 0.0),
                pose=Pose(position=(0.0, y, 0.4)),
                range=(-1.5, 1.0),
            ),
            Joint(
                name=f"{side}_rod", kind="fixed", parent=f"{side}_hub", child=f"{side}_fist", pose=Pose(position=(0.25, 0.0, 0.0))
            ),
        ]
        motors.append(Motor(name=f"{side}_arm", coordinate=f"{side}_arm", velocity=6.0, acceleration=250.0, rate=100.0))
        frames.append(Frame(name=f"{side}_hand", body=f"{side}_fist"))
        along_x = Pose(quaternion=(np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0))
        shape = PartShape(kind="rod", length=0.25, diameter=0.004, cell=0.006)
        child = {"body": f"{side}_fist"}
        parts.append(
            FlexiblePart(
                name=f"{side}_rod", material="steel", shape=shape, base=f"{side}_hub", pose=along_x, children=(child,), modes=1
            )
        )
    steel = ElasticMaterial(name="steel", young=200e9, poisson=0.3, density=7850.0, strain_damping=5e-4)
    return Character(
        name="small drummer",
        bodies=tuple(bodies),
        joints=tuple(joints),
        motors=tuple(motors),
        frames=tuple(frames),
        materials=(steel,),
        flexibles=tuple(parts),
    )


@pytest.fixture(scope="module")
def show(tmp_path_factory):
    """Each arm is lifted, struck down by 30 degrees in 100 ms on a click, which is too fast, and lifted again."""
    folder = tmp_path_factory.mktemp("show")
    t = np.arange(141) / 100.0
    columns = []
    for beat in BEATS.values():
        keys = [0.0, beat - 0.35, beat - 0.1, beat, beat + 0.12, beat + 0.35, 1.4]
        columns.append(np.radians(PchipInterpolator(keys, [0.0, 0.0, -25.0, 5.0, -15.0, 0.0, 0.0])(t)))
    sound = np.zeros(round(1.4 * 16_000))
    rng = np.random.default_rng(3)
    for beat in BEATS.values():
        first = round(beat * 16_000)
        sound[first : first + 800] += 0.5 * np.exp(-np.arange(800) / 200.0) * rng.uniform(-1.0, 1.0, 800)
    clip = Clip(
        "clicks",
        joints=JointCurves(tuple(f"{side}_arm" for side in BEATS), 100.0, np.column_stack(columns)),
        audio=Audio(sound, 16_000.0, "clicks.wav"),
        phrases=tuple(Mark(f"{side} hit", beat - 0.3, beat + 0.15, beat) for side, beat in BEATS.items()),
    )
    write_character(folder / "small.character.yaml", small_drummer())
    write_clip(folder / "clicks.clip.yaml", clip)
    options = {"points": 50, "step_ms": 4.0}
    made = Demo(
        "speech+vibration", str(folder / "small.character.yaml"), str(folder / "clicks.clip.yaml"), options, "", "full_show"
    )
    figures, code = full_show.KIND.run("full-show", made, None)
    return made, clip, figures, code


def test_every_hit_is_on_its_beat_in_both_physics(show):
    _, _, figures, code = show
    assert list(figures)[: len(LEADING)] == LEADING
    assert (figures["performer"], figures["verified"], figures["hits"]) == ("speech+vibration", True, 2)
    assert figures["beat_error_ms"] <= 20.0
    assert figures["beat_error_mujoco_ms"] <= 20.0
    assert abs(figures["beat_error_mujoco_ms"] - figures["beat_error_ms"]) < 3.0
    assert figures["onset_error_ms"] <= 5.0
    assert figures["joints_too_fast"] == 2
    assert figures["velocity_violations_before"] > 0
    assert figures["worst_limit_violation"] == 0.0
    assert figures["rms_error_after_m"] < figures["rms_error_before_m"]
    assert code == 0
    assert json.loads(json.dumps(figures)) == figures


@pytest.mark.exhaustive
def test_the_closing_show_holds(tmp_path):
    figures, code = full_show.KIND.run("full-show", DEMOS["full-show"], tmp_path / "out")
    assert code == 0
    assert figures["verified"] is True
    assert figures["beat_error_ms"] <= 20.0
    assert figures["beat_error_mujoco_ms"] <= 20.0
    made = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"film.mp4", "report.html", "full-show.performance.npz", "project", "play.json", "drummer.device.yaml"} <= made


@pytest.mark.parametrize(("hits", "worst", "words"), [(14, None, "14 hits, some missed"), (None, None, "could not be judged")])
def test_a_show_that_cannot_be_judged_is_told_in_words(hits: int | None, worst: float | None, words: str) -> None:
    figures = dict.fromkeys(full_show.BEATS) | {"rms_error_after_m": None, "joints_too_fast": 2}
    assert words in full_show._sentence(figures | {"hits": hits, "beat_error_ms": worst})
