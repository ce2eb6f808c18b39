"""A file of commands judged with a character alone: what it leaves out is said, and what cannot be judged is not proven."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.flow.exported import file_commands
from bunraku.verification.verifier import Verdict

pytest.importorskip("mujoco")

MASS = '<inertial><mass value="0.3"/><inertia ixx="0.002" ixy="0" ixz="0" iyy="0.002" iyz="0" izz="0.0002"/></inertial>'
JOINT = """<joint name="{name}" type="revolute"><parent link="{above}"/><child link="{below}"/><origin xyz="0 0 0.2"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="{effort}" velocity="6"/></joint>"""


def lamp(folder: Path, *, mass: str = MASS, effort: float = 3.0) -> Path:
    """A robot of two motors, bolted down."""
    links = "".join(f'<link name="{name}">{mass}</link>' for name in ("base", "arm", "head"))
    pairs = (("elbow", "base", "arm"), ("nod", "arm", "head"))
    joints = "".join(JOINT.format(name=name, above=above, below=below, effort=effort) for name, above, below in pairs)
    path = folder / "lamp.urdf"
    path.write_text(f'<robot name="lamp">{links}{joints}</robot>')
    return path


def commands(folder: Path, names: tuple[str, ...] = ("elbow", "nod"), samples: int = 101) -> Path:
    """A slow wave at 100 Hz."""
    wave = 0.1 * np.sin(2.0 * np.pi * np.arange(samples) / 100.0) ** 3
    rows = [f"{k / 100.0},{','.join([str(value)] * len(names))}" for k, value in enumerate(wave.tolist())]
    path = folder / "wave-show.csv"
    path.write_text("\n".join(["# rate_hz: 100.0", ",".join(["time_s", *names]), *rows]) + "\n")
    return path


def judged(folder: Path, **of: object) -> Verdict:
    return file_commands(commands(folder), character=lamp(folder, **of)).verify()


def test_motors_without_commands_are_said(tmp_path: Path) -> None:
    whole = judged(tmp_path)
    assert whole.holds
    assert "add their columns" not in whole.sentence
    cut = file_commands(commands(tmp_path, ("elbow",)), character=lamp(tmp_path)).verify()
    assert "Not checked: commands of nod (add their columns)" in cut.sentence


def test_a_single_sample_is_no_motion(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="a single sample, a pose"):
        file_commands(commands(tmp_path, samples=1), character=lamp(tmp_path))


def test_a_rate_that_the_file_contradicts_is_refused(tmp_path: Path) -> None:
    path, who = commands(tmp_path), lamp(tmp_path)
    assert file_commands(path, character=who, rate=100.0).performance.rate == 100.0
    with pytest.raises(BadInput, match="is at 100 Hz, and a rate of 400 Hz was given"):
        file_commands(path, character=who, rate=400.0)


def test_what_weighs_nothing_tells_neither_torque_nor_heat_nor_following(tmp_path: Path) -> None:
    """Limits were judged, so that it is proven in this; the replay moved nothing."""
    heavy, light = judged(tmp_path), judged(tmp_path, mass="")
    for name in ("torque saturation", "tracking rms", "tracking rms of the worst motor"):
        assert {check.state for check in heavy.checks if check.name == name} == {"holds"}
        assert {check.state for check in light.checks if check.name == name} == {"not checked"}
    assert "has the torque it needs" in heavy.sentence
    assert light.sentence.startswith("Proven: it keeps every motor limit. Not checked")
    assert "add the masses of the bodies that elbow, nod move" in light.sentence


@pytest.mark.parametrize("rows", ["0,0,0\n0.5,10,5\n2,0,0\n", "0,0,0\n1,10,5\n2,0,0\n"])
def test_keyframes_are_to_be_performed_first(tmp_path: Path, rows: str) -> None:
    path = tmp_path / "keys.csv"
    path.write_text(f"time,elbow_deg,nod_deg\n{rows}")
    with pytest.raises(BadInput, match="perform it first"):
        file_commands(path, character=lamp(tmp_path))
