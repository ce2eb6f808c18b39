"""What differs between the versions of MuJoCo that replays run on."""

from __future__ import annotations

from pathlib import Path

import pytest

from bunraku.verification import foreign
from bunraku.verification.verify import verify

mujoco = pytest.importorskip("mujoco")

TWO = "<mujoco><worldbody><body name='one'><site name='a'/></body><body name='two'><site name='b'/></body></worldbody></mujoco>"


@pytest.mark.parametrize(
    ("version", "kind"),
    [("3.2.7", "EULER"), ("3.4.0", "EULER"), ("3.5.0", "IMPLICITFAST"), ("3.12.0", "IMPLICITFAST"), ("4.0.0", "IMPLICITFAST")],
)
def test_before_3_5_steps_are_explicit_in_the_speeds_of_motors(monkeypatch, version: str, kind: str) -> None:
    monkeypatch.setattr(mujoco, "__version__", version)
    assert foreign.integrator() == getattr(mujoco.mjtIntegrator, f"mjINT_{kind}")


def test_elements_are_found_by_name_and_taken_out() -> None:
    spec = mujoco.MjSpec.from_string(TWO)
    tendon = spec.add_tendon(name="string")
    for site in ("a", "b"):
        tendon.wrap_site(site)
    assert foreign.named(spec.bodies, "two").name == "two"
    foreign.delete(spec, foreign.named(spec.tendons, "string"))
    assert spec.compile().ntendon == 0


def test_an_element_takes_itself_out_where_the_specification_cannot() -> None:
    """As before MuJoCo 3.3.4."""

    class Element:
        there = True

        def delete(self) -> None:
            self.there = False

    element = Element()
    foreign.delete(object(), element)
    assert not element.there


def test_a_version_that_is_too_old_is_said_and_leaves_the_replay_unchecked(monkeypatch, make_car, make_going, driving) -> None:
    car = make_car("active")
    going = make_going(car, driving(car, 0.4, 0.2), 200.0)
    monkeypatch.setattr(mujoco, "__version__", "3.2.4")
    verdict = verify(going)
    check = next(check for check in verdict.checks if check.name == "replay")
    assert check.note == "MuJoCo 3.2.4 is too old for replays, which need 3.2.5; pip install -U mujoco"
    assert not verdict.holds


def test_the_least_version_is_that_of_the_package() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'"mujoco>={".".join(map(str, foreign.LEAST))}"' in text
