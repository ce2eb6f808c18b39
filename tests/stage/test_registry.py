"""The registry: every format writes whole files, and refuses what it does not know."""

from __future__ import annotations

import pytest

from bunraku.errors import BadInput
from bunraku.stage.registry import export, exporters


def test_every_format_writes_what_its_function_returns(performance, tmp_path):
    for name, exporter in exporters().items():
        if name == "naoqi":  # which takes robots of its own only
            continue
        path = export(performance, name, tmp_path / f"out{exporter.suffix}")
        assert path.read_bytes() == exporter.function(performance)
    assert len(list(tmp_path.iterdir())) == len(exporters()) - 1 == len({one.suffix for one in exporters().values()}) - 1


def test_options_reach_the_format(performance, tmp_path):
    assert exporters()["ros"].options == ("rate", "accelerations", "stop", "frame_id")
    slow = export(performance, "ros", tmp_path / "slow.json", rate=10.0).read_bytes()
    assert slow == exporters()["ros"].function(performance, rate=10.0)


def test_unknown_formats_and_options_are_refused_and_nothing_is_written(performance, tmp_path):
    with pytest.raises(BadInput, match="no export format 'xml'; there are csv, json"):
        export(performance, "xml", tmp_path / "x")
    with pytest.raises(BadInput, match="ros format has no option 'speed'; it takes rate"):
        export(performance, "ros", tmp_path / "x", speed=1)
    with pytest.raises(BadInput, match="does not divide"):
        export(performance, "ros", tmp_path / "x", rate=7.0)
    assert not list(tmp_path.iterdir())
