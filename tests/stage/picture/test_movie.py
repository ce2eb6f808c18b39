"""Movies: what happens and what is heard at one time is so in the film, and films are as long as what they show."""

from __future__ import annotations

import subprocess
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Pose, Shape
from bunraku.errors import BadInput
from bunraku.motion import Audio, Certificate, Channel, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.stage.figure.motion import drawn
from bunraku.stage.film import film_bytes
from bunraku.stage.picture.sheet import moments, sheet
from bunraku.stage.picture.shot import arranged, goes, movie
from bunraku.stage.picture.triangles import Triangles

RATE, SOUND = 200.0, 16000.0


def flag(values: np.ndarray, *, wish: np.ndarray | None = None, audio: Audio | None = None, slide: bool = False) -> Performance:
    """A red board on a hinge about z, or on a slide along x, that moves as told at 200 Hz."""
    kind = "slide" if slide else "hinge"
    character = Character(
        name="flag",
        bodies=(
            Body(
                name="board",
                mass=1.0,
                shapes=(Shape(kind="box", size=(0.02, 0.3, 0.2), pose=Pose(position=(0.0, 0.3, 0.3)), color=(0.9, 0.2, 0.1, 1.0)),),
            ),
        ),
        joints=(Joint(name="turn", kind=kind, parent="world", child="board", axis=(1, 0, 0) if slide else (0, 0, 1)),),
    )
    asked = values if wish is None else wish
    return Performance(
        character,
        "jump",
        (Channel("turn", "position", "m" if slide else "rad", RATE, values),),
        JointCurves(("turn",), RATE, asked[:, None]),
        JointCurves(("turn",), RATE, values[:, None]),
        Certificate(Status.CONVERGED, ()),
        Provenance("speech", {}, {}, {}, 0),
        audio=audio,
    )


def jump(at: float, duration: float, *, clicking: bool = True) -> Performance:
    """The board jumps by a quarter turn, with a click."""
    times = np.arange(round(duration * RATE) + 1) / RATE
    samples = np.zeros(round(duration * SOUND))
    first = round(at * SOUND)
    samples[first : first + 300] = 0.8 * np.sign(np.sin(2.0 * np.pi * 800.0 * np.arange(300) / SOUND))
    return flag(np.where(times < at - 1e-9, 0.0, 1.5), audio=Audio(samples, SOUND) if clicking else None)


def decoded(data: bytes, folder: Path, *words: str) -> bytes:
    from imageio_ffmpeg import get_ffmpeg_exe

    path = folder / "film.mp4"
    path.write_bytes(data)
    command = [get_ffmpeg_exe(), "-loglevel", "error", "-i", str(path), *words, "-"]
    return subprocess.run(command, capture_output=True, check=True).stdout


@pytest.mark.parametrize(("at", "start"), [(0.5, None), (0.71, None), (1.015, 0.4)])
def test_a_jump_is_seen_when_its_click_is_heard(tmp_path: Path, at: float, start: float | None) -> None:
    pytest.importorskip("imageio_ffmpeg")
    begin, duration, rate = start or 0.0, 1.6, 30.0
    data = film_bytes(movie(jump(at, duration), width=128, height=96, fps=rate, start=start), ".mp4")
    pictures = np.frombuffer(decoded(data, tmp_path, "-f", "rawvideo", "-pix_fmt", "gray"), dtype=np.uint8).reshape(-1, 96, 128)
    sound = np.frombuffer(decoded(data, tmp_path, "-f", "s16le", "-ac", "1", "-ar", "16000"), dtype=np.int16) / 32768.0
    change = np.abs(np.diff(pictures.astype(int), axis=0)).mean(axis=(1, 2))
    seen = (int(np.argmax(change)) + 1) / rate
    heard = int(np.argmax(np.abs(sound) > 0.3)) / 16000.0
    assert change.max() > 5.0 * np.sort(change)[-2]
    assert abs(heard - (at - begin)) <= 0.006  # the codec spreads a click a little before itself
    assert abs(seen - (at - begin)) <= 0.5 / rate + 1e-6
    assert abs(seen - heard) <= 0.020
    assert abs(len(pictures) / rate - (duration - begin)) <= 1.0 / rate
    assert abs(len(sound) / 16000.0 - (duration - begin)) <= 1.0 / rate


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_the_last_pose_is_held_until_the_voice_ends(tmp_path: Path, suffix: str) -> None:
    """Half a second of motion and a voice of two seconds with a click near its end, as the player plays it."""
    rate, at = 20.0, 1.8
    samples = np.zeros(round(2.0 * SOUND))
    samples[round(at * SOUND) : round(at * SOUND) + 300] = 0.8 * np.sign(np.sin(2.0 * np.pi * 800.0 * np.arange(300) / SOUND))
    film = movie(flag(np.linspace(0.0, 1.5, 101), audio=Audio(samples, SOUND)), width=128, height=96, fps=rate)
    pictures = [picture.astype(int) for picture in film.frames]
    assert len(pictures) == 40
    assert np.abs(pictures[2] - pictures[8]).mean() > 1.0
    assert all(np.array_equal(picture, pictures[-1]) for picture in pictures[10:])
    if suffix == ".mp4":
        pytest.importorskip("imageio_ffmpeg")
        sound = np.frombuffer(
            decoded(film_bytes(film, suffix), tmp_path, "-f", "s16le", "-ac", "1", "-ar", "16000"), dtype=np.int16
        )
        assert abs(int(np.argmax(np.abs(sound) > 0.3 * 32768)) / SOUND - at) <= 0.006
        return
    from PIL import Image

    with Image.open(BytesIO(film_bytes(film, suffix))) as picture:
        total = 0
        for k in range(picture.n_frames):
            picture.seek(k)
            total += picture.info["duration"]
    assert total == 2000


