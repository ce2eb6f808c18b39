"""MJCF, MuJoCo's format: in, out, and the way between its ``qpos`` and our coordinates."""

from bunraku.formats.mjcf_coordinates import coordinates_to_qpos, qpos_to_coordinates
from bunraku.formats.mjcf_read import read_mjcf
from bunraku.formats.mjcf_write import export_mjcf, write_mjcf

__all__ = ["coordinates_to_qpos", "export_mjcf", "qpos_to_coordinates", "read_mjcf", "write_mjcf"]
