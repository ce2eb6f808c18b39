"""Arguments of a verb, checked: each is asked for by name and kind, and none may be left over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bunraku.errors import BadInput


class Arguments:
    """What came with a request; every getter notes the name, and :meth:`finish` refuses names that nobody asked for."""

    def __init__(self, values: dict[str, Any], verb: str) -> None:
        self._values, self._verb = values, verb
        self._known: list[str] = []

    def has(self, name: str) -> bool:
        """Whether it was given, and not as nothing."""
        self._known.append(name)
        return self._values.get(name) not in (None, "")

    def text(self, name: str, default: str | None = None) -> str:
        """A text; without ``default`` it must be there."""
        return str(self._get(name, str, default))

    def number(self, name: str, default: float | None = None) -> float:
        """A number."""
        return float(self._get(name, (int, float), default))

    def count(self, name: str, default: int | None = None) -> int:
        """A whole number."""
        return int(self._get(name, int, default))

    def flag(self, name: str, default: bool = False) -> bool:
        """Yes or no."""
        return bool(self._get(name, bool, default))

    def mapping(self, name: str) -> dict[str, Any]:
        """A mapping; empty when it was not given."""
        return dict(self._get(name, dict, {}))

    def sequence(self, name: str) -> list[Any]:
        """A list; empty when it was not given."""
        return list(self._get(name, list, []))

    def path(self, name: str, default: Path) -> Path:
        """Where a file goes; its folder must be there, or all that is computed would be lost."""
        path = Path(self.text(name)) if self.has(name) else default
        if not path.parent.is_dir():
            raise BadInput(f"the folder {path.parent} does not exist; make it first", file=str(path))
        return path

    def finish(self) -> None:
        """Refuse what nobody asked for."""
        left = [name for name in self._values if name not in self._known]
        if left:
            raise BadInput(f"{self._verb} takes no {left[0]!r}; it takes {', '.join(dict.fromkeys(self._known))}")

    def _get(self, name: str, kind: Any, default: Any) -> Any:
        self._known.append(name)
        value = self._values.get(name, default)
        if value is None:
            if default is None:
                raise BadInput(f"{self._verb} needs {name!r}; give it")
            return default
        wrong = isinstance(value, bool) and kind is not bool
        if wrong or not isinstance(value, kind):
            raise BadInput(f"{self._verb}: {name} is {str(value)[:60]!r}; another kind of value is needed there")
        return value
