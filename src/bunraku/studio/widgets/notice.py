"""Short messages inside panels: what is out of date, running, failed, or not there yet."""

from __future__ import annotations

from bunraku.studio.widgets.svg import AMBER, BLUE, GREEN, GREY, RED, element

KINDS = {
    "out-of-date": (AMBER, "↻", "Out of date"),
    "running": (BLUE, "⋯", "Running"),
    "failed": (RED, "✕", "Failed"),
    "done": (GREEN, "✓", "Done"),
    "good": (GREEN, "✓", ""),
    "bad": (RED, "✕", ""),
    "info": (GREY, "i", ""),
    "empty": (GREY, "○", ""),
}
"""Kind to colour, sign and first word."""


def notice(text: str, kind: str = "info") -> str:
    """A line with a coloured edge, a sign and words: never colour alone. An unknown ``kind`` is shown as info."""
    color, sign, first = KINDS.get(kind, KINDS["info"])
    lead = element("b", f"{first}. ") if first and not text.lower().startswith(first.lower()) else None
    style = (
        f"display:flex;gap:8px;align-items:baseline;padding:6px 10px;margin:2px 14px 2px 8px;border-left:3px solid {color};"
        f"background:{color}22;border-radius:4px;font-size:12px;line-height:1.4;overflow-wrap:anywhere"
    )
    mark = element("span", sign, style=f"color:{color};font-weight:700;min-width:12px;text-align:center", aria_hidden="true")
    return element(
        "div", mark, element("span", lead, text), style=style, role="status", class_=f"notice {kind if kind in KINDS else 'info'}"
    )
