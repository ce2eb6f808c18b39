"""URDF, the robot format of ROS: in and out."""

from bunraku.formats.urdf_read import read_urdf
from bunraku.formats.urdf_write import write_urdf

__all__ = ["read_urdf", "write_urdf"]