def test_a_part_of_the_time_after_the_motion_can_be_filmed_where_there_is_a_voice() -> None:
    performance = flag(np.zeros(101), audio=Audio(np.zeros(round(2.0 * SOUND)), SOUND))
    film = movie(performance, width=64, height=48, fps=10.0, start=1.0, end=9.0)
    assert len(film.frames) == 10
    assert film.start == 1.0
    assert len(movie(performance, width=64, height=48, fps=10.0, audio=False).frames) == 5
    with pytest.raises(BadInput, match=r"from 0 to 0\.500 s"):
        movie(performance, width=64, height=48, start=1.0, audio=False)
    assert moments(performance, 3) == pytest.approx((0.0, 0.25, 0.5))  # a sheet shows what moves


def test_pictures_are_drawn_when_they_are_asked_for_and_again() -> None:
    film = movie(jump(0.5, 1.0), width=64, height=48, fps=10.0)
    assert len(film.frames) == 10
    one, two = next(iter(film.frames)), next(iter(film.frames))
    np.testing.assert_array_equal(one, two)
    assert one.shape == (48, 64, 3)
    assert one.dtype == np.uint8
    assert film.audio is not None
    assert movie(jump(0.5, 1.0), audio=False, width=64, height=48).audio is None


def test_the_middle_of_a_pictures_time_is_drawn() -> None:
    values = np.linspace(0.0, 1.5, round(RATE) + 1)
    frames = movie(flag(values), width=64, height=48, fps=10.0).frames
    still = movie(flag(np.full_like(values, values[round(0.35 * RATE)])), width=64, height=48, fps=10.0).frames
    scene, other = frames.scene, still.scene
    np.testing.assert_allclose(scene.solid.at(frames.times[3]).points, other.solid.at(0.0).points, atol=1e-5)


def test_the_wish_is_seen_green_where_it_is_not_done() -> None:
    values = np.zeros(round(RATE) + 1)
    done, asked = flag(values), flag(values, wish=values + 0.6)
    plain = next(iter(movie(done, width=160, height=120, wish=True).frames)).astype(int)
    ghost = next(iter(movie(asked, width=160, height=120, wish=True).frames)).astype(int)
    green = lambda picture: ((picture[..., 1] - picture[..., 0] > 20) & (picture[..., 1] - picture[..., 2] > 20)).sum()  # noqa: E731
    assert green(plain) == 0
    assert green(ghost) > 50


def test_the_wish_played_as_it_is_is_grey() -> None:
    picture = next(iter(movie(jump(0.5, 1.0), motion="wish", width=160, height=120).frames)).astype(int)
    assert np.ptp(picture, axis=2).max() < 40
    picture = next(iter(movie(jump(0.5, 1.0), width=160, height=120).frames)).astype(int)
    assert np.ptp(picture, axis=2).max() > 90


