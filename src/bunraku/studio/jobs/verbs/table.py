"""The verbs of a worker by name: "module:function", imported when first asked for.

A verb takes (arguments, folder, monitor) and returns its result, files and figures, and whether it was cancelled on the way. It
writes into the folder alone, unless an argument names another place. A module's ``idle`` (monitor), if there is one, is
called when its verb has answered and nothing else waits.
"""

from __future__ import annotations

_HERE = "bunraku.studio.jobs.verbs"

VERBS = {
    "perform": f"{_HERE}.perform:perform",
    "retarget": f"{_HERE}.perform:retarget",
    "verify": f"{_HERE}.verify:verify",
    "drawn": f"{_HERE}.drawn:drawn",
    "errors": f"{_HERE}.errors:errors",
    "design": f"{_HERE}.design:design",
    "timing": f"{_HERE}.timing:timing",
    "fabricate": f"{_HERE}.fabricate:fabricate",
    "planned": f"{_HERE}.surface:planned",
    "surface": f"{_HERE}.surface:surface",
    "live": f"{_HERE}.live:live",
}
