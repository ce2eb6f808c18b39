"""MuJoCo's warnings: read from the simulation's state, kept out of the working folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


def bad_warnings() -> tuple[int, ...]:
    """MuJoCo's warnings of a simulation that went wrong and was reset, or whose commands were dropped."""
    import mujoco

    kinds = mujoco.mjtWarning
    return tuple(int(kind) for kind in (kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL, kinds.mjWARN_BADQACC, kinds.mjWARN_BADCTRL))


@contextmanager
def without_log_file() -> Iterator[None]:
    """Keep MuJoCo from writing its warnings to a file in the working folder; a replay reads them from the state instead."""
    import mujoco

    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)
