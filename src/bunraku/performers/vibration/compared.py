"""The baselines as performers, to be compared with: the same options but the method, judged and certified alike."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from bunraku.performers.fit import Fit
from bunraku.performers.performer import option
from bunraku.performers.vibration.fit import LOW_PASS, ZV, ZV_ADVANCED, ZVD, ZVD_ADVANCED
from bunraku.performers.vibration.performer import VibrationPerformer


def _compared(fit: Fit, meaning: str) -> type[VibrationPerformer]:
    """The performer whose method is fixed: that of its name."""
    method: Any = Literal[fit.name]  # type: ignore[valid-type]
    return dataclasses.make_dataclass(
        fit.performer.partition(":")[2],
        [("method", method, option(fit.name, "how: fixed for this baseline"))],
        bases=(VibrationPerformer,),
        namespace={"fit": fit, "__doc__": meaning, "__module__": __name__},
        frozen=True,
        kw_only=True,
    )


ZvPerformer = _compared(ZV, "Zero vibration: two copies of the command, half a period apart.")
AdvancedZvPerformer = _compared(ZV_ADVANCED, "Zero vibration, started a quarter of a period early.")
ZvdPerformer = _compared(ZVD, "Zero vibration and zero derivative: three copies over a period.")
AdvancedZvdPerformer = _compared(ZVD_ADVANCED, "Zero vibration and zero derivative, started half a period early.")
LowPassPerformer = _compared(LOW_PASS, "A low-pass filter without phase.")
