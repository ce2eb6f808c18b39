"""What is said about a skin beside its picture: figures, what reaches into it, the colours of folds. Pure functions to HTML."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from bunraku.building.creatures.recipe import SkinRecipe
from bunraku.building.creatures.skin_views import WornSkin
from bunraku.studio.page.skin_scene import fold_color
from bunraku.studio.skinning import MadeSkin, PlannedSkin


def even_places(recipe: SkinRecipe) -> dict[str, float]:
    """Where the folds lie along a leg, 0 at the torso, 1 at the foot: as chosen, else evenly."""
    folded = [joint for joint, on in recipe.joints.items() if on]
    return {joint: recipe.places.get(joint, k / max(len(folded) - 1, 1)) for k, joint in enumerate(folded)}


def skin_figures(plan: PlannedSkin | None, creature: MadeSkin | None, worn: WornSkin | None) -> str:
    """What is known of a skin, as HTML: sizes, joints, folds, nodes, thickness from blue to red, what reaches into it."""
    rows: list[str] = []
    facts: Mapping[str, Any] = creature.figures if creature is not None else plan.figures if plan is not None else {}
    if "size" in facts:
        x, y, z = (float(part) for part in facts["size"])
        rows.append(f"{100 * x:.0f} × {100 * y:.0f} × {100 * z:.0f} cm, {facts['joints']} joints")
    if plan is not None:
        rows.append(f"{plan.figures['folds']} folds")
        rows += [escape(note) for note in plan.repairs]
    if creature is not None:
        rows.append(f"{facts['nodes']} nodes, least dihedral angle {57.29578 * float(facts['least_dihedral']):.0f}°")
    if worn is not None:
        least, most = 1e3 * worn.thickness.least, 1e3 * worn.thickness.most
        gradient = (
            "display:inline-block;width:6em;height:.7em;vertical-align:middle;background:linear-gradient(90deg,#2959cc,#d93326)"
        )
        rows.append(f'thickness {least:.1f} mm <span style="{gradient}"></span> {most:.1f} mm')
        rows.append(f"{sum(len(places) for places in worn.glue.values())} glue points on {len(worn.glue)} bodies")
    pressing = facts.get("into_the_skin", [])
    if facts:
        words = f"reaches into the skin: {'; '.join(pressing[:4])}{' …' if len(pressing) > 4 else ''}"
        rows.append(remark(words) if pressing else "nothing reaches into the skin")
    return "".join(row if row.startswith("<div") else f"<div>{row}</div>" for row in rows)


def remark(words: str) -> str:
    """A line that stands out."""
    return f'<div style="border-left:3px solid #e8890c;padding:.1em .5em;margin:.15em 0">{escape(words)}</div>'


def fold_legend(recipe: SkinRecipe) -> str:
    """Which colour the folds of which joint have."""
    joints = tuple(recipe.joints)
    dots = [
        f'<span style="color:rgb{fold_color(joint, joints)};font-size:16px">●</span> {escape(joint)}'
        for joint, on in recipe.joints.items()
        if on
    ]
    return f'<div style="font-size:12px;padding:0 .6em">{"&ensp;".join(dots)}</div>'
