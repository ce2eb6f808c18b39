"""What a browser may give a widget: a value of its kind, a number that is one, within the widget's own range.

A page that is not ours may send anything. All values pass here, those of every kind of widget, gizmo and picture; what does not fit
is not taken, as if it had never come.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    import viser

WIDEST = 1e9
"""The range of a number whose widget states none, and of a place in a picture."""
NUMBERS = ("x", "y", "t", "time", "ms", "size", "index", "key", "swing", "mode", "cell", "cells", "at")
"""Fields of events that are numbers."""


class Widgets:
    """The widgets and gizmos of a server, that of all browsers and those of each; before it has started there are none."""

    def __init__(self, started: list[viser.ViserServer]) -> None:
        self._started = started

    def input(self, uuid: object) -> Any:
        """The widget of this number; None when there is none."""
        tables = (gui.gui._gui_input_handle_from_uuid for gui in self._all)
        return next((table[uuid] for table in tables if uuid in table), None)

    def gizmo(self, name: object) -> Any:
        """The gizmo of this name; None when there is none."""
        tables = (scene.scene._handle_from_transform_controls_name for scene in self._all)
        return next((table[name] for table in tables if name in table), None)

    @property
    def _all(self) -> Iterable[Any]:
        return [one for server in self._started for one in (server, *server.get_clients().values())]


def takes_files(widget: Any) -> bool:
    """Whether a widget takes files, and now."""
    import viser

    return isinstance(widget, viser.GuiUploadButtonHandle) and not widget.disabled


def fits(widget: Any, value: Any) -> bool:
    """Whether a browser may give a widget this value."""
    import viser

    if widget is None or getattr(widget, "disabled", False):
        return False
    if isinstance(widget, viser.GuiButtonHandle | viser.GuiCheckboxHandle):
        return isinstance(value, bool)
    if isinstance(widget, viser.GuiButtonGroupHandle | viser.GuiDropdownHandle):
        return isinstance(value, str) and value in widget.options
    if isinstance(widget, viser.GuiTextHandle):
        return isinstance(value, str)
    if isinstance(widget, viser.GuiSliderHandle | viser.GuiNumberHandle):
        return _within(value, widget.value, widget.min, widget.max, widget.precision)
    return False


def gizmo_fits(gizmo: Any, message: Mapping[str, Any]) -> bool:
    """Whether a browser may bring a gizmo to the place (3 numbers) [m] and turn (w, x, y, z) of a message."""
    place, turn = message.get("position"), message.get("wxyz")
    if gizmo is None or not (_numbers(place, 3) and _numbers(turn, 4)):
        return False
    inside = all(low <= part <= high for part, (low, high) in zip(place, gizmo.translation_limits, strict=True))
    return inside and all(abs(part) <= 1.001 for part in turn)


def camera_fits(message: Mapping[str, Any]) -> bool:
    """Whether a view can be looked at: a picture of at least one and not too many pixels, from a place in reach."""
    sizes = [message.get(name) for name in ("image_width", "image_height")]
    return all(_number(size) and 0 <= size <= 100_000 for size in sizes) and finite(message)


def fields_fit(fields: Mapping[str, str]) -> bool:
    """Whether the fields of an event that are numbers are numbers, and not too large."""
    return all(_written(fields[name]) for name in NUMBERS if name in fields)


def _within(value: Any, now: Any, low: float | None, high: float | None, decimals: int) -> bool:
    """Whether a number is in a range, the rounding of a page to so many decimals allowed; whole, where it is ``now``."""
    if not _number(value) or (isinstance(now, int) and value != int(value)):
        return False
    slack = 0.5 * 10.0**-decimals * (1.0 + 1e-6)
    least, most = (-WIDEST if low is None else low), (WIDEST if high is None else high)
    return least - slack <= value <= most + slack


def _written(text: str) -> bool:
    """Whether a text is a decimal number."""
    if text.strip("0123456789.+-e") or len(text) > 40:
        return False
    try:
        return abs(float(text)) <= WIDEST
    except ValueError:
        return False


def _number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _numbers(value: object, count: int) -> TypeGuard[Sequence[float]]:
    return isinstance(value, list | tuple) and len(value) == count and all(_number(one) for one in value)


def finite(value: Any) -> bool:
    """Whether every number inside is one, and not too large."""
    if isinstance(value, Mapping):
        return all(finite(one) for one in value.values())
    if isinstance(value, list | tuple):
        return all(finite(one) for one in value)
    return not isinstance(value, int | float) or (math.isfinite(value) and abs(value) <= WIDEST)