def test_a_camera_that_follows_keeps_the_character_in_its_place() -> None:
    way = np.linspace(0.0, 6.0, round(2.0 * RATE) + 1)
    walk = flag(way, slide=True)
    frames = movie(walk, width=160, height=120, fps=5.0).frames
    assert goes(frames.scene.solid.motion)
    red = [picture[..., 0].astype(int) - picture[..., 2] > 60 for picture in frames]
    places = np.array([np.argwhere(one).mean(axis=0) for one in red])
    sizes = np.array([one.sum() for one in red])
    assert np.ptp(places[2:-2], axis=0).max() < 6.0
    assert sizes.min() > 0.03 * 160 * 120
    stays = movie(walk, width=160, height=120, fps=5.0, follow=False).frames
    far = [np.argwhere(picture[..., 0].astype(int) - picture[..., 2] > 60).mean(axis=0) for picture in stays]
    assert np.ptp(np.array(far)[:, 1]) > 60.0


def test_the_camera_sees_all_of_another_motion_that_takes_longer() -> None:
    """It goes along with the first; the other, half as fast, falls behind by half the way, and is far in front at last."""
    quick, slow = (
        drawn(flag(np.linspace(0.0, 6.0, round(t * RATE) + 1), slide=True), times=np.arange(t * 10.0) / 10.0) for t in (2.0, 4.0)
    )
    scene = arranged(quick, also=(slow,), width=160, height=120)
    assert scene.way is not None
    alone = arranged(quick, width=160, height=120)
    behind = alone.cloud[:, 0].min() - scene.cloud[:, 0].min()
    assert behind == pytest.approx(3.0, abs=0.5)
    np.testing.assert_allclose(scene.way.at(np.array([99.0])), scene.way.gone[-1:])


def test_marked_bodies_are_red() -> None:
    grey = flag(np.zeros(11))
    plain = next(iter(movie(grey, width=64, height=48, motion="wish").frames)).astype(int)
    red = next(iter(movie(grey, width=64, height=48, motion="wish", marked=("board",)).frames)).astype(int)
    assert (red[..., 0] - red[..., 1] > 60).sum() > 100
    assert (plain[..., 0] - plain[..., 1] > 60).sum() == 0


@pytest.mark.parametrize("options", [{"fps": 0.0}, {"start": 2.0}, {"start": 0.5, "end": 0.2}, {"width": 4}, {"view": "below"}])
def test_what_cannot_be_filmed_is_refused(options: dict) -> None:
    with pytest.raises(BadInput):
        movie(jump(0.5, 1.0), **options)


def test_a_sheet_has_a_picture_for_every_moment() -> None:
    performance = jump(0.5, 1.0)
    assert moments(performance, 5) == pytest.approx((0.0, 0.25, 0.5, 0.75, 1.0))
    one = sheet(performance, count=4, cell=60, wish=False)
    late = flag(performance.motion.values[:, 0], wish=np.roll(performance.motion.values[:, 0], 20))
    two = sheet(late, count=4, cell=60, wish=False, before=True)
    grid = sheet(performance, count=4, columns=2, cell=60, wish=False)
    assert two.shape[0] - one.shape[0] == 63
    assert one.shape[1] == two.shape[1]
    np.testing.assert_array_equal(sheet(performance, count=4, cell=60, wish=True, before=True), one)  # it is what was wished
    assert grid.shape[1] - 3 == (one.shape[1] - 3) // 2
    wide = (one.shape[1] - 3) // 4
    cells = [one[:, 3 + k * wide : k * wide + wide].astype(int) for k in range(4)]
    top = slice(30, 80)
    assert np.abs(cells[0][top] - cells[1][top]).max() < 4
    assert np.abs(cells[2][top] - cells[3][top]).max() < 4
    assert np.abs(cells[1][top] - cells[2][top]).mean() > 3.0


def test_a_sheet_of_too_many_is_refused() -> None:
    with pytest.raises(BadInput, match="64"):
        sheet(jump(0.5, 1.0), count=1000)


def test_closed_solids_are_drawn_from_outside_only() -> None:
    scene = movie(flag(np.zeros(11)), width=64, height=48).frames.scene
    shown = scene.solid.at(0.0)
    assert shown.single == len(shown.faces) == 12
    both = Triangles(shown.points, shown.normals, shown.faces, shown.colors)
    np.testing.assert_allclose(scene.painter.light(shown), scene.painter.light(both), atol=0.02)
