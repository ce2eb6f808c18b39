"""Bunraku: from what an artist wants to what a physical robotic character can perform, with proof.

>>> import bunraku
>>> performance = bunraku.perform("nao", "not-done-yet", intensity=0.8)
>>> print(bunraku.verify(performance).sentence)
Every promise holds.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bunraku.character import Character
    from bunraku.errors import BunrakuError
    from bunraku.flow.public import export, load_character, load_clip, load_performance, perform, verify
    from bunraku.motion import Certificate, Clip, Performance
    from bunraku.studio.rendering import render
    from bunraku.verification.verifier import Verdict

__version__ = "0.2.0"
__all__ = [
    "BunrakuError",
    "Certificate",
    "Character",
    "Clip",
    "Performance",
    "Verdict",
    "export",
    "load_character",
    "load_clip",
    "load_performance",
    "perform",
    "render",
    "verify",
]

_ROOMS = {
    "BunrakuError": "errors",
    "Certificate": "motion",
    "Character": "character",
    "Clip": "motion",
    "Performance": "motion",
    "Verdict": "verification.verifier",
    "render": "studio.rendering",
}
"""Where a name is from; functions are from `flow.public` if not said."""


def __getattr__(name: str) -> Any:
    """A public name, loaded when it is first used: importing the package loads nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    value = getattr(import_module(f"{__name__}.{_ROOMS.get(name, 'flow.public')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
