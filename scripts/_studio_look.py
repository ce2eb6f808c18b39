"""What a picture of the studio must keep: the character well in view, panels apart, no text cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from bunraku.studio.studio import Studio

__all__ = ["LEAST", "MOST", "Box", "apart", "coverage", "cut_texts", "free_view", "panels", "projected", "silhouette"]

LEAST, MOST = 0.25, 0.80
"""The share of the free view that a character covers, in its larger dimension."""

PANELS = """() => {
    const found = {};
    const shown = node => node && node.getClientRects().length > 0;
    const box = node => { const r = node.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
    for (const side of ['left', 'right']) {
        const dock = document.querySelector(`[data-dock-region="${side}"]`);
        if (shown(dock)) found[`${side} dock`] = box(dock);
    }
    let panel = document.querySelector('[role="tab"][title="Timeline"]');
    const sheet = document.querySelector(`.mantine-Paper-root[style*="position: fixed"][style*="bottom: 0px"]`);
    if (shown(sheet)) { found.sheet = box(sheet); found.canvas = box(window.__viserMutable.canvas); return found; }
    const floats = node => getComputedStyle(node).position === 'absolute' && node.querySelector('[role="tab"]');
    while (panel && !floats(panel)) panel = panel.parentElement;
    if (shown(panel) && !Object.values(found).some(b => b.join() === box(panel).join())) found['timeline'] = box(panel);
    found.canvas = box(window.__viserMutable.canvas);
    return found;
}"""

PROJECT = """corners => {
    const mutable = window.__viserMutable, world = mutable.nodeRefFromName['/world'], camera = mutable.camera;
    world.updateWorldMatrix(true, false);
    camera.updateMatrixWorld();
    const frame = mutable.canvas.getBoundingClientRect();
    return corners.map(([x, y, z]) => {
        const point = world.position.clone().set(x, y, z).applyMatrix4(world.matrixWorld).project(camera);
        return [frame.left + (point.x + 1) / 2 * frame.width, frame.top + (1 - point.y) / 2 * frame.height, point.z];
    });
}"""

CUT = """() => {
    const cut = [];
    const which = '[data-dock-group], [role="dialog"], .mantine-Paper-root[style*="position: fixed"]';
    const places = [...document.querySelectorAll(which)];
    const own = node => [...node.childNodes].filter(one => one.nodeType === 3).map(one => one.data.trim()).join(' ').trim();
    const told = node => node.closest('[title]:not([title=""])') || node.querySelector(':scope > title');
    const hides = node => ['hidden', 'clip', 'auto', 'scroll'].includes(getComputedStyle(node).overflowX);
    for (const place of places) for (const node of place.querySelectorAll('*')) {
        if (node.closest('.uplot') || !node.getClientRects().length || !node.checkVisibility({opacityProperty: true})) continue;
        const words = node.tagName === 'INPUT' ? node.value : own(node);
        if (!words) continue;
        const svg = node.closest('svg');
        if (svg) {
            if (node.tagName !== 'text' && node.tagName !== 'tspan') continue;
            const r = node.getBoundingClientRect(), frame = svg.getBoundingClientRect();
            if (r.left < frame.left - 1 || r.right > frame.right + 1 || r.top < frame.top - 2 || r.bottom > frame.bottom + 2)
                cut.push(`outside of its picture: ${words}`);
            continue;
        }
        if (node.clientWidth && node.scrollWidth > node.clientWidth + 1 && hides(node) && !told(node)) cut.push(`cut: ${words}`);
        const range = document.createRange();
        range.selectNodeContents(node);
        const r = range.getBoundingClientRect();
        for (let up = node.parentElement; up && up !== place; up = up.parentElement) {
            if (!hides(up)) continue;
            const frame = up.getBoundingClientRect();
            const beyond = r.width && (r.right > frame.right + 1 || r.left < frame.left - 1);
            if (beyond && !told(node)) { cut.push(`beyond its panel: ${words}`); break; }
        }
    }
    for (const svg of places.flatMap(place => [...place.querySelectorAll('svg')])) {
        if (!svg.getClientRects().length) continue;
        const seen = one => one.textContent.trim() && one.checkVisibility({opacityProperty: true});
        const texts = [...svg.querySelectorAll('text')].filter(seen);
        const boxes = texts.map(one => one.getBoundingClientRect());
        for (let i = 0; i < texts.length; i++) for (let k = i + 1; k < texts.length; k++) {
            const a = boxes[i], b = boxes[k];
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const tall = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (wide > 2 && tall > 0.35 * Math.min(a.height, b.height))
                cut.push(`over each other: ${texts[i].textContent.trim()} / ${texts[k].textContent.trim()}`);
        }
    }
    return [...new Set(cut)];
}"""


@dataclass(frozen=True)
class Box:
    """A rectangle of the page [px]."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right [px]."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom [px]."""
        return self.bottom - self.top

    def within(self, other: Box, slack: float = 1.0) -> bool:
        """Whether it lies inside another one."""
        return (
            self.left >= other.left - slack
            and self.right <= other.right + slack
            and self.top >= other.top - slack
            and self.bottom <= other.bottom + slack
        )

    def overlap(self, other: Box) -> float:
        """The area [px^2] that both cover."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        tall = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(wide, 0.0) * max(tall, 0.0)


def panels(page: Page) -> dict[str, Box]:
    """Where the docks, the timeline and the canvas are."""
    return {name: Box(*found) for name, found in page.evaluate(PANELS).items()}


def free_view(found: dict[str, Box]) -> Box:
    """The part of the canvas between the docks and above the timeline, or above the sheet of a phone."""
    view = found["canvas"]
    left = max(view.left, found["left dock"].right) if "left dock" in found else view.left
    right = min(view.right, found["right dock"].left) if "right dock" in found else view.right
    below = min([view.bottom, *(found[name].top for name in ("timeline", "sheet") if name in found)])
    return Box(left, view.top, right, below)


def apart(found: dict[str, Box]) -> list[str]:
    """Panels that lie over each other."""
    names = [name for name in found if name != "canvas"]
    return [
        f"{one} and {two} overlap by {found[one].overlap(found[two]):.0f} px^2"
        for k, one in enumerate(names)
        for two in names[k + 1 :]
        if found[one].overlap(found[two]) > 1.0
    ]


def cut_texts(page: Page) -> list[str]:
    """Texts in the panels of which something cannot be seen, and texts of pictures that lie over each other."""
    return [str(one) for one in page.evaluate(CUT)]


def projected(page: Page, studio: Studio) -> Box:
    """The box of the character in the frame that is shown, through the browser's camera."""
    motion = studio.page.scene.shown
    assert motion is not None, "no character is shown"  # noqa: S101
    k = motion.at(studio.session.transport.now)
    ends = np.stack([motion.lower[k], motion.upper[k]])
    corners = [[float(ends[i, 0]), float(ends[j, 1]), float(ends[m, 2])] for i in (0, 1) for j in (0, 1) for m in (0, 1)]
    points = np.array(page.evaluate(PROJECT, corners))
    assert (np.abs(points[:, 2]) < 1.0).all(), "the character is behind the camera"  # noqa: S101
    return Box(*points[:, :2].min(axis=0), *points[:, :2].max(axis=0))


def silhouette(with_it: Any, without: Any, view: Box) -> Box | None:
    """The box of the pixels of ``view`` that differ between two captures (h, w, 3) of the page."""
    top, bottom, left, right = (round(one) for one in (view.top, view.bottom, view.left, view.right))
    differ = np.abs(with_it[top:bottom, left:right].astype(int) - without[top:bottom, left:right].astype(int)).max(axis=2) > 40
    rows, columns = np.nonzero(differ.sum(axis=1) > 1)[0], np.nonzero(differ.sum(axis=0) > 1)[0]
    if not len(rows) or not len(columns):
        return None
    return Box(left + columns[0], top + rows[0], left + columns[-1] + 1, top + rows[-1] + 1)


def coverage(box: Box, view: Box) -> float:
    """The share of the view that a box covers in its larger dimension."""
    return max(box.width / view.width, box.height / view.height)
