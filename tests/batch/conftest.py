"""A small plan for the tests: a head that nods, at several intensities and tempi; quick to perform."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

CHARACTER = """bunraku: character/1
name: nodder
bodies:
  - {name: base, mass_kg: 1.0}
  - {name: head, mass_kg: 0.3, center_of_mass_m: [0, 0, 0.05], inertia_kg_m2: [4.0e-4, 4.0e-4, 3.0e-4, 0, 0, 0]}
joints:
  - {name: stand, kind: fixed, parent: world, child: base}
  - {name: nod, kind: hinge, parent: base, child: head, pose: {position_m: [0, 0, 0.3]}, axis: [0, 1, 0], range_deg: [-30, 40]}
motors:
  - {name: nod, coordinate: nod, velocity_deg_s: 180, stall_torque_n_m: 1.5, delay_ms: 20}
"""
CLIP = """bunraku: clip/1
name: yes
rate_hz: 50
joints: {file: nods.csv}
"""
CURVES = "time_s,nod_deg\n" + "\n".join(f"{k / 50},{20 * (1 - abs((k % 40) - 20) / 20)}" for k in range(81)) + "\n"
PLAN = """bunraku: batch/1
characters: [nodder.character.yaml]
clips: [yes.clip.yaml]
performers: [speech]
vary:
  - {option: intensity, low: 0.5, high: 1.4, count: 4}
  - {clip: tempo, values: [1, 2, 4]}
measure: [holds, largest_deviation_from_the_wish, velocity_violations_of_the_wish, duration_s]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a character and a clip whose curves are in a file of their own."""
    (tmp_path / "nodder.character.yaml").write_text(CHARACTER)
    (tmp_path / "yes.clip.yaml").write_text(CLIP)
    (tmp_path / "nods.csv").write_text(CURVES)
    return tmp_path


@pytest.fixture
def planned(folder: Path) -> Callable[..., Path]:
    """Writes a plan into the folder, with some texts replaced."""

    def write(*changes: tuple[str, str], text: str = PLAN) -> Path:
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        path = folder / "nods.batch.yaml"
        path.write_text(text)
        return path

    return write
