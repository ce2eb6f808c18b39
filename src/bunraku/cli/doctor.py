"""``bunraku doctor``: what is installed, what works, what to do about the rest."""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
import sys
from typing import Annotated, Any

import typer

from bunraku.cli.console import emit_json, say

CORE = ("numpy", "scipy", "numba", "pydantic", "yaml", "typer", "rich", "matplotlib", "mujoco", "daqp")
EXTRAS = {
    "ruckig": "peers",
    "toppra": "peers",
    "websockets": "live",
    "osqp": "bench",
    "piqp": "bench",
    "clarabel": "test",
    "manifold3d": "fabrication",
    "viser": "studio",
    "imageio_ffmpeg": "stage",
    "mcap": "stage",
    "serial": "hardware",
    "dynamixel_sdk": "hardware",
    "sounddevice": "sound",
    "distributed": "batch",
}
PACKAGES = {"yaml": "PyYAML", "imageio_ffmpeg": "imageio-ffmpeg", "serial": "pyserial", "dynamixel_sdk": "dynamixel-sdk"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox")


def doctor(json: Annotated[bool, typer.Option("--json", help="As JSON on stdout")] = False) -> int:
    """Check the installation: packages, kernels that compile, foreign physics that runs, built-in assets that load."""
    rows: list[dict[str, Any]] = [
        {"what": "python", "found": platform.python_version(), "good": sys.version_info >= (3, 11), "do": "install 3.11+"}
    ]
    for module in CORE:
        rows.append(_package(module, "pip install --force-reinstall bunraku", needed=True))
    for module, extra in EXTRAS.items():
        rows.append(_package(module, f'optional: pip install "bunraku[{extra}]"', needed=False))
    rows.append(_browser())
    rows += [_try("kernels", _kernels), _try("mujoco steps", _physics), _try("assets", _assets)]
    for row in rows:
        mark = "+" if row["good"] and row["found"] else ("!" if not row["good"] else " ")
        say(f" {mark} {row['what']:14} {row['found'] or 'not installed':20}{'' if row['found'] and row['good'] else row['do']}")
    if json:
        emit_json(rows)
    return 0 if all(row["good"] for row in rows) else 1


def _package(module: str, advice: str, *, needed: bool) -> dict[str, Any]:
    try:
        importlib.import_module(module)
        release = importlib.metadata.version(PACKAGES.get(module, module))
    except ImportError:
        release = ""
    except OSError as error:  # it is there, and the library that it loads is not
        release, advice = "", f"{advice}; {error}"[:120]
    return {"what": PACKAGES.get(module, module), "found": release, "good": bool(release) or not needed, "do": advice}


def _browser() -> dict[str, Any]:
    """Which browser the studio would be opened in; none is no fault, since its address can be opened from elsewhere."""
    import shutil
    import webbrowser

    try:
        known: Any = webbrowser.get()
        browser = str(getattr(known, "name", "") or type(known).__name__)
    except webbrowser.Error:  # no screen, or no browser
        browser = next((name for name in BROWSERS if shutil.which(name)), "")
    advice = "optional, for the studio: install one, or open the address it prints through a tunnel (ssh -L)"
    return {"what": "browser", "found": browser, "good": True, "do": advice}


def _try(what: str, check: Any) -> dict[str, Any]:
    try:
        return {"what": what, "found": check(), "good": True, "do": ""}
    except Exception as error:
        return {"what": what, "found": f"{type(error).__name__}: {error}"[:80], "good": False, "do": " reinstall, or report this"}


def _kernels() -> str:
    import numpy as np

    from bunraku.optimization.chain.chain import solve_chain

    step = np.array([[0.0], [1.0], [1.0]])
    values = solve_chain(step, start=np.zeros(1), lower=-2.0, upper=2.0, step=np.array([0.5]), difference_weight=1.0).values
    if abs(values[1, 0] - values[0, 0]) > 0.5:
        raise RuntimeError("the chain solver broke a velocity limit")
    return "compile and run"


def _physics() -> str:
    import mujoco

    model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
    state = mujoco.MjData(model)
    mujoco.mj_step(model, state, 100)
    fallen = -0.5 * 9.81 * state.time**2
    if abs(state.qpos[2] - fallen) > 0.02 * abs(fallen):
        raise RuntimeError(f"a ball fell {state.qpos[2]:.4f} m instead of {fallen:.4f}")
    return "a ball falls right"


def _assets() -> str:
    from bunraku.formats.registry import built_in, read_character, read_clip

    for name in built_in("character"):
        read_character(name)
    for name in built_in("clip"):
        read_clip(name)
    return f"{len(built_in('character'))} characters, {len(built_in('clip'))} clips"
