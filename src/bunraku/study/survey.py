"""The survey: one HTML page that works offline, from a folder, a stick or an attachment.

The page holds the films (or plays them from a folder beside it), shows each participant what the design gives them, asks, keeps
every answer in the browser until the end, and writes a table. It does not hold which film is which: only the plan knows. Its policy
lets it fetch nothing from anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files

from bunraku.errors import BadInput
from bunraku.study.answers import COLUMNS
from bunraku.study.design import StudyDesign

MAX_HELD = 256 * 1024 * 1024
"""Most bytes of film that a page holds."""


def survey_page(design: StudyDesign, films: Mapping[str, bytes] | None = None) -> bytes:
    """The page; with ``films`` (MP4 bytes by code) they are inside it, without them it plays ``films/CODE.mp4`` beside it."""
    if films is not None and sum(map(len, films.values())) > MAX_HELD:
        size = sum(map(len, films.values())) / 1e6
        raise BadInput(
            f"the films take {size:.0f} MB, a page holds {MAX_HELD / 1e6:.0f}; use --beside, or smaller films in the plan"
        )
    style, script = (files("bunraku.study").joinpath(f"survey.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; media-src 'self' file: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    title = escape(design.plan.title)
    coded = {escape(code): base64.b64encode(data).decode() for code, data in (films or {}).items()}
    held = "".join(f'<script type="text/plain" id="{code}">{text}</script>\n' for code, text in coded.items())
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><p><span>{title}</span><span id="place"></span></p><progress id="progress" aria-label="How far you are"></progress></header>
<main id="main"><noscript>This survey needs JavaScript.</noscript></main>
<div id="status" role="status" aria-live="polite" class="quiet"></div>
<script type="application/json" id="study">{_data(design)}</script>
{held}<script>{script}</script>
</body>
</html>
""".encode()


def _data(design: StudyDesign) -> str:
    """What the page knows of the design, as JSON that cannot end its element."""
    plan = design.plan
    content = {
        "key": design.key,
        "title": plan.title,
        "introduction": plan.introduction,
        "pairs": [one.model_dump(mode="json") for one in plan.pairs],
        "ratings": [one.model_dump(mode="json") for one in plan.ratings],
        "points": plan.points,
        "about": [one.model_dump(mode="json") for one in plan.about],
        "film": {"width": plan.film.width, "height": plan.film.height},
        "columns": COLUMNS,
        "sittings": [{"pairs": sitting.pairs, "films": sitting.films} for sitting in design.sittings],
    }
    return json.dumps(content, ensure_ascii=False).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
