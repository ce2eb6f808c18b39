"""An independent oracle of motion planning for legs and wheels: the same problem written in CasADi, solved by IPOPT.

Nothing here uses the kernels of the package: forward kinematics, rows and derivatives are CasADi's, from the arrays of the tree.
"""

from casadi_locomotion.data import PlanData, PlanTarget, Robot
from casadi_locomotion.from_problem import kernel_places, oracle_of
from casadi_locomotion.ipopt import IpoptResult
from casadi_locomotion.oracle import Oracle

__all__ = ["IpoptResult", "Oracle", "PlanData", "PlanTarget", "Robot", "kernel_places", "oracle_of"]
