"""Pages: what belongs together stands on one page."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest

from bunraku.verification.report.pages import Pages


def picture(width: int, height: int) -> bytes:
    from matplotlib.image import imsave

    stream = BytesIO()
    imsave(stream, np.zeros((height, width, 3), dtype=np.uint8), format="png")
    return stream.getvalue()


@pytest.mark.parametrize("height", [20, 64, 96, 200, 400])
@pytest.mark.parametrize("lines", [0, 5, 20, 35, 52])
def test_a_heading_stands_on_the_page_of_its_picture(height: int, lines: int) -> None:
    png = picture(100, height)
    pages = Pages("a title")
    pages.title("a title")
    for _ in range(lines):
        pages.words("a line")
    pages.heading("What it looks like", room=pages.room_with(png))
    there = pages._number
    pages.picture(png, "what is seen")
    assert pages._number == there
    assert pages.finished().startswith(b"%PDF-")
