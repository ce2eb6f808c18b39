"""The line that a message names is the line of the fault, however lines end."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character, read_clip
from bunraku.formats.surface_file import read_surface

BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0 90 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Head
  {
    OFFSET 0 20 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    End Site
    {
      OFFSET 0 10 0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.0333
0 90 0 0 0 0 0 0 0
0 90 0 0 0 0 0 0 0
0 90 0 0 0 0 0 0 0
"""
CSV = "# rate_hz: 50\n\ntime_s,HeadYaw,HeadPitch\n0,0,0\n0.02,0.1,0\n\n0.04,0.1,0\n0.06,0.1,0\n"
CLIP = """bunraku: clip/1
name: yes

# a comment
rate_hz: 50
joints:
  keys_deg:
    nod: [[0.0, 0], [0.3, 25]]
    shake: [[0.0, 0], [0.3, 25]]
"""
URDF = """<?xml version="1.0"?>
<robot name="r">
  <link name="a"/>

  <link name="b"/>
  <joint name="j" type="revolute">
    <parent link="a"/>
    <child link="b"/>
    <axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
</robot>
"""
MJCF = """<mujoco model="m">
  <worldbody>

    <body name="b" pos="0 0 1">
      <joint name="j" type="hinge" axis="0 0 1" range="-1 1"/>
      <geom type="box" size="0.1 0.1 0.1" mass="1"/>
    </body>
  </worldbody>
</mujoco>
"""
OBJ = "# a tetrahedron\nv 0 0 0\nv 1 0 0\n\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
FILES: dict[str, tuple[str, Callable[[Path], Any], tuple[int, ...]]] = {
    ".bvh": (BVH, read_clip, (4, 9, 17, 18, 20)),
    ".csv": (CSV, read_clip, (4, 5, 7, 8)),
    ".clip.yaml": (CLIP, read_clip, (5, 8, 9)),
    ".urdf": (URDF, read_character, (9, 10)),
    ".xml": (MJCF, read_character, (4, 5, 6)),
    ".obj": (OBJ, read_surface, (3, 5, 8, 10)),
}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("suffix", FILES)
def test_the_line_of_a_fault_is_named(suffix: str, end: str, tmp_path: Path) -> None:
    text, read, faults = FILES[suffix]
    path = tmp_path / f"x{suffix}"
    path.write_bytes(text.replace("\n", end).encode())
    read(path)
    for fault in faults:
        lines = [line.encode() for line in text.split("\n")]
        line = lines[fault - 1]
        for wrong in (re.sub(rb"-?\d+(\.\d+)?(?=\D*$)", b"oops", line, count=1), line.replace(line.strip()[:1], b"\xff", 1)):
            lines[fault - 1] = wrong
            path.write_bytes(end.encode().join(lines))
            with pytest.raises(BadInput) as refused:
                read(path)
            assert re.findall(r"line (\d+)", str(refused.value))[:1] == [str(fault)], (wrong, refused.value)
