"""MuJoCo as every room uses it: refusals in words, warnings from the state and not in the working folder, steps, old versions."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput

LEAST = (3, 2, 5)
"""The first version of MuJoCo on which all replays run."""


def _version() -> tuple[int, ...]:
    import mujoco

    return tuple(int(part) for part in re.findall(r"\d+", mujoco.__version__)[:3])


@contextmanager
def simulable(character: Character) -> Iterator[None]:
    """Around the building of a model: what MuJoCo cannot simulate is bad input, also where it is too old for replays."""
    import mujoco

    if _version() < LEAST:
        least = ".".join(map(str, LEAST))
        raise BadInput(f"MuJoCo {mujoco.__version__} is too old for replays, which need {least}; pip install -U mujoco")
    try:
        yield
    except (ValueError, mujoco.FatalError) as error:
        raise BadInput(
            f"MuJoCo cannot simulate {character.name!r}: {error}; masses and inertias of all moving bodies help"
        ) from error


def went_wrong(data: Any) -> bool:
    """Whether MuJoCo's warnings tell of a simulation that was reset, or whose commands were dropped."""
    import mujoco

    kinds = mujoco.mjtWarning
    bad = (kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL, kinds.mjWARN_BADQACC, kinds.mjWARN_BADCTRL)
    return any(data.warning[int(kind)].number for kind in bad)


_QUIET = threading.Lock()
_quiet: list[Any] = []


@contextmanager
def without_log_file() -> Iterator[None]:
    """Keep MuJoCo from writing its warnings to a file in the working folder; a replay reads them from the state instead.

    What MuJoCo does with warnings is one thing for the whole process: the first of several threads sets it, the last puts it back.
    """
    import mujoco

    with _QUIET:
        if not _quiet:
            _quiet.append(mujoco.get_mju_user_warning())
            mujoco.set_mju_user_warning(lambda message: None)
        else:
            _quiet.append(None)
    try:
        yield
    finally:
        with _QUIET:
            if len(_quiet) == 1:
                mujoco.set_mju_user_warning(_quiet[0])
            _quiet.pop() if len(_quiet) > 1 else _quiet.clear()


def mass_matrix(model: Any, data: Any) -> Array:
    """The mass matrix (nv, nv) where the kinematics were computed last; MuJoCo before 4 takes other arguments."""
    import mujoco

    full = np.zeros((model.nv, model.nv))
    if hasattr(data, "qM"):
        mujoco.mj_fullM(model, full, data.qM)
    else:
        mujoco.mj_fullM(model, data, full)
    return full


def integrator() -> Any:
    """Implicit in the speeds of motors; before MuJoCo 3.5, where that would damp saturated motors too, Euler's."""
    import mujoco

    kinds = mujoco.mjtIntegrator
    return kinds.mjINT_IMPLICITFAST if _version() >= (3, 5) else kinds.mjINT_EULER


def named(elements: Iterable[Any], name: str) -> Any:
    """The body, joint or tendon of a name, of all of a kind in a specification; MuJoCo before 3.3 finds few kinds by name."""
    return next(element for element in elements if element.name == name)


def delete(spec: Any, element: Any) -> None:
    """Take an element out of a specification; MuJoCo before 3.3.4 asks the element."""
    if hasattr(spec, "delete"):
        spec.delete(element)
    else:
        element.delete()


def substeps(period: float, timestep: float) -> int:
    """How many steps of at most ``timestep`` [s] make a ``period`` [s]."""
    if not 0.0 < timestep <= 0.01:
        raise BadInput(f"a time step of {timestep} s cannot be used; give one above 0 and at most 0.01")
    return max(1, int(np.ceil(period / timestep - 1e-9)))


def scale_masses(model: Any, factors: Mapping[str, float]) -> None:
    """Multiply mass and inertia of the named bodies of a model; `mj_setConst` is still to be called."""
    for name, factor in factors.items():
        body = model.body(name).id
        model.body_mass[body] *= factor
        model.body_inertia[body] *= factor
