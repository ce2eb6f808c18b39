"""Device files, ``bunraku: device/1``: a machine and the calibration of its servos."""

from __future__ import annotations

from pathlib import Path

import yaml

from bunraku.errors import BadInput
from bunraku.formats.atomic import write_atomically
from bunraku.formats.files import decoded, read_bytes
from bunraku.formats.units import build
from bunraku.formats.yaml_file import YamlFile, dump_yaml, read_yaml
from bunraku.stage.devices.device import Device, same_id

SUFFIX = ".device.yaml"


def read_device(path: str | Path) -> Device:
    """The device of a file; what is wrong with it is said with file, line and field."""
    content = read_yaml(read_bytes(path), file=str(path), kind="device")
    _refuse_same_ids(content)
    return build(Device, content.data, file=str(path), lines=content.lines)


def _refuse_same_ids(content: YamlFile) -> None:
    """Two servos with one id, said at the line of the second; all else is looked at when the device is made."""
    servos = content.data.get("servos")
    if not isinstance(servos, dict):
        return
    given = [one.get("id") if isinstance(one, dict) else None for one in servos.values()]
    twice = same_id(servos, [place if number is None else number for place, number in enumerate(given)])
    if twice is not None:
        raise content.where.at("servos", twice[0]).wrong(twice[1])


def has_comments(path: str | Path) -> bool:
    """Whether a device file holds comments, which :func:`write_device` does not write again."""
    text = list(decoded(read_bytes(path), file=str(path)))
    for token in yaml.scan("".join(text)):
        if isinstance(token, yaml.ScalarToken):  # a text may hold the sign
            first, last = token.start_mark.index, token.end_mark.index
            text[first:last] = " " * (last - first)
    return "#" in text


def write_device(path: str | Path, device: Device) -> None:
    """Write a device file, whole or not at all; what is as by default is left out."""
    if not str(path).endswith(SUFFIX):
        raise BadInput(f"a device file is called NAME{SUFFIX}; give it such a name", file=str(path))
    write_atomically(path, dump_yaml("device", device.model_dump(mode="json", exclude_defaults=True)))
