"""The script for NAO: run on its own, with a naoqi of ours that writes down what it is told."""

from __future__ import annotations

import ast
from dataclasses import replace

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import Channel, JointCurves
from bunraku.stage.naoqi import export_naoqi

NAMES = ("HeadYaw", "HeadPitch", "LShoulderPitch")


@pytest.fixture
def performance(performance):
    """The performance of the other tests by a robot whose joints are called as NAO's are."""
    return _called(performance, NAMES)


def _called(performance, names):
    channels = tuple(replace(channel, name=name) for channel, name in zip(performance.channels, names, strict=True))
    curves = JointCurves(names, 50.0, performance.motion.values)
    return performance.changed(channels=channels, wish=curves, motion=curves)


def test_it_goes_to_the_first_pose_slowly_then_plays_with_the_voice(performance, readers, tmp_path):
    words = ("--ip", "10.0.0.7", "--port", "9560", "--ramp", "3", "--stiffness", "0.8", "--voice", "/home/nao/hello.wav")
    calls = readers.naoqi_calls(export_naoqi(performance), tmp_path, *words)
    names = list(performance.motion.names)
    assert calls[0] == ["ALProxy", "ALMotion", "10.0.0.7", 9560]
    assert calls[1] == ["ALMotion.setStiffnesses", names, 0.8]
    what, who, first, times, absolute = calls[2]
    assert (what, who, times, absolute) == ("ALMotion.angleInterpolation", names, [3.0] * 3, True)
    np.testing.assert_allclose(first, performance.motion.values[0], rtol=0, atol=0.5e-6)
    assert calls[3:5] == [["ALProxy", "ALAudioPlayer", "10.0.0.7", 9560], ["ALAudioPlayer.playFile", "/home/nao/hello.wav"]]
    what, who, angles, times, absolute = calls[5]
    assert (what, who, absolute, len(calls)) == ("ALMotion.angleInterpolation", names, True, 6)
    np.testing.assert_allclose(np.array(angles).T, performance.motion.values[1:], rtol=0, atol=0.5000001e-6)
    np.testing.assert_allclose(times, [np.arange(1, 76) / 50.0] * 3, rtol=0, atol=0.5e-6)
    assert min(times[0]) > 0.0, "NAOqi refuses a time of zero"


def test_thinned_and_with_another_ramp(performance, readers, tmp_path):
    calls = readers.naoqi_calls(export_naoqi(performance, rate=25.0, ramp_s=4.5), tmp_path)
    assert calls[2][3] == [4.5] * 3
    assert calls[3][3][0] == [round(k / 25.0, 6) for k in range(1, 38)]


def test_hostile_names_stay_names(performance, readers, tmp_path):
    data = export_naoqi(performance.changed(clip_name="x\nimport os\n{names} é∞ a\"\"\"b' + [__import__('os').getcwd()"))
    assert [node.names[0].name for node in ast.walk(ast.parse(data)) if isinstance(node, ast.Import)] == ["argparse"]
    assert readers.naoqi_calls(data, tmp_path)[1][1] == list(NAMES)
    assert data.isascii()


@pytest.mark.parametrize(
    ("names", "strange"),
    [
        (("HeadYaw", "nod", "LHand"), "nod"),
        (("HeadYaw", "headpitch", "LHand"), "headpitch"),
        (("HipRoll", "LKneePitch", "RKneePitch"), "HipRoll"),
        (("x\n] + [__import__('os').getcwd()", "{title}", "a'b\\"), "x\\n] + ["),
    ],
)
def test_a_robot_that_is_neither_nao_nor_pepper_is_refused(names, strange, performance):
    with pytest.raises(BadInput, match="is no joint of NAO or Pepper, which alone run this script") as refused:
        export_naoqi(_called(performance, names))
    assert strange in str(refused.value)


@pytest.mark.parametrize("names", [NAMES, ("HipRoll", "HipPitch", "KneePitch"), ("LHipYawPitch", "RAnkleRoll", "RHand")])
def test_joints_of_either_robot_are_taken(names, performance):
    assert export_naoqi(_called(performance, names))


def test_one_pose_is_only_gone_to(performance, readers, tmp_path):
    channels = (Channel("HeadYaw", "position", "rad", 50.0, np.array([0.25])),)
    curves = JointCurves(("HeadYaw",), 50.0, np.array([[0.25]]))
    calls = readers.naoqi_calls(
        export_naoqi(
            performance.changed(
                channels=channels, wish=curves, motion=JointCurves(performance.motion.names, 50.0, np.zeros((1, 3)))
            )
        ),
        tmp_path,
    )
    assert [call[0] for call in calls[2:]] == ["ALMotion.angleInterpolation"]


def test_what_the_robot_cannot_be_told_is_refused(performance):
    rail = Channel("rail", "position", "m", 50.0, np.zeros(76))
    with pytest.raises(BadInput, match="'rail' is in m; angleInterpolation takes angles"):
        export_naoqi(performance.changed(channels=(rail,), wish=JointCurves(("rail",), 50.0, np.zeros((76, 1)))))
    with pytest.raises(BadInput, match="a ramp of 0 s"):
        export_naoqi(performance, ramp_s=0.0)
