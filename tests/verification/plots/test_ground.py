"""Pictures of replays on the ground show what was measured."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Pose, Shape
from bunraku.errors import BadInput
from bunraku.verification.ground.plan import ground_plan
from bunraku.verification.ground.replays import replay_all
from bunraku.verification.plots.film import _faces, draw_strip, write_film
from bunraku.verification.plots.ground import draw_footfalls, draw_motors, draw_way
from bunraku.verification.report.html import make_report
from bunraku.verification.verify import verify
from bunraku.verification.worlds import World


@pytest.fixture(scope="module")
def judged(make_car, make_going, driving):
    car = make_car("active", drag=0.5)
    q = driving(car, 0.4, 0.4)
    torque = {f"axle{i}": np.full(len(q), 0.5 * 0.4 * 0.03) for i in range(4)}
    going = make_going(car, q, 200.0, torque)
    return going, replay_all(ground_plan(going), [World(1.0, 0.8, 200.0), World(0.5, 0.6, 100.0)])


@pytest.mark.parametrize(
    "shape",
    [
        Shape(kind="box", size=(0.1, 0.2, 0.3)),
        Shape(kind="cylinder", size=(0.1, 0.2)),
        Shape(kind="sphere", size=(0.1,)),
        Shape(kind="capsule", size=(0.1, 0.2)),
        Shape(kind="ellipsoid", size=(0.1, 0.2, 0.3)),
    ],
)
def test_faces_close_a_solid_and_look_outside(shape: Shape) -> None:
    """By the divergence theorem the faces' corners give the volume, positive and near the solid's, wherever it stands."""
    moved = shape.changed(pose=Pose(position=(0.3, -0.2, 0.1), quaternion=(0.5, 0.5, 0.5, 0.5)))
    r = shape.size[0]
    true = {
        "box": 8 * np.prod(shape.size),
        "cylinder": np.pi * r**2 * 2 * shape.size[-1],
        "sphere": 4 / 3 * np.pi * r**3,
        "capsule": np.pi * r**2 * 2 * shape.size[-1] + 4 / 3 * np.pi * r**3,
        "ellipsoid": 4 / 3 * np.pi * np.prod(shape.size),
    }[shape.kind]
    volume = sum(np.dot(face[0], np.cross(face[i], face[i + 1])) / 6.0 for face in _faces(moved) for i in range(1, len(face) - 1))
    assert volume == pytest.approx(true, rel=1e-12 if shape.kind == "box" else 0.15)
    assert volume <= true * (1 + 1e-12)


def test_the_way_is_drawn_as_planned_and_as_replayed(judged) -> None:
    _, replays = judged
    figure = draw_way(replays)
    path, ahead = figure.axes[0], figure.axes[1]
    planned, *done = path.get_lines()
    np.testing.assert_allclose(planned.get_xdata()[-1] - planned.get_xdata()[0], 0.16, rtol=1e-9)
    assert len(done) == 2
    np.testing.assert_allclose(done[-1].get_xdata(), replays.usual.record.com[:, 0])
    np.testing.assert_allclose(ahead.get_lines()[0].get_ydata(), 0.4, rtol=1e-9)


def test_footfalls_and_motors_are_drawn_for_all(judged) -> None:
    _, replays = judged
    figure = draw_footfalls(replays.usual)
    assert {text.get_text() for text in figure.axes[0].texts} == {f"tip{i}" for i in range(4)}
    motors = draw_motors(replays.usual)
    dots = motors.axes[0].get_lines()
    speeds = np.concatenate([line.get_xdata() for line in dots[:4]])
    np.testing.assert_allclose(np.median(speeds), 0.4 / 0.03 / 60.0, rtol=1e-2)


def test_the_film_has_a_picture_for_each_moment_and_keeps_the_character_in_view(judged, tmp_path) -> None:
    from PIL import Image

    _, replays = judged
    write_film(replays.usual, tmp_path / "drive.gif", rate=10.0)
    film = Image.open(tmp_path / "drive.gif")
    assert film.n_frames == 5
    film.seek(2)
    seen = np.asarray(film.convert("L"))
    middle = seen[seen.shape[0] // 3 : -seen.shape[0] // 3, seen.shape[1] // 3 : -seen.shape[1] // 3]
    assert (middle < 190).mean() > 0.15, "the body covers part of the middle"
    with pytest.raises(BadInput, match=r"\.gif"):
        write_film(replays.usual, tmp_path / "drive.mp4")
    assert len(draw_strip(replays.usual, 5).axes) == 8


def test_the_report_holds_every_replay(judged) -> None:
    going, _ = judged
    verdict = verify(going)
    text = make_report(going, verdict)
    assert text.count("servos 2 times as stiff") >= 2
    assert text.count("<img") == 4
    assert "real contact" in text
