"""The survey, completed by somebody in a real browser, from a file and without a network."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bunraku.study.answers import read_answers
from bunraku.study.design import StudyDesign
from bunraku.study.survey import survey_page

if TYPE_CHECKING:
    from playwright.sync_api import Page


@dataclass
class Visitor:
    """Somebody who takes part."""

    page: Page
    survey: Path
    design: StudyDesign

    def open(self, number: int | None = None) -> None:
        self.page.goto(self.survey.as_uri() + (f"#{number}" if number else ""))
        self.page.get_by_role("heading", level=1).wait_for()

    def begin(self, number: int, **about: str) -> None:
        self.page.get_by_label("Your number").fill(str(number))
        for label, value in about.items():
            field = self.page.get_by_label(f"Your {label}")
            field.select_option(value) if label == "age" else field.fill(value)
        self.page.get_by_label("I can hear the test sound").check()
        self.page.get_by_label("I take part of my own will").check()
        self.press("Begin")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def heading(self) -> str:
        return self.page.get_by_role("heading", level=1).inner_text()

    def shown(self) -> list[str]:
        return [str(one.get_attribute("data-film")) for one in self.page.locator("[data-film]").all()]

    def watch_films(self) -> None:
        for code in self.shown():
            film = self.page.locator(f"[data-film={code}]")
            film.get_by_role("button").click()
            film.get_by_text("✓ watched").wait_for()

    def choose(self, question: str, value: str) -> None:
        self.page.locator(f"[data-question={question}] input[value='{value}']").check(force=True)

    def chosen(self, question: str) -> str | None:
        found = self.page.locator(f"[data-question={question}] input:checked")
        return found.get_attribute("value") if found.count() else None

    def alert(self) -> str:
        return self.page.get_by_role("alert").inner_text()


@pytest.fixture
def visitor(page: Page, design: StudyDesign, films: dict[str, bytes], tmp_path: Path) -> Visitor:
    (tmp_path / "survey.html").write_bytes(survey_page(design, films))
    return Visitor(page, tmp_path / "survey.html", design)


def test_somebody_answers_everything_and_the_analysis_reads_it(visitor: Visitor) -> None:
    """Prefers the optimized film, rates it 8 and the control 3, reloads twice on the way; the table says all of it."""
    design, page = visitor.design, visitor.page
    sitting = design.sittings[3]
    visitor.open(4)
    assert visitor.heading() == "Natural <and> in time"
    page.get_by_text("Two robots. One voice.").wait_for()
    visitor.press("♪ Play a test sound")
    visitor.begin(4, age="30 to 44", gender='=1+1, "quoted"')
    visitor.press("Continue")
    for place, pair in enumerate(sitting.pairs, start=1):
        assert visitor.heading() == f"Pair {place} of 2"
        assert visitor.shown() == list(pair)
        visitor.watch_films()
        better = "left" if design.films[pair[0]].condition == 1 else "right"
        visitor.choose("naturalness", better)
        if place == 2:
            page.reload()
            assert visitor.heading() == "Pair 2 of 2"
            assert visitor.shown() == list(pair)
            assert visitor.chosen("naturalness") == better
            assert visitor.chosen("synchrony") is None
            assert page.get_by_text("✓ watched").count() == 2
        visitor.choose("synchrony", "equal")
        visitor.press("Next")
    visitor.press("Continue")
    for place, film in enumerate(sitting.films, start=1):
        assert visitor.heading() == f"Video {place} of 4"
        assert visitor.shown() == [film]
        visitor.watch_films()
        points = "8" if design.films[film].condition == 1 else "3"
        for scale in ("elegance", "lifelikeness", "intensity"):
            visitor.choose(scale, points if scale != "intensity" else "10")
        visitor.press("Next")
    assert visitor.heading() == "Thank you!"
    page.reload()
    with page.expect_download() as coming:
        visitor.press("Save the answers")
    assert coming.value.suggested_filename == f"answers-{design.key}-004.csv"
    data = Path(coming.value.path()).read_bytes()
    assert page.get_by_label("The answers as text").input_value().split("\n") == data.decode().replace("\r\n", "\n").split("\n")
    found = read_answers([("answers.csv", data)], design)
    assert found.participants == (4,)
    assert not found.missing.any()
    np.testing.assert_array_equal(found.pairs[0], [[1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(found.ratings[0, 0], [[3, 3, 10]] * 2)
    np.testing.assert_array_equal(found.ratings[0, 1], [[8, 8, 10]] * 2)
    assert found.about[0] == {"age": "30 to 44", "gender": '\'=1+1, "quoted"'}
    assert 8 * 0.4 / 60.0 < found.minutes[0] < 5.0
    assert len(list(csv.reader(io.StringIO(data.decode(), newline="")))) == 1 + 2 + 4 + 12
    visitor.press("Another participant")
    page.get_by_role("button", name="Begin").wait_for()
    assert page.get_by_label("Your number").input_value() == ""
    visitor.begin(4)
    assert visitor.heading() == "Thank you!"


def test_nothing_is_answered_before_it_was_watched(visitor: Visitor) -> None:
    page = visitor.page
    visitor.open()
    visitor.press("Begin")
    assert "number, from 1 to 5" in visitor.alert()
    visitor.begin(6)
    assert "number, from 1 to 5" in visitor.alert()
    visitor.begin(1)
    visitor.press("Continue")
    assert page.locator("fieldset:disabled").count() == 2
    visitor.press("Next")
    assert visitor.alert() == "Please watch both videos to the end first."
    first, second = visitor.shown()
    skipped = page.locator(f"[data-film={first}] video")
    skipped.evaluate("async (film) => { film.currentTime = film.duration - 0.05; await film.play(); }")
    page.wait_for_function("(film) => film.ended", arg=skipped.element_handle())
    page.get_by_text("Please watch video A from beginning to end.").wait_for(state="attached")
    assert page.get_by_text("✓ watched").count() == 0
    page.locator(f"[data-film={second}]").get_by_role("button").click()
    page.locator(f"[data-film={second}]").get_by_text("✓ watched").wait_for()
    assert page.locator("fieldset:disabled").count() == 2
    page.locator(f"[data-film={first}]").get_by_role("button").click()
    page.locator(f"[data-film={first}]").get_by_text("✓ watched").wait_for()
    assert page.locator("fieldset:disabled").count() == 0
    visitor.choose("naturalness", "left")
    visitor.press("Next")
    assert visitor.alert() == "One answer is still missing."
    assert visitor.heading() == "Pair 1 of 2"


def test_by_keyboard_alone(visitor: Visitor) -> None:
    page = visitor.page
    visitor.open(2)
    visitor.begin(2)
    page.get_by_role("button", name="Continue").press("Enter")
    page.keyboard.press("a")
    page.get_by_text("✓ watched").first.wait_for()
    page.keyboard.press("b")
    page.get_by_text("✓ watched").nth(1).wait_for()
    for _ in range(3):  # both films' buttons, then the first question
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert (visitor.chosen("naturalness"), visitor.chosen("synchrony")) == ("equal", "left")
    page.keyboard.press("Enter")
    assert visitor.heading() == "Pair 2 of 2"


def test_two_numbers_on_one_device_are_kept_apart(visitor: Visitor) -> None:
    page = visitor.page
    visitor.open(2)
    visitor.begin(3)
    visitor.press("Continue")
    page.reload()
    assert visitor.heading() == "Pair 1 of 2"
    assert visitor.shown() == list(visitor.design.sittings[2].pairs[0])
    page.evaluate("window.location.hash = '#1'")
    page.get_by_role("button", name="Begin").wait_for()
    page.evaluate("window.location.hash = '#3'")
    page.get_by_role("heading", name="Pair 1 of 2").wait_for()


def test_films_beside_the_page(page: Page, design: StudyDesign, films: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "films").mkdir()
    for code, data in films.items():
        (tmp_path / "films" / f"{code}.mp4").write_bytes(data)
    (tmp_path / "survey.html").write_bytes(survey_page(design))
    visitor = Visitor(page, tmp_path / "survey.html", design)
    visitor.open(1)
    visitor.begin(1)
    visitor.press("Continue")
    visitor.watch_films()
    assert page.locator("fieldset:disabled").count() == 0


@pytest.mark.parametrize("viewport", [{"width": 360, "height": 740}], ids=["phone"])
def test_fits_a_phone(visitor: Visitor) -> None:
    """Nothing sticks out, and everything to be touched is large enough for a finger."""
    page = visitor.page
    visitor.open(1)
    visitor.begin(1)
    visitor.press("Continue")
    tall = """() => [...document.querySelectorAll("button, .choice, .point")].map((one) => one.getBoundingClientRect().height)"""
    for _ in range(2):
        visitor.watch_films()
        visitor.choose("naturalness", "left")
        visitor.choose("synchrony", "left")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert min(page.evaluate(tall)) >= 44.0
        visitor.press("Next")
    visitor.press("Continue")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert min(page.evaluate(tall)) >= 44.0


CONTRAST = """() => {
    const light = (color) => {
        const linear = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
        const [r, g, b] = color.match(/[\\d.]+/g).map((x) => linear(x / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (one) => {
        const color = getComputedStyle(one).backgroundColor;
        return color === "rgba(0, 0, 0, 0)" ? ground(one.parentElement) : color;
    };
    const texts = [...document.querySelectorAll("h1, p, b, legend, button, span")];
    return texts.filter((one) => one.textContent.trim() && one.offsetParent).map((one) => {
        const [a, b] = [light(getComputedStyle(one).color), light(ground(one))].sort((x, y) => y - x);
        return [(a + 0.05) / (b + 0.05), one.textContent];
    });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_is_readable_by_day_and_by_night(visitor: Visitor, scheme: str) -> None:
    """Contrast of all text at least 4.5, as WCAG AA asks."""
    page = visitor.page
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    visitor.open(1)
    welcome = page.evaluate(CONTRAST)
    visitor.begin(1)
    visitor.press("Continue")
    visitor.watch_films()
    visitor.choose("naturalness", "left")
    for ratio, text in (*welcome, *page.evaluate(CONTRAST)):
        assert ratio >= 4.5, text


def test_the_page_does_not_tell_which_film_is_which(design: StudyDesign, films: dict[str, bytes]) -> None:
    """Nothing but codes: conditions, performers and behaviours are not in the page."""
    text = survey_page(design, films).decode()
    for word in ("control", "optimized", "stretch", "speech", "no-problem"):
        assert word not in text.split("<script>", 1)[0], word
    assert "</script" not in text.split('id="study">', 1)[1].split("</script>", 1)[0]
