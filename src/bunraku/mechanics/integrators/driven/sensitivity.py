"""Forward sensitivities of a simulated motion: the normal equations of tracking outputs, ready for Gauss-Newton.

    normal = sensitivities(motion, curves, outputs, targets, weights, stride=4)
    normal.hessian, normal.gradient, normal.cost

Parameters are those of `curves.py` (control point major, free points only). The work is one matrix product a step over the
parameters that act by then.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from bunraku.mechanics.integrators.driven.curves import Curves
from bunraku.mechanics.integrators.driven.linearization import Linearization, NormalEquations
from bunraku.mechanics.integrators.driven.outputs import Outputs, OutputTargets
from bunraku.mechanics.integrators.driven.simulate import DrivenMotion


def linearize_motion(motion: DrivenMotion, *, memory: float = 1e9) -> Linearization:
    """The linearization about a simulated motion, to be used several times; BadInput if the motion is incomplete."""
    motion.require()
    return Linearization(motion.system, motion.q, motion.lam, motion.dt, motion.rests, memory)


def sensitivities(
    motion: DrivenMotion,
    curves: Curves,
    outputs: Outputs,
    targets: OutputTargets,
    weights: ArrayLike | None = None,
    *,
    stride: int = 1,
    jacobian: bool = False,
) -> NormalEquations:
    """Normal equations of Phi = sum w e^2 / 2 about a simulated motion; ``jacobian``: with the dense J, for small problems.

    ``targets`` has N // stride + 1 frames; ``weights`` (frames, rows) or what broadcasts to it.
    """
    return linearize_motion(motion).normal_equations(curves, outputs, targets, weights, stride=stride, jacobian=jacobian)
