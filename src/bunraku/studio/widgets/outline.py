"""Lists beside the scene: what the character is made of, and what was done to it."""

from __future__ import annotations

from collections.abc import Sequence

from bunraku.character import WORLD, Character, Joint
from bunraku.studio.widgets.notice import notice
from bunraku.studio.widgets.svg import BLUE, Markup, element

MOST_ROWS, MOST_DEPTH = 250, 12
_BOX = "font-size:12px;line-height:1.5"
_STYLE = (
    ".bunraku-list>div{padding:2px 6px;border-radius:4px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}"
    f".bunraku-list>.here{{background:{BLUE}44;font-weight:600}}.bunraku-list>.gone{{opacity:.45}}"
    ".bunraku-list>.pale,.bunraku-list i{opacity:.6;font-style:normal;font-weight:400}"
)
"""The look of the lines, once instead of with every line."""


def outline(character: Character | None, selected: tuple[str, str] | None = None) -> str:
    """The bodies as a tree, each with the joint that carries it and the motors that drive it; ``selected``: (kind, name).

    Clicks: select (kind = body, joint or motor; name).
    """
    if character is None:
        return notice("No character yet: open one from the gallery, or a file of your own.", "empty")
    below: dict[str, list[Joint]] = {}
    for joint in character.joints:
        below.setdefault(joint.parent, []).append(joint)
    motors: dict[str, list[str]] = {}
    for motor in character.motors:
        motors.setdefault(motor.coordinate, []).append(motor.name)
    lines: list[Markup] = []
    stack = [(joint, 0) for joint in reversed(below.get(WORLD, []))]
    while stack and len(lines) < MOST_ROWS:
        joint, depth = stack.pop()
        lines += _lines(joint, depth, motors, selected)
        stack += [(child, depth + 1) for child in reversed(below.get(joint.child, []))]
    left = len(character.bodies) - sum(line.count('data-kind="body"') for line in lines)
    facts = f"{len(character.bodies)} bodies, {len(character.joints)} joints, {len(character.motors)} motors"
    head = [element("div", element("b", character.name)), element("div", facts, class_="pale")]
    return _listed([*head, *lines], f"and {left} bodies more" if left > 0 else "")


def history(names: Sequence[str], present: int) -> str:
    """What was done, the newest first; ``present``: how many of the edits are done now, later ones were undone.

    Clicks: history.jump (index: how many edits are done after it, 0 is the beginning).
    """
    lines = []
    for index in range(len(names), max(-1, len(names) - MOST_ROWS), -1):
        text = names[index - 1] if index else "Beginning"
        look = "here" if index == present else "gone" if index > present else None
        sign = element("i", "● " if index == present else "○ ")
        lines.append(element("div", sign, text[:200], data_click="history.jump", data_index=index, title=text[:200], class_=look))
    left = len(names) + 1 - len(lines)
    return _listed(lines, f"and {left} earlier ones" if left > 0 else "")


def _listed(lines: Sequence[Markup], more: str) -> Markup:
    end = element("div", more, class_="pale") if more else None
    return element("div", element("style", Markup(_STYLE)), lines, end, style=_BOX, class_="bunraku-list")


def _lines(joint: Joint, depth: int, motors: dict[str, list[str]], selected: tuple[str, str] | None) -> list[Markup]:
    deep = 6 + 12 * min(depth, MOST_DEPTH)
    lines = [_line("body", joint.child, "", deep, selected)]
    if joint.kind != "fixed":
        driven = [name for axis in joint.axes for name in motors.get(axis.name, [])]
        lines.append(_line("joint", joint.name, joint.kind, deep + 12, selected))
        lines += [_line("motor", name, "motor", deep + 24, selected) for name in driven if name != joint.name]
    return lines


def _line(kind: str, name: str, note: str, deep: int, selected: tuple[str, str] | None) -> Markup:
    sign = element("i", {"body": "▪ ", "joint": "↻ ", "motor": "⚙ "}[kind])
    small = element("i", f" {note}") if note else None
    data = {"data_click": "select", "data_kind": kind, "data_name": name}
    here = "here" if selected == (kind, name) else None
    return element("div", sign, name, small, title=f"{kind} {name}", class_=here, style=f"padding-left:{deep}px", **data)
